// Parts at traced positions of padded, joined, sliced and rolled arrays, which are copied piece by piece out of what
// these are made of, against the plain interpreter.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include "harness/run.hpp"

#include <limits>
#include <tuple>
#include <utility>

namespace {
using drx::all;
using drx::array;
using drx::range;

/// The parts at traced positions of arrays that are not stored.
template <class P>
int sliced_in_pieces() {
  using lowered = drx::plan::lowered<P>;
  int n = 0;
  for (const auto& e : lowered::tape.entries)
    if (e.prim == &drx::prim::dynamic_slice)
      n += drx::plan::is_unstored_rearrangement(lowered::tape.view(), lowered::plan,
                                                static_cast<int>(lowered::tape.pool[e.operands.first]));
  return n;
}
/// The bytes of a program's temporaries, on the server and for one thread.
std::int64_t bytes_of(const drx::plan::workspace_plan& p) { return p.server_bytes + p.thread_bytes; }
/// Whether it needs fewer than if all that moves elements were stored.
template <class P>
bool spares_memory() {
  const auto& tape = drx::plan::lowered<P>::tape;
  return bytes_of(drx::plan::workspace_of(tape.view())) <
         bytes_of(drx::plan::workspace_of(tape.view(), std::numeric_limits<std::int64_t>::max()));
}
/// An array's numbers changed, in a program's element type, so that what moves them has an operand in memory.
constexpr auto changed = []<class A>(const A& x) {
  if constexpr (std::is_same_v<typename A::value_type, bool>)
    return !x;
  else
    return x + x;
};

// A window, from in front of the array to behind it. Each array is read at one position only.
template <class A>
constexpr auto windows = [](auto x, auto i) {
  using T = typename A::value_type;
  constexpr std::int64_t n = A::shape[0];
  auto y = changed(x);
  auto edge = drx::full<array<T, 7>>(T(1));
  return std::tuple{
      drx::dynamic_slice<20>(drx::concatenate(edge, y, edge), i - 40), drx::dynamic_slice<n>(drx::pad<n, 3>(y), 8 - i),
      drx::dynamic_slice<n - 5>(drx::slice<2, n - 1>(y), i), drx::dynamic_slice<16>(drx::roll<5, 0>(y), i - 12),
      drx::dynamic_slice<9>(drx::concatenate(y, drx::slice<0, 0>(y), x, y), i)};
};
template <class T, class I>
using Windows = drx::program<windows<array<T, 24>>, array<T, 24>, I>;

// Along axes in front, between and behind, of which some are taken whole.
constexpr auto boxes = [](auto x, auto i, auto j) {
  auto y = x * x;
  return std::tuple{drx::dynamic_slice<2, 3>(drx::pad<4, 2>(y), i - 3, j),  // rows that lie apart: stored
                    drx::dynamic_slice<3, 4, 8>(drx::concatenate<2>(y, y, x), i, j - 5, 7 - i),  // cut behind
                    drx::dynamic_slice<2, 5>(drx::roll<2, 1>(y), j - 2, i - 9),                  // cut between
                    drx::dynamic_slice<2>(drx::concatenate<1>(x, y), j),                         // behind the sizes
                    drx::index(drx::concatenate(y, x), i + drx::cast<std::int32_t>(j) - 8)};
};
using Boxes = drx::program<boxes, array<double, 4, 6, 9>, std::int32_t, std::int64_t>;

// What is stored all the same: short rows, rows that lie apart, an array that something else reads, or that is smaller
// than all its parts.
constexpr auto stored = [](auto x, auto i, auto several) {
  auto y = x * x;
  auto returned = drx::concatenate(y, x);
  auto product = drx::pad<2, 2>(y);
  auto alias = drx::roll<3, 0>(y);
  auto one = [=](auto k) { return drx::dynamic_slice<10>(drx::concatenate(y, x), k); };
  return std::tuple{drx::dynamic_slice<3>(drx::concatenate(y, y, x), i),
                    drx::dynamic_slice<12>(drx::flip(y), i),
                    drx::dynamic_slice<2, 4>(drx::concatenate(drx::reshape<2, 8>(y), drx::reshape<2, 8>(x)), i, i),
                    std::pair(drx::dynamic_slice<12>(returned, i), returned),
                    drx::dynamic_slice<12>(product, i) * drx::sum(drx::sort(product)),
                    drx::dynamic_slice<2>(drx::reshape<4, 4>(alias), i),
                    drx::vmap(one)(several)};
};

// Rearrangements through rearrangements, and beside loops that read the same one where it lies.
constexpr auto deep = [](auto x, auto i) {
  auto y = x * x;
  auto joined = drx::concatenate(y, drx::pad<16, 16>(drx::slice<8, 40>(y)));
  auto wide = drx::pad<32, 32>(y);
  return std::tuple{drx::dynamic_slice<40>(joined, i - 70), drx::dynamic_slice<64>(wide, i) + y,
                    drx::slice<32, 96>(wide) * 2 - drx::slice<16, 80>(wide)};
};
using Deep = drx::program<deep, array<float, 64>, std::int32_t>;

// In a loop whose carries are sliced, and changed in the same step: by a loop, and by an update of a part.
struct tables : drx::placement<tables> {};
template <int N>
constexpr auto tabled = [](auto values, auto at) {
  auto step = [](auto state, auto s) {
    auto [table, log] = state;
    auto [value, i] = s;
    auto before = drx::dynamic_slice<N>(drx::concatenate(drx::full<array<float, 9>>(-2), table), 9 - i);
    auto next = drx::maximum(table, before + value);
    auto line = drx::dynamic_slice<N>(drx::concatenate(log, table), i * 3 - 4);
    auto noted = drx::update_slice(log, drx::slice<0, 5>(before) * 0.5f, i - 2);
    return std::pair{std::pair{next, noted}, drx::sum(line * before)};
  };
  auto [last, sums] =
      drx::scan(step, std::pair{drx::zeros<array<float, N>>(), drx::ones<array<float, N>>()}, std::tuple{values, at});
  return drx::sum(drx::square(last.first)) + drx::sum(last.second) * 0.25f + drx::sum(sums) * 0.125f;
};
template <int N>
using Tabled = drx::program<[](auto values, auto at) { return drx::map(drx::value_and_grad(tabled<N>), values, at); },
                            drx::placed<array<float, 12>, tables>, drx::placed<array<std::int32_t, 12>, tables>>;
// An array that all members have, at their positions.
using Shared = drx::program<[](auto table, auto values, auto at) {
  auto own = [](auto t, auto value, auto i) {
    auto part = drx::dynamic_slice<16>(drx::pad<5, 5>(t * t), i - 3);
    return std::pair(part * value, drx::dynamic_slice<16>(drx::concatenate(t * value, t), i));
  };
  return drx::map(own, drx::broadcast<tables>(table), values, at);
},
                            array<float, 20>, drx::placed<float, tables>, drx::placed<std::int64_t, tables>>;

template <class P>
void check_at_many(const harness::sample& s, std::vector<std::int64_t> seeds = {0, 0, 0, 0, 0, 0, 0, 0}) {
  harness::check_run<P>(s, std::move(seeds));  // (each time with other numbers)
}
}  // namespace

