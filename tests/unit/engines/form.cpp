// Which programs engines run, and what the others are told.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/engines/form.hpp>

namespace {
using namespace drx::engines;
struct rows : drx::placement<rows> {};
struct groups : drx::placement<groups> {};
using weights = drx::array<double, 3>;
using data = drx::placed<weights, rows>;

constexpr auto shifted = [](auto w, auto x) { return w * x; };
constexpr auto round = [](auto w, auto x) { return drx::reduce_mean(drx::map(shifted, drx::broadcast<rows>(w), x)); };
constexpr auto with_loss = [](auto w, auto x) { return std::tuple{round(w, x), drx::sum(w)}; };
constexpr auto twice = [](auto w, auto x) { return round(round(w, x), x); };
constexpr auto rounds = [](auto w, auto x) { return drx::fori_loop<5>(w, [=](auto v) { return round(v, x); }); };
constexpr auto until_small = [](auto w, auto x) {
  return drx::while_loop([](auto v) { return drx::sum(v) > 1e-3; }, [=](auto v) { return round(v, x); }, w);
};
constexpr auto placed_result = [](auto w, auto x) { return drx::map(shifted, drx::broadcast<rows>(w), x); };
constexpr auto stacked = [](auto w, auto x) {
  return w + drx::sum<0>(drx::gather<4>(drx::map(shifted, drx::broadcast<rows>(w), x)));
};
constexpr auto unplaced = [](auto w) { return w + w; };
constexpr auto norm = [](auto w, auto x) { return drx::sum(round(w, x)); };
constexpr auto nested = [](auto w, auto x) {
  return drx::reduce_mean(
      drx::map([](auto v, auto g) { return v + drx::reduce_sum(g); }, drx::broadcast<groups>(w), x));
};

using Round = drx::program<round, weights, data>;
using WithLoss = drx::program<with_loss, weights, data>;
using Twice = drx::program<twice, weights, data>;
using Rounds = drx::program<rounds, weights, data>;
using UntilSmall = drx::program<until_small, weights, data>;
using PlacedResult = drx::program<placed_result, weights, data>;
using Stacked = drx::program<stacked, weights, data>;
using Unplaced = drx::program<unplaced, weights>;
using Norm = drx::program<norm, weights, data>;
using Nested = drx::program<nested, weights, drx::placed<data, groups>>;

static_assert(drx::MapReduceForm<Round> && form<Round>.runs == 1);
static_assert(drx::MapReduceForm<Twice> && form<Twice>.runs == 2);
static_assert(drx::MapReduceForm<Rounds> && form<Rounds>.runs == 5);
static_assert(!drx::MapReduceForm<UntilSmall> && form<UntilSmall>.why == obstacle::condition);
static_assert(!drx::MapReduceForm<PlacedResult> && form<PlacedResult>.why == obstacle::placed_result);
static_assert(!drx::MapReduceForm<Stacked> && form<Stacked>.why == obstacle::moved_members);
static_assert(!drx::MapReduceForm<Unplaced> && form<Unplaced>.why == obstacle::no_stage);
static_assert(!drx::MapReduceForm<Nested> && form<Nested>.why == obstacle::nested_placement);
static_assert(!drx::MapReduceForm<int>);

static_assert(drx::FederatedRound<Round> && drx::FederatedRound<WithLoss>);
static_assert(!drx::FederatedRound<Twice> && federated_form<Twice>.why == obstacle::several_stages);
static_assert(!drx::FederatedRound<Norm> && federated_form<Norm>.why == obstacle::other_state);
static_assert(!drx::FederatedRound<PlacedResult>);
}  // namespace

TEST_CASE("each obstacle has a sentence") {
  for (int o = 1; o <= static_cast<int>(obstacle::other_state); ++o)
    CHECK(std::string(sentence(static_cast<obstacle>(o))).size() > 20);
}

TEST_CASE("the entry at fault is the one that the plan shows") {
  const drx::tape plan = drx::run::code_of<UntilSmall>::tape.thaw();
  CHECK(form<UntilSmall>.entry >= plan.entries.size());  // (it is in a region)
  CHECK(drx::run::code_of<UntilSmall>::tape.entries[form<UntilSmall>.entry].prim == &drx::prim::stage);
}
