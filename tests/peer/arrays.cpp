// Products, linear algebra, convolutions and pooling on random numbers: value, jvp, vjp and second derivative,
// on the plain interpreter and compiled, as JSON; run.py computes the same with JAX from the Python expression in the
// row.
// options: -O0
#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>
#include <drx/transform/differentiate.hpp>

#include "compiled.hpp"
#include "harness/json.hpp"

#include <cstdio>
#include <random>
#include <vector>

using drx::array;
using drx::tape;
using drx::tensor;
using drx::vec;
using tensors = std::vector<tensor>;

namespace {
struct function {
  tape t;
  tensors (*compiled)(const tensors&);  // of x, the cotangent and v
};
template <auto F, class... A>
function traced() {
  return {drx::program<F, A...>::tape().thaw(), &compiled<F, A...>};
}

constexpr array<double, 4, 4> four{4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4};
constexpr auto regular = [](auto x) { return x + drx::constant(four); };
using m44 = array<double, 4, 4>;
using m243 = array<double, 2, 4, 3>;
using batch = array<double, 2, 4, 4>;

constexpr auto matmul = [](auto x, auto y) { return drx::matmul(x, y); };
constexpr auto cholesky = [](auto x) { return drx::cholesky(regular(drx::matmul(x, drx::transpose<0, 2, 1>(x)))); };
constexpr auto cholesky_of_any = [](auto x) { return drx::cholesky(regular(x)); };
constexpr auto lower = [](auto x, auto y) { return drx::triangular_solve(regular(x), y); };
constexpr auto upper = [](auto x, auto y) {
  return drx::triangular_solve<drx::upper, drx::transposed, drx::unit_diagonal>(x, y);
};
constexpr auto from_right = [](auto x, auto y) {
  return drx::triangular_solve<drx::from_right, drx::transposed>(regular(x), y);
};
constexpr auto solve = [](auto x, auto y) { return drx::solve(regular(x), y); };
constexpr auto inverse = [](auto x) { return drx::inverse(regular(x)); };
constexpr auto determinant = [](auto x) { return drx::determinant(x); };
constexpr auto logdet = [](auto x) { return drx::logdet(regular(x)); };
constexpr auto gaps = [](auto x) {
  return x + drx::constant(array<double, 4, 4>{4, 0, 0, 0, 0, 8, 0, 0, 0, 0, 12, 0, 0, 0, 0, 16});
};
constexpr auto eigenvalues = [](auto x) { return drx::eigh(gaps(x)).first; };
constexpr auto eigenvectors = [](auto x) { return drx::square(drx::eigh(gaps(x)).second); };
constexpr auto q_of = [](auto x) { return drx::qr(x).first; };
constexpr auto r_of = [](auto x) { return drx::qr(x).second; };
constexpr auto singular_values = [](auto x) { return std::get<1>(drx::svd(x)); };
constexpr auto sine_of_singular_values = [](auto x) {
  const auto [u, s, vt] = drx::svd(x);
  return drx::matmul(u * drx::sin(drx::expand_dims<-2>(s)), vt);
};
constexpr auto left_vectors = [](auto x) { return drx::square(std::get<0>(drx::svd(x))); };
constexpr auto contracted = [](auto x, auto y) { return drx::einsum<"bij,bkj,ji->ik">(x, x, y); };
constexpr auto spread = [](auto x) {
  return drx::concatenate<1>(drx::norm<1>(x, drx::keepdims), drx::stddev<1>(x, drx::ddof<1>, drx::keepdims),
                             drx::var<1>(x, drx::keepdims));
};
constexpr auto diagonal = [](auto x) { return drx::diagonal(x); };
constexpr auto diagonal_matrix = [](auto x) { return drx::diagonal_matrix(x); };
constexpr auto conv1d = [](auto x, auto y) {
  return drx::conv1d<drx::strides<2>, drx::padding<1, 2>, drx::dilations<2>>(x, y);
};
constexpr auto conv2d = [](auto x, auto y) { return drx::conv2d<drx::strides<2, 1>, drx::same>(x, y); };
constexpr auto conv2d_up = [](auto x, auto y) {
  return drx::conv2d<drx::input_dilations<2, 3>, drx::padding<2, 1>, drx::padding<1, 2>>(x, y);
};
constexpr auto max_pool = [](auto x) { return drx::max_pool<drx::window<2, 3>, drx::strides<2, 1>, drx::same>(x); };
constexpr auto ties = [](auto x) {
  return drx::max_pool<drx::window<5>, drx::strides<1>>(drx::concatenate<1>(drx::stop_gradient(x), x));
};
constexpr auto avg_pool = [](auto x) { return drx::avg_pool<drx::window<3>, drx::strides<2>, drx::padding<1>>(x); };

struct row {
  const char* name;
  const char* python;  // of x, y
  function f;
};
// clang-format off
const row table[] = {
    {"matmul", "jnp.matmul(x, y)", traced<matmul, array<double, 2, 1, 2, 3>, array<double, 2, 3, 2>>()},
    {"cholesky", "jnp.linalg.cholesky(x @ jnp.swapaxes(x, 1, 2) + 4 * jnp.eye(4))", traced<cholesky, batch>()},
    {"cholesky of any matrix", "jnp.linalg.cholesky(x + 4 * jnp.eye(4))", traced<cholesky_of_any, m44>()},
    {"triangular_solve", "lax.linalg.triangular_solve(x + 4 * jnp.eye(4), y, left_side=True, lower=True)", traced<lower, batch, m243>()},
    {"triangular_solve upper", "lax.linalg.triangular_solve(x, y, left_side=True, lower=False, transpose_a=True, unit_diagonal=True)", traced<upper, batch, m243>()},
    {"triangular_solve from right", "lax.linalg.triangular_solve(x + 4 * jnp.eye(4), y, left_side=False, lower=True, transpose_a=True)", traced<from_right, m44, array<double, 3, 4>>()},
    {"solve", "jnp.linalg.solve(x + 4 * jnp.eye(4), y)", traced<solve, batch, m243>()},
    {"solve of a vector", "jnp.linalg.solve(x + 4 * jnp.eye(4), y)", traced<solve, m44, array<double, 4>>()},
    {"inverse", "jnp.linalg.inv(x + 4 * jnp.eye(4))", traced<inverse, batch>()},
    {"determinant", "jnp.linalg.det(x)", traced<determinant, batch>()},
    {"logdet", "jnp.linalg.slogdet(x + 4 * jnp.eye(4))[1]", traced<logdet, batch>()},
    {"eigenvalues", "jnp.linalg.eigh(x + jnp.diag(jnp.array([4., 8, 12, 16])))[0]", traced<eigenvalues, batch>()},
    {"eigenvectors", "jnp.square(jnp.linalg.eigh(x + jnp.diag(jnp.array([4., 8, 12, 16])))[1])", traced<eigenvectors, batch>()},
    {"Q of QR", "jnp.linalg.qr(x)[0]", traced<q_of, m243>()},
    {"R of QR", "jnp.linalg.qr(x)[1]", traced<r_of, m243>()},
    {"singular values", "jnp.linalg.svd(x, full_matrices=False)[1]", traced<singular_values, m243>()},
    {"svd, tall", "(lambda u, s, vt: (u * jnp.sin(s)[:, None]) @ vt)(*jnp.linalg.svd(x, full_matrices=False))", traced<sine_of_singular_values, m243>()},
    {"svd, wide", "(lambda u, s, vt: (u * jnp.sin(s)[:, None]) @ vt)(*jnp.linalg.svd(x, full_matrices=False))",
     traced<sine_of_singular_values, array<double, 2, 3, 4>>()},
    {"left singular vectors", "jnp.square(jnp.linalg.svd(x, full_matrices=False)[0])", traced<left_vectors, m243>()},
    {"einsum", "jnp.einsum('bij,bkj,ji->ik', x, x, y)", traced<contracted, m243, array<double, 3, 4>>()},
    {"norm, std and var", "jnp.concatenate([jnp.linalg.norm(x, axis=1, keepdims=True), jnp.std(x, axis=1, ddof=1, keepdims=True), jnp.var(x, axis=1, keepdims=True)], 1)",
     traced<spread, m243>()},
    {"diagonal", "jnp.diagonal(x, axis1=1, axis2=2)", traced<diagonal, m243>()},
    {"diagonal_matrix", "x[:, :, None] * jnp.eye(3)", traced<diagonal_matrix, array<double, 2, 3>>()},
    {"conv1d", "lax.conv_general_dilated(x, y, (2,), [(1, 2)], rhs_dilation=(2,), dimension_numbers=('NWC', 'WIO', 'NWC'))",
     traced<conv1d, array<double, 2, 7, 3>, array<double, 3, 3, 2>>()},
    {"conv2d", "lax.conv_general_dilated(x, y, (2, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))",
     traced<conv2d, array<double, 2, 5, 4, 2>, array<double, 3, 2, 2, 3>>()},
    {"conv2d of a dilated input", "lax.conv_general_dilated(x, y, (1, 1), [(2, 1), (1, 2)], lhs_dilation=(2, 3), dimension_numbers=('NHWC', 'HWIO', 'NHWC'))",
     traced<conv2d_up, array<double, 1, 3, 2, 2>, array<double, 2, 3, 2, 2>>()},
    {"max_pool", "lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 3, 1), (1, 2, 1, 1), 'SAME')", traced<max_pool, array<double, 2, 5, 4, 2>>()},
    {"max_pool with ties", "lax.reduce_window(jnp.concatenate([lax.stop_gradient(x), x], 1), -jnp.inf, lax.max, (1, 5, 1), (1, 1, 1), 'VALID')",
     traced<ties, m243>()},
    {"avg_pool", "lax.reduce_window(x, 0., lax.add, (1, 3, 1), (1, 2, 1), [(0, 0), (1, 1), (0, 0)]) / 3", traced<avg_pool, m243>()},
};
// clang-format on

std::mt19937_64 engine(13);
tensors random(const tape& t, const vec<int>& values) {
  tensors all;
  for (int v : values) {
    all.emplace_back(t.values[v]);
    for (std::int64_t i = 0; i < all.back().size(); ++i)
      all.back().data<double>()[i] = std::uniform_real_distribution<double>(-1, 1)(engine);
  }
  return all;
}
tensors joined(tensors a, const tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// The elements from `at` on, as nested lists.
void print(const tensor& x, int axis, std::int64_t& at) {
  if (axis == x.type.shape.rank) {
    harness::print_number(x.data<double>()[at++]);
    return;
  }
  for (std::int64_t i = 0; i < x.type.shape[axis]; ++i) {
    std::printf(i ? "," : "[");
    print(x, axis + 1, at);
  }
  std::printf("]");
}
void print(const char* key, const tensors& all, const char* behind) {
  std::printf("\"%s\":[", key);
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::int64_t at = 0;
    if (k) std::printf(",");
    print(all[k], 0, at);
  }
  std::printf("]%s", behind);
}

void record(const row& r) {
  const tape& t = r.f.t;
  const int n = t.inputs.size();
  const tensors x = random(t, t.inputs), v = random(t, t.inputs), ct = random(t, t.outputs);
  const vec<bool> moving(n, true);
  vec<bool> only_x = moving;
  only_x.push_back(false);
  const tape reverse = drx::transform::pullback(t, moving, vec<bool>{true});
  const tensors forward = drx::interpreter::run(drx::transform::jvp(t, moving), joined(x, v));
  const tensors second = drx::interpreter::run(drx::transform::jvp(reverse, only_x), joined(joined(x, ct), v));
  std::printf("{\"name\":\"%s\",\"python\":\"%s\",\"slack\":10,\"type\":\"float64\",", r.name, r.python);
  print("x", x, ",");
  print("v", v, ",");
  print("ct", ct, ",");
  print("value", {forward[0]}, ",");
  print("jvp", {forward[1]}, ",");
  print("vjp", drx::interpreter::run(reverse, joined(x, ct)), ",");
  print("second", {second.begin() + n, second.end()}, ",\"compiled\":{");
  const tensors also = r.f.compiled(joined(joined(x, ct), v));
  print("value", {also[0]}, ",");
  print("jvp", {also[1]}, ",");
  print("vjp", {also.begin() + 2, also.begin() + 2 + n}, ",");
  print("second", {also.begin() + 2 + n, also.end()}, "}}");
}
}  // namespace

int main() {
  const char* before = "[";
  for (const row& r : table) {
    std::printf("%s", before);
    record(r);
    before = ",\n";
  }
  std::printf("]\n");
}
