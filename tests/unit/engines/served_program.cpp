// Programs as workers of engines run them: in pieces, in any order, with the bits of a call.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/engines/plan_json.hpp>
#include <drx/engines/served_program.hpp>
#include <drx/run/call/compiled.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

struct rows : drx::placement<rows> {};
using row = std::tuple<drx::array<double, 3>, double>;
using weights = drx::array<double, 3>;

constexpr auto error_of = [](auto w, auto r) { return drx::square(drx::dot(w, std::get<0>(r)) - std::get<1>(r)); };
constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error_of, drx::broadcast<rows>(w), data));
};
constexpr auto step = [](auto w, auto data) { return w - 0.1 * drx::grad(loss)(w, data); };
constexpr auto three_steps = [](auto w, auto data) {
  return drx::fori_loop<3>(w, [=](auto v) { return v - 0.1 * drx::grad(loss)(v, data); });
};
constexpr auto loss_after = [](auto w, auto data) { return loss(step(w, data), data); };
constexpr auto slope_after = [](auto w, auto data) { return drx::grad(loss_after)(w, data); };
constexpr auto twice = drx::monoid{[](auto a, auto b) { return a * b; }, 1.0};
constexpr auto extremes = [](auto w, auto data) {
  auto e = drx::map(error_of, drx::broadcast<rows>(w), data);
  return std::tuple{drx::reduce_max(e), drx::reduce_min(e), drx::reduce_with(twice, e), drx::reduce_sum(e)};
};

// A rank's members keep the curvatures for the loop's steps; an engine's compute them again.
constexpr auto newton = [](auto w, auto data) {
  auto smooth = [=](auto v) {
    auto of_row = [](auto p, auto r) { return drx::softplus(drx::dot(p, std::get<0>(r)) - std::get<1>(r)); };
    return drx::reduce_mean(drx::map(of_row, drx::broadcast<rows>(v), data)) + 0.5 * drx::dot(v, v);
  };
  auto slope = drx::grad(smooth)(w);
  return w - drx::fori_loop<3>(slope, [=](auto p) { return slope - 0.5 * drx::hvp(smooth, w, p); });
};

using data = drx::placed<row, rows>;
using Step = drx::program<step, weights, data>;
using ThreeSteps = drx::program<three_steps, weights, data>;
using SlopeAfter = drx::program<slope_after, weights, data>;
using Extremes = drx::program<extremes, weights, data>;
using Newton = drx::program<newton, weights, data>;

struct rows_in_memory {
  std::vector<double> x, y;
  explicit rows_in_memory(std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (double at : {1.0, 2.0, 3.0}) x.push_back(std::sin(at * static_cast<double>(i) + 0.3));
      y.push_back(std::cos(static_cast<double>(i)));
    }
  }
};

template <class T>
std::span<const std::byte> raw(const T* from, std::int64_t n) {
  return {reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(n) * sizeof(T)};
}

/// Runs a program on pieces of the members, which are computed and joined in a random order.
template <class P>
std::vector<drx::engines::bytes> run_in_pieces(const weights& w, const rows_in_memory& d, std::int64_t unit) {
  using namespace drx::engines;
  const auto n = static_cast<std::int64_t>(d.y.size());
  served_program p(served_facts_of<P>::value);
  const std::span<const std::byte> arguments[] = {raw(&w, 1)};
  const member_range members[] = {{"rows", n, 0, 0}};
  std::vector<bytes> roots;
  std::mt19937 random(7);
  for (;;) {
    p.bind(arguments, members);
    auto at = p.finish(roots);
    if (at.stage < 0) return at.results;
    std::vector<partial> parts;
    std::vector<std::int64_t> begins;
    for (std::int64_t i = 0; i < n; i += unit) begins.push_back(i);
    std::shuffle(begins.begin(), begins.end(), random);
    for (std::int64_t begin : begins) {
      const std::int64_t count = std::min(unit, n - begin);
      const std::span<const std::byte> leaves[] = {raw(d.x.data() + 3 * begin, 3 * count),
                                                   raw(d.y.data() + begin, count)};
      parts.push_back(p.map(roots, {"rows", n, begin, count}, leaves));
      if (parts.size() == 3) parts = {p.combine(at.stage, parts)};
    }
    roots.push_back(p.root(at.stage, parts, n));
  }
}

