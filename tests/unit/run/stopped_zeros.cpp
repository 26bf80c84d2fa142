// A zero stops at an infinite derivative in compiled programs, wherever the infinity comes from: handed on, captured,
// carried by a loop, in a rule that somebody wrote.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
using drx::array;
using vector = array<double, 3>;
struct rows : drx::placement<rows> {};

/// The gradient of sum(where(l > -100, l w, 0)) in w, and in what l is made of, where that is an argument.
constexpr auto guarded = [](auto l, auto w) { return drx::sum(drx::where(l > -100, l * w, 0)); };
constexpr auto handed_on = [](auto x, auto w) {
  const auto slopes = [&](auto l_of) {
    return drx::grad<0, 1>([=](auto v, auto u) { return guarded(l_of(v), u); })(x, w);
  };
  return std::tuple_cat(slopes([](auto v) { return drx::log(v); }),
                        slopes([](auto v) { return drx::flip(drx::log(v)); }),
                        slopes([](auto v) { return drx::slice<0, 3>(drx::concatenate(drx::log(v), v)); }),
                        slopes([](auto v) { return drx::take<0>(drx::log(v), array<int, 3>{2, 0, 1}); }),
                        slopes([](auto v) { return drx::sort(drx::log(v)); }));
};
constexpr auto captured = [](auto x, auto w) {
  const auto l = drx::log(x), r = drx::flip(l);
  const auto of_w = drx::grad([&](auto v) { return guarded(l, v); })(w),
             of_flipped = drx::grad([&](auto v) { return guarded(r, v); })(w);
  const auto along = drx::jvp([&](auto v) { return guarded(r, v); }, w, w).second;
  const auto in_loop = drx::fori_loop<3>(
      w, [&](auto v) { return v - 0.1 * drx::grad([&](auto u) { return guarded(l, drx::tanh(u)); })(v); });
  const auto in_carry = drx::grad([&](auto v) {
    const auto last = drx::fori_loop<2>(std::tuple{x, v}, [](auto c) {
      const auto [a, u] = c;
      return std::tuple{drx::log(drx::abs(a)), drx::where(a > -100, u * a, u)};
    });
    return drx::sum(std::get<1>(last));
  })(w);
  const auto in_branch = drx::grad([&](auto v) {
    return drx::cond(drx::sum(v) > -9, [&] { return guarded(l, v); }, [&] { return drx::sum(v); });
  })(w);
  return std::tuple{of_w, of_flipped, along, in_loop, in_carry, in_branch};
};
constexpr auto of_members = [](auto x, auto w) {
  return drx::grad([&](auto v) {
    const auto l = drx::map([](auto a) { return drx::log(a); }, x);
    return drx::reduce_sum(
        drx::map([](auto a, auto u) { return guarded(drx::flip(a), u); }, l, drx::broadcast<rows>(v)));
  })(w);
};
constexpr auto norms = [](auto v) {
  const auto norm = [](auto u) { return drx::sqrt(drx::dot(u, u)); };
  const auto slope = drx::grad(norm);
  const auto forward = [=](auto u) { return drx::jvp(norm, u, u + 1).second; };
  return std::tuple{
      slope(v),
      forward(v),
      drx::grad([](auto u) { return drx::sqrt(1 - drx::sum(drx::tanh(1000 + u)) / 3); })(v),
      drx::grad([=](auto u) { return drx::where(drx::dot(u, u) > 0, norm(u), 0.0); })(v),
      drx::jvp(
          [=](auto u) { return drx::grad([=](auto t) { return drx::where(drx::dot(t, t) > 0, norm(t), 0.0); })(u); }, v,
          v + 1)
          .second,
      drx::grad([=](auto u) {
        return drx::sum(drx::grad([=](auto t) { return drx::where(drx::dot(t, t) > 0, norm(t), 0.0); })(u));
      })(v)};
};
constexpr auto rules = [](auto x, auto w) {
  const auto root =
      drx::custom_jvp([](auto a) { return drx::sqrt(a); }, [](auto a, auto t) { return t * (0.5 / drx::sqrt(a)); });
  const auto other =
      drx::custom_vjp([](auto a) { return drx::sqrt(a); }, [](auto a) { return std::pair{drx::sqrt(a), a}; },
                      [](auto a, auto c) { return c * drx::rsqrt(a) / 2; });
  const auto guard = [](auto f) { return [=](auto a) { return drx::sum(drx::where(a > 0, f(a), 0)); }; };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::tuple{drx::grad(guard(root))(x), drx::grad(guard(other))(x), drx::jvp(guard(root), x, w).second,
                    drx::grad([=](auto a) { return drx::sum(drx::where(a > 5, a * infinity, a)); })(x)};
};

template <class Program>
void check_finite(const harness::tensors& in) {
  for (const harness::tensors& out : {harness::run_serial<Program>(in), harness::run_plain<Program>(in)})
    for (std::size_t k = 0; k < out.size(); ++k) {
      CAPTURE(k);
      for (std::int64_t i = 0; i < out[k].size(); ++i) CHECK(std::isfinite(out[k].data<double>()[i]));
    }
}
harness::tensor of(const std::vector<double>& x) {
  harness::tensor t(drx::abstract_value(drx::dtype::float64, drx::make_shape(static_cast<std::int64_t>(x.size()))));
  std::copy(x.begin(), x.end(), t.data<double>());
  return t;
}
const harness::tensor with_zero = of({0, 1, 2}), w = of({.5, -1, 2}), zeros = of({0, 0, 0});
}  // namespace

TEST_CASE("an infinite value is handed on") { check_finite<drx::program<handed_on, vector, vector>>({with_zero, w}); }
TEST_CASE("an infinite value is captured, or carried") {
  check_finite<drx::program<captured, vector, vector>>({with_zero, w});
}
TEST_CASE("an infinite value of each member") {
  harness::tensor members(
      drx::abstract_value(drx::dtype::float64, drx::make_shape(3)).placed_at(&drx::placement_of<rows>));
  for (int m = 0; m < 3; ++m) members.members.push_back(with_zero);
  check_finite<drx::program<of_members, drx::placed<vector, rows>, vector>>({members, w});
}
TEST_CASE("roots of inner products, and of what is saturated") {
  check_finite<drx::program<norms, vector>>({zeros});
  for (const harness::tensor& y : harness::run_serial<drx::program<norms, vector>>({zeros}))
    for (std::int64_t i = 0; i < y.size(); ++i) CHECK(y.data<double>()[i] == 0);
}
TEST_CASE("rules that users write") { check_finite<drx::program<rules, vector, vector>>({with_zero, w}); }
