// ranks: 1 2 3 5
// threads: 2
// Large results are folded piece by piece on the ranks, and written where the caller wants them: the same bits as on
// one rank.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

#include <algorithm>
#include <memory>

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using large = array<float, 20'001>;

constexpr auto all = [](auto x, auto small) {
  return std::tuple{drx::reduce_mean(x), drx::reduce_max(small), drx::reduce_sum(x * x), drx::reduce_min(x)};
};
using All = program<all, placed<large, clients>, placed<array<double, 5>, clients>>;
constexpr auto sum = [](auto x) { return drx::reduce_sum(x); };
using Sum = program<sum, placed<large, clients>>;
constexpr auto moved = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto p, auto v) { return p * v; }, drx::broadcast<clients>(w), x));
};
using Moved = program<moved, large, placed<large, clients>>;

constexpr auto product = drx::monoid{[](auto a, auto b) { return a * b; }, 1};
constexpr auto some = [](auto x) { return std::pair{drx::reduce_sum(x), drx::reduce_with(product, 1 + .1f * x)}; };
using Some = program<some, placed<array<float, 3000>, clients>>;
using Many = program<sum, placed<array<float, 1200>, clients>>;

/// The gradient by a table of which each member reads two rows: its nodes are whole before they leave their rank.
template <int Rows>
constexpr auto of_table = [](auto table, auto x) {
  auto error = [](auto w, auto own) {
    auto at = drx::cast<std::int32_t>(drx::abs(own) * (Rows / 3));
    return drx::sum(drx::sin(drx::take(w, at)) * drx::sum(own));
  };
  return drx::grad([=](auto w) { return drx::reduce_mean(drx::map(error, drx::broadcast<clients>(w), x)); })(table);
};
template <int Rows>
using Table = program<of_table<Rows>, array<float, Rows, 8>, placed<array<float, 2>, clients>>;

template <class P>
void check_bits(std::initializer_list<std::int64_t> members) {
  auto& c = harness::session().communicator();
  drx::compiled<P> p(harness::session().executor(), c);
  drx::compiled<P> fast(harness::session().executor(), c, {.order = drx::reduction_order::fast});
  for (std::int64_t n : members) {
    CAPTURE(n);
    const auto in = harness::random_inputs<P>({.members = n});
    const auto expected = harness::run_serial<P>(in);
    CHECK(harness::same_bits(harness::call(p, c, in), expected));
    harness::check_near(harness::call(fast, c, in), expected, 10);
    std::vector<std::int64_t> uneven = drx::even_blocks(n, c.size());
    if (c.size() > 1) uneven[1] = 0;
    CHECK(harness::same_bits(harness::call(p, c, in, &uneven), expected));
    harness::check_near(harness::call(fast, c, in, &uneven), expected, 10);
  }
}
}  // namespace

TEST_CASE("several results in one node") { check_bits<All>({0, 1, 2, 3, 7, 40}); }
TEST_CASE("nodes that are too small for pieces go up a tree of ranks and come down") {
  constexpr int many = 253 * 32;  // leaves of 32 members, of which each rank has several subtrees
  check_bits<Many>({3, 733, many});
  auto& c = harness::session().communicator();
  const auto x = drx::place<clients>(c, many, [](std::int64_t) { return array<float, 1200>{}; });
  drx::compiled<Many> p(harness::session().executor(), c);
  const auto calls = c.collectives();
  (void)p(x);
  if (c.size() == 5) CHECK(c.collectives() - calls == 6);  // up and down three levels
}
TEST_CASE("tables, large and small, of which most rows are not met") {
  check_bits<Table<3000>>({0, 1, 37, 300, 1000, 3001});
  check_bits<Table<300>>({1, 37, 300, 1000, 3001});
}
TEST_CASE("so do monoids") { check_bits<Some>({1, 3, 37, 61}); }
TEST_CASE("one result: a rank's only member is not copied, nor written to") { check_bits<Sum>({0, 1, 2, 3, 5, 8}); }

TEST_CASE("a rank exchanges a result's size twice, whatever the number of members") {
  auto& s = harness::session();
  auto& c = s.communicator();
  drx::compiled<Sum> p(s.executor(), c);
  const auto result = std::make_unique<large>();
  for (std::int64_t each : {1, 4, 64}) {
    const auto x = drx::place<clients>(c, each * c.size(), [](std::int64_t) { return large{}; });
    const auto bytes = c.bytes_sent(), calls = c.collectives();
    p.call(*result, x);
    if (c.size() == 1) continue;
    CHECK(c.collectives() - calls == 2);
    if (c.size() == 2) CHECK(c.bytes_sent() - bytes <= 4 * large::size + 64);
    if (c.size() == 4) CHECK(c.bytes_sent() - bytes <= 6 * large::size + 128);
  }
}

TEST_CASE("a result may be an argument") {
  auto& s = harness::session();
  auto& c = s.communicator();
  const auto w = std::make_unique<large>();
  for (std::int64_t i = 0; i < large::size; ++i) (*w)[i] = static_cast<float>(i % 7);
  const auto x = drx::place<clients>(c, 6, [](std::int64_t m) {
    large l;
    for (std::int64_t i = 0; i < large::size; ++i) l[i] = static_cast<float>(m + i % 3);
    return l;
  });
  drx::compiled<Moved> p(s.executor(), c);
  const auto apart = std::make_unique<large>();
  p.call(*apart, *w, x);
  p.call(*w, *w, x);
  CHECK(std::equal(w->begin(), w->end(), apart->begin()));
}

#ifdef DRX_HAS_MPI
TEST_CASE("messages in pieces are the whole") {
  auto& s = harness::session();
  drx::mpi_communicator c(MPI_COMM_WORLD);
  c.set_chunk(1000);
  const auto in = harness::random_inputs<Sum>({.members = 11});
  CHECK(harness::same_bits(harness::run<Sum>(s.executor(), c, in), harness::run_serial<Sum>(in)));
}
#endif
