// Members that fill no block are computed in groups, if their body is long and one alone leaves vectors idle: any
// number of them, against the plain interpreter.
#include "harness/orbits.hpp"
#include "harness/run.hpp"

#include <cmath>
#include <string>

namespace {
template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
const std::vector<std::int64_t> numbers{0, 1, 2, 7, 8, 9, 31, 63, 64, 77, 130, 255, 256, 300};
// A loop that would not end for a member with another one's number.
constexpr auto by_number = [](auto pull, auto data) {
  auto one = [](auto p, auto own, auto i) {
    auto slope = drx::grad([=](auto q) { return orbits::miss(q, own); })(p);
    auto off = drx::abs(drx::index<1>(own.first) - drx::cast<double>(i));
    return std::pair{
        slope, drx::while_loop([=](auto s) { return s < 3.0 || off > 0.5; }, [](auto s) { return s + 1.0; }, off)};
  };
  return drx::reduce_sum(
      drx::map(one, drx::broadcast<orbits::stars>(pull), data, drx::partition_index<orbits::stars>()));
};
using ByNumber = drx::program<by_number, drx::scalar<double>, drx::placed<orbits::start<double>, orbits::stars>>;
}  // namespace

TEST_CASE("gradients through long loops") {
  CHECK(plan_of<orbits::Fit>().find("blocks of 32; groups of 8]") != std::string::npos);
  harness::check_run<orbits::Fit>({}, numbers);
  harness::check_run<orbits::FitOfFloats>({}, numbers);
}
TEST_CASE("results that are kept, folded, and made with the members' numbers") {
  CHECK(plan_of<orbits::All>().find("groups of 8]") != std::string::npos);
  harness::check_run<orbits::All>({}, numbers);
}
TEST_CASE("members of members") {
  CHECK(plan_of<orbits::Nested<orbits::planets>>().find("groups of 8]") != std::string::npos);
  harness::check_run<orbits::Nested<orbits::planets>>({}, {0, 1, 3, 8, 70});
  harness::check_run<orbits::Nested<orbits::planets>>({.nested = 45}, {2});
  CHECK(plan_of<orbits::Nested<orbits::moons>>().find("; groups of 8]") != std::string::npos);
  harness::check_run<orbits::Nested<orbits::moons>>({.nested = 19}, {1, 3, 8});
}
TEST_CASE("a number has the same result alone, in a group and in a block") {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<orbits::All> p(e, c);
  const auto start = [](std::int64_t) { return orbits::start<double>{{1, 0.25}, {0.125, 1}}; };
  const auto ends = [&](std::int64_t n) {
    std::vector<double> x;
    const auto of = std::get<0>(p(1.0, drx::place<orbits::stars>(c, n, start)));
    for (std::int64_t i = 0; i < n; ++i) x.push_back(std::get<0>(of[i])[1]);
    return x;
  };
  const double alone = ends(1)[0];
  for (const std::int64_t n : {20, 263})
    for (const double x : ends(n)) CHECK(x == alone);
}
TEST_CASE("places of no member are copies of members, so that their loops end") {
  CHECK(plan_of<ByNumber>().find("groups of 8]") != std::string::npos);
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<ByNumber> p(e, c);
  const auto start = [](std::int64_t i) { return orbits::start<double>{{1, static_cast<double>(i)}, {0.125, 1}}; };
  for (const std::int64_t n : {1, 3, 13}) {
    const auto [slopes, ends] = p(1.0, drx::place<orbits::stars>(c, n, start));
    CHECK(std::isfinite(slopes));
    CHECK(ends == 3.0 * static_cast<double>(n));
  }
}
