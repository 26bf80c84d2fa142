// Primitives with positions, and those that go along an axis: value, jvp, vjp and second derivative, in float64 and
// float32, as JSON; run.py computes the same with JAX from the Python expression in the row. All are of a matrix of
// four rows and six columns.
#include "table.hpp"

namespace emit = drx::emit;
using drx::make_shape;
using drx::shape;

namespace {
maker of_matrix(int (*write)(builder&, int)) {
  return {[write](dtype type) {
    builder b;
    const int x = b.input({type, make_shape(count)});
    const int y = write(b, emit::reshape(b, x, make_shape(4, 6)));
    b.output(emit::reshape(b, y, make_shape(b.shape(y).size())));
    return b.result();
  }};
}
int ints(builder& b, const shape& s, std::initializer_list<std::int32_t> elements) {
  return emit::data(b, {dtype::int32, s}, elements.begin());
}
int part(builder& b, int x, std::int64_t rows, std::int64_t columns) {
  return emit::slice(b, x, {0, 0}, {rows, columns}, {1, 1});
}
int square(builder& b, int x) { return emit::mul(b, x, x); }
/// x with zeros in it that move: on a line across rows and columns.
int with_zeros(builder& b, int x) {
  const int row = emit::iota(b, b.type(x).with_type(dtype::int32), 0),
            column = emit::iota(b, b.type(x).with_type(dtype::int32), 1);
  const int zero = emit::equal(b, row, emit::sub(b, emit::constant_like(b, row, 4), column));
  return emit::where(b, zero, emit::sub(b, x, b.add1(prim::stop_gradient, {x})), x);
}
template <bool Backwards>
int cumprod_of_zeros(builder& b, int x) {
  return emit::cumprod(b, with_zeros(b, x), 1, Backwards);
}
int prod(builder& b, int x, const vec<std::int64_t>& axes) { return emit::over_axes(b, prim::prod, x, axes); }
int so_far(builder& b, const drx::primitive& p, int x, int axis, bool backwards) {
  return emit::take_along(b, x, b.add1(p, {x}, prim::rules::along_axis::view(axis, backwards).make()), axis);
}

#define MATRIX "(lambda m: "
#define END ").ravel())(x.reshape(4, 6))"
#define ZEROS "(lambda z: jnp.where(jnp.arange(4)[:, None] + jnp.arange(6) == 4, z - lax.stop_gradient(z), z))(m)"
const row table[] = {
    {"dynamic_slice", -1, 1, MATRIX "(lax.dynamic_slice(m * m, (-1, 9), (2, 3))" END, of_matrix([](builder& b, int x) {
       return emit::dynamic_slice(b, square(b, x), ints(b, make_shape(2), {-1, 9}), {2, 3}, 0);
     })},
    {"update_slice", -1, 1, MATRIX "(lax.dynamic_update_slice(m, (m * m)[:2, :3], (1, -2))" END,
     of_matrix([](builder& b, int x) {
       return emit::update_slice(b, x, square(b, part(b, x, 2, 3)), ints(b, make_shape(2), {1, -2}), 0);
     })},
    {"take", -1, 1, MATRIX "((m * m).at[jnp.array([[3, 0], [-1, 9]])].get(mode='clip')" END,
     of_matrix([](builder& b, int x) {
       return emit::take(b, square(b, x), ints(b, make_shape(2, 2), {3, 0, -1, 9}), 0, 0);
     })},
    {"take, axis 1", -1, 1, MATRIX "((m * m).at[:, jnp.array([5, -9, -1])].get(mode='clip')" END,
     of_matrix(
         [](builder& b, int x) { return emit::take(b, square(b, x), ints(b, make_shape(3), {5, -9, -1}), 1, 0); })},
    {"take_along", -1, 1, MATRIX "(jnp.take_along_axis(m * m, jnp.array([[1, 2, 0, 3, 3, 1]]), 0)" END,
     of_matrix([](builder& b, int x) {
       return emit::take_along(b, square(b, x), ints(b, make_shape(1, 6), {1, 2, 0, 3, 3, 1}), 0);
     })},
    {"scatter_add", -1, 1, MATRIX "(m.at[:, jnp.array([4, 0, 4, -1])].add((m * m)[:, :4])" END,
     of_matrix([](builder& b, int x) {
       return emit::add(b, x,
                        emit::scatter(b, ints(b, make_shape(4), {4, 0, 4, -1}), square(b, part(b, x, 4, 4)), 1, 0, 6));
     })},
    {"flip", -1, 1, MATRIX "(jnp.flip(m * m, 0)" END,
     of_matrix([](builder& b, int x) { return emit::flip(b, square(b, x), {0}); })},
    {"cumsum", -1, 1, MATRIX "(lax.cumsum(m * m, 0)" END,
     of_matrix([](builder& b, int x) { return emit::cumsum(b, square(b, x), 0, false); })},
    {"cumsum, backward", -1, 1, MATRIX "(lax.cumsum(m * m, 1, reverse=True)" END,
     of_matrix([](builder& b, int x) { return emit::cumsum(b, square(b, x), 1, true); })},
    {"cumprod", -2, 2, MATRIX "(lax.cumprod(m, 0)" END,
     of_matrix([](builder& b, int x) { return emit::cumprod(b, x, 0, false); })},
    {"cumprod, zeros", -2, 2, MATRIX "(lax.cumprod(" ZEROS ", 1)" END, of_matrix(cumprod_of_zeros<false>)},
    {"cumprod, zeros, backward", -2, 2, MATRIX "(lax.cumprod(" ZEROS ", 1, reverse=True)" END,
     of_matrix(cumprod_of_zeros<true>)},
    {"cummax", -1, 1, MATRIX "(lax.cummax(m * m, 1)" END,
     of_matrix([](builder& b, int x) { return so_far(b, prim::largest_so_far, square(b, x), 1, false); })},
    {"cummin, backward", -1, 1, MATRIX "(lax.cummin(m * m, 0, reverse=True)" END,
     of_matrix([](builder& b, int x) { return so_far(b, prim::smallest_so_far, square(b, x), 0, true); })},
    {"prod", -2, 2, MATRIX "(jnp.prod(m, 1)" END, of_matrix([](builder& b, int x) { return prod(b, x, {1}); })},
    {"prod, a zero", -2, 2, MATRIX "(jnp.prod(" ZEROS ", 1)" END,
     of_matrix([](builder& b, int x) { return prod(b, with_zeros(b, x), {1}); })},
    {"prod, zeros", -2, 2, MATRIX "(jnp.prod(" ZEROS "[2:])" END, of_matrix([](builder& b, int x) {
       return prod(b, emit::slice(b, with_zeros(b, x), {2, 0}, {4, 6}, {1, 1}), {0, 1});
     })},
    {"sort", -1, 1, MATRIX "(jnp.sort(m * m, 1)" END, of_matrix([](builder& b, int x) {
       return emit::take_along(b, square(b, x), emit::argsort(b, square(b, x), 1), 1);
     })},
    {"sort, axis 0", -1, 1, MATRIX "(jnp.sort(m * m, 0)" END, of_matrix([](builder& b, int x) {
       return emit::take_along(b, square(b, x), emit::argsort(b, square(b, x), 0), 0);
     })},
};
}  // namespace

int main() { print_table(table); }
