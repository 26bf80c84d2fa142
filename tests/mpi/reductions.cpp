// ranks: 1 2 3 5
// threads: 2
// Results are the same bits on any number of ranks and threads as on one thread of one rank.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
using v3 = array<float, 3>;

constexpr auto product = drx::monoid{[](auto a, auto b) { return a * b; }, 1};
constexpr auto all = [](auto w, auto x, auto weight) {
  auto y = drx::map([](auto p, auto v) { return drx::tanh(p * v) + v; }, drx::broadcast<clients>(w), x);
  return std::tuple{drx::reduce_sum(y),
                    drx::reduce_mean(x),
                    drx::reduce_max(y),
                    drx::reduce_min(y),
                    drx::reduce_with(product, y),
                    drx::reduce_weighted_mean(y, weight),
                    y};
};
using All = program<all, v3, placed<v3, clients>, placed<float, clients>>;

constexpr auto squared = [](auto w, auto x) {
  auto d = drx::tanh(w * x) - x;
  return drx::sum(d * d);
};
constexpr auto slopes = [](auto w, auto x) {
  auto loss = [=](auto v) { return drx::reduce_mean(drx::map(squared, drx::broadcast<clients>(v), x)); };
  return drx::value_and_grad(loss)(w);
};
using Slopes = program<slopes, v3, placed<v3, clients>>;
constexpr auto nested = [](auto w, auto data) {
  auto of_client = [](auto p, auto r) {
    auto slope = drx::reduce_mean(drx::map(drx::grad(squared), drx::broadcast<rows>(p), r));
    return std::tuple{p - slope, drx::count<float>(r)};
  };
  auto t = drx::map(of_client, drx::broadcast<clients>(w), data);
  auto models = drx::map([](auto c) { return std::get<0>(c); }, t);
  auto counts = drx::map([](auto c) { return std::get<1>(c); }, t);
  auto mean = drx::reduce_weighted_mean(models, counts);
  return std::tuple{mean,
                    drx::reduce_sum(drx::map(
                        [](auto p, auto r) { return drx::reduce_sum(drx::map(squared, drx::broadcast<rows>(p), r)); },
                        drx::broadcast<clients>(mean), data)),
                    models};
};
using Nested = program<nested, v3, placed<placed<v3, rows>, clients>>;

constexpr auto sums = [](auto x) { return drx::reduce_sum(x); };
using Sums = program<sums, placed<array<double, 7>, clients>>;

template <class T>
constexpr auto narrow_sums = [](auto x) { return drx::reduce_sum(x, drx::as<T>); };
constexpr auto halves = [](auto x, auto y) {
  return std::tuple{drx::reduce_sum(x), drx::reduce_mean(y, drx::as<drx::float16>),
                    drx::reduce_sum(y, drx::as<drx::bfloat16>), drx::map([](auto v) { return -v; }, x), x};
};
using Halves = program<halves, placed<array<drx::bfloat16, 3, 2>, clients>, placed<v3, clients>>;
template <class T, int N>
using NarrowSums = program<narrow_sums<T>, placed<array<float, N>, clients>>;

template <class P>
void check_bits(std::vector<std::int64_t> members, harness::sample s = {}) {
  auto& c = harness::session().communicator();
  drx::compiled<P> p(harness::session().executor(), c);
  for (std::int64_t n : members) {
    CAPTURE(n);
    s.members = n;
    const auto in = harness::random_inputs<P>(s);
    const auto blocks = drx::even_blocks(n, c.size());
    const auto expected = harness::own_block(harness::run_serial<P>(in), blocks, c.rank());
    CHECK(harness::same_bits(harness::call(p, c, in), expected));
    // blocks of other sizes, the first of them of no members
    std::vector<std::int64_t> uneven = blocks;
    if (drx::members_in_block(n) == 1 && c.size() > 1) {
      uneven[1] = 0;
      CHECK(harness::same_bits(harness::call(p, c, in, &uneven),
                               harness::own_block(harness::run_serial<P>(in), uneven, c.rank())));
    }
  }
}
}  // namespace

TEST_CASE("all reductions at once, from no members to more than a thousand") {
  check_bits<All>({0, 1, 2, 3, 5, 7, 64, 100, 128, 203, 256, 300, 1024, 1500});
}
TEST_CASE("very many members, of a few numbers, in large blocks: they end at multiples of 128") {
  check_bits<All>({16384, 20001});
  check_bits<Slopes>({16383, 16384, 20001});
  check_bits<Halves>({16500});
  check_bits<NarrowSums<drx::bfloat16, 5>>({16500});
}
TEST_CASE("nested placements with different numbers of members") {
  check_bits<Nested>({0, 1, 2, 3, 5, 7, 64, 100});
  check_bits<Nested>({3, 7}, {.nested = 131});
}

TEST_CASE("one collective a stage; what a rank sends grows with the logarithm of its members") {
  auto& s = harness::session();
  auto& c = s.communicator();
  drx::compiled<Sums> p(s.executor(), c);
  for (std::int64_t n : {16, 1 << 10, 1 << 16}) {
    const auto x = drx::place<clients>(c, n, [](std::int64_t) { return array<double, 7>{}; });
    const auto calls = c.collectives(), bytes = c.bytes_sent();
    (void)p(x);
    CHECK(c.collectives() - calls == (c.size() > 1 ? 1 : 0));
    CHECK(c.bytes_sent() - bytes <= 56 * 2 * 17);
    if (n == 16 && c.size() > 1) CHECK(c.bytes_sent() > bytes);
  }
  drx::compiled<Nested> two(s.executor(), c);
  const auto calls = c.collectives();
  (void)harness::call(two, c, harness::random_inputs<Nested>({}));
  CHECK(c.collectives() - calls == (c.size() > 1 ? 2 : 0));
}