TEST_CASE("windows that reach over several pieces") {
  CHECK(sliced_in_pieces<Windows<float, std::int32_t>>() == 5);
  check_at_many<Windows<float, std::int32_t>>({.below = 80});
  check_at_many<Windows<std::int32_t, std::int32_t>>({.below = 80});
  check_at_many<Windows<bool, std::int64_t>>({.below = 80});
}
TEST_CASE("boxes of arrays of several axes") {
  CHECK(sliced_in_pieces<Boxes>() == 4);
  check_at_many<Boxes>({.below = 12});
}
TEST_CASE("arrays of pieces that are stored") {
  using P = drx::program<stored, array<double, 16>, std::int32_t, array<std::int32_t, 5>>;
  CHECK(sliced_in_pieces<P>() == 0);
  check_at_many<P>({.below = 30});
}
TEST_CASE("pieces that are rearranged, and arrays that loops read where they lie") {
  CHECK(sliced_in_pieces<Deep>() == 2);
  check_at_many<Deep>({.below = 100});
}
TEST_CASE("carries that are sliced and changed") {
  CHECK(spares_memory<Tabled<32>>());
  harness::check_run<Tabled<32>>({.below = 20}, {1, 5, 41});
}
TEST_CASE("an array of all members, at the positions of each") {
  CHECK(sliced_in_pieces<Shared>() == 4);  // (two of one member, and one of each block)
  harness::check_run<Shared>({.below = 30}, {1, 5, 41});
}
