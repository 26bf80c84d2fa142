// The product of 1000 variables (Speelpenning) and its gradient.
#include "inputs.hpp"

#include <drx/scalar/differentiate.hpp>

#include <algorithm>
#include <utility>
#include <vector>
#ifdef DRX_BENCH_DRX
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>
#endif

namespace ad = drx::ad;
using speelpenning::count, speelpenning::vector;

namespace {

/// By the products before and after each factor: two multiplications for each.
double by_hand(const vector& x, vector& g) {
  double before = 1, behind = 1;
  for (std::size_t i = 0; i < count; ++i) {
    g[i] = before;
    before *= x[i];
  }
  for (std::size_t i = count; i-- > 0;) {
    g[i] *= behind;
    behind *= x[i];
  }
  return before;
}
/// The same for 40 factors at a time, in five vectors: no product waits for the one before it.
double in_lanes(const vector& x, vector& g) {
  typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
  constexpr std::size_t chains = 5, rows = count / (8 * chains);
  static_assert(rows * chains * 8 == count);
  const eight* from = reinterpret_cast<const eight*>(x.data());
  eight* to = reinterpret_cast<eight*>(g.data());
  eight before[chains], behind[chains], left = 1.0 - eight{}, right = left, elsewhere{};
  for (auto& b : before) b = left;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < chains; ++c) {
      to[r * chains + c] = before[c];
      before[c] *= from[r * chains + c];
    }
  for (std::size_t c = 0; c < chains; left *= before[c++]) behind[c] = left;
  for (std::size_t c = chains; c-- > 0; right *= before[c]) behind[c] *= right;
  double first = 1, last = 1;  // left holds the product of each lane
  for (int l = 0; l < 8; first *= left[l++]) elsewhere[l] = first;
  for (int l = 8; l-- > 0; last *= left[l]) elsewhere[l] *= last;
  for (auto& b : behind) b *= elsewhere;
  for (std::size_t r = rows; r-- > 0;)
    for (std::size_t c = 0; c < chains; ++c) {
      to[r * chains + c] *= behind[c];
      behind[c] *= from[r * chains + c];
    }
  return first;
}
constexpr auto loop = [](const auto& x) {
  auto y = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) y *= x[i];
  return y;
};

#ifdef DRX_BENCH_DRX
constexpr auto product = [](auto x) { return drx::value_and_grad([](auto v) { return drx::prod(v); })(x); };
using Program = drx::program<product, drx::array<double, static_cast<std::int64_t>(count)>>;
#endif

}  // namespace

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const vector x = speelpenning::factors();
  const ad::arena memory(1 << 18);
  speelpenning::add(suite, "by hand", [&](vector& g) { benchmark::DoNotOptimize(by_hand(x, g)); });
  speelpenning::add(suite, "by hand, in lanes", [&](vector& g) { benchmark::DoNotOptimize(in_lanes(x, g)); });
  // The loop is differentiated as the scalar peers do it; ad::prod is one statement, whose derivative the library
  // knows.
  speelpenning::add(suite, "drx",
                    [&](vector& g) { benchmark::DoNotOptimize(ad::value_and_gradient_into(g, loop, x, memory)); });
  speelpenning::add(suite, "drx, ad::prod", [&](vector& g) {
    benchmark::DoNotOptimize(ad::value_and_gradient_into(g, [](const auto& v) { return ad::prod(v); }, x, memory));
  });
#ifdef DRX_BENCH_DRX
  drx::serial_executor threads;
  drx::single_rank rank;
  drx::compiled<Program> program(threads, rank);
  drx::array<double, static_cast<std::int64_t>(count)> factors;
  std::copy(x.begin(), x.end(), factors.begin());
  speelpenning::add(suite, "drx, arrays", [&](vector& g) {
    const auto result = program(factors);
    std::copy(std::get<1>(result).begin(), std::get<1>(result).end(), g.begin());
  });
#endif
#ifdef DRX_BENCH_ADOLC
  speelpenning::add_adolc(suite, x);
#endif
#ifdef DRX_BENCH_SACADO
  speelpenning::add_sacado(suite, x);
#endif
#ifdef DRX_BENCH_STAN
  speelpenning::add_stan(suite, x);
#endif
  return suite.run();
}
