// ranks: 1 2 3
// The programs of docs/guide.md that run, cut from here, and what they compute on any number of ranks.
#include "harness/ranks.hpp"

#include <drx/ext/eigen.hpp>
#include <drx/run.hpp>

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
  auto term = drx::map([](auto k, auto s) {
    auto x = (drx::cast<double>(k) + 0.5) * 1e-3;
    return s * 4e-3 / (1 + x * x);
  }, drx::partition_index<rows>(), drx::broadcast<rows>(scale));
  return drx::reduce_sum(term);
};
using Pi = drx::program<pi, double>;
// cut-end counted

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
