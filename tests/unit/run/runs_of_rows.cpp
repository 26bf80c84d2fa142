// Fused loops over short rows whose operands have rows in runs: neighbouring ones that are copied, one that is
// repeated, and rows of one number each, or all of the same. Bands of rows begin and end in the middle of runs.
#include <drx/drx.hpp>

#include "harness/guarded.hpp"
#include "harness/run.hpp"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace {
using drx::array;
using drx::bfloat16;
using drx::float16;
using drx::program;

/// x [a, b, c] with operands that are broadcast along the first axis, along the second one, along both, and in rows of
/// one number. (They are broadcast as they are, so that the loop reads numbers of their types.)
template <int A, int B, int C>
struct runs {
  template <class X>
  static constexpr auto whole(const X& x) {
    return drx::cast<double>(drx::broadcast_to<A, B, C>(x));
  }
  static constexpr auto mixed = [](auto x, auto copied, auto repeated, auto line, auto each, auto one, auto column) {
    return std::tuple{x * whole(copied) - whole(each), whole(repeated) * whole(one) + x,
                      drx::tanh(x) * whole(column) - whole(line)};
  };
  template <class... T>
  struct of;
  template <class T0, class T1, class T2, class T3, class T4, class T5>
  struct of<T0, T1, T2, T3, T4, T5> {
    using type = program<mixed, array<double, A, B, C>, array<T0, B, C>, array<T1, A, 1, C>, array<T2, C>,
                         array<T3, A, B, 1>, array<T4, A, 1, 1>, array<T5, B, 1>>;
  };
};
/// The types, each in another place.
template <int A, int B, int C>
void check_some() {
  harness::check_run<
      typename runs<A, B, C>::template of<bool, std::int32_t, std::int64_t, bfloat16, float16, float>::type>({}, {1});
  harness::check_run<
      typename runs<A, B, C>::template of<bfloat16, float, bool, std::int64_t, std::int32_t, double>::type>({}, {1});
}
/// All of them in all places.
template <int A, int B, int C>
void check_all() {
  const auto one = []<class... T>(std::tuple<T...>*) {
    harness::check_run<typename runs<A, B, C>::template of<T...>::type>({}, {1});
  };
  one(static_cast<std::tuple<bool, std::int32_t, std::int64_t, bfloat16, float16, float>*>(nullptr));
  one(static_cast<std::tuple<std::int32_t, std::int64_t, bfloat16, float16, float, bool>*>(nullptr));
  one(static_cast<std::tuple<std::int64_t, bfloat16, float16, float, bool, std::int32_t>*>(nullptr));
  one(static_cast<std::tuple<bfloat16, float16, float, bool, std::int32_t, std::int64_t>*>(nullptr));
  one(static_cast<std::tuple<float16, float, bool, std::int32_t, std::int64_t, bfloat16>*>(nullptr));
  one(static_cast<std::tuple<float, bool, std::int32_t, std::int64_t, bfloat16, float16>*>(nullptr));
}
/// Runs over several axes before the rows, one of which has one number, and runs that end at the second axis.
constexpr auto of_four_axes = [](auto x, auto last, auto first, auto second, auto ends) {
  const auto whole = [&](auto y) { return drx::cast<double>(drx::broadcast_to<3, 5, 1, 4, 7>(y)); };
  return x * whole(last) + whole(first) * whole(second) - whole(ends);
};

/// What write_rows knows of a loop.
template <std::int64_t Columns>
struct rows_of {
  using code = void;
  using pointers_type = void;
  static constexpr std::int64_t columns = Columns;
};
/// n rows at the end of memory of the size that run_band has for them.
template <class T, std::int64_t Columns, std::int64_t Step, bool OneInRow>
[[gnu::noinline]] bool are_written(std::int64_t n) {
  if (n < 1) return false;  // (g++ 12 warns of a negative number of bytes)
  using loop = drx::run::fused_short_rows<rows_of<Columns>>;
  const std::int64_t read = (n - 1) * Step + (OneInRow ? 1 : Columns);
  const std::int64_t written = n * Columns + loop::template whole_vectors<T> - Columns;
  harness::guarded source(static_cast<std::size_t>(read) * sizeof(T)),
      result(static_cast<std::size_t>(written) * sizeof(T));
  T* const x = source.last<T>(static_cast<std::size_t>(read));
  T* const y = result.last<T>(static_cast<std::size_t>(written));
  for (std::int64_t i = 0; i < read; ++i) x[i] = static_cast<T>(i * i % 11 % (std::is_same_v<T, bool> ? 2 : 11));
  loop::template write_rows<T, Step, OneInRow>(x, n, y);
  bool same = true;
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < Columns; ++c) same = same && y[r * Columns + c] == x[r * Step + (OneInRow ? 0 : c)];
  return same;
}
template <class T, std::int64_t Columns, std::int64_t Step, bool OneInRow>
void check_rows() {
  CAPTURE(Columns);
  CAPTURE(Step);
  CAPTURE(OneInRow);
  for (const std::int64_t n : {1, 2, 9, 40}) CHECK(are_written<T, Columns, Step, OneInRow>(n));
}
template <class T, std::int64_t... Columns>
void check_rows_of() {
  (check_rows<T, Columns, Columns, false>(), ...);
  (check_rows<T, Columns, 0, false>(), ...);
  (check_rows<T, Columns, Columns + 3, false>(), ...);
  (check_rows<T, Columns, 0, true>(), ...);
  (check_rows<T, Columns, 1, true>(), ...);
  (check_rows<T, Columns, 5, true>(), ...);
}
}  // namespace

TEST_CASE_TEMPLATE("rows are written up to the end of whole vectors", T, bool, bfloat16, std::int32_t, double) {
  check_rows_of<T, 1, 2, 3, 5, 9, 17, 33, 63, 65, 100>();
}
TEST_CASE("runs that divide no band, of all types") { check_all<11, 37, 5>(); }  // a band has 512 / 5 rows
TEST_CASE("runs of more rows than a band has, and of the fewest") {
  check_some<2, 131, 9>();
  check_some<40, 8, 3>();
}
TEST_CASE("too few rows for a run") { check_some<30, 7, 5>(); }
TEST_CASE("several axes before the rows") {
  harness::check_run<
      program<of_four_axes, array<double, 3, 5, 1, 4, 7>, array<float, 1, 4, 7>, array<bool, 3, 1, 1, 1, 7>,
              array<float16, 5, 1, 1, 1>, array<std::int32_t, 3, 5, 1, 1, 7>>>({}, {1});
  // The rows of a repeated row are 4; those of the first one 20, before the axis on which it differs.
}
