// processors: aarch64
#include <drx/run/gemm/gemm.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using drx::run::pack;
using drx::run::pack_width;

template <class T>
std::vector<T> draw(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x)
    v = static_cast<T>(static_cast<int>(random() % 17) - 8) / static_cast<T>(std::is_integral_v<T> ? 1 : 4);
  return x;
}

/// C += op(A) op(B). The inputs are small multiples of 1 / 4, so that every sum is exact and may be compared with ==.
template <class T, int M, int N, int K, bool TransA, bool TransB>
void check() {
  const auto a = draw<T>(M * K, 1), b = draw<T>(K * N, 2);
  std::vector<T> c = draw<T>(M * N + 1, 3), expected = c;  // the one element more guards the end
  drx::run::gemm<T, M, N, K, TransA, TransB>(a.data(), b.data(), drx::run::add_to<N>(c.data()));
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        expected[static_cast<std::size_t>(i * N + j)] += a[static_cast<std::size_t>(TransA ? k * M + i : i * K + k)] *
                                                         b[static_cast<std::size_t>(TransB ? j * K + k : k * N + j)];
  CAPTURE(M);
  CAPTURE(N);
  CAPTURE(K);
  CAPTURE(TransA);
  CAPTURE(TransB);
  CHECK(c == expected);
}

template <class T, int M, int N, int K>
void check_all() {
  check<T, M, N, K, false, false>();
  check<T, M, N, K, false, true>();
  check<T, M, N, K, true, false>();
  check<T, M, N, K, true, true>();
}

}  // namespace

TEST_CASE("gemm agrees with the definition") {
  check_all<float, 1, 1, 1>();
  check_all<float, 1, 19, 7>();
  check_all<float, 13, 1, 21>();
  check_all<float, 3, 5, 2>();
  check_all<float, 7, 10, 33>();
  check_all<float, 29, 37, 18>();
  check_all<double, 2, 3, 5>();
  check_all<double, 7, 10, 9>();
  check_all<double, 16, 12, 8>();
}

namespace {
template <class T, int... K>
void check_short_rows(std::integer_sequence<int, K...>) {
  (check<T, 37, 1, K + 1, false, false>(), ...);
  (check<T, 2, 1, K + 1, false, false>(), ...);
  (check<T, 1, 16, K + 1, false, true>(), ...);
}
}  // namespace

TEST_CASE("gemm of rows shorter than a pack keeps an infinity in its row") {
  constexpr int M = 37, K = 11;
  auto a = draw<float>(M * K, 1);
  const auto x = draw<float>(K, 2);
  for (const int row : {0, 17, M - 2, M - 1})
    for (const int k : {0, K - 1}) {
      auto b = a;
      b[static_cast<std::size_t>(row * K + k)] = std::numeric_limits<float>::infinity();
      std::vector<float> c(M);
      drx::run::gemm<float, M, 1, K, false, false>(b.data(), x.data(), drx::run::store_to<1>(c.data()));
      CAPTURE(row);
      CAPTURE(k);
      for (int i = 0; i < M; ++i) CHECK(std::isfinite(c[static_cast<std::size_t>(i)]) == (i != row));
    }
}

TEST_CASE("gemm of rows shorter than a pack and a vector") {
  check_short_rows<float>(std::make_integer_sequence<int, 18>{});
  check_short_rows<double>(std::make_integer_sequence<int, 10>{});
}

TEST_CASE("gemm of few columns") {
  check_all<float, 32, 10, 5>();
  check_all<float, 48, 7, 19>();
  check_all<float, 8, 3, 6>();
  check_all<double, 16, 5, 7>();
}

TEST_CASE("gemm of few rows along long ones") {
  check_all<float, 10, 32, 128>();
  check_all<float, 3, 48, 32>();
  check_all<double, 7, 16, 64>();
}

TEST_CASE("gemm of one row, or one column, with a few results") {
  check_all<float, 1, 8, 32>();  // several rows of the matrix in a pack
  check_all<float, 1, 2, 37>();
  check_all<float, 1, 4, 255>();
  check_all<float, 8, 1, 40>();
  check_all<double, 1, 4, 50>();
  check_all<double, 2, 1, 8>();
  check_all<float, 1, 20, 33>();  // in several chains of additions
  check_all<float, 2, 16, 70>();
  check_all<double, 4, 8, 19>();
  check_all<double, 1, 10, 600>();
}

TEST_CASE("transposes of whole packs, of few columns, of few rows, and of others") {
  const auto turn = []<class T, int Rows, int Cols>(T, std::integral_constant<int, Rows>,
                                                    std::integral_constant<int, Cols>) {
    const auto x = draw<T>(Rows * Cols, 4);
    std::vector<T> y(x.size() + 1, T(77));
    drx::run::transpose<Rows, Cols>(x.data(), y.data());
    bool same = y.back() == T(77);
    for (std::size_t i = 0; i < x.size(); ++i) same = same && y[i % Cols * Rows + i / Cols] == x[i];
    CAPTURE(Rows);
    CAPTURE(Cols);
    CHECK(same);
  };
  const auto both = [&](auto rows, auto cols) {
    turn(1.0f, rows, cols), turn(1.0, rows, cols), turn(1.0f, cols, rows), turn(1.0, cols, rows);
  };
  both(std::integral_constant<int, 19>{}, std::integral_constant<int, 37>{});
  both(std::integral_constant<int, 10>{}, std::integral_constant<int, 64>{});
  both(std::integral_constant<int, 3>{}, std::integral_constant<int, 16>{});
  both(std::integral_constant<int, 5>{}, std::integral_constant<int, 7>{});
  both(std::integral_constant<int, 1>{}, std::integral_constant<int, 32>{});
}

