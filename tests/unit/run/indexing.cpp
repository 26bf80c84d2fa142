// Programs that read and write at positions, fold along axes and sort, run by drx::compiled and by the plain
// interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
template <class T, int... E>
using of = array<T, E...>;
using words = of<std::int32_t, 2, 3>;

template <auto F, class... X>
void check(const harness::sample& s = {}) {
  harness::check_run<program<F, X...>>(s, {0, 0});
}
}  // namespace

TEST_CASE("parts at traced positions") {
  static constexpr auto f = [](auto x, auto piece, auto cube, auto i, auto l) {
    auto part = drx::dynamic_slice<2, 3>(x, i, l - 9);
    return std::tuple{part,
                      drx::dynamic_slice<2>(x, i - 3) * 2,
                      drx::index(x, l),
                      drx::index(cube, i, l),
                      drx::dynamic_slice<4, 1, 2>(cube, i, l, i),
                      drx::update_slice(x, piece, i - 4, l),
                      drx::update_slice(x, drx::slice<0, 1>(x), i),
                      drx::update_slice(drx::zeros<of<float, 4, 5>>(), part, l, i),
                      drx::update_slice(drx::full<of<float, 4, 5>>(2), part, l, 1) + x,
                      drx::dynamic_slice<0, 2>(x, i, i),
                      drx::index(x, 2)};
  };
  check<f, of<float, 4, 5>, of<float, 1, 2>, of<float, 4, 3, 2>, std::int32_t, std::int64_t>({.below = 7});
}

TEST_CASE("elements at arrays of positions, folds along an axis, orders") {
  static constexpr auto f = [](auto x, auto rows, auto updates, auto w, auto along) {
    return std::tuple{drx::take(x, w),
                      drx::take<1>(x, w - 2),
                      drx::take<1>(x, 3) + drx::take<-1>(x, drx::sum(w)),
                      drx::take_along<0>(x, along),
                      drx::take_along(x, drx::argsort(x)),
                      drx::scatter_add(x, w, rows),
                      drx::scatter_add<1>(x, w, updates),
                      drx::flip(x),
                      drx::flip<1>(w) * 2,
                      drx::cumsum<0>(x),
                      drx::cumsum<1, drx::direction::backward>(w),
                      drx::cumprod(x),
                      drx::cumprod<0, drx::direction::backward>(x),
                      drx::cummax<0>(x),
                      drx::cummin<1, drx::direction::backward>(w)};
  };
  check<f, of<double, 4, 5>, of<double, 2, 3, 5>, of<double, 4, 2, 3>, words, of<std::int64_t, 7, 5>>({.below = 6});
  static constexpr auto g = [](auto x, auto i) {
    return std::tuple{drx::prod(x),
                      drx::prod<0, 2>(x),
                      drx::prod<1>(x),
                      drx::prod(i),
                      drx::argsort<0>(i),
                      drx::sort<1>(x),
                      drx::sort(i),
                      drx::argsort(x),
                      drx::sort(i > 2),
                      drx::flip<0, 2>(x),
                      drx::argmax(x),
                      drx::argmin<1>(x),
                      drx::argmax<0>(i),
                      drx::grad([](auto v) { return drx::sum(drx::square(drx::cummax(v) + drx::cummin<1>(v))); })(x)};
  };
  check<g, of<float, 3, 4, 37>, words>();
}

TEST_CASE("axes without elements and of one element") {
  static constexpr auto f = [](auto x, auto none, auto no_words, auto one) {
    return std::tuple{drx::take(x, no_words),
                      drx::scatter_add(x, no_words, none),
                      drx::dynamic_slice<0>(none, one),
                      drx::update_slice(x, none, one),
                      drx::flip(none),
                      drx::cumsum<0>(none),
                      drx::cumprod(none),
                      drx::prod(none),
                      drx::prod<0>(none),
                      drx::prod<1>(none),
                      drx::sort<0>(none),
                      drx::argsort(none),
                      drx::take(none, no_words),
                      drx::cumsum(drx::cast<float>(one) + x),
                      drx::take_along<0>(x, drx::cast<int>(none)),
                      drx::sort(drx::reshape<2, 1>(drx::slice<0, 2>(drx::reshape<5>(x))))};
  };
  check<f, of<float, 1, 5>, of<float, 0, 5>, of<std::int32_t, 0>, std::int32_t>();
}

