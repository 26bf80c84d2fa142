// Programs of map and reduce, run by drx::compiled and by the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
struct words : drx::placement<words> {};
struct sites : drx::placement<sites> {};
using v3 = array<float, 3>;
using d3 = array<double, 3>;

template <auto F, class... X>
void check(const harness::sample& s = {}, const std::vector<std::int64_t>& members = {5, 0, 1, 2, 37},
           const drx::compile_options& options = {}) {
  harness::check_run<program<F, X...>>(s, members, options);
}

constexpr auto product =
    drx::monoid{[](auto a, auto b) { return a * b; }, 1, [](auto x, auto y, auto ct) { return ct * y / x; }};
constexpr auto of_words = [](auto w, auto x) {
  return drx::reduce_mean(drx::map(
      [](auto p, auto c) {
        return drx::reduce_sum(drx::map(
            [](auto q, auto r) {
              return drx::reduce_mean(
                  drx::map([](auto u, auto v) { return drx::sum(drx::tanh(u * v)); }, drx::broadcast<words>(q), r));
            },
            drx::broadcast<rows>(p), c));
      },
      drx::broadcast<clients>(w), x));
};
constexpr auto squared = [](auto w, auto x) {
  auto d = drx::tanh(w * x) - x;
  return drx::sum(d * d);
};
constexpr auto training = [](auto w, auto x) {
  return drx::fori_loop<4>(w, [=](auto i, auto p) {
    auto slope = drx::reduce_mean(drx::map(drx::grad(squared), drx::broadcast<clients>(p), x));
    return p - slope / (2 + drx::cast<double>(i));
  });
};
}  // namespace

TEST_CASE("every reduction in one stage, with results that are placed") {
  static constexpr auto f = [](auto w, auto x, auto n) {
    auto y = drx::map([](auto p, auto v) { return drx::tanh(p * v); }, drx::broadcast<clients>(w), x);
    auto m = drx::map([](auto k) { return 2 * k; }, n);
    return std::tuple{drx::reduce_sum(y),
                      drx::reduce_mean(x),
                      drx::reduce_max(y),
                      drx::reduce_min(x),
                      drx::reduce_sum(m),
                      drx::reduce_max(m),
                      drx::reduce_with(product, y),
                      drx::reduce_mean(n),
                      y,
                      m,
                      x,
                      drx::count(x),
                      drx::map([](auto v) { return v > 0; }, x)};
  };
  check<f, v3, placed<v3, clients>, placed<int, clients>>();
}

TEST_CASE("members by number, weights") {
  static constexpr auto f = [](auto x, auto w, auto i) {
    auto values = drx::map([](auto t) { return std::get<0>(t); }, x);
    auto numbered = drx::map([](auto v, auto k) { return v * drx::cast<float>(k) + drx::cast<float>(k); }, values,
                             drx::partition_index<clients>());
    return std::tuple{drx::select(x, i), drx::select(x, 1), drx::reduce_weighted_mean(values, w),
                      drx::reduce_sum(numbered), numbered};
  };
  check<f, placed<std::tuple<v3, int>, clients>, placed<float, clients>, int>({.low = .1});
}

TEST_CASE("stages that follow each other, and a loop around them") {
  static constexpr auto f = [](auto x) {
    auto mean = drx::reduce_mean(x);
    auto centred = x - drx::broadcast<clients>(mean);
    auto deviation = drx::sqrt(drx::reduce_mean(centred * centred) + .01);
    auto scaled = centred / drx::broadcast<clients>(deviation);
    return std::tuple{mean, deviation, drx::reduce_max(scaled), scaled,
                      drx::reduce_sum(drx::map([](auto a, auto b) { return drx::sum(a * b); }, x, scaled))};
  };
  check<f, placed<d3, clients>>();
  check<training, d3, placed<d3, clients>>();
  static constexpr auto tuned = [](auto w, auto x) {
    return drx::value_and_grad<0>([](auto p, auto d) {
      return drx::reduce_sum(drx::map(squared, drx::broadcast<clients>(training(p, d)), d));
    })(w, x);
  };
  check<tuned, d3, placed<d3, clients>>({}, {5, 0, 33});
}

