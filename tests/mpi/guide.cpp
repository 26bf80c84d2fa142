// ranks: 1 2 3
// The programs of docs/guide.md that run, cut from here, and what they compute on any number of ranks.
#include "harness/ranks.hpp"

#include <drx/ext/eigen.hpp>
#include <drx/run.hpp>
#include <drx/run/check/interpreter.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace {
int argc = 0;
char** argv = nullptr;
using doctest::Approx;

// cut-begin flat
struct rows : drx::placement<rows> {};
using point = std::tuple<drx::array<double, 2>, double>;

constexpr auto squared_error = [](auto w, auto row) {
  auto [x, y] = row;
  return drx::square(drx::dot(w, x) - y);
};
constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(squared_error, drx::broadcast<rows>(w), data));
};
constexpr auto slope = drx::value_and_grad(loss);
using Slope = drx::program<slope, drx::array<double, 2>, drx::placed<point, rows>>;
// cut-end flat

point point_of(std::int64_t i) {
  const double a = std::sin(1.0 * static_cast<double>(i)), b = std::cos(3.0 * static_cast<double>(i));
  return {{a, b}, 2 * a - b};
}

// cut-begin errors_of_rows
constexpr auto errors = [](auto w, auto data) { return drx::map(squared_error, drx::broadcast<rows>(w), data); };
using Errors = drx::program<errors, drx::array<double, 2>, drx::placed<point, rows>>;
// cut-end errors_of_rows

// cut-begin ragged
struct clients : drx::placement<clients> {};
struct examples : drx::placement<examples> {};

constexpr auto client_mean = [](auto mine) { return drx::reduce_mean(mine); };
constexpr auto overall = [](auto x) {
  auto sizes = drx::map([](auto mine) { return drx::count<double>(mine); }, x);
  return drx::reduce_weighted_mean(drx::map(client_mean, x), sizes);
};
using Overall = drx::program<overall, drx::placed<drx::placed<double, examples>, clients>>;
// cut-end ragged

// cut-begin counted
constexpr auto pi = [](auto scale) {  // a sum over members that no argument brings
  auto term = drx::map(
      [](auto k, auto s) {
        auto x = (drx::cast<double>(k) + 0.5) * 1e-3;
        return s * 4e-3 / (1 + x * x);
      },
      drx::partition_index<rows>(), drx::broadcast<rows>(scale));
  return drx::reduce_sum(term);
};
using Pi = drx::program<pi, double>;
// cut-end counted

// cut-begin layouts
struct model : drx::placement<model> {};  // the axis of a mesh
using network = std::pair<drx::array<double, 4, 6>, drx::array<double, 6, 2>>;
using batch = std::pair<drx::array<double, 5, 4>, drx::array<double, 5, 2>>;

constexpr auto in_halves = [](auto net) {  // three of the six hidden units at each of two shards
  auto [w1, w2] = net;
  return std::pair{drx::with_layout<model, 2>(w1, drx::split_along<1>),
                   drx::with_layout<model, 2>(w2, drx::split_along<0>)};
};
constexpr auto network_loss = [](auto net, auto data) {
  auto [w1, w2] = net;
  auto [x, y] = data;
  auto hidden = drx::tanh(drx::matmul(x, w1));                 // split, as w1 is
  return drx::mean(drx::square(drx::matmul(hidden, w2) - y));  // a sum over split units: shards add up what they have
};
constexpr auto own_step = [](auto networks, auto data) {  // each client's own network is whole nowhere
  return drx::map(
      [](auto net, auto d) {
        auto mine = in_halves(net);
        return mine - 0.1 * drx::grad(network_loss)(mine, d);
      },
      networks, data);
};
using OwnStep = drx::program<own_step, drx::placed<network, clients>, drx::placed<batch, clients>>;
// cut-end layouts

template <class X>
X filled(std::int64_t seed) {
  X x;
  std::int64_t k = 100 * seed;
  for (auto& v : x.first) v = std::sin(1.0 * static_cast<double>(++k));
  for (auto& v : x.second) v = std::sin(1.0 * static_cast<double>(++k));
  return x;
}
constexpr auto first_network = filled<network>;
constexpr auto batch_of = filled<batch>;

constexpr auto twice = [](auto x) { return 2 * x; };
using Twice = drx::program<twice, drx::array<float, 2, 3>>;
}  // namespace