TEST_CASE("gemm in shapes that block or copy") {
  check<float, 50, 272, 3, false, false>();   // wide rows, copied
  check<float, 260, 35, 700, true, false>();  // wide rows of A, copied
  check<float, 300, 18, 1100, false, true>();
  check<double, 9, 9, 2100, true, true>();
  check<float, 2, 17, 700, false, true>();
}

TEST_CASE("gemm of long sums, in parts") {
  check_all<float, 3, 5, 257>();
  check_all<float, 2, 3, 70'001>();  // parts of parts
  check_all<double, 1, 150, 700>();
  check_all<float, 150, 1, 513>();
  check<float, 1, 2100, 300, false, false>();  // wide rows, in bands
  check<float, 48, 10, 30'000, false, false>();
  check<std::int32_t, 2, 2, 600, false, true>();
}

TEST_CASE("store overwrites") {
  const auto a = draw<float>(9 * 4, 1), b = draw<float>(4 * 10, 2);
  std::vector<float> zero(90), stored(90, 77.0f);
  drx::run::gemm<float, 9, 10, 4, false, false>(a.data(), b.data(), drx::run::add_to<10>(zero.data()));
  drx::run::gemm<float, 9, 10, 4, false, false>(a.data(), b.data(), drx::run::store_to<10>(stored.data()));
  CHECK(stored == zero);
}

/// Takes packs beside the next tile's products, or whole tiles, and adds them up: each must come once.
template <class T, int N>
struct beside {
  using takes_tiles = void;
  using beside_products = void;
  drx::run::detail::add_epilogue<T, N> add;
  void operator()(int row, int col, pack<T> value) const { add(row, col, value); }
  template <int Cols>
  void finish(const T* tile, int row, int rows, int col) const {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < Cols; ++c) add(row + r, col + c, tile[r * Cols + c]);
  }
};
template <class T, int M, int N, int K, bool TransA, bool TransB = false>
void check_beside() {
  CAPTURE(M);
  CAPTURE(N);
  CAPTURE(K);
  const auto a = draw<T>(M * K, 1), b = draw<T>(K * N, 2);
  std::vector<T> c = draw<T>(M * N, 3), expected = c;
  drx::run::gemm<T, M, N, K, TransA, TransB>(a.data(), b.data(), beside<T, N>{drx::run::add_to<N>(c.data())});
  drx::run::gemm<T, M, N, K, TransA, TransB>(a.data(), b.data(), drx::run::add_to<N>(expected.data()));
  CHECK(c == expected);
}
TEST_CASE("an epilogue beside the next tile's products") {
  check_beside<float, 32, 64, 70, false>();
  check_beside<float, 19, 96, 20, true>();  // tiles of two heights, few steps
  check_beside<float, 7, 48, 3, false>();   // panels of two widths with packs of 16
  check_beside<float, 1, 16, 1, true>();
  check_beside<double, 9, 32, 5, false>();
  check_beside<double, 51, 128, 40, false>();  // copied panels
  check_beside<float, 20, 64, 24, false, true>();
}

TEST_CASE("gemm of integers and of nothing") {
  check_all<std::int32_t, 5, 6, 7>();
  check_all<std::int64_t, 3, 2, 9>();
  check<float, 0, 3, 4, false, false>();
  check<float, 3, 0, 4, true, false>();
  check<float, 3, 11, 0, false, true>();
}

TEST_CASE("each result reaches the epilogue once, and its bits do not depend on alignment") {
  constexpr int M = 11, N = 21, K = 40;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(M * K + K * N);
  for (float& v : values) v = uniform(random);
  std::vector<float> first;
  for (std::size_t shift = 0; shift < 16; ++shift) {
    std::vector<float> moved(values.size() + shift), c(M * N);
    std::copy(values.begin(), values.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    std::vector<int> count(M * N);
    const float* a = moved.data() + shift;
    drx::run::gemm<float, M, N, K, false, false>(a, a + M * K, [&](int row, int col, auto value) {
      constexpr int width = std::is_same_v<decltype(value), float> ? 1 : pack_width<float>;
      for (int j = 0; j < width; ++j) {
        const auto at = static_cast<std::size_t>(row * N + col + j);
        if constexpr (width == 1)
          c[at] = value;
        else
          c[at] = value[j];
        ++count[at];
      }
    });
    CHECK(std::all_of(count.begin(), count.end(), [](int n) { return n == 1; }));
    if (shift == 0) first = c;
    CHECK(std::memcmp(first.data(), c.data(), c.size() * sizeof(float)) == 0);
  }
}
