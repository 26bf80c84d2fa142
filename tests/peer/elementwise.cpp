// Every elementwise primitive on random numbers: value, jvp, vjp and second derivative, in float64 and float32, as
// JSON; those in float64 by the compiled program too. run.py computes the same with JAX from the Python expression in
// the row. A new primitive is one row of the table.
// options: -O0
#include "table.hpp"

namespace {
/// The tape of a primitive of two operands, which users have no name for.
maker of(const drx::primitive& p) {
  return {[&p](dtype type) {
    builder b;
    const int x = b.input({type, drx::make_shape(count)}), y = b.input({type, drx::make_shape(count)});
    b.output(b.add1(p, {x, y}));
    return b.result();
  }};
}
using doubles = drx::array<double, count>;
using floats = drx::array<float, count>;
/// Ordinary code on arrays, of as many arguments as there are types.
template <auto F, class... A>
tape traced() {
  return drx::program<F, A...>::tape().thaw();
}
template <auto F>
maker unary() {
  return {[](dtype type) { return type == dtype::float64 ? traced<F, doubles>() : traced<F, floats>(); },
          &compiled<F, doubles>};
}
template <auto F>
maker binary() {
  return {
      [](dtype type) { return type == dtype::float64 ? traced<F, doubles, doubles>() : traced<F, floats, floats>(); },
      &compiled<F, doubles, doubles>};
}
template <auto F>
maker ternary() {
  return {[](dtype type) {
            return type == dtype::float64 ? traced<F, doubles, doubles, doubles>()
                                          : traced<F, floats, floats, floats>();
          },
          &compiled<F, doubles, doubles, doubles>};
}

#define OF_ONE(expression) unary<[](auto x) { return expression; }>()
#define OF_TWO(expression) binary<[](auto x, auto y) { return expression; }>()
#define OF_THREE(expression) ternary<[](auto x, auto y, auto z) { return expression; }>()
// clang-format off
const row table[] = {
    {"exp",         -3, 3,     "jnp.exp(x)",                     OF_ONE(drx::exp(x))},
    {"exp2",        -3, 3,     "jnp.exp2(x)",                    OF_ONE(drx::exp2(x))},
    {"expm1",       -3, 3,     "jnp.expm1(x)",                   OF_ONE(drx::expm1(x))},
    {"log",         .1, 9,     "jnp.log(x)",                     OF_ONE(drx::log(x))},
    {"log1p",       -.8, 5,    "jnp.log1p(x)",                   OF_ONE(drx::log1p(x))},
    {"sigmoid",     -9, 9,     "jax.nn.sigmoid(x)",              OF_ONE(drx::sigmoid(x))},
    {"softplus",    -9, 9,     "jax.nn.softplus(x)",             OF_ONE(drx::softplus(x))},
    {"sqrt",        .1, 9,     "jnp.sqrt(x)",                    OF_ONE(drx::sqrt(x))},
    {"rsqrt",       .1, 9,     "lax.rsqrt(x)",                   OF_ONE(drx::rsqrt(x))},
    {"cbrt",        .1, 9,     "jnp.cbrt(x)",                    OF_ONE(drx::cbrt(x))},
    {"pow",         .2, 3,     "jnp.power(x, y)",                OF_TWO(drx::pow(x, y))},
    {"sin",         -9, 9,     "jnp.sin(x)",                     OF_ONE(drx::sin(x))},
    {"cos",         -9, 9,     "jnp.cos(x)",                     OF_ONE(drx::cos(x))},
    {"tan",         -1.3, 1.3, "jnp.tan(x)",                     OF_ONE(drx::tan(x)), 10},
    {"asin",        -.9, .9,   "jnp.arcsin(x)",                  OF_ONE(drx::asin(x))},
    {"acos",        -.9, .9,   "jnp.arccos(x)",                  OF_ONE(drx::acos(x))},
    {"atan",        -9, 9,     "jnp.arctan(x)",                  OF_ONE(drx::atan(x))},
    {"atan2",       .2, 3,     "jnp.arctan2(x, y)",              OF_TWO(drx::atan2(x, y))},
    {"sinh",        -3, 3,     "jnp.sinh(x)",                    OF_ONE(drx::sinh(x))},
    {"cosh",        -3, 3,     "jnp.cosh(x)",                    OF_ONE(drx::cosh(x))},
    {"tanh",        -5, 5,     "jnp.tanh(x)",                    OF_ONE(drx::tanh(x))},
    {"asinh",       -9, 9,     "jnp.arcsinh(x)",                 OF_ONE(drx::asinh(x))},
    {"acosh",       1.1, 9,    "jnp.arccosh(x)",                 OF_ONE(drx::acosh(x)), 10},
    {"atanh",       -.9, .9,   "jnp.arctanh(x)",                 OF_ONE(drx::atanh(x)), 10},
    {"erf",         -3, 3,     "lax.erf(x)",                     OF_ONE(drx::erf(x))},
    {"erfc",        -3, 5,     "lax.erfc(x)",                    OF_ONE(drx::erfc(x))},
    {"erfinv",      -.9, .9,   "lax.erf_inv(x)",                 OF_ONE(drx::erfinv(x)), 10},
    {"lgamma",      .5, 9,     "special.gammaln(x)",             OF_ONE(drx::lgamma(x)), 10},
    {"lgamma < 0",  -.9, -.1,  "special.gammaln(x)",             OF_ONE(drx::lgamma(x)), 1e3},
    {"digamma",     .5, 9,     "special.digamma(x)",             OF_ONE(drx::digamma(x)), 10},
    {"polygamma 1", .5, 9,     "special.polygamma(1, x)",        OF_ONE(drx::polygamma<1>(x)), 100},
    {"polygamma 3", .5, 9,     "special.polygamma(3, x)",        OF_ONE(drx::polygamma<3>(x)), 100},
    {"floor",       -9, 9,     "jnp.floor(x)",                   OF_ONE(drx::floor(x))},
    {"ceil",        -9, 9,     "jnp.ceil(x)",                    OF_ONE(drx::ceil(x))},
    {"round",       -9, 9,     "jnp.round(x)",                   OF_ONE(drx::round(x))},
    {"sign",        -1, 1,     "jnp.sign(x)",                    OF_ONE(drx::sign(x))},
    {"abs",         -1, 1,     "jnp.abs(x)",                     OF_ONE(drx::abs(x))},
    {"relu",        -1, 1,     "jax.nn.relu(x)",                 OF_ONE(drx::relu(x))},
    {"neg",         -1, 1,     "-x",                             OF_ONE(-x)},
    {"add",         -1, 1,     "x + y",                          OF_TWO(x + y)},
    {"sub",         -1, 1,     "x - y",                          OF_TWO(x - y)},
    {"mul",         -1, 1,     "x * y",                          OF_TWO(x * y)},
    {"div",         .3, 3,     "x / y",                          OF_TWO(x / y)},
    {"rem",         .3, 3,     "lax.rem(x, y)",                  of(prim::remainder)},
    {"azmul",       -1, 1,     "x * y",                          of(prim::azmul)},
    {"azdiv",       .3, 3,     "x / y",                          of(prim::azdiv)},
    {"max",         -1, 1,     "jnp.maximum(x, y)",              OF_TWO(drx::max(x, y))},
    {"min",         -1, 1,     "jnp.minimum(x, y)",              OF_TWO(drx::min(x, y))},
    {"fma",         -1, 1,     "x * y + z",                      OF_THREE(drx::fma(x, y, z))},
    {"gelu",        -4, 4,     "jax.nn.gelu(x, approximate=False)", OF_ONE(drx::gelu(x))},
    {"gelu_tanh",   -4, 4,     "jax.nn.gelu(x, approximate=True)",  OF_ONE(drx::gelu_tanh(x))},
    {"logsumexp",   -5, 5,     "jax.nn.logsumexp(x) + 0 * x",    OF_ONE(drx::logsumexp(x) + 0 * x)},
    {"softmax",     -5, 5,     "jax.nn.softmax(x)",              OF_ONE(drx::softmax(x))},
    {"log_softmax", -5, 5,     "jax.nn.log_softmax(x)",          OF_ONE(drx::log_softmax(x))},
};
// clang-format on
}  // namespace

int main() { print_table(table); }
