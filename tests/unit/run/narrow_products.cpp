// Packs of numbers from numbers of 16 bits, and products of matrices with vectors that read them: the bits are those of
// matrices of floats and doubles.
#include <drx/run/gemm/gemm.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

using drx::bfloat16;
using drx::float16;

namespace {
/// Numbers of 16 bits, and what they stand for; neither has neighbours that may be read.
template <class Half>
struct numbers {
  std::vector<Half> narrow;
  std::vector<float> wide;
  numbers(int n, unsigned seed) {
    std::mt19937_64 r(seed);
    std::uniform_real_distribution<float> any(-2, 2);
    for (int i = 0; i < n; ++i) {
      narrow.push_back(Half(i % 7 == 0 ? any(r) * 1e-6F : any(r)));  // (some are subnormal in float16)
      wide.push_back(static_cast<float>(narrow.back()));
    }
  }
};
/// Dot products of M rows of K numbers with a vector, and the sum of K rows of M numbers, each times one.
template <class Half, int M, int K>
void check_products() {
  CAPTURE(M);
  CAPTURE(K);
  const numbers<Half> a(M * K, M), v(K, K);
  using drx::run::gemm;
  using drx::run::store_to;
  std::vector<float> narrow(M), wide(M);
  const auto compare = [&](auto product) {
    product(a.narrow.data(), narrow.data());
    product(a.wide.data(), wide.data());
    CHECK(std::memcmp(narrow.data(), wide.data(), M * sizeof(float)) == 0);
  };
  const float* x = v.wide.data();
  compare([&](auto* m, float* to) { gemm<float, M, 1, K, false, false>(m, x, store_to<1>(to)); });
  if constexpr (M > 1) compare([&](auto* m, float* to) { gemm<float, 1, M, K, false, true>(x, m, store_to<M>(to)); });
  if constexpr (M >= drx::machine::widest_vector) {
    compare([&](auto* m, float* to) { gemm<float, M, 1, K, true, false>(m, x, store_to<1>(to)); });
    compare([&](auto* m, float* to) { gemm<float, 1, M, K, false, false>(x, m, store_to<M>(to)); });
    compare([&](auto* m, float* to) { gemm<float, 1, M, K, true, false>(x, m, drx::run::add_to<M>(to)); });
  }
}
}  // namespace

TEST_CASE_TEMPLATE("all numbers of 16 bits are widened in packs", Half, bfloat16, float16) {
  constexpr int width = drx::run::pack_width<float>;
  std::vector<Half> all(65536);
  for (int i = 0; i < 65536; ++i) all[static_cast<std::size_t>(i)] = Half::from_bits(static_cast<std::uint16_t>(i));
  int wrong = 0;
  for (int i = 0; i < 65536; i += width) {
    const auto pack = drx::run::load_as<float>(all.data() + i);
    for (int k = 0; k < width; ++k) {
      const float one = all[static_cast<std::size_t>(i + k)], found = pack[k];
      wrong += one == one ? std::bit_cast<std::uint32_t>(one) != std::bit_cast<std::uint32_t>(found) : found == found;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("products with vectors have the bits of the cast matrix", Half, bfloat16, float16) {
  check_products<Half, 1, 1>();
  check_products<Half, 3, 2>();
  check_products<Half, 16, 100>();
  check_products<Half, 100, 16>();
  check_products<Half, 37, 3>();
  check_products<Half, 33, 4>();
  check_products<Half, 20, 7>();
  check_products<Half, 17, 13>();
  check_products<Half, 64, 32>();
  check_products<Half, 300, 600>();
  check_products<Half, 9, 3000>();
}
