// Results in the caller's memory: large products are written there at once and read there by later steps; arguments may
// lie there too.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <memory>

namespace {
using drx::array;
using matrix = array<double, 96, 96>;  // 72 KiB

// A large product that later steps read, that a loop begins with and reads, and that is a result twice.
constexpr auto read_later = [](auto x, auto y) {
  auto z = drx::matmul(x, y);
  auto c = drx::sum<0>(z);
  auto q = z * y - z;
  auto turned = drx::fori_loop<2>(std::pair{z, c}, [=](auto carry) {
    auto [m, r] = carry;
    auto n = m * z - m;
    return std::pair{n * 0.1, drx::sum<0>(n) + 0.1 * r};
  });
  return std::tuple{z, q, drx::matmul(drx::transpose(q), c), std::get<0>(turned), std::get<1>(turned), z};
};
using ReadLater = drx::program<read_later, matrix, matrix>;

constexpr auto both_ways = [](auto x, auto y) { return std::pair{drx::matmul(x, y), drx::matmul(y, x)}; };
using BothWays = drx::program<both_ways, matrix, matrix>;
constexpr auto passed_on = [](auto x, auto y) { return std::tuple{y * 2.0, x, y}; };
using PassedOn = drx::program<passed_on, array<double, 3>, array<double, 3>>;

bool equal(const matrix& x, const matrix& y) { return std::equal(x.data(), x.data() + matrix::size, y.data()); }
}  // namespace

TEST_CASE("a large product in the caller's memory is read there") {
  harness::check_run<ReadLater>({.low = -0.2, .high = 0.2}, {1});
}
TEST_CASE("products are written over their operands") {
  drx::serial_executor executor;
  drx::single_rank rank;
  drx::compiled<BothWays> p(executor, rank);
  const auto x = std::make_unique<matrix>(), y = std::make_unique<matrix>();
  for (std::size_t i = 0; i < 96 * 96; ++i) {
    x->data()[i] = static_cast<double>(i % 13) - 6;
    y->data()[i] = static_cast<double>(i % 11) - 5;
  }
  using result = drx::compiled<BothWays>::result;
  const auto expected = std::make_unique<result>(), r = std::make_unique<result>();
  p.call(*expected, *x, *y);
  r->first = *x;
  r->second = *y;
  p.call(*r, r->first, r->second);
  CHECK((equal(r->first, expected->first) && equal(r->second, expected->second)));
  r->first = *y;
  r->second = *x;
  p.call(*r, r->second, r->first);
  CHECK((equal(r->first, expected->first) && equal(r->second, expected->second)));
}
TEST_CASE("an argument that is a result is kept while another result is written over it") {
  drx::serial_executor executor;
  drx::single_rank rank;
  drx::compiled<PassedOn> p(executor, rank);
  drx::compiled<PassedOn>::result r{{1, 2, 3}, {4, 5, 6}, {}};
  auto& [first, second, third] = r;
  p.call(r, first, second);
  CHECK(first[2] == 12);
  CHECK(second[2] == 3);
  CHECK(third[2] == 6);
  p.call(r, second, first);  // and each where it lies
  CHECK(first[2] == 24);
  CHECK(second[2] == 3);
  CHECK(third[2] == 12);
}
