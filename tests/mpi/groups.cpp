// ranks: 1 2 3 5
// threads: 2
// Members in groups: the same bits on any number of ranks and threads, wherever the ranks' members begin.
#include <drx/backend/session.hpp>

#include "harness/orbits.hpp"
#include "harness/ranks.hpp"
#include "harness/run.hpp"

namespace {
template <class P>
void check_bits(const std::vector<std::int64_t>& members, harness::sample s = {}) {
  auto& c = harness::session().communicator();
  drx::compiled<P> p(harness::session().executor(), c);
  for (std::int64_t n : members) {
    CAPTURE(n);
    s.members = n;
    const auto in = harness::random_inputs<P>(s), serial = harness::run_serial<P>(in);
    std::vector<std::int64_t> blocks = drx::even_blocks(n, c.size());
    CHECK(harness::same_bits(harness::call(p, c, in), harness::own_block(serial, blocks, c.rank())));
    if (drx::members_in_block(n) > 1 || c.size() == 1) continue;
    blocks[1] = n / 3;  // no end of a group
    for (std::size_t r = 2; r < blocks.size(); ++r) blocks[r] = std::max(blocks[r], blocks[1]);
    CHECK(harness::same_bits(harness::call(p, c, in, &blocks), harness::own_block(serial, blocks, c.rank())));
  }
}
}  // namespace

TEST_CASE("gradients") { check_bits<orbits::Fit>({0, 1, 2, 5, 11, 23, 63, 64, 100, 203, 300}); }
TEST_CASE("all results") { check_bits<orbits::All>({1, 3, 11, 23, 63, 71, 300}); }
TEST_CASE("members of members") { check_bits<orbits::Nested<orbits::planets>>({1, 5, 11}, {.nested = 45}); }
TEST_CASE("subsets: members stay where they are") {
  auto& s = harness::session();
  auto& c = s.communicator();
  const auto value = [](std::int64_t i) {
    const double x = static_cast<double>(i * i % 17) / 16;
    return orbits::start<double>{{1, x}, {x / 2, 1}};
  };
  const auto all = drx::place<orbits::stars>(c, 50, value);
  drx::compiled<orbits::Fit> p(s.executor(), c);
  drx::serial_executor one;
  drx::single_rank alone;
  drx::compiled<orbits::Fit> reference(one, alone);
  for (const auto& chosen :
       {std::vector<std::int64_t>{7}, {0, 1, 2}, {3, 4, 11, 12, 19, 20, 21, 28, 33, 40, 41, 42, 49}, {47, 48, 49}}) {
    const auto n = static_cast<std::int64_t>(chosen.size());
    const auto expected = reference(1.25, drx::place<orbits::stars>(alone, n, [&](std::int64_t i) {
                                      return value(chosen[static_cast<std::size_t>(i)]);
                                    }));
    const auto got = p(1.25, all.subset(chosen, c.rank()));
    CHECK(got.first == expected.first);
    CHECK(got.second == expected.second);
  }
}
