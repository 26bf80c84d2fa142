// What a call costs is known while compiling, and can be printed. (tests/mpi/cost.cpp counts it.)
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/run/cost.hpp>

#include <array>
#include <string>
#include <tuple>

namespace {
struct rows : drx::placement<rows> {};
using weights = drx::array<double, 3>;
using data = drx::placed<weights, rows>;

constexpr auto shifted = [](auto w, auto x) { return w * x; };
constexpr auto round = [](auto w, auto x) { return drx::reduce_mean(drx::map(shifted, drx::broadcast<rows>(w), x)); };
constexpr auto rounds = [](auto w, auto x) { return drx::fori_loop<5>(w, [=](auto v) { return round(v, x); }); };
constexpr auto until_small = [](auto w, auto x) {
  return drx::while_loop([](auto v) { return drx::sum(v) > 1e-3; }, [=](auto v) { return round(v, x); }, w);
};
constexpr auto unplaced = [](auto w) { return w + w; };
constexpr auto placed_result = [](auto w, auto x) { return drx::map(shifted, drx::broadcast<rows>(w), x); };
constexpr auto kept_and_summed = [](auto w, auto x) {
  auto y = drx::map(shifted, drx::broadcast<rows>(w), x);
  return std::tuple{y, drx::reduce_sum(drx::map([](auto v) { return drx::sum(v); }, y))};
};
constexpr auto gathered = [](auto x) { return drx::gather<4>(x); };
constexpr auto handed_on = [](auto x) {
  return drx::map([](auto v) { return drx::ppermute<rows>(v, std::array{3, 0, 1, 2}); }, x);
};
constexpr auto small_floats = [](auto x) { return drx::reduce_sum(x); };

using Round = drx::program<round, weights, data>;
using Rounds = drx::program<rounds, weights, data>;
using UntilSmall = drx::program<until_small, weights, data>;
using Unplaced = drx::program<unplaced, weights>;
using PlacedResult = drx::program<placed_result, weights, data>;
using KeptAndSummed = drx::program<kept_and_summed, weights, data>;
using Gathered = drx::program<gathered, data>;
using HandedOn = drx::program<handed_on, data>;
constexpr auto narrow = [](auto x) { return drx::reduce_sum(x, drx::as<drx::bfloat16>); };
using Narrow = drx::program<narrow, drx::placed<drx::array<float, 4>, rows>>;
template <class T>
using Sum = drx::program<small_floats, drx::placed<T, rows>>;

static_assert(drx::cost<Round>().stages == 1 && drx::cost<Round>().reductions() == 1);
static_assert(drx::cost<Round>().stage[0].bytes_up == 24 && drx::cost<Round>().stage[0].bytes_down == 24);
static_assert(drx::cost<Round>().stage[0].member_bytes == 24 && drx::cost<Round>().stage[0].operations == 3);
static_assert(drx::cost<Round>().collectives(1) == 0 && drx::cost<Round>().collectives(8) == 1);
static_assert(drx::cost<Round>().bytes_sent(1) == 0 && drx::cost<Round>().bytes_sent(8) == 8 * 24);
static_assert(drx::cost<Narrow>().bytes_up() == 8 && drx::cost<Narrow>().bytes_sent(8) == 8 * 8);
static_assert(drx::cost<Rounds>().stages == 1 && drx::cost<Rounds>().reductions() == 5);
static_assert(drx::cost<Rounds>().bytes_up() == 5 * 24 && drx::cost<Rounds>().collectives(3) == 5);
static_assert(!drx::cost<UntilSmall>().reductions() && !drx::cost<UntilSmall>().bytes_up());
static_assert(!drx::cost<UntilSmall>().collectives(2) && drx::cost<UntilSmall>().collectives(1) == 0);
static_assert(drx::cost<Unplaced>().reductions() == 0);
// What stays with the members is not sent.
static_assert(drx::cost<PlacedResult>().stages == 1 && drx::cost<PlacedResult>().reductions() == 0);
static_assert(drx::cost<PlacedResult>().bytes_up() == 0 && drx::cost<PlacedResult>().collectives(4) == 0);
static_assert(drx::cost<KeptAndSummed>().bytes_up() == 8 && drx::cost<KeptAndSummed>().reductions() == 1);
// What is gathered is no node.
static_assert(drx::cost<Gathered>().bytes_up() == 0 && drx::cost<Gathered>().collectives(3) == 1);
static_assert(drx::cost<Gathered>().bytes_sent(3) == 4 * 24);
static_assert(drx::cost<HandedOn>().collectives(3) == 1 && !drx::cost<HandedOn>().bytes_sent(3));
// A result takes multiples of 8 bytes in a node.
static_assert(drx::cost<Sum<drx::array<float, 3>>>().bytes_up() == 16);
static_assert(drx::cost<Sum<drx::array<float, 3>>>().stage[0].result_bytes == 12);
// Large nodes are sent in pieces; and up a tree, where pieces would be too small for so many ranks.
template <int Bytes, int Ranks>
constexpr auto collectives = drx::cost<Sum<drx::array<double, Bytes / 8>>>().collectives(Ranks);
template <int Bytes, int Ranks>
constexpr auto sent = drx::cost<Sum<drx::array<double, Bytes / 8>>>().bytes_sent(Ranks);
static_assert(collectives<65528, 2> == 1 && sent<65528, 2> == 2 * 65528);
static_assert(collectives<65536, 2> == 2 && sent<65536, 2> == 65536 * (1 + 1));
static_assert(collectives<65536, 3> == 2 && sent<65536, 3> == 2 * 65536 * (1 + 1));
static_assert(collectives<1024, 127> == 1 && collectives<1024, 128> == 14 && collectives<1024, 129> == 16);
static_assert(sent<1024, 128> == 2 * 127 * 1024);        // a whole subtree goes up from each rank but the first
static_assert(sent<1024, 131> == (2 * 130 + 1) * 1024);  // from ranks 128, 129 and 130, two subtrees go to the first
static_assert(drx::cost<Sum<drx::array<double, 1024>>>().collectives(2, 15) == 1);  // subtrees of both ranks
static_assert(drx::cost<Sum<drx::array<double, 1024>>>().collectives(2, 16) == 2);
}  // namespace

TEST_CASE("what a call costs can be read") {
  CHECK(drx::show(drx::cost<Rounds>()) ==
        "1 stage, 5 reductions; 120 bytes up for a subtree\n"
        "stage 0 over rows, 5 times: 24 bytes down, 24 up; a member: 24 bytes, 3 operations\n"
        "workspace: " +
            std::to_string(drx::cost<Rounds>().workspace) + " bytes, and " +
            std::to_string(drx::cost<Rounds>().workspace_per_thread) + " bytes for each thread\n");
  CHECK(drx::cost<Rounds>().workspace >= 24);
  const auto says = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  CHECK(says(drx::show(drx::cost<UntilSmall>()), "1 stage, ? reductions; ? bytes up for a subtree\n"));
  CHECK(says(drx::show(drx::cost<UntilSmall>()), "stage 0 over rows, as often as data say: 24 bytes down"));
  CHECK(says(drx::show(drx::cost<Gathered>()), "1 time: 0 bytes down, 0 up, 96 gathered; a member: 24 bytes"));
  CHECK(says(drx::show(drx::cost<HandedOn>()), "0 up, values sent from member to member; a member: 24 bytes"));
  CHECK(drx::show(drx::cost<Unplaced>()).starts_with("0 stages, 0 reductions; 0 bytes up for a subtree\nworkspace: "));
}
