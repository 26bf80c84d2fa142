// The identity is a vector, and members are numbers.
// expect: drx: reduce_with\(monoid, placed\)
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto times = [](auto a, auto b) { return a * b; };
constexpr auto f = [](auto x, auto i) {
  constexpr auto one = [] { return drx::ones<drx::array<double, 2>>(); };
  // correct: constexpr auto one = [] { return drx::ones<drx::array<double>>(); };
  auto y = drx::reduce_with(drx::monoid{times, one}, x) + i;
  return drx::sum(y);
};
using F = drx::program<f, drx::placed<double, clients>, double>;
const auto& tape = F::tape();
