// The comparison that tests use: no tolerance holds a NaN, and nothing of another shape or type agrees.
#include "harness/difference.hpp"

#include <doctest/doctest.h>

#include <limits>

using drx::dtype;
using drx::tensor;
using harness::difference;
using harness::larger;
using harness::largest_difference;
using harness::nans;
using harness::relative_to;

namespace {
constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), inf = HUGE_VAL;
struct clients : drx::placement<clients> {};

template <class T>
tensor of(std::initializer_list<T> elements) {
  tensor x({drx::dtype_of<T>, drx::make_shape(static_cast<std::int64_t>(elements.size()))});
  std::copy(elements.begin(), elements.end(), x.data<T>());
  return x;
}
tensor placed(std::initializer_list<tensor> members) {
  tensor x(members.begin()->type.placed_at(&drx::placement_of<clients>));
  x.members = members;
  return x;
}
}  // namespace

TEST_CASE("numbers") {
  CHECK(difference(1, 1) == 0);
  CHECK(difference(1, 3, 4) == 0.5);
  CHECK(difference(inf, inf, inf) == 0);
  CHECK(difference(-inf, inf) == inf);
  CHECK(difference(1, inf, inf) == inf);  // over an infinite scale, too
  CHECK(difference(NaN, 1) == inf);
  CHECK(difference(1, NaN) == inf);
  CHECK(difference(NaN, NaN) == inf);
  CHECK(difference(NaN, NaN, 1, nans::agree) == 0);
  CHECK(difference(NaN, 1, 1, nans::agree) == inf);
}
TEST_CASE("a NaN stays the largest, whatever comes after it") {
  CHECK(larger(1., 2.) == 2);
  CHECK(larger(larger(0., NaN), 1.) == inf);
  CHECK(larger(NaN, 1.) == inf);
}
TEST_CASE("ranges") {
  using list = std::vector<double>;
  CHECK(largest_difference(list{1, 3}, list{1, 1}) == 1);
  CHECK(largest_difference(list{1, 3}, list{1, 4}, relative_to::largest) == 0.25);
  CHECK(largest_difference(list{inf, 3}, list{inf, 4}, relative_to::largest) == 0.25);
  CHECK(largest_difference(list{NaN, 1}, list{1, 1}) == inf);
  CHECK(largest_difference(list{1, 1}, list{1}) == inf);
  CHECK(largest_difference(list{}, list{1}) == inf);
  CHECK(largest_difference(list{}, list{}) == 0);
}
TEST_CASE("tensors") {
  CHECK(largest_difference(of({1., 2.}), of({1., 2.})) == 0);
  CHECK(largest_difference(of({NaN, 2.}), of({1., 2.})) == inf);
  CHECK(largest_difference(of({NaN}), of({NaN})) == inf);
  CHECK(largest_difference(of({NaN}), of({NaN}), relative_to::each, nans::agree) == 0);
  CHECK(largest_difference(of({1.}), of({1., 1.})) == inf);
  CHECK(largest_difference(of({1.}), of({1.f})) == inf);
  CHECK(largest_difference(of({1.f}), of({1.5f})) == 0.2);
  CHECK(largest_difference(of<std::int32_t>({1, 2}), of<std::int32_t>({1, 2})) == 0);
  CHECK(largest_difference(of<std::int32_t>({1, 2}), of<std::int32_t>({1, 3})) == inf);
  CHECK(largest_difference(placed({of({1.}), of({NaN})}), placed({of({1.}), of({1.})})) == inf);
  CHECK(largest_difference(placed({of({1.})}), placed({of({1.}), of({1.})})) == inf);
  CHECK(largest_difference({of({1.}), of({NaN})}, {of({1.}), of({1.})}) == inf);
  CHECK(largest_difference({of({1.})}, {of({1.}), of({1.})}) == inf);
}
