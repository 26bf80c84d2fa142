#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::padding;
using drx::program;
using drx::strides;

namespace {
struct clients : drx::placement<clients> {};
template <class A, class W, class... O>
concept has_conv1d = requires(const A& a, const W& w) { drx::conv1d<O...>(a, w); };
template <class A, class W, class... O>
concept has_conv2d = requires(const A& a, const W& w) { drx::conv2d<O...>(a, w); };
template <class A>
A numbered(int seed) {
  A x;
  for (std::int64_t i = 0; i < A::size; ++i) x[i] = static_cast<typename A::value_type>((7 * i + seed) % 5 - 2);
  return x;
}
}  // namespace

TEST_CASE("which convolutions there are") {
  using line = array<double, 5, 2>;
  using taps = array<double, 3, 2, 4>;
  static_assert(has_conv1d<line, taps> && has_conv1d<array<double, 7, 6, 5, 2>, taps> &&
                !has_conv1d<array<double, 5>, taps> && !has_conv1d<array<double, 5, 3>, taps> &&
                !has_conv1d<array<float, 5, 2>, taps> && !has_conv1d<array<double, 2, 2>, taps> &&
                !has_conv1d<drx::placed<line, clients>, taps>);
  static_assert(has_conv1d<array<double, 2, 2>, taps, padding<0, 1>> && has_conv1d<line, taps, strides<7>, drx::same> &&
                !has_conv1d<line, taps, strides<1, 1>> && !has_conv1d<line, taps, drx::same, padding<1>> &&
                !has_conv1d<line, taps, padding<1, 1, 1>>);
  static_assert(has_conv2d<array<int, 5, 5, 2>, array<int, 3, 3, 2, 4>, strides<2, 2>, padding<1>, padding<0>> &&
                !has_conv2d<array<int, 5, 5, 2>, array<int, 3, 3, 2, 4>, padding<1>> &&
                !has_conv2d<line, array<double, 3, 3, 2, 4>>);
}

TEST_CASE("the extents of results") {
  constexpr auto f = [](auto x, auto w) {
    return std::tuple{drx::conv1d(x, w), drx::conv1d<strides<2>, padding<1, 2>>(x, w),
                      drx::conv1d<drx::same, strides<2>>(x, w), drx::conv1d<drx::dilations<3>>(x, w),
                      drx::conv1d<drx::input_dilations<2>, padding<2>>(x, w)};
  };
  using P = program<f, array<float, 9, 8, 2>, array<float, 3, 2, 5>>;
  static_assert(
      std::is_same_v<P::result, std::tuple<array<float, 9, 6, 5>, array<float, 9, 5, 5>, array<float, 9, 4, 5>,
                                           array<float, 9, 2, 5>, array<float, 9, 17, 5>>>);
}

TEST_CASE("a convolution is a sum over taps and channels") {
  constexpr auto f = [](auto x, auto w) {
    return drx::conv2d<strides<2, 1>, padding<1, 0>, padding<0, 2>, drx::dilations<1, 2>>(x, w);
  };
  using X = array<double, 2, 5, 6, 3>;
  using W = array<double, 3, 2, 3, 2>;
  const X x = numbered<X>(1);
  const W w = numbered<W>(2);
  const array<double, 2, 2, 6, 2> y = interpreter::call<program<f, X, W>>(x, w);
  for (int n = 0; n < 2; ++n)
    for (int oh = 0; oh < 2; ++oh)
      for (int ow = 0; ow < 6; ++ow)
        for (int co = 0; co < 2; ++co) {
          double sum = 0;
          for (int kh = 0; kh < 3; ++kh)
            for (int kw = 0; kw < 2; ++kw)
              for (int ci = 0; ci < 3; ++ci) {
                const int ih = 2 * oh + kh - 1, iw = ow + 2 * kw;
                if (ih >= 0 && ih < 5 && iw < 6) sum += x(n, ih, iw, ci) * w(kh, kw, ci, co);
              }
          CHECK(y(n, oh, ow, co) == sum);
        }
}

TEST_CASE("zeros between the inputs") {
  constexpr auto f = [](auto x, auto w) { return drx::conv1d<drx::input_dilations<2>, padding<1, 2>>(x, w); };
  const array<double, 5, 1> y = interpreter::call<program<f, array<double, 2, 1>, array<double, 2, 1, 1>>>(
      array<double, 2, 1>{3, 5}, array<double, 2, 1, 1>{1, 10});
  const double expected[] = {30, 3, 50, 5, 0};  // of 0 3 0 5 0 0
  for (int i = 0; i < 5; ++i) CHECK(y[i] == expected[i]);
}

TEST_CASE("pooling") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::max_pool<drx::window<2>>(x), drx::avg_pool<drx::window<2>>(x),
                      drx::max_pool<drx::window<3>, strides<2>, drx::same>(x),
                      drx::avg_pool<drx::window<3>, strides<2>, padding<1>>(x)};
  };
  using A = array<double, 5, 2>;
  const auto [largest, mean, same_largest, padded_mean] =
      interpreter::call<program<f, A>>(A{1, 10, 3, -2, 3, 5, -8, 4, 0, 7});
  static_assert(std::is_same_v<decltype(largest), const array<double, 2, 2>> &&
                std::is_same_v<decltype(same_largest), const array<double, 3, 2>>);
  const double l[] = {3, 10, 3, 5}, m[] = {2, 4, -2.5, 4.5}, s[] = {3, 10, 3, 5, 0, 7},
               p[] = {4. / 3, 8. / 3, -2. / 3, 7. / 3, -8. / 3, 11. / 3};
  for (int i = 0; i < 4; ++i) {
    CHECK(largest[i] == l[i]);
    CHECK(mean[i] == m[i]);
  }
  for (int i = 0; i < 6; ++i) {
    CHECK(same_largest[i] == s[i]);
    CHECK(padded_mean[i] == doctest::Approx(p[i]));
  }
}

TEST_CASE("of equal elements of a window the first takes the derivative; a NaN is the maximum") {
  constexpr auto f = [](auto x) {
    return std::pair{drx::max_pool<drx::window<3>, strides<1>>(x),
                     drx::grad([](auto v) { return drx::sum(drx::max_pool<drx::window<3>, strides<1>>(v)); })(x)};
  };
  using A = array<double, 5, 1>;
  const auto [y, slope] = interpreter::call<program<f, A>>(A{2, 7, 7, 1, NAN});
  const double expected[] = {0, 2, 0, 0, 1};
  for (int i = 0; i < 5; ++i) CHECK(slope[i] == expected[i]);
  CHECK(y[1] == 7);
  CHECK(std::isnan(y[2]));
}
