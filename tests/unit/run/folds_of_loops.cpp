// Sums and extrema over an axis that is not the last one, which are parts of the loops that make what is folded; and
// rows taken at positions, which such loops read where they lie.
#include <drx/drx.hpp>

#include <cmath>
#include <limits>

#include "harness/run.hpp"

namespace {
using drx::array;

/// How many folds are parts of loops.
template <class P>
constexpr int folds = [] {
  int n = 0;
  for (const auto& s : drx::run::code_of<P>::plan.steps) n += s.has_folds ? s.sums : 0;
  return n;
}();
/// How many steps take rows out of an array.
template <class P>
constexpr int takes = [] {
  using C = drx::run::code_of<P>;
  int n = 0;
  for (int r = 0; r < C::sizes.regions; ++r)
    for (int s = C::plan.first_step[r]; s < C::plan.first_step[r] + C::plan.step_count[r]; ++s)
      n += !C::plan.steps[s].is_loop && C::tape.entries[C::plan.steps[s].entry].prim == &drx::prim::take;
  return n;
}();

// Largest sums along paths, and which they are: rows of whole packs, of a pack and a part, and of half a pack.
constexpr auto paths = [](auto best, auto ahead) {
  using T = typename decltype(best)::value_type;
  constexpr int n = decltype(best)::shape[0], lanes = decltype(best)::shape[1];
  auto all = drx::reshape<n, 1, lanes>(best) + drx::reshape<n, n, 1>(ahead);
  return std::tuple{drx::max<0>(all), drx::argmax<0>(all), drx::min<0>(all), drx::argmin<0>(all),
                    drx::sum<0>(all) * T(2)};
};
template <class T, int N, int Lanes>
using Paths = drx::program<paths, array<T, N, Lanes>, array<T, N, N>>;

// What is folded leaves the loop too; an axis in the middle, and another one, which no loop with the first has.
constexpr auto several = [](auto x, auto y) {
  auto z = x * y - x;
  return std::tuple{z, drx::sum<1>(z), drx::max<1>(z * y), drx::sum<0>(z), drx::sum<3>(z), drx::argmin<1>(y)};
};
using Several = drx::program<several, array<float, 3, 5, 2, 20>, array<float, 3, 5, 2, 20>>;

// Sums of rows: of what leaves the loop too, of what it reads, with one number for each row.
constexpr auto of_rows = [](auto x, auto y, auto w) {
  auto z = x * y - drx::expand_dims<2>(w);
  return std::tuple{z, drx::sum<2>(z), drx::sum<2>(z * y), drx::sum<2>(y), drx::max<2>(x * y)};
};
template <class T, int N, int Row>
using OfRows = drx::program<of_rows, array<T, 4, N, Row>, array<T, 4, N, Row>, array<T, 4, N>>;

// Numbers far from each other, of which few are folded; many are a step.
constexpr auto far = [](auto x) { return drx::sum<0>(x * x + 1.0f); };
using Far = drx::program<far, array<float, 16, 21, 20>>;
using ManyFar = drx::program<far, array<float, 17, 21, 20>>;

// In the place of what it reads: a loop that writes its carry cannot go along the axis again.
constexpr auto in_place = [](auto start, auto steps) {
  auto step = [](auto x, auto y) {
    auto z = x * y + 1.0;
    return std::pair{z, std::tuple{drx::argmax<0>(z), drx::max<0>(z), drx::sum<0>(x)}};
  };
  return drx::scan(step, start, steps);
};
using InPlace = drx::program<in_place, array<double, 4, 8>, array<double, 3, 4, 8>>;

// Weighted sums of neighbours' rows, in a loop, with their derivative by a number.
constexpr auto smoothed = [](auto width, auto weights, auto near, auto seeds) {
  auto step = [=](auto f) {
    return drx::sum<1>(drx::expand_dims<2>(weights * width) * drx::take(f, near)) + 0.1f * seeds;
  };
  return drx::fori_loop<3>(seeds, step);
};
constexpr auto slope = [](auto width, auto... data) {
  return drx::jvp([=](auto w) { return smoothed(w, data...); }, width, drx::ones<drx::scalar<float>>());
};
using Smoothed = drx::program<smoothed, float, array<float, 30, 4>, array<std::int32_t, 30, 4>, array<float, 30, 10>>;
using Slope = drx::program<slope, float, array<float, 30, 4>, array<std::int32_t, 30, 4>, array<float, 30, 10>>;
// The same by rows in chunks.
using LargeSlope =
    drx::program<slope, float, array<float, 2000, 8>, array<std::int32_t, 2000, 8>, array<float, 2000, 10>>;
// Rows that are read elsewhere too are stored.
constexpr auto read_twice = [](auto x, auto near, auto w) {
  auto rows = drx::take(x, near);
  return std::pair{drx::sum<0>(rows * drx::expand_dims<1>(w)), drx::exp(rows)};
};
using ReadTwice = drx::program<read_twice, array<double, 6, 9>, array<std::int64_t, 7>, array<double, 7>>;
// Or folded beside what the loop makes of them.
constexpr auto folded_too = [](auto x, auto near, auto w) {
  auto rows = drx::take(x, near);
  return std::pair{drx::sum<0>(rows * drx::expand_dims<1>(w)), drx::max<0>(rows)};
};
using FoldedToo = drx::program<folded_too, array<double, 6, 9>, array<std::int64_t, 7>, array<double, 7>>;

// At members, whose blocks are rows.
struct pupils : drx::placement<pupils> {};
constexpr auto of_members = [](auto table, auto data) {
  auto of_member = [](auto t, auto x) {
    auto all = drx::reshape<5, 1>(x) + t;
    return std::pair{drx::max<0>(all), drx::sum<0>(all * all)};
  };
  return drx::reduce_mean(drx::map(of_member, drx::broadcast<pupils>(table), data));
};
using OfMembers = drx::program<of_members, array<double, 5, 8>, drx::placed<array<double, 5>, pupils>>;
}  // namespace

