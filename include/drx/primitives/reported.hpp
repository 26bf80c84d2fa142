// drx/primitives/reported.hpp: one mistake, one error. What the compiler has complained about goes through every
// operation without another word: clang goes on with the type that a deleted function returns.
#pragma once

#include <drx/core/errors.hpp>

// clang-format off
#define DRX_SILENT(name) \
  template <auto..., class... X> requires error::AnyReported<X...> error::reported name(const X&...);
#define DRX_SILENT_OF_TYPE(name) \
  template <class, auto..., class... X> requires error::AnyReported<X...> error::reported name(const X&...);
#define DRX_SILENT_OF_TYPES(name) \
  template <class..., class X> requires error::AnyReported<X> error::reported name(const X&); \
  template <class..., class X, class Y> requires error::AnyReported<X, Y> error::reported name(const X&, const Y&);
#define DRX_SILENT_OPERATOR(op) \
  template <class A, class B> requires AnyReported<A, B> reported operator op(const A&, const B&);

namespace drx {
DRX_SILENT(abs) DRX_SILENT(argmax) DRX_SILENT(argmin) DRX_SILENT(broadcast_to) DRX_SILENT(concatenate) DRX_SILENT(cond) DRX_SILENT(cos)
DRX_SILENT(call) DRX_SILENT(dot) DRX_SILENT(exp) DRX_SILENT(expm1) DRX_SILENT(fori_loop) DRX_SILENT(log) DRX_SILENT(log1p)
DRX_SILENT(log_softmax) DRX_SILENT(logsumexp) DRX_SILENT(map) DRX_SILENT(matmul) DRX_SILENT(max) DRX_SILENT(mean)
DRX_SILENT(min) DRX_SILENT(pad) DRX_SILENT(pow) DRX_SILENT(reduce_max) DRX_SILENT(reduce_mean) DRX_SILENT(reduce_min)
DRX_SILENT(reduce_sum) DRX_SILENT(reduce_weighted_mean) DRX_SILENT(relu) DRX_SILENT(reshape) DRX_SILENT(scan)
DRX_SILENT(select) DRX_SILENT(sigmoid) DRX_SILENT(sin) DRX_SILENT(slice) DRX_SILENT(softmax)
DRX_SILENT(softmax_cross_entropy) DRX_SILENT(sqrt) DRX_SILENT(square) DRX_SILENT(stop_gradient) DRX_SILENT(sum)
DRX_SILENT(switch_case) DRX_SILENT(tanh) DRX_SILENT(transpose) DRX_SILENT(where) DRX_SILENT(while_loop)
DRX_SILENT(all_of) DRX_SILENT(any_of) DRX_SILENT(ceil) DRX_SILENT(clamp) DRX_SILENT(floor) DRX_SILENT(index)
DRX_SILENT(reduce_with) DRX_SILENT(rsqrt) DRX_SILENT(sign) DRX_SILENT(stack) DRX_SILENT(tan) DRX_SILENT(tree_map)
DRX_SILENT(custom_root) DRX_SILENT(hvp) DRX_SILENT(jvp) DRX_SILENT(linearize) DRX_SILENT(vjp)
DRX_SILENT(bernoulli) DRX_SILENT(erfinv) DRX_SILENT(fold_in) DRX_SILENT(permutation) DRX_SILENT(random_key) DRX_SILENT(split)
DRX_SILENT_OF_TYPE(normal) DRX_SILENT_OF_TYPE(random_bits) DRX_SILENT_OF_TYPE(uniform)
DRX_SILENT(argsort) DRX_SILENT(cummax) DRX_SILENT(cummin) DRX_SILENT(cumprod) DRX_SILENT(cumsum) DRX_SILENT(dynamic_slice) DRX_SILENT(flip)
DRX_SILENT(norm) DRX_SILENT(prod) DRX_SILENT(scatter_add) DRX_SILENT(sort) DRX_SILENT(take) DRX_SILENT(take_along) DRX_SILENT(update_slice)
DRX_SILENT(cholesky) DRX_SILENT(determinant) DRX_SILENT(diagonal) DRX_SILENT(diagonal_matrix) DRX_SILENT(inverse) DRX_SILENT(logdet) DRX_SILENT(solve)
DRX_SILENT_OF_TYPES(avg_pool) DRX_SILENT_OF_TYPES(conv1d) DRX_SILENT_OF_TYPES(conv2d) DRX_SILENT_OF_TYPES(max_pool)
DRX_SILENT_OF_TYPES(triangular_solve)
DRX_SILENT(gather)
DRX_SILENT(expand_dims) DRX_SILENT(isfinite) DRX_SILENT(isinf) DRX_SILENT(isnan) DRX_SILENT(maximum) DRX_SILENT(minimum) DRX_SILENT(mod)
DRX_SILENT(outer) DRX_SILENT(repeat) DRX_SILENT(softplus) DRX_SILENT(squeeze) DRX_SILENT(stddev) DRX_SILENT(tile)
DRX_SILENT(tril) DRX_SILENT(triu) DRX_SILENT(var) DRX_SILENT(categorical) DRX_SILENT(eigh) DRX_SILENT(qr) DRX_SILENT(svd)
DRX_SILENT_OF_TYPE(exponential) DRX_SILENT_OF_TYPE(gumbel) DRX_SILENT_OF_TYPE(linspace)
DRX_SILENT_OF_TYPE(distribute)
DRX_SILENT(acos) DRX_SILENT(acosh) DRX_SILENT(asin) DRX_SILENT(asinh) DRX_SILENT(atan) DRX_SILENT(atan2) DRX_SILENT(atanh)
DRX_SILENT(cbrt) DRX_SILENT(cosh) DRX_SILENT(digamma) DRX_SILENT(erf) DRX_SILENT(erfc) DRX_SILENT(exp2) DRX_SILENT(fma)
DRX_SILENT(gelu) DRX_SILENT(gelu_tanh) DRX_SILENT(lgamma) DRX_SILENT(polygamma) DRX_SILENT(round) DRX_SILENT(sinh)
DRX_SILENT_OF_TYPE(with_layout) DRX_SILENT_OF_TYPE(broadcast) DRX_SILENT_OF_TYPE(cast) DRX_SILENT_OF_TYPE(one_hot)
}  // namespace drx

namespace drx::error {
DRX_SILENT_OPERATOR(+) DRX_SILENT_OPERATOR(-) DRX_SILENT_OPERATOR(*) DRX_SILENT_OPERATOR(/) DRX_SILENT_OPERATOR(%)
DRX_SILENT_OPERATOR(<) DRX_SILENT_OPERATOR(<=) DRX_SILENT_OPERATOR(>) DRX_SILENT_OPERATOR(>=)
DRX_SILENT_OPERATOR(+=) DRX_SILENT_OPERATOR(-=) DRX_SILENT_OPERATOR(*=) DRX_SILENT_OPERATOR(/=)
DRX_SILENT_OPERATOR(==) DRX_SILENT_OPERATOR(!=) DRX_SILENT_OPERATOR(&&) DRX_SILENT_OPERATOR(||)
template <Reported A> reported operator-(const A&);
template <Reported A> reported operator!(const A&);
}  // namespace drx::error

#undef DRX_SILENT
#undef DRX_SILENT_OF_TYPE
#undef DRX_SILENT_OF_TYPES
#undef DRX_SILENT_OPERATOR
// clang-format on
