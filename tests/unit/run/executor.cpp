// processors: aarch64
// Programs of arrays, run by drx::compiled and by the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
using m35 = array<float, 3, 5>;
using m31 = array<float, 3, 1>;
using v5 = array<float, 5>;
template <class T, int... E>
using of = array<T, E...>;

template <auto F, class... X>
void check(const harness::sample& s = {}) {
  harness::check_run<program<F, X...>>(s, {0, 0});
}
constexpr auto loss = [](auto w, auto b, auto x, auto y) {
  auto [w1, w2] = w;
  auto h = drx::relu(drx::matmul(x, w1) + b);
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(h, w2), y));
};
constexpr auto through_loops = [](auto w, auto x) {
  auto [last, all] = drx::scan(
      [=](auto c, auto v) {
        auto n = drx::tanh(drx::matmul(w, c) + v);
        return std::pair{n, drx::sum(n * v)};
      },
      drx::index<0>(x), x);
  return drx::sum(last) + drx::sum(all * all) + drx::sum(drx::fori_loop<3>(last, [=](auto i, auto c) {
           return c * drx::cast<double>(i) + drx::matmul(w, c);
         }));
};
}  // namespace

TEST_CASE("chains of elementwise operations, with every way to broadcast") {
  static constexpr auto f = [](auto a, auto row, auto column, auto s) {
    auto x = drx::tanh(a * row + column) - s;
    auto y = drx::max(x, row) / (2 + drx::abs(column)) + drx::exp(-a);
    auto outer = row * column;  // [5] * [3, 1]
    auto z = drx::where(x < y, x * s, outer);
    auto deep = drx::broadcast_to<2, 3, 5>(x) * drx::reshape<1, 5>(row);
    return std::tuple{x, z, outer, s * row, s * s, drx::sqrt(drx::abs(z + 1)), -column, deep};
  };
  check<f, m35, v5, m31, float>();
}

TEST_CASE("results that are inputs, constants, reshaped, or given twice") {
  static constexpr auto f = [](auto a, auto s) {
    auto t = drx::reshape<5, 3>(a);
    return std::tuple{a, s, drx::reshape<15>(a), t, t, drx::reshape<15>(t * 2), s + 1, drx::broadcast_to<4>(s)};
  };
  check<f, m35, float>();
}

TEST_CASE("products of matrices and vectors") {
  static constexpr auto f = [](auto a, auto b, auto x, auto y) {
    return std::tuple{drx::matmul(a, b),
                      drx::matmul(a, x),
                      drx::matmul(y, a),
                      drx::matmul(x, x),
                      drx::matmul(drx::transpose(b), drx::transpose(a)),
                      drx::matmul(a, drx::transpose(a)),
                      drx::matmul(drx::transpose(a), a) + x};
  };
  check<f, of<float, 7, 9>, of<float, 9, 17>, of<float, 9>, of<float, 7>>();
  check<f, of<double, 1, 1>, of<double, 1, 3>, of<double, 1>, of<double, 1>>();
  static constexpr auto batched = [](auto a, auto b, auto c) {
    return std::tuple{drx::matmul(a, b), drx::matmul(a, c), drx::matmul(c, b)};
  };
  check<batched, of<float, 4, 3, 5>, of<float, 4, 5, 2>, of<float, 5, 5>>();
  static constexpr auto large = [](auto a, auto b) { return drx::tanh(drx::matmul(a, drx::transpose(b))) + 1; };
  check<large, of<float, 33, 65>, of<float, 47, 65>>({.low = -.2, .high = .2});
}

TEST_CASE("reductions over each axis, some of them, and all") {
  static constexpr auto f = [](auto x) {
    return std::tuple{drx::sum(x),         drx::sum<0>(x),         drx::sum<1>(x),
                      drx::sum<-1>(x),     drx::sum<0, 2>(x),      drx::sum<1, 2>(x),
                      drx::max<0>(x),      drx::max<-1>(x),        drx::min(x),
                      drx::min<0, 2>(x),   drx::mean<1>(x),        drx::argmax<1>(x),
                      drx::log_softmax(x), drx::sum<2>(x * x) * 2, drx::transpose<2, 0, 1>(x),
                      drx::logsumexp(x)};
  };
  check<f, of<float, 3, 4, 37>>();
  check<f, of<double, 2, 1, 3>>();
}

