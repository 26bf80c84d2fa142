// Numbers of 16 bits: they are held and moved as they are, and what computes with them computes in float.
#include <drx/drx.hpp>
#include <drx/run/check/check_grads.hpp>

#include "harness/run.hpp"

#include <cmath>
#include <cstring>
#include <limits>

using drx::array;
using drx::bfloat16;
using drx::float16;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class T>
using m35 = array<T, 3, 5>;

template <auto F, class... X>
void check(const harness::sample& s = {}) {
  harness::check_run<program<F, X...>>(s, {5, 0, 37});
}

/// The nearest of all 65536 numbers, by looking at each; of two as near, the one whose last bit is 0.
template <class Half>
std::uint16_t nearest(float x) {
  std::uint16_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const auto y = static_cast<double>(static_cast<float>(Half::from_bits(bits)));
    if (!std::isfinite(y) || std::signbit(y) != std::signbit(x)) continue;
    const double off = std::abs(y - static_cast<double>(x));
    if (off < least || (off == least && bits % 2 == 0)) {
      best = bits;
      least = off;
    }
  }
  return best;
}
}  // namespace

TEST_CASE_TEMPLATE("a float is rounded to the nearest number of 16 bits", T, bfloat16, float16) {
  for (int i = 0; i < 65536; ++i) {  // all of them are their own
    const T x = T::from_bits(static_cast<std::uint16_t>(i));
    const float y = x;
    if (y == y) {
      CHECK(T(y).bits() == x.bits());
    } else {
      CHECK(std::isnan(static_cast<float>(T(y))));
    }
  }
  const bool long_exponent = std::is_same_v<T, bfloat16>;
  std::mt19937_64 r(7);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(long_exponent ? -140 : -27, long_exponent ? 126 : 14);
  for (int i = 0; i < 100; ++i) {
    const auto x = static_cast<float>(std::ldexp(mantissa(r), exponent(r)));
    CAPTURE(x);
    CHECK(T(x).bits() == nearest<T>(x));
  }
  for (int i = 0; i < 100; ++i) {  // halfway between two
    const auto bits = static_cast<std::uint16_t>(r() % (long_exponent ? 0x7f00 : 0x7b00));
    const float low = T::from_bits(bits), high = T::from_bits(static_cast<std::uint16_t>(bits + 1));
    CHECK(T((low + high) / 2).bits() % 2 == 0);
  }
  CHECK(std::isinf(static_cast<float>(T(std::numeric_limits<float>::infinity()))));
  CHECK(static_cast<float>(T(-0.0F)) == 0);
  CHECK(std::signbit(static_cast<float>(T(-0.0F))));
  CHECK(static_cast<float>(float16(65519.0F)) == 65504);
  CHECK(std::isinf(static_cast<float>(float16(65520.0F))));
  CHECK(std::isinf(static_cast<float>(float16(1e30F))));
}

TEST_CASE_TEMPLATE("halves are held, moved and cast", T, bfloat16, float16) {
  static constexpr auto f = [](auto a, auto s) {
    auto wide = drx::cast<float>(a) * 1.7F;
    auto t = drx::transpose(a);
    return std::tuple{wide,
                      drx::cast<T>(wide),
                      t,
                      drx::reshape<15>(a),
                      drx::concatenate<0>(a, drx::slice<1, 3>(a)),
                      drx::broadcast_to<2, 3, 5>(a),
                      drx::cast<double>(s),
                      drx::cast<std::int32_t>(a),
                      drx::cast<T>(drx::cast<double>(wide) * 1e-3),
                      drx::zeros<array<T, 4>>()};
  };
  check<f, m35<T>, T>();
}

TEST_CASE_TEMPLATE("an operation computes in float and rounds", T, bfloat16, float16) {
  static constexpr auto f = [](auto a, auto b, auto s) {
    auto x = a * b + s;
    return std::tuple{x,
                      drx::tanh(x) - 2 * a,
                      drx::sum(x),
                      drx::max<1>(a),
                      drx::matmul(a, drx::transpose(b)),
                      drx::where(a < b, a, b),
                      drx::softmax<1>(a)};
  };
  check<f, m35<T>, m35<T>, T>();
}

template <class T>
constexpr auto sum_of_products = [](auto w, auto x) {
  auto h = drx::tanh(drx::matmul(drx::cast<float>(x), drx::cast<float>(w)));
  return drx::sum(h * h) + drx::sum(drx::cast<float>(drx::reshape<15>(w)));
};
TEST_CASE_TEMPLATE("derivatives", T, bfloat16, float16) {
  static constexpr auto f = [](auto w, auto x) { return drx::value_and_grad(sum_of_products<T>)(w, x); };
  check<f, m35<T>, array<T, 2, 3>>();
}

