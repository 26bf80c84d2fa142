// A branch whose two functions return different types: both are named.
// expect: error::branches_return_different_types<.*array<float, 3>.*array<float>
// expect: then\(x\.\.\.\) and otherwise\(x\.\.\.\) return the same type
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::cond(drx::sum(x) > 0, [](auto v) { return v * 2; }, [](auto v) { return drx::sum(v); }, x);
  // correct: auto y = drx::cond(drx::sum(x) > 0, [](auto v) { return v * 2; }, [](auto v) { return v; }, x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
