// Members in blocks, on a device: gradients over rows, results of members, loops in lanes, members of members.
#include <drx/drx.hpp>

#include "harness/on_device.hpp"

namespace {
struct rows : drx::placement<rows> {};
struct groups : drx::placement<groups> {};
using row = std::pair<drx::array<float, 20>, float>;

constexpr auto of_rows = [](auto w, auto data) {
  auto each = drx::map([](auto v, auto r) { return drx::softplus(-r.second * drx::dot(v, r.first)); },
                       drx::broadcast<rows>(w), data);
  return std::tuple{drx::reduce_mean(each), drx::reduce_max(each)};
};
constexpr auto slopes = [](auto w, auto data) {
  auto value = [=](auto v) { return std::get<0>(of_rows(v, data)); };
  return std::tuple{drx::value_and_grad(value)(w), of_rows(w, data),
                    drx::map([](auto r) { return r.first * r.second; }, data)};
};
constexpr auto decays = [](auto x) {
  auto each = drx::map([](auto v) { return drx::fori_loop<9>(v, [](auto c) { return c - 0.1 * drx::sin(c); }); }, x);
  return std::tuple{drx::reduce_sum(each), each};
};
constexpr auto of_groups = [](auto w, auto data) {
  return drx::reduce_mean(
      drx::map([](auto v, auto own) { return drx::grad([=](auto p) { return std::get<0>(of_rows(p, own)); })(v); },
               drx::broadcast<groups>(w), data));
};
}  // namespace

TEST_CASE("a gradient over rows, and results of rows") {
  harness::check_on_device<drx::program<slopes, drx::array<float, 20>, drx::placed<row, rows>>>({}, {256, 299, 300});
}
TEST_CASE("a loop over three numbers in each member") {
  harness::check_on_device<drx::program<decays, drx::placed<drx::array<double, 3>, rows>>>({}, {256, 300});
}
TEST_CASE("members of members in blocks") {
  harness::check_on_device<drx::program<of_groups, drx::array<float, 20>, drx::placed<drx::placed<row, rows>, groups>>>(
      {.nested = 70}, {3, 1});
}