TEST_CASE("two placements beside each other") {
  static constexpr auto f = [](auto x, auto y) {
    auto a = drx::reduce_mean(x);
    auto b = drx::reduce_sum(drx::map([](auto p, auto v) { return drx::sum(p * v); }, drx::broadcast<sites>(a), y));
    auto c = drx::reduce_max(drx::map([](auto p, auto v) { return p * v; }, drx::broadcast<clients>(b), x));
    return std::tuple{a, b, c, drx::reduce_min(y)};
  };
  check<f, placed<v3, clients>, placed<v3, sites>>();
}

TEST_CASE("nested placements with different numbers of members") {
  static constexpr auto f = [](auto w, auto x) {
    auto of_client = [](auto p, auto r) {
      auto loss = drx::map([](auto q, auto v) { return drx::sum(drx::tanh(q * v)); }, drx::broadcast<rows>(p), r);
      return std::tuple{drx::reduce_sum(loss), drx::reduce_mean(r), drx::reduce_max(loss), drx::count<float>(r), loss};
    };
    auto y = drx::map(of_client, drx::broadcast<clients>(w), x);
    auto sums = drx::map([](auto t) { return std::get<0>(t); }, y);
    auto counts = drx::map([](auto t) { return std::get<3>(t); }, y);
    return std::tuple{drx::reduce_sum(sums),
                      drx::reduce_sum(counts),
                      drx::reduce_max(drx::map([](auto t) { return std::get<1>(t); }, y)),
                      sums,
                      drx::map([](auto t) { return std::get<4>(t); }, y),
                      x};
  };
  check<f, v3, placed<placed<v3, rows>, clients>>();
  check<f, v3, placed<placed<v3, rows>, clients>>({.nested = 71}, {7});
}

TEST_CASE("three placements in each other, and the gradient of their means") {
  static constexpr auto f = [](auto w, auto x) { return drx::value_and_grad(of_words)(w, x); };
  check<f, d3, placed<placed<placed<d3, words>, rows>, clients>>({}, {4, 0, 1});
}

TEST_CASE("a round of federated averaging, its gradient in the rate") {
  static constexpr auto f = [](auto m, auto rate, auto data) {
    return drx::value_and_grad<1>([](auto m0, auto r0, auto d0) {
      auto local = [](auto p, auto r, auto rs) {
        return drx::fori_loop<3>(p, [=](auto q) {
          return q - r * drx::grad([](auto z, auto v) {
                       return drx::reduce_mean(drx::map(squared, drx::broadcast<rows>(z), v));
                     })(q, rs);
        });
      };
      auto models = drx::map(local, drx::broadcast<clients>(m0), drx::broadcast<clients>(r0), d0);
      auto mean = drx::reduce_mean(models);
      return drx::reduce_sum(
          drx::map([](auto p, auto rs) { return drx::reduce_mean(drx::map(squared, drx::broadcast<rows>(p), rs)); },
                   drx::broadcast<clients>(mean), d0));
    })(m, rate, data);
  };
  check<f, d3, double, placed<placed<d3, rows>, clients>>({}, {4, 0, 1});
}

TEST_CASE("gradients of each reduction, in placed and unplaced arguments") {
  static constexpr auto f = [](auto w, auto x, auto k) {
    return drx::value_and_grad<0, 1, 2>([](auto p, auto v, auto u) {
      auto y = drx::map([](auto a, auto b) { return drx::sin(a * b) + 2; }, drx::broadcast<clients>(p), v);
      return drx::sum(drx::reduce_sum(y) * drx::reduce_mean(v)) + drx::sum(drx::reduce_max(y) - drx::reduce_min(v)) +
             drx::sum(drx::reduce_with(product, y)) * .01 + drx::sum(drx::reduce_weighted_mean(y, u)) +
             drx::sum(drx::select(v, 1));
    })(w, x, k);
  };
  check<f, d3, placed<d3, clients>, placed<double, clients>>({.low = .2}, {5, 1, 2, 9});
}