TEST_CASE("loops that update their carry") {
  static constexpr auto f = [](auto x, auto v) {
    auto row = [](auto y) { return drx::reshape<1, 5>(y); };
    auto rows = drx::fori_loop<4>(
        x, [=](auto i, auto c) { return drx::update_slice(c, row(drx::tanh(drx::index(c, i - 1) + v)), i); });
    auto twice = drx::fori_loop<3>(x, [=](auto i, auto c) {
      auto first = drx::update_slice(c, row(v), i);
      return drx::update_slice(first, row(drx::index(c, i) + drx::index(first, 3)), i + 1);
    });
    auto pair = drx::fori_loop<3>(std::tuple{x, x * 2}, [=](auto i, auto c) {
      auto [a, b] = c;
      return std::tuple{drx::update_slice(b, row(drx::index(a, i)), i),
                        drx::update_slice(a, row(drx::sum<0>(b)), 2) * 0.5};
    });
    auto kept = drx::scan(
        [=](auto c, auto s) {
          auto next = drx::update_slice(c, row(s), drx::cast<int>(drx::sum(s) * 3));
          return std::pair{next, drx::sum<0>(c) + drx::sum<0>(next)};
        },
        x, x);
    auto y = x + 1;
    return std::tuple{
        rows, twice, pair, kept, drx::update_slice(y, drx::slice<0, 2>(y), 1), drx::update_slice(x * 3, row(v), 2)};
  };
  check<f, of<float, 4, 5>, of<float, 5>>();
}

namespace {
struct rows : drx::placement<rows> {};
constexpr auto single_numbers = [](auto table, auto first, auto second) {
  auto one = [](auto t, auto i, auto j) {
    auto own = t * drx::cast<float>(i);
    return std::tuple{drx::index(t, i - 4), drx::index(own, j - 9), drx::index(t, j + drx::cast<std::int64_t>(i)),
                      drx::take(t, drx::stack(i, i - 6, i + 2)), drx::index(drx::reshape<7>(t), drx::cast<int>(j) % 7)};
  };
  auto slope = [=](auto t) {
    auto of_member = [=](auto own, auto i, auto j) {
      return drx::exp(drx::index(own, i - 4)) * drx::index(own, j - 9) + drx::index(own, j);
    };
    return drx::reduce_mean(drx::map(of_member, drx::broadcast<rows>(t), first, second));
  };
  return std::tuple{drx::map(one, drx::broadcast<rows>(table), first, second), drx::grad(slope)(table)};
};
}  // namespace

TEST_CASE("single numbers at a position of each member, inside and outside of the array") {
  using P = program<single_numbers, of<float, 7>, drx::placed<std::int32_t, rows>, drx::placed<std::int64_t, rows>>;
  harness::check_run<P>({.below = 12}, {0, 1, 33, 71, 300, 16500});
}

namespace {
constexpr auto at_edges = [](auto table, auto rows, auto updates, auto first, auto last) {
  auto one = [](auto t, auto i) { return drx::index(t, i); };
  return std::tuple{drx::take(table, first),
                    drx::take(table, -first - 1),
                    drx::take(table, first + 1),
                    drx::take(rows, first + 1),
                    drx::scatter_add(table, first, updates),
                    drx::scatter_add(table, first - 1, updates),
                    drx::map(one, drx::broadcast<::rows>(table), last),
                    drx::map(one, drx::broadcast<::rows>(table), last + 1),
                    drx::map(one, drx::broadcast<::rows>(table), -last - 1)};
};
template <class T, class Index, int Count>
void check_at_edges() {
  using P = program<at_edges, of<T, 7>, of<T, 7, 3>, of<T, Count>, of<Index, Count>, drx::placed<Index, rows>>;
  harness::check_run<P>({.below = 7}, {0, 64, 16387});
}
}  // namespace

TEST_CASE("single numbers at many positions, which are all inside of the array, or lie on its edges") {
  check_at_edges<double, std::int32_t, 67>();
  check_at_edges<float, std::int64_t, 130>();
  check_at_edges<std::int32_t, std::int32_t, 66>();
}