TEST_CASE("extrema, their positions and sums are parts of the loops that make what is folded") {
  static_assert(folds<Paths<float, 8, 32>> == 5 && folds<Paths<float, 7, 18>> == 5);
  harness::check_run<Paths<float, 8, 32>>({}, {1});
  harness::check_run<Paths<float, 7, 18>>({}, {1});
  harness::check_run<Paths<double, 3, 8>>({}, {1});
  harness::check_run<Paths<float, 3, 200>>({}, {1});
  static_assert(folds<Paths<float, 3, 4>> == 0);  // rows that are too short
}
TEST_CASE("of results that leave the loop, over axes in the middle, in the place of what is read") {
  static_assert(folds<Several> == 3);
  harness::check_run<Several>({}, {1});
  static_assert(folds<Far> == 1 && folds<ManyFar> == 0);
  harness::check_run<Far>({}, {1});
  static_assert(folds<InPlace> == 3);
  harness::check_run<InPlace>({}, {1});
}
TEST_CASE("sums of short rows of whole packs, and whole packs of rows") {
  static_assert(folds<OfRows<float, 8, 48>> == 3 && folds<OfRows<double, 4, 112>> == 3);
  harness::check_run<OfRows<float, 8, 48>>({}, {1});
  harness::check_run<OfRows<float, 4, 16>>({}, {1});
  harness::check_run<OfRows<double, 4, 112>>({}, {1});
  harness::check_run<OfRows<float, 256, 96>>({}, {1});  // threads share it
  static_assert(folds<OfRows<float, 8, 20>> == 0 && folds<OfRows<float, 8, 128>> == 0 &&
                folds<OfRows<float, 5, 48>> == 0);
}
TEST_CASE("rows at positions are read where they lie") {
  static_assert(folds<Smoothed> == 1 && takes<Smoothed> == 0);
  static_assert(folds<Slope> == 2 && takes<Slope> == 0);
  static_assert(folds<LargeSlope> == 2 && takes<LargeSlope> == 0);
  static_assert(takes<ReadTwice> == 1);
  static_assert(folds<FoldedToo> == 2 && takes<FoldedToo> == 1);
  harness::check_run<Smoothed>({}, {1});
  harness::check_run<Slope>({}, {1});
  harness::check_run<LargeSlope>({}, {1});
  harness::check_run<ReadTwice>({}, {1});
  harness::check_run<FoldedToo>({}, {1});
}
TEST_CASE("in members and their blocks") {
  static_assert(folds<OfMembers> > 0);
  harness::check_run<OfMembers>({}, {5, 0, 1, 37, 300});
}
#if !defined(DRX_TESTED_ON_A_DEVICE)
TEST_CASE("a NaN, where the loop writes what it has read") {
  array<double, 4, 8> x{};
  array<double, 3, 4, 8> y{};
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 8; ++k) x(i, k) = i + 2, y(0, i, k) = y(1, i, k) = y(2, i, k) = 1;
  y(1, 2, 5) = std::numeric_limits<double>::quiet_NaN();
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<InPlace> run(e, c);
  const auto [end, found] = run(x, y);
  const auto& [at, most, sum] = found;
  CHECK(end(3, 0) == 8);
  CHECK(at(0, 5) == 3);
  CHECK(at(1, 5) == 2);
  CHECK(at(2, 5) == 2);
  CHECK(at(2, 4) == 3);
  CHECK(most(2, 4) == 8);
  CHECK(sum(0, 4) == 14);
  CHECK(sum(2, 4) == 22);
  CHECK(std::isnan(most(1, 5)));
}
TEST_CASE("the first of equal numbers, and the first that is none, as in plain evaluation") {
  using P = Paths<float, 7, 18>;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  array<float, 7, 18> best{};  // equal numbers
  array<float, 7, 7> ahead{};
  for (int i = 0; i < 7; ++i) best(i, 3) = -inf;          // no number is larger than the beginning
  best(2, 4) = nan, best(5, 4) = nan, best(3, 17) = nan;  // in the first pack and in the part behind it
  best(1, 5) = inf, best(6, 5) = -inf;                    // whose sum is none
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> run(e, c);
  const auto [most, at, least, at_least, sum] = run(best, ahead);
  for (int k = 0; k < 7; ++k) {
    CHECK(at(k, 0) == 0);
    CHECK(at_least(k, 0) == 0);
    CHECK(most(k, 3) == -inf);
    CHECK(at(k, 3) == 0);
    CHECK(std::isnan(most(k, 4)));
    CHECK(at(k, 4) == 2);
    CHECK(at_least(k, 4) == 2);
    CHECK(std::isnan(least(k, 17)));
    CHECK(at(k, 17) == 3);
    CHECK(most(k, 5) == inf);
    CHECK(at(k, 5) == 1);
    CHECK(at_least(k, 5) == 6);
    CHECK(std::isnan(sum(k, 5)));
  }
}
TEST_CASE("positions from the end, and outside") {
  array<float, 30, 4> weights{};
  array<std::int32_t, 30, 4> near{};
  array<float, 30, 10> seeds{};
  for (int i = 0; i < 30; ++i) {
    weights(i, 0) = 1;
    weights(i, 1) = 10;
    near(i, 0) = -1;                       // the last row
    near(i, 1) = i % 2 == 0 ? 100 : -100;  // the last, and the first
    for (int k = 0; k < 10; ++k) seeds(i, k) = static_cast<float>(i == 29 ? 1 : i == 0 ? 3 : 0);
  }
  constexpr auto once = [](auto w, auto at, auto f) {
    return drx::sum<1>(drx::expand_dims<2>(w * 1.0f) * drx::take(f, at));
  };
  using P = drx::program<once, array<float, 30, 4>, array<std::int32_t, 30, 4>, array<float, 30, 10>>;
  static_assert(takes<P> == 0);
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> run(e, c);
  const auto y = run(weights, near, seeds);
  for (int i = 0; i < 30; ++i)
    for (int k = 0; k < 10; ++k) CHECK(y(i, k) == (i % 2 == 0 ? 11 : 31));
}
#endif
