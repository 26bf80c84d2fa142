// Regions, which copies of an entry share.
#include <drx/drx.hpp>

#include <doctest/doctest.h>

#include <thread>
#include <utility>
#include <vector>

namespace {
constexpr drx::tape with_outputs(int n) {
  drx::tape t;
  for (int i = 0; i < n; ++i) t.outputs.push_back(i);
  return t;
}
constexpr drx::entry some_entry() {
  drx::entry e;
  e.regions.push_back(with_outputs(1));
  e.regions.push_back(with_outputs(2));
  return e;
}
constexpr const drx::tape* first(const drx::entry& e) { return e.regions.begin(); }

constexpr bool shares_until_one_writes() {
  drx::entry a = some_entry(), b = a, c;
  c = b;
  bool ok = first(a) == first(b) && first(a) == first(c);
  b.regions[1].outputs.push_back(7);
  ok = ok && first(b) != first(a) && first(c) == first(a);
  ok = ok && std::as_const(b).regions[1].outputs.size() == 3 && std::as_const(a).regions[1].outputs.size() == 2;
  const drx::tape* const alone = first(b);
  for (drx::tape& t : b.regions) t.outputs.push_back(8);
  ok = ok && first(b) == alone;
  c.regions.push_back(with_outputs(5));
  ok = ok && c.regions.size() == 3 && a.regions.size() == 2 && first(c) != first(a);
  drx::entry d = std::move(a);
  ok = ok && a.regions.empty() && d.regions.size() == 2;
  d = std::as_const(d);
  d.regions = drx::tapes();
  return ok && d.regions.empty() && drx::same_regions(some_entry().regions, drx::entry(some_entry()).regions);
}
static_assert(shares_until_one_writes());
}  // namespace

TEST_CASE("copies of an entry share its regions until one writes to them") { CHECK(shares_until_one_writes()); }
TEST_CASE("threads may copy one entry at once") {
  const drx::entry one = some_entry();
  std::vector<std::thread> threads;
  std::vector<int> counted(4, 0);
  for (int& n : counted)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        drx::entry copy = one;
        copy.regions[0].outputs.push_back(i);
        n += std::as_const(copy).regions[0].outputs.size();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const int n : counted) CHECK(n == 2000);
  CHECK(std::as_const(one).regions[0].outputs.size() == 1);
}
