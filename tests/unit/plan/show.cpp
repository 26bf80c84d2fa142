// A program's plan as text: the whole, and after each pass by its name.
#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

#include <doctest/doctest.h>

namespace {
struct rows : drx::placement<rows> {};

constexpr auto error = [](auto w, auto x) { return drx::square(drx::dot(w, x) - 1); };
constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(w), data));
};
using numbers = drx::array<double, 4>;
using P = drx::program<drx::grad(loss), numbers, drx::placed<numbers, rows>>;

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("the tape after the last pass is the plan") {
  const std::string last = drx::plan::show<P, "rearrangements">();
  CHECK(last == drx::show(drx::plan::staged_program<P>::tape_constant().thaw()));
  CHECK(drx::plan::show<P>().find(last) == 0);
}
TEST_CASE("members are in stages after the pass of that name") {
  const std::string before = drx::plan::show<P, "broadcasts">(), after = drx::plan::show<P, "stages">();
  CHECK(holds(before, "map[rows]"));
  CHECK_FALSE(holds(before, "stage[rows"));
  CHECK(holds(after, "stage[rows"));
  CHECK_FALSE(holds(after, "map[rows]"));
}
// The error of plan::show<P, "no such name">() lists the same names.
TEST_CASE("names of passes") {
  std::string names;
  for (const drx::plan::pass& p : drx::plan::passes) {
    names += (names.empty() ? "" : ", ") + std::string(p.name);
    CHECK(drx::plan::passes_up_to(p.name) == static_cast<int>(&p - drx::plan::passes) + 1);
    CHECK(p.what.back() == '.');
  }
  CHECK(
      names ==
      "functions, shards, broadcasts, identities, contractions, stacked parts, members' invariants, stages, block constants, sums over members, outer products, stacked factors, carried products, narrow transposes, invariants, rearrangements, short axes, row chunks, narrow factors, recomputed values");
  CHECK(drx::plan::passes_up_to("narrow transpose") == 0);
}
