// Members in lanes whose gradients' norms are differentiated twice, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct runs : drx::placement<runs> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;
using weights = array<double, 3, 2>;
using member = std::pair<array<double, 1, 3>, array<double, 1, 2>>;

// The norm of a member's gradient, which is an outer product; the loop puts members in lanes.
constexpr auto penalty = [](auto w, auto data) {
  auto of_member = [](auto v, auto r) {
    const auto x = std::get<0>(r);
    const auto t = std::get<1>(r);
    auto z = drx::fori_loop<2>(x, [](auto y) { return drx::sin(y); });
    auto g = drx::grad([=](auto u) { return drx::sum(drx::square(drx::tanh(drx::matmul(z, u)) - t)); })(v);
    return drx::sum(drx::square(g));
  };
  return drx::reduce_mean(drx::map(of_member, drx::broadcast<runs>(w), data));
};
constexpr auto product = [](auto w, auto v, auto data) {
  return drx::hvp([=](auto u) { return penalty(u, data); }, w, v);
};
using Product = drx::program<product, weights, weights, drx::placed<member, runs>>;
}  // namespace

TEST_CASE("norms in lanes: the Hessian's product, compiled and interpreted") {
  harness::check_run<Product>({}, {7, 300});
  CHECK(drx::show(drx::plan::staged_program<Product>::tape_constant().thaw()).find("blocks of 32") !=
        std::string::npos);
}