TEST_CASE("integers and booleans, and casts between all types") {
  static constexpr auto f = [](auto i, auto l, auto b, auto x) {
    auto positive = i > 1;
    return std::tuple{i + 2 * i,
                      i / 2 - l.size,
                      drx::cast<std::int64_t>(i) * l,
                      drx::where(b, i, -i),
                      positive && b,
                      !b || positive,
                      drx::cast<float>(i) * x,
                      drx::cast<std::int32_t>(x * 3),
                      drx::cast<bool>(i),
                      drx::cast<double>(b) + 1,
                      drx::sum(l),
                      drx::max<0>(i),
                      drx::mean(i),
                      drx::one_hot<float, 5>(i),
                      drx::any_of(b),
                      drx::matmul(i, i)};
  };
  check<f, of<std::int32_t, 4>, of<std::int64_t, 4>, of<bool, 4>, of<float, 4>>();
}

TEST_CASE("slices, padding, concatenation") {
  static constexpr auto f = [](auto x, auto y) {
    auto part = drx::slice<drx::range<1, 3>, drx::all>(x);
    auto wide = drx::concatenate<1>(part, part * 2);
    return std::tuple{part,
                      wide,
                      drx::pad<1, 2>(y),
                      drx::index<2>(x) + y,
                      drx::stack(y, drx::exp(y)),
                      drx::slice<1, 4>(y) * 3,
                      drx::index<0, -1>(x),
                      drx::matmul(part, y)};
  };
  check<f, of<float, 4, 5>, v5>();
}

TEST_CASE("loops: with an index, nested, over slices, with carries that change places") {
  static constexpr auto f = [](auto x, auto w, auto s) {
    auto power = drx::fori_loop<4>(x, [=](auto c) { return drx::tanh(drx::matmul(w, c)) + s; });
    auto counted = drx::fori_loop<5>(s, [](auto i, auto c) { return c * drx::cast<float>(i + 1) / 2; });
    auto swapped = drx::fori_loop<3>(std::tuple{x, x * 2}, [](auto c) {
      auto [a, b] = c;
      return std::tuple{b, a};
    });
    auto turned = drx::fori_loop<7>(std::tuple{x, x * 2, x * 3}, [](auto c) {
      auto [a, b, d] = c;
      return std::tuple{b + a, d, a};
    });
    auto nested = drx::fori_loop<3>(w, [=](auto i, auto m) {
      return drx::fori_loop<2>(m, [=](auto j, auto k) { return drx::matmul(k, w) * drx::cast<float>(i + j) + m; }) / 4;
    });
    return std::tuple{power, counted, swapped, turned, nested, drx::fori_loop<0>(x, [](auto c) { return c * 2; })};
  };
  check<f, v5, of<float, 5, 5>, float>();
  static constexpr auto g = [](auto xs, auto ts, auto x0) {
    return drx::scan(
        [](auto carry, auto slice) {
          auto [x, t] = slice;
          auto [a, b] = carry;
          auto next = drx::sin(a + x) * t;
          return std::pair{std::tuple{b, next}, std::tuple{a, drx::sum(next), t + 1}};
        },
        std::tuple{x0, x0 * 2}, std::tuple{xs, ts});
  };
  check<g, of<float, 6, 5>, of<float, 6>, v5>();
}

TEST_CASE("loops whose carry is handed through, or is kept for a result") {
  static constexpr auto f = [](auto x, auto y) {
    auto kept = drx::fori_loop<3>(std::tuple{x, y}, [](auto c) {
      auto [a, b] = c;
      return std::tuple{a, a + b};
    });
    auto twice = drx::fori_loop<3>(std::tuple{x, y}, [](auto c) {
      auto [a, b] = c;
      auto s = a * b;
      return std::tuple{s, s};
    });
    auto trace = drx::scan([](auto c, auto v) { return std::pair{c + v, c}; }, x, drx::stack(x, y, x));
    auto shared = drx::fori_loop<2>(std::tuple{x, x}, [](auto c) {
      auto [a, b] = c;
      return std::tuple{drx::sum(b) + a, b * a};
    });
    return std::tuple{kept, twice, trace, shared, x + y};
  };
  check<f, v5, v5>();
}

TEST_CASE("gradients of array programs") {
  static constexpr auto g = [](auto... x) { return drx::value_and_grad<0, 1>(loss)(x...); };
  check<g, std::tuple<of<float, 6, 8>, of<float, 8, 3>>, of<float, 8>, of<float, 5, 6>, of<std::int32_t, 5>>(
      {.below = 3});

  static constexpr auto gl = [](auto... v) { return drx::value_and_grad<0, 1>(through_loops)(v...); };
  check<gl, of<double, 4, 4>, of<double, 6, 4>>();
  static constexpr auto second = [](auto w, auto x) {
    return drx::grad([](auto m, auto v) {
      auto d = drx::grad(through_loops)(m, v);
      return drx::sum(d * d);
    })(w, x);
  };
  check<second, of<double, 2, 2>, of<double, 3, 2>>();
}
