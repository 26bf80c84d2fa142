// ranks: 1 2 3 5
// threads: 2
// Large unplaced products, whose rows ranks divide among each other: the bits of one rank, and the messages that
// drx::cost says.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>
#include <drx/run/cost.hpp>

#include "harness/counted_calls.hpp"
#include "harness/ranks.hpp"

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct rows : drx::placement<rows> {};
using few = placed<array<double, 3>, rows>;

// All programs have a stage: others may be called by one rank alone.
constexpr auto product = [](auto a, auto b, auto x) { return std::pair{drx::matmul(a, b), drx::reduce_sum(x)}; };
constexpr auto first_turned = [](auto a, auto b, auto x) {
  return std::pair{drx::matmul(drx::transpose(a), b), drx::reduce_sum(x)};
};
constexpr auto second_turned = [](auto a, auto b, auto x) {
  return std::pair{drx::matmul(a, drx::transpose(b)), drx::reduce_sum(x)};
};
template <class T, int M, int K, int N>
using Product = program<product, array<T, M, K>, array<T, K, N>, few>;
template <class T, int M, int K, int N>
using FirstTurned = program<first_turned, array<T, K, M>, array<T, K, N>, few>;
template <class T, int M, int K, int N>
using SecondTurned = program<second_turned, array<T, M, K>, array<T, N, K>, few>;
template <class T>
using Batches = program<product, array<T, 3, 201, 401>, array<T, 3, 401, 301>, few>;

/// Muon's iteration, towards the orthogonal factor of a matrix.
constexpr auto orthogonal = [](auto g, auto x) {
  const auto r = drx::fori_loop<3>(g / drx::sqrt(drx::sum(g * g)), [](auto m) {
    const auto a = drx::matmul(m, drx::transpose(m));
    return 3.4445 * m - drx::matmul(4.775 * a - 2.0315 * drx::matmul(a, a), m);
  });
  return std::pair{r, drx::reduce_sum(x)};
};
template <class T>
using Orthogonal = program<orthogonal, array<T, 290, 321>, few>;

constexpr auto slope = [](auto a, auto b, auto x) {
  return std::pair{drx::grad<0, 1>([](auto p, auto q) { return drx::sum(drx::sin(drx::matmul(p, q))); })(a, b),
                   drx::reduce_sum(x)};
};
template <class T>
using Slope = program<slope, array<T, 301, 333>, array<T, 333, 310>, few>;

/// A cotangent with infinite elements.
constexpr auto infinite = [](auto a, auto b, auto x) {
  return std::pair{
      drx::grad<0, 1>([](auto p, auto q) { return drx::sum(drx::exp(200 * drx::relu(drx::matmul(p, q)))); })(a, b),
      drx::reduce_sum(x)};
};
template <class T>
using Infinite = program<infinite, array<T, 301, 333>, array<T, 333, 310>, few>;

// As often as data say.
constexpr auto powers = [](auto a, auto x) {
  const auto total = drx::sum(drx::reduce_sum(x));
  const auto small = [](auto m) { return drx::sum(m * m) < 1e6; };
  const auto r = drx::while_loop<20>(small, [](auto m) { return drx::matmul(m, m); }, a);
  return drx::cond(total > 0, [](auto m) { return drx::matmul(m, m); }, [](auto m) { return 2 * m; }, r);
};
using Powers = program<powers, array<double, 320, 320>, few>;

constexpr auto of_members = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto v, auto m) { return drx::matmul(v, m); }, drx::broadcast<rows>(w), x));
};
using OfMembers = program<of_members, array<float, 300, 301>, placed<array<float, 301, 300>, rows>>;
constexpr auto alone = [](auto a, auto b) { return drx::matmul(a, b); };
using Alone = program<alone, array<float, 300, 301>, array<float, 301, 305>>;

