// A placement that says how many members there are at most: no bodies for blocks that are never filled, the same
// results, and an error for more members.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct any : drx::placement<any> {};
// cut-begin few
struct few : drx::placement<few> {
  static constexpr std::int64_t most_members = 50;
};
// cut-end few
struct some : drx::placement<some> {
  static constexpr std::int64_t most_members = 255;
};
struct many : drx::placement<many> {
  static constexpr int most_members = 256;
};
struct seven : drx::placement<seven> {
  static constexpr std::int64_t most_members = 7;
};
struct eight : drx::placement<eight> {
  static constexpr std::int64_t most_members = 8;
};

using numbers = drx::array<double, 6>;
template <class P>
constexpr auto slope = [](auto w, auto x) {
  const auto error = [](auto v, auto row) { return drx::square(drx::dot(v, row) - 1.0); };
  return drx::grad([=](auto v) { return drx::reduce_mean(drx::map(error, drx::broadcast<P>(v), x)); })(w);
};
template <class P>
using Slope = drx::program<slope<P>, numbers, drx::placed<numbers, P>>;

template <class P>
constexpr auto slope_of_nested = [](auto w, auto x) {
  const auto of_group = [](auto v, auto rows) { return slope<P>(v, rows); };
  return drx::reduce_sum(drx::map(of_group, drx::broadcast<any>(w), x));
};
template <class P>
using Nested = drx::program<slope_of_nested<P>, numbers, drx::placed<drx::placed<numbers, P>, any>>;

template <int N>
constexpr auto stacked = [](auto w, auto x) {
  return drx::gather<N>(drx::map([](auto v, auto row) { return drx::dot(v, row); }, drx::broadcast<any>(w), x));
};
template <int N>
using Stacked = drx::program<stacked<N>, numbers, drx::placed<numbers, any>>;

/// How many bodies for blocks the innermost stages of t have.
int block_bodies(const drx::tape& t) {
  int n = 0;
  for (const drx::entry& e : t.entries) {
    for (const drx::tape& r : e.regions) n += block_bodies(r);
    if (e.prim == &drx::prim::stage) n += drx::prim::rules::stage::view(e).block_bodies();
  }
  return n;
}
template <class P>
int block_bodies() {
  return block_bodies(drx::plan::staged_program<P>::tape_constant().thaw());
}
}  // namespace

TEST_CASE("bodies for blocks, only where members may fill them") {
  CHECK(block_bodies<Slope<any>>() == 3);  // (of 128, of 32, of 8)
  CHECK(block_bodies<Slope<many>>() == 2);
  CHECK(block_bodies<Slope<some>>() == 1);
  CHECK(block_bodies<Slope<few>>() == 0);
  CHECK(block_bodies<Nested<any>>() == 2);
  CHECK(block_bodies<Nested<few>>() == 2);
  CHECK(block_bodies<Nested<eight>>() == 1);
  CHECK(block_bodies<Nested<seven>>() == 0);
  CHECK(block_bodies<Stacked<63>>() == 0);  // the program says how many
  CHECK(block_bodies<Stacked<255>>() == 1);
  CHECK(block_bodies<Stacked<256>>() == 2);
}
TEST_CASE("numbers of members up to the most") {
  harness::check_run<Slope<few>>({}, {1, 7, 49, 50});
  harness::check_run<Slope<some>>({}, {63, 64, 71, 255});
  harness::check_run<Slope<many>>({}, {1, 255, 256});
  harness::check_run<Nested<eight>>({}, {1, 3});
  harness::check_run<Stacked<255>>({}, {255});
}
TEST_CASE("more members than a placement says are an error that names both numbers") {
  drx::serial_executor threads;
  drx::single_rank ranks;
  drx::compiled<Slope<few>> run(threads, ranks);
  const auto message = [&](std::int64_t n) -> std::string {
    harness::sample s;
    s.members = n;
    try {
      harness::call(run, ranks, harness::random_inputs<Slope<few>>(s));
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "none";
  };
  CHECK(message(50) == "none");
  CHECK(message(51).find("51 members of") != std::string::npos);
  CHECK(message(51).find("few, whose most_members is 50") != std::string::npos);
}
