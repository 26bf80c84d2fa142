// Rows that blocks of members scatter into a large array are added to the sums where they lie: the plain interpreter's
// numbers, and the same bits on one thread and on several.
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/thread_executor.hpp"

#include <drx/run/stage/block_sums.hpp>
#include <drx/run/stage/facts.hpp>
#include <drx/run/stage/task_nodes.hpp>

namespace {
struct words : drx::placement<words> {};

template <int Rows>
constexpr auto row_of = [](auto x) { return drx::cast<std::int32_t>(drx::abs(x) * (Rows / 2)); };  // many are equal

/// Rows of two tables: nine of one, of which some are equal, and one of the other.
template <int Rows>
constexpr auto of_tables = [](auto tables, auto data) {
  auto error = [](auto both, auto own) {
    auto [inner, outer] = both;
    auto word = drx::index(inner, row_of<Rows>(drx::index<0>(own)));
    auto context = drx::index(outer, row_of<Rows>(drx::index<1>(own)));
    auto others = drx::matmul(drx::take(outer, row_of<Rows>(drx::slice<2, 10>(own))), word);
    return drx::sum(drx::softplus(others)) + drx::dot(word, drx::tanh(context));
  };
  return drx::value_and_grad(
      [=](auto both) { return drx::reduce_mean(drx::map(error, drx::broadcast<words>(both), data)); })(tables);
};
/// A table's rows, and a product of long rows with a vector.
template <int Rows>
constexpr auto of_table_and_vector = [](auto both, auto data) {
  auto error = [](auto parameters, auto own) {
    auto [table, w] = parameters;
    auto row = drx::index(table, row_of<Rows>(drx::index<0>(own)));
    return drx::square(drx::dot(own, w) + drx::sum(drx::sin(row)));
  };
  return drx::value_and_grad([=](auto p) { return drx::reduce_mean(drx::map(error, drx::broadcast<words>(p), data)); })(
      both);
};
/// Rows of a table for two reasons, of which some are equal.
constexpr auto of_one_twice = [](auto table, auto data) {
  auto error = [](auto w, auto own) {
    auto row = drx::index(w, row_of<3001>(drx::index<0>(own)));
    return drx::sum(drx::sin(row) * drx::sum<0>(drx::take(w, row_of<30>(own))));
  };
  return drx::value_and_grad([=](auto w) { return drx::reduce_mean(drx::map(error, drx::broadcast<words>(w), data)); })(
      table);
};
/// Rows of a table, and numbers of the same table: two scatters of other widths.
constexpr auto of_rows_and_numbers = [](auto table, auto data) {
  auto error = [](auto w, auto own) {
    auto row = drx::index(w, row_of<400>(drx::index<0>(own)));
    auto numbers = drx::take(drx::reshape<2000>(w), row_of<2000>(own));
    return drx::sum(drx::sin(row)) + drx::sum(drx::exp(numbers));
  };
  return drx::value_and_grad([=](auto w) { return drx::reduce_mean(drx::map(error, drx::broadcast<words>(w), data)); })(
      table);
};
/// Sums of whole numbers, and one that is also a maximum.
constexpr auto of_counts = [](auto data) {
  auto counts = drx::map(
      [](auto own) {
        auto at = row_of<64>(own);
        return drx::scatter_add(drx::zeros<drx::array<std::int32_t, 64>>(), at,
                                drx::ones<drx::array<std::int32_t, 3>>());
      },
      data);
  auto floats = drx::map(
      [](auto own) { return drx::scatter_add(drx::zeros<drx::array<float, 64>>(), row_of<64>(own), own); }, data);
  return std::tuple{drx::reduce_sum(counts), drx::reduce_sum(floats), drx::reduce_max(floats)};
};

template <class Program>
void check() {
  const std::vector<std::int64_t> members{0, 1, 31, 63, 64, 72, 256, 263, 296, 304, 1000, 1024, 1100};
  harness::check_run<Program>({}, members);
  drx::single_rank c;
  drx::serial_executor alone;
  harness::thread_executor two(2), three(3), ten(10);
  drx::compiled<Program> one(alone, c), on_two(two, c), on_three(three, c), on_ten(ten, c);
  for (std::int64_t n : members) {
    CAPTURE(n);
    const harness::tensors in = harness::random_inputs<Program>({.members = n}), expected = harness::call(one, c, in);
    CHECK(harness::same_bits(harness::call(on_two, c, in), expected));
    CHECK(harness::same_bits(harness::call(on_three, c, in), expected));
    CHECK(harness::same_bits(harness::call(on_ten, c, in), expected));
  }
}
/// The program's only stage, and the facts about it.
template <class Program>
constexpr int stage_of() {
  int e = 0;
  while (drx::run::code_of<Program>::tape.entries[e].prim != &drx::prim::stage) ++e;
  return e;
}
template <class Program>
using facts_of = drx::run::stage_facts<drx::run::code_of<Program>, stage_of<Program>()>;
/// How many of its results its first block adds to the node directly.
template <class Program>
constexpr int added_directly() {
  using facts = facts_of<Program>;
  int n = 0;
  for (int i = 0; i < facts::results; ++i) n += drx::run::sums_of_block<facts>::template step_of<1>(i) >= 0;
  return n;
}
/// The pieces of its tables, of which only some are written, in groups of 64.
template <class Program>
constexpr std::int64_t words_of_pieces = drx::run::task_nodes<facts_of<Program>>::bytes_of_bits / 8;
template <class T, int Rows>
using tables = drx::program<of_tables<Rows>, std::pair<drx::array<T, Rows, 5>, drx::array<T, Rows, 5>>,
                            drx::placed<drx::array<T, 10>, words>>;
template <class T, int Rows>
using table_and_vector = drx::program<of_table_and_vector<Rows>, std::pair<drx::array<T, Rows, 3>, drx::array<T, 120>>,
                                      drx::placed<drx::array<T, 120>, words>>;
using two_of_one = drx::program<of_one_twice, drx::array<float, 3001, 5>, drx::placed<drx::array<float, 4>, words>>;
}  // namespace