TEST_CASE("guide: place, compile, call") {
  // cut-begin call
  drx::session session(argc, argv);
  auto data = session.place<rows>(1000, [](std::int64_t i) { return point_of(i); });
  auto run = session.compile<Slope>();
  auto [value, gradient] = run(drx::array<double, 2>{2, 0}, data);
  // cut-end call
  double expected = 0;
  for (int i = 0; i < 1000; ++i) expected += std::pow(std::cos(3.0 * i), 2) / 1000;
  CHECK(value == Approx(expected));
  CHECK(gradient[1] == Approx(2 * expected));

  // cut-begin place_memory
  std::vector<std::int64_t> blocks = drx::even_blocks(1000, session.ranks());  // rank r: [blocks[r], blocks[r + 1])
  std::vector<double> x, y;                                                    // this rank's rows, one after the other
  for (std::int64_t i = data.first(); i < data.first() + data.local(); ++i) {
    auto [xi, yi] = point_of(i);
    x.insert(x.end(), xi.begin(), xi.end());
    y.push_back(yi);
  }
  auto same = run(drx::array<double, 2>{2, 0}, drx::place_memory<rows, point>(session.communicator(), blocks, x, y));
  // cut-end place_memory
  CHECK(same.first == value);

  // cut-begin subset
  std::vector<std::int64_t> chosen{0, 10, 999};  // ascending, the same list on every rank
  auto some = run(drx::array<double, 2>{2, 0}, data.subset(chosen, session.rank()));
  // cut-end subset
  double of_three = 0;
  for (double i : {0.0, 10.0, 999.0}) of_three += std::pow(std::cos(3 * i), 2) / 3;
  CHECK(some.first == Approx(of_three));

  // cut-begin placed_result
  auto each = session.compile<Errors>();
  auto e = each(drx::array<double, 2>{2, 0}, data);  // a drx::partitions<drx::scalar<double>, rows>
  double largest = 0;
  for (std::int64_t i = 0; i < e.local(); ++i) largest = std::max(largest, e[i]);  // member e.first() + i
  // cut-end placed_result
  CHECK(e.total() == 1000);
  if (e.local() > 0) CHECK(e[0] == Approx(std::pow(std::cos(3.0 * static_cast<double>(e.first())), 2)));
  CHECK(largest <= 1.0);

  // cut-begin fast
  auto quick = session.compile<Slope>({.order = drx::reduction_order::fast});
  // cut-end fast
  CHECK(quick(drx::array<double, 2>{2, 0}, data).first == Approx(expected));

  // cut-begin wrong_length
  std::vector<double> w(3);
  // run(std::span(w), data) throws std::invalid_argument:
  // drx: argument 0 has 3 elements; the program takes f64[2]
  // cut-end wrong_length
  try {
    run(std::span(w), data);
    CHECK(false);
  } catch (const std::invalid_argument& why) {
    CHECK(std::string(why.what()) == "drx: argument 0 has 3 elements; the program takes f64[2]");
  }
}

TEST_CASE("guide: nested and ragged") {
  drx::session session(argc, argv);
  // cut-begin place_nested
  auto data = session.place<clients, examples>(3, [](std::int64_t i) {  // a range: client i's own examples
    return std::vector<double>(static_cast<std::size_t>(i), 1.0 * static_cast<double>(i));
  });
  auto run = session.compile<Overall>();
  double mean = run(data);  // of 1, 2, 2
  // cut-end place_nested
  CHECK(mean == Approx(5.0 / 3));
}

TEST_CASE("guide: members that no argument tells") {
  drx::session session(argc, argv);
  // cut-begin members
  auto run = session.compile<Pi>({.members = {drx::members<rows>(1000)}});
  double result = run(1.0);
  // cut-end members
  CHECK(result == Approx(3.14159265).epsilon(1e-6));
}

TEST_CASE("guide: members in shards") {
  drx::session session(argc, argv);
  // cut-begin place_sharded
  auto networks = session.place_sharded<clients>(3, 2, first_network,
                                                 {1, 0});  // 3 clients in 2 shards; by leaf: the axis it is split along
  auto batches = session.place_sharded<clients>(3, 2, batch_of);  // both shards have it whole
  auto step = session.compile<OwnStep>();
  auto next = step(networks, batches).copy();  // split as the argument is; goes into the next step
  // cut-end place_sharded
  CHECK(next.total() == 3);
  CHECK(next.split_axis(0) == 1);
  CHECK(next.split_axis(1) == 0);
  const auto expected =
      drx::interpreter::call<OwnStep>(std::vector{first_network(0), first_network(1), first_network(2)},
                                      std::vector{batch_of(0), batch_of(1), batch_of(2)});
  const auto* half = reinterpret_cast<const double*>(next.leaf(0));  // 4 x 3 numbers
  for (std::int64_t i = 0; i < next.local(); ++i) {
    const std::int64_t shard = next.first() + i;
    for (std::int64_t k = 0; k < 12; ++k)
      CHECK(half[12 * i + k] ==
            Approx(expected[static_cast<std::size_t>(shard / 2)].first(k / 3, shard % 2 * 3 + k % 3)));
  }

  // cut-begin whole_members
  auto whole = session.place<clients>(3, batch_of);
  // step(networks, whole) throws std::invalid_argument:
  // drx: argument 1 has its clients in 1 shards; the program takes them in 2 (drx::place_sharded)
  // cut-end whole_members
  CHECK_THROWS_WITH_AS(step(networks, whole),
                       "drx: argument 1 has its clients in 1 shards; the program takes them in 2 (drx::place_sharded)",
                       std::invalid_argument);
}

TEST_CASE("guide: memory of other libraries") {
  drx::session session(argc, argv);
  // cut-begin inputs
  auto run = session.compile<Twice>();  // of an array<float, 2, 3>
  std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  Eigen::Matrix<float, 2, 3, Eigen::RowMajor> matrix = Eigen::Map<decltype(matrix)>(numbers.data());
  Kokkos::View<float[2][3], Kokkos::LayoutRight, Kokkos::HostSpace> view("view");

  auto a = run(std::span(numbers));
  auto b = run(matrix);
  auto c = run(view);
  drx::as_eigen(a) *= 2;  // a's own elements as an Eigen matrix
  // cut-end inputs
  CHECK(a(1, 2) == 24);
  CHECK(b(1, 2) == 12);
  CHECK(c(1, 2) == 0);
}