TEST_CASE_TEMPLATE("members of halves are summed in float", T, bfloat16, float16) {
  static constexpr auto f = [](auto w, auto x) {
    auto all = drx::broadcast<clients>(w);
    auto y = drx::map([](auto v, auto of) { return drx::cast<float>(v) * drx::cast<float>(of); }, x, all);
    return std::tuple{drx::reduce_sum(x), drx::reduce_mean(x), drx::reduce_max(x), drx::reduce_sum(y), x};
  };
  check<f, m35<T>, drx::placed<m35<T>, clients>>();
}

TEST_CASE_TEMPLATE("loops, branches and indices hold halves", T, bfloat16, float16) {
  static constexpr auto f = [](auto x, auto table, auto at) {
    auto [last, all] = drx::scan(
        [](auto c, auto row) {
          auto next = drx::cast<T>(drx::cast<float>(c) * 0.5F + drx::cast<float>(row));
          return std::pair{next, c};
        },
        drx::index<0>(x), x);
    auto either = drx::cond(
        drx::sum(drx::cast<float>(last)) > 0, [](auto a, auto) { return a; }, [](auto, auto b) { return b; }, last,
        drx::index<1>(x));
    return std::tuple{last, all, either, drx::take<0>(table, at), drx::flip<0>(table), drx::roll<1, 0>(x)};
  };
  check<f, m35<T>, array<T, 5, 2>, array<std::int32_t, 3>>();
}

template <class T>
constexpr auto of_row = [](auto w, auto x) {
  auto e = drx::tanh(drx::dot(w, drx::cast<float>(x)));
  return e * e + 0.1F * drx::sum(drx::cast<float>(x));
};
TEST_CASE_TEMPLATE("rows of halves go in blocks", T, bfloat16, float16) {
  static constexpr auto f = [](auto w, auto x) {
    return drx::reduce_mean(drx::map(drx::value_and_grad(of_row<T>), drx::broadcast<clients>(w), x));
  };
  using P = program<f, array<float, 24>, drx::placed<array<T, 24>, clients>>;
  harness::check_run<P>({}, {0, 1, 31, 70, 300, 1000});
}

TEST_CASE_TEMPLATE("members in lanes hold halves", T, bfloat16, float16) {
  static constexpr auto f = [](auto w, auto x) {
    return drx::reduce_sum(drx::map(
        [](auto p, auto state) {
          auto end = drx::fori_loop<20>(drx::cast<float>(state), [=](auto, auto c) {
            auto angle = drx::index<0>(c), speed = drx::index<1>(c);
            auto s = speed - 0.1F * drx::sin(angle) * p;
            return drx::stack<0>(angle + 0.1F * s, s);
          });
          return drx::cast<float>(drx::cast<T>(end));
        },
        drx::broadcast<clients>(w), x));
  };
  using P = program<f, float, drx::placed<array<T, 2>, clients>>;
  harness::check_run<P>({}, {0, 1, 31, 70, 300});
}

template <class T>
constexpr auto narrow_sums = [](auto x, auto y) {
  return std::tuple{drx::reduce_sum(x, drx::as<T>), drx::reduce_mean(x, drx::as<T>), drx::reduce_mean(y, drx::as<T>),
                    drx::reduce_sum(y, drx::as<float>)};
};
constexpr auto wide_sums = [](auto x, auto y) {
  return std::tuple{drx::reduce_sum(x), drx::reduce_mean(x), drx::reduce_mean(y), drx::reduce_sum(y)};
};
TEST_CASE_TEMPLATE("sums with narrow nodes", T, bfloat16, float16) {
  using P = program<narrow_sums<T>, drx::placed<m35<float>, clients>, drx::placed<array<double, 2>, clients>>;
  using Wide = program<wide_sums, drx::placed<m35<float>, clients>, drx::placed<array<double, 2>, clients>>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  for (std::int64_t n : {0, 1, 2, 5, 37, 300, 1000}) {
    CAPTURE(n);
    harness::sample s;
    s.low = 0.5;  // (the error is relative to the largest partial sum)
    s.members = n;
    const auto in = harness::random_inputs<P>(s), got = harness::call(p, c, in),
               expected = harness::run_plain<Wide>(in);
    const double bit = std::is_same_v<T, bfloat16> ? 0x1p-9 : 0x1p-12;
    const double roundings = 2 + std::log2(static_cast<double>(n) + 1);
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      const double most = harness::largest_difference(got[i], expected[i], harness::relative_to::largest);
      CHECK(most <= (i == 3 ? 1e-6 : bit * roundings));
      if (n > 0) CHECK(most > 0);  // (it does round)
    }
  }
}