TEST_CASE("rows of two tables of float") {
  CHECK(added_directly<tables<float, 400>>() == 2);
  check<tables<float, 400>>();
}
TEST_CASE("rows of two tables of double") {
  CHECK(added_directly<tables<double, 400>>() == 2);
  check<tables<double, 400>>();
}
TEST_CASE("tables with fewer rows than a block scatters: one of two is stored and added") {
  CHECK(added_directly<tables<float, 100>>() == 1);
  check<tables<float, 100>>();
}
TEST_CASE("rows and numbers of one table") {
  using program =
      drx::program<of_rows_and_numbers, drx::array<float, 400, 5>, drx::placed<drx::array<float, 3>, words>>;
  CHECK(added_directly<program>() == 0);
  check<program>();
}
TEST_CASE("rows of a table, beside a product that is added in turns") {
  CHECK(added_directly<table_and_vector<float, 100>>() == 2);
  check<table_and_vector<float, 100>>();
  check<table_and_vector<double, 100>>();
  CHECK(words_of_pieces<table_and_vector<float, 4000>> == (4000 / 5 + 63) / 64);
  check<table_and_vector<float, 4000>>();
}
TEST_CASE("tables of which most rows are in no block") {
  CHECK(words_of_pieces<tables<float, 3001>> == 2 * ((3001 / 3 + 1 + 63) / 64));
  check<tables<float, 3001>>();
  CHECK(words_of_pieces<tables<double, 3001>> == 2 * ((3001 + 63) / 64));
  check<tables<double, 3001>>();
  CHECK(words_of_pieces<two_of_one> > 0);
  check<two_of_one>();
}
TEST_CASE("sums of whole numbers, and a scattered array with two readers") {
  check<drx::program<of_counts, drx::placed<drx::array<float, 3>, words>>>();
}
