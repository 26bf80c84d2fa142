// What no other test compiles: tests/catalogue.py walks all public operations and transformations, and names those that
// are missing.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
using v5 = array<double, 5>;
using m34 = array<double, 3, 4>;

/// f of x and its gradient, of each f.
constexpr auto with_slopes = [](auto x, auto... f) {
  return std::tuple_cat(std::tuple{f(x), drx::grad([=](auto y) { return drx::sum(f(y)); })(x)}...);
};
constexpr auto special = [](auto x) {
  return with_slopes(
      x, [](auto v) { return drx::erfinv(v - 1); }, [](auto v) { return drx::digamma(v); },
      [](auto v) { return drx::polygamma<2>(v); }, [](auto v) { return drx::gelu(v); },
      [](auto v) { return drx::gelu_tanh(v); }, [](auto v) { return drx::fma(v, v, 2 * v); });
};
constexpr auto positions = [](auto x) {
  return std::tuple{drx::argmin(x), drx::argmin<0>(x), drx::all_of(x > 0), drx::all_of<1>(x > -0.5),
                    drx::any_of<0>(x > 0.5)};
};
constexpr auto matrices = [](auto x, auto v) {
  const auto corner = [](auto y) {
    return drx::diagonal(drx::diagonal_matrix(drx::sin(y)) +
                         drx::matmul(drx::diagonal_matrix(y), drx::diagonal_matrix(y)));
  };
  return std::tuple{drx::diagonal_matrix(x), corner(v), drx::grad([=](auto y) { return drx::sum(corner(y)); })(v)};
};
constexpr auto transformed = [](auto x, auto w) {
  const auto f = [](auto v, auto u) { return drx::tanh(drx::cumsum(v) * u); };
  const auto linear = [=](auto v) { return drx::matmul(x, v) * 3; };
  return std::tuple{drx::vmap(f, std::tuple{drx::axis<0>, drx::none})(x, w),
                    drx::vmap(drx::grad([](auto v) { return drx::prod(v); }))(x),
                    drx::linear_transpose<array<double, 4>>(linear)(linear(w)), drx::jacfwd(f)(w, w),
                    drx::jacrev<1>(f)(w, w)};
};
/// A loop's slope in its start and in what its steps take, with the carries kept in each way.
template <auto memory>
constexpr auto loop = [](auto x, auto w) {
  return drx::grad<0, 1>([](auto start, auto by) {
    return drx::sum(drx::fori_loop<21>(start, [=](auto v) { return drx::sin(v + by) * v + 0.1; }, memory));
  })(x, w);
};
constexpr auto of_structures = [](auto x) {
  return drx::value_and_grad([](auto s) { return drx::norm(s) * drx::mean(s) + drx::dot(s, s); })(x);
};
constexpr auto defined =
    drx::define<v5>([](auto x) { return drx::value_and_grad([](auto v) { return drx::dot(v, drx::exp(v)); })(x); });
}  // namespace

TEST_CASE("functions of one number and their slopes") {
  harness::check_run<program<special, v5>>({.low = 0.2, .high = 1.8}, {1});
}
TEST_CASE("positions, and bools of all") { harness::check_run<program<positions, m34>>({}, {1}); }
TEST_CASE("matrices of a diagonal") { harness::check_run<program<matrices, m34, v5>>({}, {1}); }
TEST_CASE("vmap, transposes of linear functions, Jacobians") {
  harness::check_run<program<transformed, m34, array<double, 4>>>({}, {1});
}
TEST_CASE("each way to keep the carries of a loop for its derivative") {
  const harness::tensors in = harness::random_inputs<program<loop<drx::keep_all>, v5, v5>>({});
  const harness::tensors expected = harness::run_plain<program<loop<drx::keep_all>, v5, v5>>(in);
  harness::check_near(harness::run_serial<program<loop<drx::keep_all>, v5, v5>>(in), expected);
  harness::check_near(harness::run_serial<program<loop<drx::keep_carries>, v5, v5>>(in), expected);
  harness::check_near(harness::run_serial<program<loop<drx::checkpoint_every<4>>, v5, v5>>(in), expected);
  harness::check_near(harness::run_serial<program<loop<drx::recompute_all>, v5, v5>>(in), expected);
}
TEST_CASE("all leaves of a structure together") {
  harness::check_run<program<of_structures, std::pair<v5, m34>>>({}, {1});
}
TEST_CASE("a program of a lambda where it stands") {
  harness::check_run<std::remove_const_t<decltype(defined)>>({}, {1});
}
