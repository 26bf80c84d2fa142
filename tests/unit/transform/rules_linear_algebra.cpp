// The rules of dense linear algebra on random matrices, one and in batches: derivatives of both modes and orders,
// batching.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::builder;
using drx::dtype;
using drx::shape;
using drx::vec;
namespace emit = drx::emit;

namespace {
template <class F>
void check(const std::vector<shape>& shapes, F write, const harness::domain& d = {}) {
  builder b;
  vec<int> in;
  for (const shape& s : shapes) in.push_back(b.input({dtype::float64, s}));
  b.output(write(b, in));
  harness::check_rules(b.result(), d);
}
shape matrices(std::int64_t batches, std::int64_t m, std::int64_t n) {
  return batches == 0 ? drx::make_shape(m, n) : drx::make_shape(batches, m, n);
}
/// x + n I, which is far from singular.
int regular(builder& b, int x) {
  const int n = emit::constant_like(b, x, static_cast<double>(b.shape(x).last()));
  return emit::add(b, x, emit::mul(b, emit::identity_like(b, x), n));
}
int definite(builder& b, int x) { return regular(b, emit::matmul(b, x, x, false, true)); }
}  // namespace

TEST_CASE("triangular_solve in all forms") {
  for (int form = 0; form < 16; ++form) {
    const bool right = form % 2 != 0, lower = form / 2 % 2 != 0, transposed = form / 4 % 2 != 0, unit = form / 8 != 0;
    CAPTURE(form);
    check({matrices(form % 3 == 2 ? 2 : 0, 3, 3), matrices(form % 3 == 2 ? 2 : 0, right ? 2 : 3, right ? 3 : 2)},
          [&](builder& b, const vec<int>& x) {
            return emit::triangular_solve(b, regular(b, x[0]), x[1], right, lower, transposed, unit);
          },
          {.tolerance = 1e-5});
  }
  check({matrices(0, 3, 3), matrices(0, 3, 1)}, [&](builder& b, const vec<int>& x) {
    return emit::triangular_solve(b, regular(b, x[0]), x[1], false, true, true, false);
  });
}

TEST_CASE("cholesky") {
  for (std::int64_t batches : {0, 2})
    for (std::int64_t n : {1, 2, 4})
      check({matrices(batches, n, n)},
            [](builder& b, const vec<int>& x) { return emit::cholesky(b, definite(b, x[0])); }, {.tolerance = 1e-5});
}

TEST_CASE("solve, its inverse and logdet") {
  for (std::int64_t batches : {0, 2})
    for (std::int64_t n : {1, 3}) {
      const shape a = matrices(batches, n, n);
      for (bool transposed : {false, true})
        check({a, matrices(batches, n, 2)},
              [&](builder& b, const vec<int>& x) { return emit::solve(b, regular(b, x[0]), x[1], transposed); },
              {.tolerance = 1e-5});
      check({a},
            [](builder& b, const vec<int>& x) {
              const int m = regular(b, x[0]);
              return emit::solve(b, m, emit::identity_like(b, m), false);
            },
            {.tolerance = 1e-5});
      check({a}, [](builder& b, const vec<int>& x) { return emit::logdet(b, regular(b, x[0])); }, {.tolerance = 1e-5});
    }
}

TEST_CASE("determinant, to the third order") {
  for (std::int64_t batches : {0, 2})
    for (std::int64_t n : {1, 2, 3, 4})
      check({matrices(batches, n, n)}, [](builder& b, const vec<int>& x) { return emit::determinant(b, x[0]); },
            {.orders = n == 4 ? 2 : 3, .tolerance = 1e-5});
}

TEST_CASE("determinant of singular matrices: of rank n - 1 and n - 2") {
  for (std::int64_t rank : {3, 2})
    check({drx::make_shape(4, rank), drx::make_shape(rank, 4)},
          [](builder& b, const vec<int>& x) { return emit::determinant(b, emit::matmul(b, x[0], x[1], false, false)); },
          {.tolerance = 1e-5});
}

TEST_CASE("determinant and cofactors above the order of the polynomial rules") {
  check({drx::make_shape(9, 9)},
        [](builder& b, const vec<int>& x) {
          const int m = emit::mul(b, regular(b, x[0]), emit::constant_like(b, x[0], .1));
          return emit::determinant(b, m);
        },
        {.tolerance = 1e-5});
}