template <class P, class R>
void check_bits(std::int64_t n, std::int64_t unit) {
  rows_in_memory d(n);
  const weights w{0.5, -0.25, 1};
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> whole(e, c);
  const auto placed = drx::place_memory<rows, row>(c, {0, n}, d.x, d.y);
  const R expected = whole(w, placed);
  const auto pieces = run_in_pieces<P>(w, d, unit);
  std::size_t leaf = 0;
  drx::structure<R>::visit(expected, [&](const auto* p, const drx::shape& s) {
    const auto bytes = raw(p, s.size());
    CHECK(std::ranges::equal(bytes, pieces.at(leaf++)));
  });
  CHECK(leaf == pieces.size());
}

}  // namespace

TEST_CASE("pieces of the members, joined in any order, give the bits of a call") {
  for (std::int64_t n : {0, 1, 5, 37, 63}) {
    CAPTURE(n);
    check_bits<Step, weights>(n, 7);
    check_bits<Step, weights>(n, 1);
  }
  check_bits<Step, weights>(100, 24);   // (members in blocks of 8)
  check_bits<Step, weights>(1000, 96);  // (in blocks of 32)
  check_bits<ThreeSteps, weights>(53, 10);
  check_bits<SlopeAfter, weights>(300, 64);
  check_bits<Extremes, std::tuple<double, double, double, double>>(41, 3);
}

TEST_CASE("members of engines keep nothing for the steps of a loop") {
  using namespace drx::engines;
  static_assert(detail::form_of<drx::run::code_of<Newton>>().why == obstacle::moved_members);
  static_assert(drx::MapReduceForm<Newton> && form<Newton>.runs == 4);
  CHECK(drx::plan_json<Newton>().at("map_reduce_form") == true);
  rows_in_memory d(53);
  const weights w{0.5, -0.25, 1};
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<Newton> whole(e, c);
  const weights expected = whole(w, drx::place_memory<rows, row>(c, {0, 53}, d.x, d.y));
  weights served{};
  std::memcpy(&served, run_in_pieces<Newton>(w, d, 10).at(0).data(), sizeof served);
  for (int i = 0; i < 3; ++i) CHECK(served(i) == doctest::Approx(expected(i)).epsilon(1e-14));
}

TEST_CASE("what is wrong with a request is named") {
  using namespace drx::engines;
  served_program p(served_facts_of<Step>::value);
  const weights w{1, 2, 3};
  const std::span<const std::byte> arguments[] = {raw(&w, 1)}, short_argument[] = {raw(w.data(), 2)};
  const member_range members[] = {{"rows", 10, 0, 0}}, others[] = {{"columns", 10, 0, 0}};
  CHECK_THROWS_WITH(p.bind({}, members), "drx: 0 leaves of arguments; the program takes 1");
  CHECK_THROWS_WITH(p.bind(short_argument, members), "drx: argument 0, leaf 0 has 16 bytes; 1 of f64[3] have 24");
  CHECK_THROWS_WITH(p.bind(arguments, others), "drx: the number of members of rows is not given");
  p.bind(arguments, members);
  rows_in_memory d(10);
  const std::span<const std::byte> two[] = {raw(d.x.data(), 6), raw(d.y.data(), 2)};
  CHECK_THROWS_WITH(p.map({}, {"rows", 10, 0, 3}, two), "drx: argument 1, leaf 0 has 48 bytes; 3 of f64[3] have 72");
  CHECK_THROWS_WITH(p.map({}, {"rows", 10, 9, 2}, two), "drx: 2 members from 9 on, of 10 members of rows");
  CHECK_THROWS_WITH(p.map({}, {"cells", 10, 0, 2}, two), "drx: the program has no placement cells");
  CHECK_THROWS_WITH(p.map({}, {"rows", 10, 0, 2}, std::span(two).first(1)),
                    "drx: 1 leaves of members of rows; the program takes 2");
  const std::vector<bytes> wrong_root{bytes(8)};
  CHECK_THROWS_WITH(p.finish(wrong_root), "drx: root 0, of stage 0, has 8 bytes; a node of that stage has 24");
  const partial a = p.map({}, {"rows", 10, 0, 2}, two);
  const std::vector<partial> same{a, a};
  CHECK_THROWS_WITH(p.combine(0, same), "drx: two partials of stage 0 have the members of node (1, 0)");
  CHECK_THROWS_WITH(p.combine(3, same), "drx: stage 3 of a program with 1 stages");
  CHECK_THROWS_WITH(
      p.root(0, std::span(same).first(1), 10),
      "drx: the partials of stage 0 are not those of all 10 members: they cover 2 of them from the first on, without a gap");
  partial cut = a;
  cut.data.pop_back();
  CHECK_THROWS_WITH(p.combine(0, std::span(&cut, 1)), "drx: a partial of stage 0 has 23 bytes; its 1 nodes have 24");
}
