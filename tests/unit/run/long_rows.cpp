// Members of 256 bytes and more whose products are of vectors go in blocks of 8 or 16, four or two to a leaf of the
// tree.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct rows : drx::placement<rows> {};
template <class T, std::int64_t N>
struct regression {
  using vector = drx::array<T, N>;
  static constexpr auto loss = [](auto w, auto r) {
    auto [x, y] = r;
    auto z = drx::dot(x, w);
    return drx::max(z, 0) + drx::log1p(drx::exp(-drx::abs(z))) - y * z;
  };
  static constexpr auto slope = [](auto w, auto data) {
    return drx::value_and_grad([=](auto v) { return drx::reduce_mean(drx::map(loss, drx::broadcast<rows>(v), data)); })(
        w);
  };
  using program = drx::program<slope, vector, drx::placed<std::tuple<vector, drx::scalar<T>>, rows>>;
};
constexpr auto extremes = [](auto w, auto x) {
  auto z = drx::map([](auto v, auto r) { return drx::dot(v, r); }, drx::broadcast<rows>(w), x);
  return std::tuple{drx::reduce_max(z), drx::reduce_min(z), z};
};
template <class P>
std::string plan_of() {
  return show(drx::plan::staged_program<P>::tape_constant().thaw());
}
}  // namespace

TEST_CASE("value and gradient of a regression over long rows") {
  harness::check_run<regression<double, 37>::program>({}, {0, 1, 7, 8, 9, 31, 32, 33, 1023, 1024, 1100});
  harness::check_run<regression<float, 100>::program>({}, {1, 33, 271, 272, 1031, 1056});
}
TEST_CASE("long rows whose products are kept, and extremes of them") {
  using row = drx::array<float, 64>;
  harness::check_run<drx::program<extremes, row, drx::placed<row, rows>>>({}, {1, 9, 33, 1100});
}
TEST_CASE(
    "long rows go in blocks of as many as fill a vector with one number of each, if the first cache holds two blocks") {
  CHECK(plan_of<regression<double, 37>::program>().find("blocks of 8]") != std::string::npos);
  CHECK(plan_of<regression<float, 100>::program>().find("blocks of 16]") != std::string::npos);
  CHECK(plan_of<regression<float, 300>::program>().find("blocks of 8]") != std::string::npos);
}
TEST_CASE("short rows go in blocks of 32") {
  CHECK(plan_of<regression<double, 16>::program>().find("blocks of 32, 8]") != std::string::npos);
}
