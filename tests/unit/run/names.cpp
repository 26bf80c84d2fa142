// Compiled programs of operations that are compositions, and of the remainder, against plain evaluation.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
using m23 = array<double, 2, 3>;
constexpr auto contracted = [](auto x, auto y) {
  const auto e = [=](auto a, auto b) {
    return drx::sum(drx::sin(drx::einsum<"ij,kj->ki">(a, b))) + drx::sum(drx::einsum<"...i,...i">(a, b)) +
           drx::einsum<"ii">(drx::einsum<"ij,kj">(a, b));
  };
  return std::tuple{drx::einsum<"ij,kj->ki">(x, y), drx::einsum<"ij,kl->ljik">(x, y), drx::einsum<"ij,ij->i">(x, y),
                    drx::outer(x, y), drx::grad<0, 1>(e)(x, y)};
};
constexpr auto measured = [](auto x, auto y) {
  const auto e = [](auto a, auto b) {
    return drx::sum(drx::norm<1>(a) * drx::var<1>(b, drx::ddof<1>)) + drx::stddev(a) + drx::sum(a % b) +
           drx::sum(drx::mod(b, -a)) + drx::sum(drx::softplus(a - b));
  };
  return std::tuple{e(x, y),
                    drx::grad<0, 1>(e)(x, y),
                    x / drx::sum<1>(drx::abs(x), drx::keepdims),
                    drx::maximum(x, y),
                    drx::minimum(x, 0),
                    drx::isnan(x / 0),
                    drx::isinf(x / 0),
                    drx::isfinite(x)};
};
constexpr auto moved = [](auto x, auto y) {
  const auto e = [](auto a) {
    return drx::sum(drx::sin(drx::tile<2, 1, 2>(a)) * 2) + drx::sum(drx::cos(drx::repeat<3, 1>(a)));
  };
  return std::tuple{drx::tile<2, 2>(x),
                    drx::repeat<2, -1>(x),
                    drx::expand_dims<1>(x),
                    drx::squeeze(drx::slice<0, 1>(y)),
                    drx::tril(x),
                    drx::triu<1>(y),
                    drx::linspace<array<double, 5>>(drx::sum(x), 1),
                    drx::linspace<array<double, 4>>(0, 2),
                    drx::grad(e)(x)};
};
constexpr auto drawn = [](auto k, auto logits) {
  return std::tuple{drx::exponential<double, 20>(k), drx::gumbel<float, 20>(k), drx::categorical(k, logits),
                    drx::categorical<9, 2>(k, logits)};
};
constexpr auto whole = [](auto n, auto k) {
  return std::tuple{n % k, drx::mod(n, k), drx::einsum<"i,j->ji">(n, k), drx::var(n), n % 0};
};
}  // namespace

TEST_CASE("products by letters") { harness::check_run<program<contracted, m23, m23>>({}, {0}); }
TEST_CASE("norms, variances, remainders and softplus") { harness::check_run<program<measured, m23, m23>>({}, {0}); }
TEST_CASE("copies, triangles and ranges") { harness::check_run<program<moved, m23, m23>>({}, {0}); }
TEST_CASE("draws") { harness::check_run<program<drawn, drx::prng_key, m23>>({}, {0}); }
TEST_CASE("integers") { harness::check_run<program<whole, array<int, 3>, array<int, 3>>>({}, {0}); }