TEST_CASE("no argument tells the number of members, or there are no placed values at all") {
  static constexpr auto f = [](auto w) {
    auto each = drx::map([](auto p) { return drx::tanh(p) * 2; }, drx::broadcast<clients>(w));
    return std::tuple{drx::reduce_sum(each), drx::reduce_mean(each), each};
  };
  check<f, v3>({}, {0}, {.members = {drx::members<clients>(6)}});
  check<f, v3>({}, {0}, {.members = {drx::members<clients>(0)}});
  using P = program<f, v3>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  CHECK_THROWS_WITH_AS(p(v3{}), doctest::Contains("no argument tells how many members"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(drx::compiled<P>(e, c, {.members = {drx::members<clients>(-1)}}),
                       "drx: compile_options::members: -1 of clients", std::invalid_argument);
}

TEST_CASE("no argument tells how many members each member has") {
  static constexpr auto f = [](auto w, auto x) {
    return drx::map(
        [=](auto v) {
          auto each =
              drx::map([=](auto k) { return drx::tanh(v * drx::cast<double>(k)) + w; }, drx::partition_index<rows>());
          return drx::reduce_sum(drx::map(
              [](auto u) {
                return u * drx::reduce_sum(drx::map([](auto t) { return drx::sum(t); }, drx::broadcast<words>(u)));
              },
              each));
        },
        x);
  };
  const drx::compile_options both{.members = {drx::members<words>(2), drx::members<rows>(3)}};
  check<f, d3, placed<d3, clients>>({}, {4, 0, 1, 5}, both);
  drx::serial_executor e;
  drx::single_rank c;
  static constexpr auto sums = [](auto x) { return drx::map([](auto own) { return drx::reduce_sum(own); }, x); };
  drx::compiled<program<sums, placed<placed<double, rows>, clients>>> p(e, c, {.members = {drx::members<rows>(2)}});
  const auto two = drx::place_nested<clients, rows>(c, 3, [](std::int64_t) { return std::vector<double>(2); });
  const auto own = drx::place_nested<clients, rows>(
      c, 3, [](std::int64_t i) { return std::vector<double>(static_cast<std::size_t>(i)); });
  CHECK_NOTHROW((void)p(two));
  CHECK_THROWS_WITH_AS(
      (void)p(own),
      "drx: compile_options::members: 2 of rows at each member of clients; the arguments, or the program, have 0",
      std::invalid_argument);
}

TEST_CASE("arguments that disagree are refused, with the numbers") {
  static constexpr auto f = [](auto x, auto y, auto z) { return std::pair{drx::reduce_sum(x + y), z * 2}; };
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<program<f, placed<float, clients>, placed<float, clients>, v3>> p(e, c);
  const auto one = [](std::int64_t i) { return static_cast<float>(i); };
  const auto four = drx::place<clients>(c, 4, one), five = drx::place<clients>(c, 5, one);
  CHECK_THROWS_WITH_AS(p(four, five, v3{}), "drx: argument 1 has 5 members of clients; an earlier argument has 4",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(p(four, four.subset({0, 1, 2}, 0), v3{}), doctest::Contains("has 3 members"),
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(p(five.subset({0, 1}, 0), five.subset({0, 2}, 0), v3{}), doctest::Contains("another subset"),
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(p(four, four, std::vector<float>(4)),
                       doctest::Contains("argument 2 has 4 elements; the program takes f32[3]"), std::invalid_argument);
  const auto [sum, twice] = p(four, four, std::vector<float>{1, 2, 3});
  CHECK(sum == 12);
  CHECK(twice[2] == 6);
  const auto chosen = p(five.subset({1, 4}, 0), five.subset({1, 4}, 0), v3{});
  CHECK(chosen.first == 10);
}