TEST_CASE("numbers of 16 bits, and sums whose nodes have such") {
  check_bits<Halves>({0, 1, 2, 3, 5, 64, 100, 300, 1500});
  check_bits<NarrowSums<drx::bfloat16, 90001>>({0, 1, 5, 13});  // (large enough that ranks fold pieces of nodes)
}
TEST_CASE("numbers of 16 bits are half the bytes") {
  auto& s = harness::session();
  auto& c = s.communicator();
  const auto bytes_of = [&]<class P>(std::type_identity<P>, drx::reduction_order order) {
    drx::compiled<P> p(s.executor(), c, {.order = order});
    const auto in = harness::random_inputs<P>({.members = 20});
    const auto bytes = c.bytes_sent();
    harness::check_near(harness::call(p, c, in), harness::run_plain<P>(in), 2e3);
    return c.bytes_sent() - bytes;
  };
  for (auto order : {drx::reduction_order::tree, drx::reduction_order::fast}) {
    const auto of_floats = bytes_of(std::type_identity<NarrowSums<float, 500>>{}, order);
    CHECK(bytes_of(std::type_identity<NarrowSums<drx::bfloat16, 500>>{}, order) * 2 == of_floats);
    CHECK((of_floats > 0) == (c.size() > 1));
  }
}

TEST_CASE("the fast order agrees to rounding") {
  auto& s = harness::session();
  auto& c = s.communicator();
  drx::compiled<Sums> p(s.executor(), c, {.order = drx::reduction_order::fast});
  for (std::int64_t n : {0, 1, 3, 64, 1500}) {
    const auto in = harness::random_inputs<Sums>({.members = n});
    harness::check_near(harness::call(p, c, in), harness::run_serial<Sums>(in), 10);
  }
}

TEST_CASE("subsets: members stay where they are") {
  auto& s = harness::session();
  auto& c = s.communicator();
  static constexpr auto f = [](auto x) {
    return std::pair{drx::reduce_sum(drx::map([](auto v) { return drx::sin(v); }, x)), drx::reduce_mean(x)};
  };
  using P = program<f, placed<double, clients>>;
  const auto value = [](std::int64_t i) { return .1 * static_cast<double>(i * i % 17); };
  const auto x = drx::place<clients>(c, 20, value);
  drx::compiled<P> p(s.executor(), c);
  drx::serial_executor one;
  drx::single_rank alone;
  drx::compiled<P> reference(one, alone);
  for (const auto& chosen : {std::vector<std::int64_t>{}, {7}, {0, 1, 2}, {3, 4, 11, 12, 19}, {17, 18, 19}}) {
    const auto n = static_cast<std::int64_t>(chosen.size());
    const auto expected = reference(
        drx::place<clients>(alone, n, [&](std::int64_t i) { return value(chosen[static_cast<std::size_t>(i)]); }));
    const auto got = p(x.subset(chosen, c.rank()));
    CHECK(got.first == expected.first);
    CHECK(got.second == expected.second);
  }
}

TEST_CASE("a subset of many members, of which the last ranks have none") {
  auto& s = harness::session();
  auto& c = s.communicator();
  static constexpr auto f = [](auto x) { return drx::reduce_sum(drx::map([](auto v) { return drx::sin(v); }, x)); };
  using P = program<f, placed<double, clients>>;
  const auto value = [](std::int64_t i) { return .1 * static_cast<double>(i * i % 17); };
  std::vector<std::int64_t> chosen(300);
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = static_cast<std::int64_t>(i);
  drx::compiled<P> p(s.executor(), c);
  const double got = p(drx::place<clients>(c, 2048, value).subset(chosen, c.rank()));
  drx::serial_executor one;
  drx::single_rank alone;
  drx::compiled<P> reference(one, alone);
  CHECK(got == reference(drx::place<clients>(alone, 2048, value).subset(chosen, 0)));
}

#ifdef DRX_HAS_MPI
TEST_CASE("collectives in pieces are the whole") {
  auto& s = harness::session();
  drx::mpi_communicator c(MPI_COMM_WORLD);
  c.set_chunk(5);
  const auto in = harness::random_inputs<All>({.members = 23});
  CHECK(harness::same_bits(harness::run<All>(s.executor(), c, in),
                           harness::run<All>(s.executor(), s.communicator(), in)));
  const auto numbers = harness::random_inputs<Sums>({.members = 23});
  harness::check_near(harness::run<Sums>(s.executor(), c, numbers, {.order = drx::reduction_order::fast}),
                      harness::run_serial<Sums>(numbers), 10);
}
#endif

TEST_CASE("placed results lie where their members do") {
  auto& s = harness::session();
  static constexpr auto f = [](auto x) {
    return drx::map([](auto v, auto k) { return v + drx::cast<double>(k); }, x, drx::partition_index<clients>());
  };
  const auto x = s.place<clients>(7, [](std::int64_t i) { return 100. * static_cast<double>(i); });
  auto p = s.compile<program<f, placed<double, clients>>>();
  const auto y = p(x);
  CHECK(y.first() == x.first());
  REQUIRE(y.local() == x.local());
  for (std::int64_t i = 0; i < y.local(); ++i) CHECK(y[i] == 101. * static_cast<double>(y.first() + i));
}
