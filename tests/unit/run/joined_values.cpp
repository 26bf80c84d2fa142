// Concatenations that are stored, whose parts fused loops write in their places, against the plain interpreter.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include "harness/run.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace {
using matrix = drx::array<float, 4, 16>;
using square = drx::array<float, 16, 16>;

/// How many operands of a program's concatenations lie where these have them.
template <class P>
int parts_in_place() {
  using lowered = drx::plan::lowered<P>;
  int n = 0;
  for (const auto& e : lowered::tape.entries) {
    if (e.prim != &drx::prim::concatenate) continue;
    const auto at = [&](const drx::span_of_pool& ids, int i) {
      return lowered::plan.where[lowered::tape.pool[ids.first + i]];
    };
    std::int64_t offset = at(e.results, 0).offset;
    for (int i = 0; i < e.operands.count; ++i) {
      const auto& type = lowered::tape.values[lowered::tape.pool[e.operands.first + i]];
      n += at(e.operands, i).space == at(e.results, 0).space && at(e.operands, i).offset == offset;
      offset += type.shape.size() * drx::byte_size(type.type);
    }
  }
  return n;
}

// Both parts come from a loop. One is read again when nobody reads the whole any more, after a product as large as the
// whole has been written.
constexpr auto read_later = [](auto x, auto w) {
  auto a = drx::tanh(x), b = drx::sin(x);
  auto product = drx::matmul(drx::matmul(drx::concatenate<0>(a, b), w), w);
  return drx::matmul(a, drx::matmul(drx::transpose(product), product));
};
// An argument and what is joined twice are copied.
constexpr auto copied = [](auto x, auto w) {
  auto a = drx::tanh(x);
  return drx::matmul(drx::concatenate<0>(a, x, a), w);
};
// Parts that are not whole cache lines, or not one behind the other.
constexpr auto shorter = [](auto x, auto w) {
  auto a = drx::tanh(drx::slice<0, 3>(drx::reshape<64>(x)));
  auto b = drx::sin(drx::slice<0, 13>(drx::reshape<64>(x)));
  auto c = drx::tanh(drx::slice<drx::all, drx::range<0, 8>>(x)),
       d = drx::sin(drx::slice<drx::all, drx::range<0, 8>>(x));
  return drx::matmul(drx::reshape<1, 16>(drx::concatenate<0>(a, b)), w) +
         drx::sum(drx::matmul(drx::concatenate<1>(c, d), w));
};
// A loop's carry that is a part too.
constexpr auto carried = [](auto x, auto w) {
  return drx::fori_loop<3>(std::pair{x, x}, [=](auto s) {
    auto a = drx::tanh(s.first), b = drx::sin(s.second);
    auto product = drx::matmul(drx::concatenate<0>(a, b), w);
    return std::pair{a, b + drx::slice<4, 8>(product)};
  });
};
template <const auto& F>
using of_matrices = drx::program<F, matrix, square>;
}  // namespace

TEST_CASE("parts of a concatenation lie in it") {
  harness::check_run<of_matrices<read_later>>();
  CHECK(parts_in_place<of_matrices<read_later>>() == 2);
}
TEST_CASE("what cannot lie there is copied") {
  harness::check_run<of_matrices<copied>>();
  CHECK(parts_in_place<of_matrices<copied>>() == 1);
  harness::check_run<of_matrices<shorter>>();
  harness::check_run<of_matrices<carried>>();
}
