#include <drx/drx.hpp>
#include <drx/plan/fingerprint.hpp>

#include <doctest/doctest.h>

#include <set>

namespace {

struct clients : drx::placement<clients> {};
struct schools : drx::placement<schools> {};

constexpr auto total = [](auto x) { return drx::reduce_sum(drx::map([](auto v) { return 2 * v; }, x)); };
constexpr auto same = [](auto x) { return drx::reduce_sum(drx::map([](auto v) { return 2 * v; }, x)); };
constexpr auto another_number = [](auto x) { return drx::reduce_sum(drx::map([](auto v) { return 3 * v; }, x)); };
constexpr auto another_operation = [](auto x) { return drx::reduce_max(drx::map([](auto v) { return 2 * v; }, x)); };

template <const auto& F, class P = clients, class T = double, std::int64_t N = 3>
constexpr std::int64_t of = drx::plan::fingerprint(drx::program<F, drx::placed<drx::array<T, N>, P>>::tape());

}  // namespace

TEST_CASE("one program has one fingerprint; programs that differ in anything have others") {
  CHECK(of<total> == of<same>);
  const std::set<std::int64_t> all = {of<total>,          of<another_number>,        of<another_operation>,
                                      of<total, schools>, of<total, clients, float>, of<total, clients, double, 4>};
  CHECK(all.size() == 6);
  CHECK(*all.begin() >= 0);  // 63 bits
}