/// An argument in memory of its own: large ones do not fit a stack. Each rank has one member.
template <class X>
struct argument_of {
  static auto make(drx::communicator&) {
    auto x = std::make_unique<drx::host_t<X>>();
    std::mt19937 draw(static_cast<unsigned>(sizeof *x));
    for (auto& number : *x) number = static_cast<std::remove_reference_t<decltype(number)>>(draw() % 2001) / 1000 - 1;
    return x;
  }
};
template <class S>
struct argument_of<placed<S, rows>> {
  static auto make(drx::communicator& c) {
    return std::make_unique<drx::partitions<S, rows>>(
        drx::place<rows>(c, harness::size(), [](std::int64_t i) { return harness::some_value<S>(i); }));
  }
};
/// What a second call of a program gives, and its messages.
struct called {
  std::vector<std::byte> bits;
  harness::counted messages;
};
template <class P>
called call_twice(drx::executor& e, drx::communicator& c) {
  drx::compiled<P> run(e, c);
  return [&]<class... X>(std::type_identity<std::tuple<X...>>) {
    const std::tuple arguments{argument_of<X>::make(c)...};
    const auto result = std::make_unique<typename drx::compiled<P>::result>();
    const auto call = [&] { std::apply([&](const auto&... x) { run.call(*result, *x...); }, arguments); };
    call();
    called r;
    r.messages = harness::count_messages(call);
    drx::structure<typename drx::compiled<P>::result>::visit(*result, [&](const auto* x, const drx::shape& s) {
      const auto* first = reinterpret_cast<const std::byte*>(x);
      r.bits.insert(r.bits.end(), first, first + static_cast<std::size_t>(s.size()) * sizeof *x);
    });
    return r;
  }(std::type_identity<typename P::inputs>{});
}
/// The messages of a call, whose results are the bits of one rank.
template <class P>
harness::counted check_bits() {
  drx::serial_executor one_thread;
  drx::single_rank one_rank;
  const called expected = call_twice<P>(one_thread, one_rank);
  const called got = call_twice<P>(harness::session().executor(), harness::session().communicator());
  CHECK(!got.bits.empty());
  CHECK(got.bits == expected.bits);
  return got.messages;
}
/// The same of a program with so many divided products: their messages and bytes are those of its cost.
template <class P>
void check(std::int64_t products) {
  constexpr auto cost = drx::cost<P>();
  const int ranks = harness::size();
  const harness::counted messages = check_bits<P>();
  CHECK(messages.collectives == (ranks > 1 ? 1 + products : 0));  // one is the stage's
  CHECK(messages.collectives == cost.collectives(ranks));
  CHECK(messages.bytes == cost.bytes_sent(ranks));
}
}  // namespace

TEST_CASE_TEMPLATE("large products", T, float, double) {
  check<Product<T, 389, 401, 421>>(1);
  check<FirstTurned<T, 389, 401, 421>>(1);
  check<SecondTurned<T, 389, 401, 421>>(1);
  check<Batches<T>>(1);  // a rank's rows are of two batches
}
TEST_CASE("products whose rows are too few for each rank to get some") { check<Product<float, 70, 1200, 700>>(1); }
TEST_CASE("products that cost less than their result's sending, or than a message") {
  check<Product<float, 256, 256, 256>>(0);
  check<Product<float, 900, 100, 900>>(0);
  check<Product<float, 60, 1200, 700>>(0);
}
TEST_CASE_TEMPLATE("products in loops", T, float, double) { check<Orthogonal<T>>(9); }
TEST_CASE_TEMPLATE("derivatives of products", T, float, double) { check<Slope<T>>(3); }
TEST_CASE_TEMPLATE("products of infinite numbers", T, float, double) { check<Infinite<T>>(3); }
TEST_CASE("products in branches, and in loops that end by a condition") {
  CHECK(check_bits<Powers>().collectives >= (harness::size() > 1 ? 3 : 0));
  constexpr auto cost = drx::cost<Powers>();
  CHECK(!cost.collectives(2));
  CHECK(!cost.bytes_sent(2));
  CHECK(cost.collectives(1) == 0);
}
TEST_CASE("members' products are each rank's own") {
  static_assert(drx::cost<OfMembers>().products == 0);
  CHECK(check_bits<OfMembers>().collectives == drx::cost<OfMembers>().collectives(harness::size()));
}
TEST_CASE("a program without placements may be called by one rank alone") {
  static_assert(drx::cost<Alone>().products == 0);
  drx::communicator& c = harness::session().communicator();
  drx::compiled<Alone> run(harness::session().executor(), c);
  const auto a = argument_of<array<float, 300, 301>>::make(c);
  const auto b = argument_of<array<float, 301, 305>>::make(c);
  const auto result = std::make_unique<array<float, 300, 305>>();
  const auto before = c.collectives();
  if (harness::rank() == 0) run.call(*result, *a, *b);
  CHECK(c.collectives() == before);
  MPI_Barrier(harness::world());
}
TEST_CASE("what a divided product costs, as text") {
  const std::string text = drx::show(drx::cost<Orthogonal<float>>());
  CHECK(text.find("unplaced product 0, 3 times: 5.39922e+07 operations, which ranks divide; 336400 bytes gathered\n") !=
        std::string::npos);
  CHECK(*drx::cost<Orthogonal<float>>().bytes_sent(2) == 3 * (2 * 290 * 290 + 290 * 321) * 4 + 2 * 24);
}
