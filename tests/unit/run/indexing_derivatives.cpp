// Programs that differentiate through positions, in blocks of members too, run by drx::compiled and by the plain
// interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class T, int... E>
using of = array<T, E...>;
using words = of<std::int32_t, 2, 3>;
using table = of<double, 5, 2>;
using square = of<double, 2, 2>;

template <auto F, class... X>
void check(const harness::sample& s = {}) {
  harness::check_run<program<F, X...>>(s, {0, 0});
}
constexpr auto loss = [](auto t, auto x, auto w, auto i) {
  auto taken = drx::take(t, w);
  auto s = drx::sort<1>(x);
  auto part = drx::dynamic_slice<2, 2>(t, i, i) + drx::update_slice(x, drx::slice<0, 1>(x), i);
  return drx::sum(drx::square(taken)) + drx::sum(s * drx::cumprod(x)) + drx::prod(part) +
         drx::sum(drx::cumsum(drx::flip(s)) * x);
};
constexpr auto mean_loss = [](auto rows, auto xs, auto ws, auto is) {  // products of vectors: members in blocks
  return drx::reduce_mean(drx::map(
      [](auto t, auto x, auto w, auto i) {
        auto part = drx::update_slice(x, drx::dynamic_slice<1, 2>(t, i, 0), i);
        return drx::sum(drx::matmul(drx::take(t, w), drx::index(t, i))) + drx::prod(part);
      },
      drx::broadcast<clients>(rows), xs, ws, is));
};
constexpr auto mean_of_rows = [](auto rows, auto xs, auto ws) {
  return drx::reduce_mean(drx::map(
      [](auto t, auto x, auto w) {
        return drx::sum(drx::matmul(drx::take(t, w), drx::index<0>(x)) * drx::sum(drx::index(t, drx::sum(w))));
      },
      drx::broadcast<clients>(rows), xs, ws));
};
}  // namespace

TEST_CASE("derivatives, and in maps") {
  static constexpr auto g = [](auto... x) { return drx::value_and_grad<0, 1>(loss)(x...); };
  check<g, table, square, words, std::int32_t>();
  static constexpr auto in_map = [](auto t, auto xs, auto ws, auto is) {
    return drx::value_and_grad(mean_loss)(t, xs, ws, is);
  };
  harness::check_run<program<in_map, table, drx::placed<square, clients>, drx::placed<words, clients>,
                             drx::placed<std::int32_t, clients>>>({}, {5, 1, 37, 0});
  static constexpr auto of_rows = [](auto t, auto xs, auto ws) { return drx::grad(mean_of_rows)(t, xs, ws); };
  using P = program<of_rows, table, drx::placed<square, clients>, drx::placed<words, clients>>;
  harness::check_run<P>({}, {37});
  const std::string plan = show(drx::plan::staged_program<P>::tape_constant().thaw());
  CHECK(plan.find("blocks of 128, 32, 8]") != std::string::npos);
  CHECK(plan.find("f64[128,5,2]") == std::string::npos);
  CHECK(plan.find("f64[32,5,2]") == std::string::npos);  // no table for each member of a block
}
