// drx/transform/jacobian.hpp: jacfwd, jacrev, hessian, hvp.
#pragma once

#include <drx/transform/grad.hpp>
#include <drx/transform/modes.hpp>

namespace drx {
namespace detail {

template <class R, class A>
struct jacobian_of;
template <class T, std::int64_t... M, std::int64_t... N>
struct jacobian_of<array<T, M...>, array<T, N...>> {
  using type = array<T, M..., N...>;
  static constexpr shape value = make_shape(M..., N...);
};
template <class F, int I, class... X>
constexpr auto jacobian_misuse(std::type_identity<X>... x) {
  using Why = decltype(derivative_misuse<F, I>(x...));
  if constexpr (!std::is_same_v<Why, fine> || error::AnyReported<X...>) {
    return Why{};
  } else {
    using R = canonical_t<traced_result<F, X...>>;
    using A = canonical_t<argument_t<I, X...>>;
    if constexpr (error::Reported<R>) {
      return fine{};
    } else if constexpr (!Array<R> || !Array<A>) {
      return error::jacobian_needs_arrays{};
    } else if constexpr (!std::is_same_v<typename R::value_type, typename A::value_type>) {
      return error::element_types_differ{};
    } else if constexpr (R::rank + A::rank > shape::max_rank) {
      return error::wrong_rank{};
    } else {
      return fine{};
    }
  }
}

/// The rows of the unit matrix, each of the given shape: [n, shape...]
constexpr int unit_vectors(builder& b, const abstract_value& one) {
  const std::int64_t n = one.shape.size();
  return emit::reshape(b, emit::identity(b, {one.type, make_shape(n, n)}), with_front(one.shape, n));
}

template <bool Forward, class F, int I>
struct jacobian {
  F f;

  template <class... X, class Why = decltype(jacobian_misuse<F, I>(std::type_identity<X>{}...))>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: a Jacobian is of an array in an array of the same floating type: stack or concatenate structures first; the argument asked for is jacfwd<I>
    if constexpr (AlreadyReported<F, X...>) {
      return error::reported{};
    } else {
      return differentiate(x...);
    }
  }

 private:
  template <class... X>
  constexpr auto differentiate(const X&... x) const {
    using result = jacobian_of<canonical_t<traced_result<F, X...>>, canonical_t<argument_t<I, X...>>>;
    const traced_call call = trace_call(meeting_builder(x...), f, x...);
    builder& b = *call.b;
    const vec<bool> in = leaves_of_arguments<I>(call.inputs.size(), std::type_identity<X>{}...);
    tape t;
    if (Forward) {
      t = tangents_only(call.body, in);
    } else {
      t = transform::pullback(call.body, in, vec<bool>{true});
    }
    const int unit = unit_vectors(b, t.values[t.inputs[t.inputs.size() - 1]]);
    const tape all = transform::batch(t, last(1, t.inputs.size()), b.shape(unit)[0]);
    vec<int> inputs = call.inputs;
    inputs.push_back(unit);
    int j = inline_tape(b, all, inputs)[0];
    if (Forward) {  // columns came first
      vec<std::int64_t> order;
      for (int i = 1; i < b.shape(j).rank; ++i) order.push_back(i);
      order.push_back(0);
      j = emit::transpose(b, j, order);
    }
    return typename result::type(at(b, emit::reshape(b, j, result::value)));
  }
};

}  // namespace detail

/// The Jacobian of a function that returns an array, in its argument I, an array: the derivative of result[i...] in
/// x[j...] is at [i..., j...]. Forward mode, a column for each element of x: for few inputs.
template <int I = 0, class F>
constexpr auto jacfwd(const F& f) {
  return detail::jacobian<true, F, I>{f};
}
/// The same in reverse mode, a row for each element of the result: for few outputs.
template <int I = 0, class F>
constexpr auto jacrev(const F& f) {
  return detail::jacobian<false, F, I>{f};
}
/// The matrix of second derivatives of a function that returns one floating number, in its argument I, an array.
/// Forward over reverse mode.  hessian(f)(x) is of shape [x..., x...]
template <int I = 0, class F>
constexpr auto hessian(const F& f) {
  return jacfwd<I>(grad<I>(f));
}

namespace detail {
template <class F>
struct full_gradient {  // in all arguments
  const F& f;
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) { return grad<I...>(f)(x...); }(
        std::make_integer_sequence<int, sizeof...(X)>{});
  }
};
}  // namespace detail

/// The Hessian of f, which returns one floating number, at x... times v..., without forming it: forward over reverse
/// mode, the cost of a few gradients. v... are of the types of x..., and so is the result (a tuple of several).
///     auto product = drx::hvp(f, x, v);
template <class F, class... X>
  requires(!error::AnyReported<X...>)
constexpr auto hvp(const F& f, const X&... x_then_v) {
  return jvp(detail::full_gradient<F>{f}, x_then_v...).second;
}

}  // namespace drx
