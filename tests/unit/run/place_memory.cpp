#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include <doctest/doctest.h>

#include <span>
#include <vector>

namespace {
struct members_of_test : drx::placement<members_of_test> {};
using pair = std::tuple<drx::array<float, 2>, drx::array<std::int32_t>>;
constexpr auto total = [](auto x) {
  return drx::reduce_sum(
      drx::map([](auto p) { return drx::sum(std::get<0>(p)) * drx::cast<float>(std::get<1>(p)); }, x));
};
}  // namespace

TEST_CASE("memory that the caller holds is used where it is") {
  drx::serial_executor executor;
  drx::single_rank rank;
  std::vector<float> x{1, 2, 3, 4, 5, 6};
  std::vector<std::int32_t> w{1, 10, 100};
  const std::span<const float> view(x);
  const auto data = drx::place_memory<members_of_test, pair>(rank, {0, 3}, view, w);
  CHECK(data.leaf(0) == reinterpret_cast<std::byte*>(x.data()));
  drx::compiled<drx::program<total, drx::placed<pair, members_of_test>>> program(executor, rank);
  CHECK(program(data) == 3 + 70 + 1100);
  x[0] = 2;
  CHECK(program(data) == 4 + 70 + 1100);
}

TEST_CASE("memory of another size is refused with the numbers") {
  drx::single_rank rank;
  std::vector<float> x(5);
  std::vector<std::int32_t> w(3);
  CHECK_THROWS_WITH((drx::place_memory<members_of_test, pair>(rank, {0, 3}, x, w)),
                    "drx::place_memory: leaf 0 has 5 elements of f32; 3 members need 6 of f32");
}
