// Every elementwise primitive on random numbers: value, jvp, vjp and second derivative, in float64 and float32, as JSON;
// run.py computes the same with JAX from the Python expression in the row. A new primitive is one row of the table.
#include "table.hpp"

namespace {
/// The tape of a primitive of n operands.
maker of(const drx::primitive& p, int n) {
  return [&p, n](dtype type) {
    builder b;
    vec<int> x;
    for (int i = 0; i < n; ++i) x.push_back(b.input({type, drx::make_shape(count)}));
    b.output(b.add1(p, x));
    return b.result();
  };
}
/// The tape of ordinary code on arrays, of one argument.
template <auto F>
maker traced() {
  return [](dtype type) {
    return type == dtype::float64 ? drx::program<F, drx::array<double, count>>::tape().thaw() : drx::program<F, drx::array<float, count>>::tape().thaw();
  };
}
maker polygamma(int order) {
  return [order](dtype type) {
    builder b;
    const int x = b.input({type, drx::make_shape(count)});
    b.output(b.add1(prim::polygamma, {drx::emit::constant_like(b, x, order), x}));
    return b.result();
  };
}
constexpr auto gelu = [](auto x) { return drx::gelu(x); };
constexpr auto gelu_tanh = [](auto x) { return drx::gelu_tanh(x); };
constexpr auto logsumexp = [](auto x) { return drx::logsumexp(x) + 0 * x; };
constexpr auto softmax = [](auto x) { return drx::softmax(x); };
constexpr auto log_softmax = [](auto x) { return drx::log_softmax(x); };

// clang-format off
const row table[] = {
    {"exp",         -3, 3,     "jnp.exp(x)",                     of(prim::exp, 1)},
    {"exp2",        -3, 3,     "jnp.exp2(x)",                    of(prim::exp2, 1)},
    {"expm1",       -3, 3,     "jnp.expm1(x)",                   of(prim::expm1, 1)},
    {"log",         .1, 9,     "jnp.log(x)",                     of(prim::log, 1)},
    {"log1p",       -.8, 5,    "jnp.log1p(x)",                   of(prim::log1p, 1)},
    {"sigmoid",     -9, 9,     "jax.nn.sigmoid(x)",              of(prim::sigmoid, 1)},
    {"softplus",    -9, 9,     "jax.nn.softplus(x)",             of(prim::softplus, 1)},
    {"sqrt",        .1, 9,     "jnp.sqrt(x)",                    of(prim::sqrt, 1)},
    {"rsqrt",       .1, 9,     "lax.rsqrt(x)",                   of(prim::rsqrt, 1)},
    {"cbrt",        .1, 9,     "jnp.cbrt(x)",                    of(prim::cbrt, 1)},
    {"pow",         .2, 3,     "jnp.power(x, y)",                of(prim::pow, 2)},
    {"sin",         -9, 9,     "jnp.sin(x)",                     of(prim::sin, 1)},
    {"cos",         -9, 9,     "jnp.cos(x)",                     of(prim::cos, 1)},
    {"tan",         -1.3, 1.3, "jnp.tan(x)",                     of(prim::tan, 1), 10},
    {"asin",        -.9, .9,   "jnp.arcsin(x)",                  of(prim::asin, 1)},
    {"acos",        -.9, .9,   "jnp.arccos(x)",                  of(prim::acos, 1)},
    {"atan",        -9, 9,     "jnp.arctan(x)",                  of(prim::atan, 1)},
    {"atan2",       .2, 3,     "jnp.arctan2(x, y)",              of(prim::atan2, 2)},
    {"sinh",        -3, 3,     "jnp.sinh(x)",                    of(prim::sinh, 1)},
    {"cosh",        -3, 3,     "jnp.cosh(x)",                    of(prim::cosh, 1)},
    {"tanh",        -5, 5,     "jnp.tanh(x)",                    of(prim::tanh, 1)},
    {"asinh",       -9, 9,     "jnp.arcsinh(x)",                 of(prim::asinh, 1)},
    {"acosh",       1.1, 9,    "jnp.arccosh(x)",                 of(prim::acosh, 1), 10},
    {"atanh",       -.9, .9,   "jnp.arctanh(x)",                 of(prim::atanh, 1), 10},
    {"erf",         -3, 3,     "lax.erf(x)",                     of(prim::erf, 1)},
    {"erfc",        -3, 5,     "lax.erfc(x)",                    of(prim::erfc, 1)},
    {"erfinv",      -.9, .9,   "lax.erf_inv(x)",                 of(prim::erfinv, 1), 10},
    {"lgamma",      .5, 9,     "special.gammaln(x)",             of(prim::lgamma, 1), 10},
    {"lgamma < 0",  -.9, -.1,  "special.gammaln(x)",             of(prim::lgamma, 1), 1e3},
    {"digamma",     .5, 9,     "special.digamma(x)",             of(prim::digamma, 1), 10},
    {"polygamma 1", .5, 9,     "special.polygamma(1, x)",        polygamma(1), 100},
    {"polygamma 3", .5, 9,     "special.polygamma(3, x)",        polygamma(3), 100},
    {"floor",       -9, 9,     "jnp.floor(x)",                   of(prim::floor, 1)},
    {"ceil",        -9, 9,     "jnp.ceil(x)",                    of(prim::ceil, 1)},
    {"round",       -9, 9,     "jnp.round(x)",                   of(prim::round, 1)},
    {"sign",        -1, 1,     "jnp.sign(x)",                    of(prim::sign, 1)},
    {"abs",         -1, 1,     "jnp.abs(x)",                     of(prim::abs, 1)},
    {"relu",        -1, 1,     "jax.nn.relu(x)",                 of(prim::relu, 1)},
    {"neg",         -1, 1,     "-x",                             of(prim::neg, 1)},
    {"add",         -1, 1,     "x + y",                          of(prim::add, 2)},
    {"sub",         -1, 1,     "x - y",                          of(prim::sub, 2)},
    {"mul",         -1, 1,     "x * y",                          of(prim::mul, 2)},
    {"div",         .3, 3,     "x / y",                          of(prim::div, 2)},
    {"rem",         .3, 3,     "lax.rem(x, y)",                  of(prim::remainder, 2)},
    {"azmul",       -1, 1,     "x * y",                          of(prim::azmul, 2)},
    {"azdiv",       .3, 3,     "x / y",                          of(prim::azdiv, 2)},
    {"max",         -1, 1,     "jnp.maximum(x, y)",              of(prim::maximum, 2)},
    {"min",         -1, 1,     "jnp.minimum(x, y)",              of(prim::minimum, 2)},
    {"fma",         -1, 1,     "x * y + z",                      of(prim::fma, 3)},
    {"gelu",        -4, 4,     "jax.nn.gelu(x, approximate=False)", traced<gelu>()},
    {"gelu_tanh",   -4, 4,     "jax.nn.gelu(x, approximate=True)",  traced<gelu_tanh>()},
    {"logsumexp",   -5, 5,     "jax.nn.logsumexp(x) + 0 * x",    traced<logsumexp>()},
    {"softmax",     -5, 5,     "jax.nn.softmax(x)",              traced<softmax>()},
    {"log_softmax", -5, 5,     "jax.nn.log_softmax(x)",          traced<log_softmax>()},
};
// clang-format on
}  // namespace

int main() { print_table(table); }
