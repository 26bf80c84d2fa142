// Calls of ordinary C++ in compiled programs against the plain interpreter: kernels, batches in lanes, tapes in
// members.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <array>

using drx::array;
using drx::placed;
using drx::program;
namespace ad = drx::ad;

namespace {

struct rows : drx::placement<rows> {};
using v3 = array<double, 3>;

/// Without branches: runs in lanes.
struct bump {
  template <class S>
  auto operator()(const std::array<S, 3>& w, const std::array<S, 3>& x, const S& y) const {
    S z = 0;
    for (std::size_t i = 0; i < 3; ++i) z += w[i] * x[i];
    using std::exp;
    return std::array<S, 2>{exp(-z * z) - y, ad::select(z > 0, z, S(0.1 * z))};
  }
};
template <auto... Options>
constexpr auto fit = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(
      [](auto v, auto d) {
        const auto error = drx::call<Options...>(bump{}, v, d, drx::index<0>(d));
        return drx::sum(error * error);
      },
      drx::broadcast<rows>(w), data));
};
template <auto... Options>
constexpr auto slope = [](auto w, auto data) { return drx::grad(fit<Options...>)(w, data); };

/// Branches on values: one member after the other.
struct collatz {
  template <class S>
  S operator()(const S& x, std::int32_t n) const {
    S y = x;
    for (int i = 0; i < n; ++i) {
      if (y > 1)
        y = y / 2;
      else
        y = 3 * y + x;
    }
    return y;
  }
};
constexpr auto walk = [](auto x, auto n) {
  return drx::map([](auto a, auto b) { return drx::call(collatz{}, a, b); }, x, n);
};

}  // namespace

TEST_CASE("calls in members: lanes and single ones give what the interpreter does") {
  harness::check_run<program<slope<ad::packs, ad::reverse>, v3, placed<v3, rows>>>();
  harness::check_run<program<slope<ad::forward>, v3, placed<v3, rows>>>();
  harness::check_run<program<walk, placed<double, rows>, placed<std::int32_t, rows>>>();
}
