// Loops under vmap and in Jacobians: what is the same for the whole batch is computed once, and each element's results
// are those that it has alone.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <string>

using drx::array;
using drx::axis;
using drx::none;
using drx::program;

namespace {
using vec3 = array<double, 3>;
using m43 = array<double, 4, 3>;

// A carry that becomes each element's own in the second step only, one that never does, and stacked results of both.
constexpr auto followed = [](auto x, auto y) {
  auto step = [=](auto c, auto z) {
    auto [late, own, same] = c;
    auto next = drx::tanh(same + z);
    return std::pair{std::tuple{late + own, own * x, next}, std::tuple{next, own + z, late}};
  };
  return drx::scan(step, std::tuple{0 * y, drx::ones<vec3>(), drx::sin(y)}, drx::stack(y, 2 * y, drx::cos(y)));
};
// Elements that end at steps of their own, beside a carry that is the same for all until they do.
constexpr auto halved = [](auto x, auto y) {
  auto go_on = [](auto c) { return drx::sum(std::get<0>(c)) > 1; };
  auto step = [](auto c) { return std::pair{0.5 * std::get<0>(c), std::get<1>(c) + 1}; };
  return drx::while_loop<20>(go_on, step, std::pair{drx::exp(4 * x), y});
};
// All elements end together.
constexpr auto counted = [](auto x, auto y) {
  auto go_on = [](auto c) { return drx::sum(std::get<1>(c)) < 20; };
  auto step = [](auto c) { return std::pair{0.5 * std::get<0>(c), drx::abs(std::get<1>(c)) + 1}; };
  return drx::while_loop<20>(go_on, step, std::pair{x, y});
};
template <const auto& F>
constexpr auto off = [](auto x, auto y) {  // by how much the batch differs from its elements
  auto all = drx::vmap(F, std::tuple{axis<0>, none})(x, y);
  auto own = [=](auto i) {
    const auto element = drx::tree_map([=](auto a) { return drx::index<decltype(i)::value>(a); }, all);
    return drx::tree_map([](auto a, auto b) { return a - b; }, element, F(drx::index<decltype(i)::value>(x), y));
  };
  return std::tuple{own(std::integral_constant<int, 0>{}), own(std::integral_constant<int, 1>{}),
                    own(std::integral_constant<int, 3>{})};
};

constexpr auto swung = [](auto x) {
  return drx::fori_loop<5>(x, [](auto v) { return v + 0.1 * drx::sin(drx::roll<1>(v)); });
};
constexpr auto columns = [](auto x) { return drx::jacfwd(swung)(x); };
constexpr auto rows = [](auto x) { return drx::jacrev(swung)(x); };
constexpr auto apart = [](auto x) { return drx::jacfwd(swung)(x) - drx::jacrev(swung)(x); };
}  // namespace

TEST_CASE("a batched loop's elements are those of the loop") {
  harness::check_zero<program<off<followed>, m43, vec3>>();
  harness::check_zero<program<off<halved>, m43, vec3>>();
  harness::check_zero<program<off<counted>, m43, vec3>>();
  harness::check_zero<program<apart, vec3>>();
}
TEST_CASE("a Jacobian's columns and rows share the loop's values") {
  const std::string forward = drx::show<program<columns, vec3>>();
  CHECK(forward.find("%1: f64[3], %2: f64[3,3]) {") != std::string::npos);  // the carry and its tangents
  const std::string reverse = drx::show<program<rows, vec3>>();
  CHECK(reverse.find("%1: f64[3,3], %2: f64[3]) {") != std::string::npos);  // cotangents, and the carry that was kept
}
