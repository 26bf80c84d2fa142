// ranks: 1 2 3 5
// threads: 2
// Members in shards on any number of ranks: the same bits as on one, next to the numbers of the program with whole
// members.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

#include <vector>

using drx::array;
using drx::placed;
using drx::program;
using drx::split_along;

namespace {
struct clients : drx::placement<clients> {};
struct model : drx::placement<model> {};
using network = std::tuple<array<double, 3, 8>, array<double, 8>, array<double, 8, 2>>;
using rows = array<double, 5, 3>;
using labels = array<double, 5, 2>;

template <int Shards>
constexpr auto predict = [](auto p, auto x) {
  const auto hidden = drx::matmul(x, drx::with_layout<model, Shards>(std::get<0>(p), split_along<1>)) + std::get<1>(p);
  return drx::matmul(drx::tanh(hidden), drx::with_layout<model, Shards>(std::get<2>(p), split_along<0>));
};
template <int Shards>
constexpr auto step = [](auto p, auto x, auto y) {
  const auto loss = [](auto q, auto a, auto b) { return drx::mean(drx::square(predict<Shards>(q, a) - b)); };
  return drx::tree_map([](auto w, auto g) { return w - 0.1 * g; }, p, drx::grad(loss)(p, x, y));
};
template <int Shards>
constexpr auto train = [](auto p, auto x, auto y) {
  const auto local = [](auto start, auto a, auto b) {
    return drx::fori_loop<3>(start, [=](auto q) { return step<Shards>(q, a, b); });
  };
  const auto trained = drx::map(local, drx::broadcast<clients>(p), x, y);
  return std::tuple{drx::reduce_mean(trained), drx::map([](auto q) { return drx::sum(std::get<0>(q)); }, trained)};
};
template <int Shards>
constexpr auto rounds = [](auto p, auto x, auto y) {
  return drx::fori_loop<3>(p, [=](auto q) { return std::get<0>(train<Shards>(q, x, y)); });
};
/// Each member keeps its own network, which is never whole anywhere.
template <int Shards>
constexpr auto personal = [](auto p, auto x, auto y) {
  return drx::map(
      [](auto q, auto a, auto b) {
        const auto [u, c, v] = q;
        return step<Shards>(std::tuple{drx::with_layout<model, Shards>(u, split_along<1>),
                                       drx::with_layout<model, Shards>(c, split_along<0>),
                                       drx::with_layout<model, Shards>(v, split_along<0>)},
                            a, b);
      },
      p, x, y);
};

constexpr auto pair = [](auto v) {
  const auto sum = drx::psum<model>(v);
  return drx::sum(drx::sin(v * sum + drx::pmean<clients>(sum)) * drx::pmax<model>(v)) +
         drx::sum(drx::cos(drx::psum<clients>(v)));
};
constexpr auto slope = [](auto x) {
  return drx::value_and_grad(
      [](auto y) { return drx::sum(drx::pmap<clients>([](auto a) { return drx::pmap<model>(pair)(a); })(y)); })(x);
};

constexpr auto sines = [](auto x) {
  return drx::reduce_sum(drx::map([](auto a) { return drx::sin(drx::with_layout<model, 2>(a, split_along<0>)); }, x));
};

double number(std::int64_t i, std::int64_t k) { return std::sin(static_cast<double>(i * 37 + k * 11 + 1)); }
template <class X>
X filled(std::int64_t i) {
  X x{};
  std::int64_t k = 0;
  drx::structure<X>::visit(x, [&](auto* p, const drx::shape& s) {
    for (std::int64_t n = 0; n < s.size(); ++n) p[n] = number(i, k++);
  });
  return x;
}
std::vector<double> numbers_of(const network& w) {
  std::vector<double> all;
  drx::structure<network>::visit(w,
                                 [&](const double* p, const drx::shape& s) { all.insert(all.end(), p, p + s.size()); });
  return all;
}
double distance(const network& found, const network& expected) {
  return harness::largest_difference(numbers_of(found), numbers_of(expected));
}

template <int Shards>
void check(std::int64_t members) {
  CAPTURE(members);
  auto& s = harness::session();
  drx::serial_executor one_thread;
  drx::single_rank one_rank;
  const network start = filled<network>(100);
  const auto run = [&](drx::executor& e, drx::communicator& c) {
    drx::compiled<program<train<Shards>, network, placed<rows, clients>, placed<labels, clients>>> p(e, c);
    const auto x = drx::place_sharded<clients>(c, members, Shards, filled<rows>);
    const auto y =
        drx::place_sharded<clients>(c, members, Shards, [](std::int64_t i) { return filled<labels>(i + 50); });
    auto [mean, sums] = p(start, x, y);
    CHECK(sums.total() == members);
    CHECK(sums.shards() == Shards);
    return std::pair{mean, p(mean, x, y)};
  };
  const auto apart = run(s.executor(), s.communicator()), together = run(one_thread, one_rank);
  CHECK(distance(apart.first, together.first) == 0);
  CHECK(distance(std::get<0>(apart.second), std::get<0>(together.second)) == 0);
  drx::compiled<program<train<1>, network, placed<rows, clients>, placed<labels, clients>>> whole(one_thread, one_rank);
  const auto x = drx::place<clients>(one_rank, members, filled<rows>);
  const auto y = drx::place<clients>(one_rank, members, [](std::int64_t i) { return filled<labels>(i + 50); });
  CHECK(distance(std::get<0>(whole(start, x, y)), apart.first) < 1e-13);
}
}  // namespace

