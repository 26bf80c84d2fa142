// Prints plans as documents: compiled with DRX_NATIVE_TRACING, it traces and plans the programs itself; without, these
// are constants. (Each statement has one operation: of the operands of one expression, either may be recorded first.)
#include <drx/drx.hpp>
#include <drx/engines/plan_json.hpp>

#include <iostream>

namespace {
struct clients : drx::placement<clients> {};
using weights = drx::array<double, 3>;
using batch = drx::placed<drx::array<double, 5, 3>, clients>;
constexpr auto loss = [](auto w, auto x) {
  auto scores = drx::matmul(x, w);
  auto squares = drx::square(scores);
  return drx::mean(squares);
};
constexpr auto train_locally = [](auto w, auto x) {
  return drx::fori_loop<3>(w, [=](auto v) {
    auto slope = drx::grad(loss)(v, x);
    auto step = 0.1 * slope;
    return v - step;
  });
};
constexpr auto round_of = [](auto w, auto x) {
  auto everywhere = drx::broadcast<clients>(w);
  return drx::reduce_mean(drx::map(train_locally, everywhere, x));
};
constexpr auto rounds = [](auto w, auto x) { return drx::fori_loop<4>(w, [=](auto v) { return round_of(v, x); }); };
constexpr auto total = [](auto w, auto x) { return drx::sum(round_of(w, x)); };
constexpr auto slope_of = [](auto w, auto x) { return drx::grad(total)(w, x); };
}  // namespace

int main() {
  std::cout << drx::plan_json<drx::program<round_of, weights, batch>>().dump(1) << '\n'
            << drx::plan_json<drx::program<rounds, weights, batch>>().dump(1) << '\n'
            << drx::plan_json<drx::program<slope_of, weights, batch>>().dump(1) << '\n';
}
