// Derivatives and batches of whole programs: loops, maps, reductions, nested placements, all forms of products.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct examples : drx::placement<examples> {};
using vec2 = array<double, 2>;
using vec3 = array<double, 3>;
using m23 = array<double, 2, 3>;
template <class T>
using at_clients = placed<T, clients>;
}  // namespace

TEST_CASE("arithmetic with broadcasting, mean, where") {
  constexpr auto f = [](auto x, auto y, auto s) {
    const auto z = (x + y) * s / (3 - y) - drx::max(x, y) + drx::min(s, x);
    return std::pair{drx::mean<0>(z), drx::where(x < y, z, -x)};
  };
  harness::check_program<program<f, m23, vec3, double>>();
}

TEST_CASE("forms of matmul that NumPy has") {
  constexpr auto f = [](auto v, auto w, auto m, auto n) {
    return std::tuple{drx::dot(v, v),
                      drx::matmul(m, v),
                      drx::matmul(w, m),
                      drx::matmul(n, drx::transpose(m)),
                      drx::matmul(drx::transpose<0, 2, 1>(n), n),
                      drx::matmul(drx::transpose(m), w)};
  };
  harness::check_program<program<f, vec3, vec2, m23, array<double, 2, 2, 3>>>();
  constexpr auto g = [](auto m, auto n, auto w) { return std::tuple{drx::matmul(m, n), drx::matmul(w, n)}; };
  harness::check_program<program<g, m23, array<double, 2, 3, 2>, vec3>>();
}

TEST_CASE("layout") {
  constexpr auto f = [](auto x) {
    const auto turned = drx::transpose(drx::broadcast_to<2, 3>(x));
    return std::pair{drx::square(turned), drx::max<1>(drx::reshape<2, 3>(turned))};
  };
  harness::check_program<program<f, vec3>>();
}

TEST_CASE("loops") {
  constexpr auto f = [](auto x, auto a) {
    return drx::fori_loop<4>(x,
                             [=](auto i, auto y) { return drx::tanh(drx::matmul(a, y)) + drx::cast<double>(i) * x; });
  };
  harness::check_program<program<f, vec2, array<double, 2, 2>>>();
  constexpr auto g = [](auto x, auto xs, auto a) {
    return drx::scan(
        [=](auto carry, auto v) {
          const auto next = drx::sin(carry) * v + a;
          return std::pair{next, drx::square(next) * v};
        },
        x, xs);
  };
  harness::check_program<program<g, vec2, array<double, 3, 2>, double>>();
  constexpr auto nested = [](auto x) {
    return drx::fori_loop<2>(
        x, [](auto y) { return drx::fori_loop<3>(y, [=](auto z) { return (drx::sin(z * y) - z) / 3; }); });
  };
  harness::check_program<program<nested, vec2>>();
}

TEST_CASE("maps and reductions") {
  constexpr auto f = [](auto w, auto x) {
    const auto y = drx::map([=](auto v) { return std::pair{drx::tanh(v * w), drx::sum(v) * drx::sum(w)}; }, x);
    return std::tuple{drx::reduce_sum(y), drx::reduce_mean(y), drx::reduce_max(y), drx::reduce_min(y)};
  };
  harness::check_program<program<f, vec2, at_clients<vec2>>>();
  constexpr auto twice = [](auto x) {  // the deviation from the mean, squared
    const auto mean = drx::broadcast<clients>(drx::reduce_mean(x));
    return std::pair{drx::reduce_mean((x - mean) * (x - mean)), x / 2 + mean * x};
  };
  harness::check_program<program<twice, at_clients<vec2>>>();
  constexpr auto empty = [](auto x) { return std::tuple{drx::reduce_sum(x * x), drx::reduce_mean(x * x)}; };
  harness::check_program<program<empty, at_clients<vec2>>>({.members = 0});
}

TEST_CASE("nested placements") {
  constexpr auto f = [](auto w, auto x) {
    return drx::reduce_mean(drx::map(
        [=](auto own) {
          const auto total = drx::reduce_sum(drx::map([=](auto v) { return drx::sin(drx::dot(v, w)); }, own));
          return total * total;
        },
        x));
  };
  harness::check_program<program<f, vec2, at_clients<placed<vec2, examples>>>>();
}

TEST_CASE("the derivative with respect to a step of descent") {
  constexpr auto f = [](auto w, auto rate, auto x) {
    const auto loss = [](auto m, auto v) { return drx::square(drx::dot(m, v) - 1); };
    const auto local = drx::map([=](auto v) { return w - rate * drx::grad(loss)(w, v); }, x);
    return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(drx::reduce_mean(local)), x));
  };
  harness::check_program<program<f, vec2, double, at_clients<vec2>>>();
}