TEST_CASE("networks whose hidden layers are split in two and in four, for fewer and for more members than ranks") {
  check<2>(1);
  check<2>(3);
  check<2>(7);
  check<4>(1);
  check<4>(2);
}
TEST_CASE("rounds in a loop: what is split is whole nowhere until the end") {
  auto& s = harness::session();
  drx::serial_executor one_thread;
  drx::single_rank one_rank;
  const network start = filled<network>(100);
  const auto run = [&](drx::executor& e, drx::communicator& c) {
    drx::compiled<program<rounds<4>, network, placed<rows, clients>, placed<labels, clients>>> p(e, c);
    const auto x = drx::place_sharded<clients>(c, 3, 4, filled<rows>);
    const auto y = drx::place_sharded<clients>(c, 3, 4, [](std::int64_t i) { return filled<labels>(i + 50); });
    return p(start, x, y);
  };
  const network together = run(one_thread, one_rank);
  CHECK(distance(run(s.executor(), s.communicator()), together) == 0);
  drx::compiled<program<rounds<1>, network, placed<rows, clients>, placed<labels, clients>>> whole(one_thread,
                                                                                                   one_rank);
  const auto x = drx::place<clients>(one_rank, 3, filled<rows>);
  const auto y = drx::place<clients>(one_rank, 3, [](std::int64_t i) { return filled<labels>(i + 50); });
  CHECK(distance(whole(start, x, y), together) < 1e-13);
}
TEST_CASE("a member's own weights stay split from call to call") {
  auto& s = harness::session();
  constexpr std::int64_t members = 2;
  drx::serial_executor one_thread;
  drx::single_rank one_rank;
  const auto load_y = [](std::int64_t i) { return filled<labels>(i + 50); };
  using P = program<personal<4>, placed<network, clients>, placed<rows, clients>, placed<labels, clients>>;
  const auto run = [&](drx::executor& e, drx::communicator& c) {
    drx::compiled<P> next(e, c);
    const auto x = drx::place_sharded<clients>(c, members, 4, filled<rows>);
    const auto y = drx::place_sharded<clients>(c, members, 4, load_y);
    const auto start = drx::place_sharded<clients>(c, members, 4, filled<network>, {1, 0, 0});
    auto result = next(next(start, x, y).copy(), x, y);
    CHECK(result.split_axis(0) == 1);
    std::vector<std::vector<double>> leaves;
    for (int k = 0; k < 3; ++k) {
      const auto* p = reinterpret_cast<const double*>(result.leaf(k));
      leaves.emplace_back(p, p + result.local() * (k == 0 ? 6 : k == 1 ? 2 : 4));
    }
    return std::pair{leaves, result.first()};
  };
  const auto [mine, at] = run(s.executor(), s.communicator());
  const auto [all, begin] = run(one_thread, one_rank);
  CHECK(begin == 0);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t each = k == 0 ? 6 : k == 1 ? 2 : 4;
    for (std::size_t i = 0; i < mine[k].size(); ++i)
      CHECK(mine[k][i] == all[k][static_cast<std::size_t>(at) * each + i]);
  }
}
TEST_CASE("a mesh of three by four") {
  auto& s = harness::session();
  using P = program<slope, array<double, 3, 4, 5>>;
  const auto in = harness::random_inputs<P>({});
  const auto one = harness::run_serial<P>(in);
  harness::check_near(one, harness::run_plain<P>(in));
  drx::compiled<P> run(s.executor(), s.communicator());
  CHECK(harness::same_bits(harness::call(run, s.communicator(), in), one));
}
TEST_CASE("many shards of small members go in blocks") {
  auto& s = harness::session();
  using P = program<sines, placed<array<double, 4>, clients>>;
  drx::serial_executor one_thread;
  drx::single_rank one_rank;
  const auto run = [](drx::executor& e, drx::communicator& c) {
    return drx::compiled<P>(e, c)(drx::place_sharded<clients>(c, 1000, 2, filled<array<double, 4>>, {0}));
  };
  const auto apart = run(s.executor(), s.communicator()), together = run(one_thread, one_rank);
  for (int i = 0; i < 4; ++i) CHECK(apart(i) == together(i));
}
TEST_CASE("members in other shards than the program's are refused") {
  auto& s = harness::session();
  auto& c = s.communicator();
  drx::compiled<program<train<2>, network, placed<rows, clients>, placed<labels, clients>>> p(s.executor(), c);
  const auto x = drx::place<clients>(c, 3, filled<rows>);
  const auto y = drx::place_sharded<clients>(c, 3, 2, filled<labels>);
  CHECK_THROWS_WITH_AS(p(network{}, x, y),
                       "drx: argument 1 has its clients in 1 shards; the program takes them in 2 (drx::place_sharded)",
                       std::invalid_argument);
  const auto no_x = drx::place_sharded<clients>(c, 0, 2, filled<rows>);
  const auto no_y = drx::place_sharded<clients>(c, 0, 2, filled<labels>);
  CHECK_THROWS_WITH_AS(p(network{}, no_x, no_y),
                       "drx: a program with layouts needs members of clients, and there are none",
                       std::invalid_argument);
  const auto split = drx::place_sharded<clients>(c, 3, 5, filled<rows>, {0});
  CHECK_THROWS_AS(p(network{}, split, y), std::invalid_argument);
  CHECK_THROWS_WITH_AS((drx::place_sharded<clients>(c, 3, 2, filled<rows>, {0})),
                       "drx::place_sharded: leaf 0 is f64[5,3]: axis 0 has no 2 equal parts", std::invalid_argument);
  CHECK_THROWS_AS((void)split[0], std::exception);
}