TEST_CASE_TEMPLATE("derivatives of sums with narrow nodes", T, bfloat16, float16) {
  static constexpr auto f = [](auto x) {
    return drx::grad([](auto v) {
      auto m = drx::reduce_mean(v, drx::as<T>);
      return drx::sum(m * m) + drx::sum(drx::reduce_sum(v, drx::as<T>));
    })(x);
  };
  using P = program<f, drx::placed<m35<float>, clients>>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  const auto in = harness::random_inputs<P>({}), got = harness::call(p, c, in), expected = harness::run_plain<P>(in);
  CHECK(harness::largest_difference(got, expected) < (std::is_same_v<T, bfloat16> ? 0x1p-7 : 0x1p-10));
}

TEST_CASE_TEMPLATE("derivatives through halves are those of numbers that are not rounded", T, bfloat16, float16) {
  static constexpr auto f = [](auto w, auto x) {
    auto y = drx::map([](auto a, auto b) { return drx::tanh(drx::cast<float>(a) * drx::cast<float>(b)); },
                      drx::broadcast<clients>(drx::cast<T>(w)), x);
    return drx::sum(drx::reduce_sum(y, drx::as<T>)) + drx::sum(drx::cast<float>(drx::reduce_mean(x)));
  };
  std::vector<array<T, 2>> x;
  for (float v : {.3F, -.7F, 1.1F}) x.push_back({T(v), T(v - 1)});
  const auto report =
      drx::check_grads<program<f, array<float, 2>, drx::placed<array<T, 2>, clients>>>({.5F, -1.F}, x, {.order = 2});
  CHECK(report.ok());
  CHECK(report.unclear == 0);
  CHECK(report.checks > 0);
}

TEST_CASE("a trip through the other type of 16 bits is no way back") {
  static constexpr auto f = [](auto x, auto y) {
    return std::tuple{drx::cast<float>(drx::cast<bfloat16>(drx::cast<float16>(x))),
                      drx::cast<float>(drx::cast<float16>(drx::cast<bfloat16>(y)))};
  };
  using P = program<f, array<bfloat16>, array<float16>>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  const auto [far, near] = p(bfloat16(1e30F), float16(1.001F));
  CHECK(std::isinf(far));
  CHECK(near == 1);
}

TEST_CASE("means are computed in float") {
  static constexpr auto f = [](auto x, auto all) {
    auto ones = drx::map([](auto v) { return v * 0 + 1; }, x);
    return std::tuple{drx::reduce_mean(x, drx::as<float>),
                      drx::reduce_mean(x),
                      drx::reduce_weighted_mean(x, ones),
                      drx::mean(all),
                      drx::norm(all),
                      drx::var(all),
                      drx::stddev(all),
                      drx::mean(std::tuple{all, all})};
  };
  using P = program<f, drx::placed<float16, clients>, array<float16, 1000>>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  array<float16, 1000> all{};
  for (int i = 0; i < 1000; ++i) all[i] = float16(i % 2 == 0 ? 90 : 110);
  const auto [as_float, mean, weighted, of_array, norm, var, stddev, of_leaves] =
      p(drx::place<clients>(c, 1000, [](std::int64_t) { return float16(100); }), all);
  for (float16 x : {as_float, mean, weighted, of_array, of_leaves, var}) CHECK(static_cast<float>(x) == 100);
  CHECK(static_cast<float>(norm) == static_cast<float>(float16(std::sqrt(1000 * 10100.0))));
  CHECK(static_cast<float>(stddev) == 10);
}

TEST_CASE("a sum that overflows is stopped by a zero") {
  static constexpr auto f = [](auto z, auto v) {
    return drx::grad<1>([](auto members, auto w) {
      auto sum = drx::cast<float>(drx::reduce_sum(members, drx::as<float16>));
      return drx::where(w > 0, w * sum, 0);
    })(z, v);
  };
  using P = program<f, drx::placed<float16, clients>, float>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  CHECK(p(drx::place<clients>(c, 3, [](std::int64_t) { return float16(60000); }), -1.F) == 0);
}
