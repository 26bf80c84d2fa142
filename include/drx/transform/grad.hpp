// drx/transform/grad.hpp: grad and value_and_grad of functions of structures.
#pragma once

#include <drx/transform/trace_call.hpp>

namespace drx {
namespace detail {

/// The type of result that a function with a gradient returns: one floating number, or a pair of it and any value.
template <class R>
struct loss_of {
  using type = R;
  static constexpr bool with_auxiliary = false;
};
template <class L, class A>
struct loss_of<std::pair<L, A>> {
  using type = L;
  using auxiliary = A;
  static constexpr bool with_auxiliary = true;
};
template <class L>
concept Loss = FloatingArray<L> && ScalarArray<L>;

/// Why F has no gradient at X... with respect to the arguments I...; `no_misuse` where it has, or where the compiler
/// has said why.
template <class F, int... I, class... X>
constexpr auto gradient_misuse(std::type_identity<X>... x) {
  using Why = decltype(derivative_misuse<F, I...>(x...));
  if constexpr (!std::is_same_v<Why, no_misuse> || error::AnyReported<X...>) {
    return Why{};
  } else if constexpr (error::Reported<traced_result<F, X...>> ||
                       Loss<typename loss_of<traced_result<F, X...>>::type>) {
    return no_misuse{};
  } else {
    return error::grad_needs_a_scalar_result{};
  }
}

template <bool WithValue, class F, int... I>
struct gradient {
  F f;

  template <class... X>
  static constexpr auto misuse() {
    return gradient_misuse<F, I...>(std::type_identity<X>{}...);
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: grad is of a function that returns one floating number (reduce with sum or mean); the arguments asked for must be float or double throughout: others are grad<1>(f)
    if constexpr (AlreadyReported<F, X...>) {
      return error::reported{};
    } else {
      return differentiate(x...);
    }
  }

 private:
  template <class... X>
  constexpr auto differentiate(const X&... x) const {
    using offsets = leaf_offsets<X...>;
    using R = traced_result<F, X...>;
    constexpr int auxiliary = leaf_count<R> - 1;
    constexpr bool keep = WithValue || auxiliary > 0;
    const traced_call call = trace_call(meeting_builder(x...), f, x...);
    tracing_builder& b = *call.b;
    const vec<bool> wanted = leaves_of_arguments<I...>(call.inputs.size(), std::type_identity<X>{}...);
    vec<bool> given(1 + auxiliary, false);
    given[0] = true;
    const tape t = transform::vjp(call.body, wanted, given, keep);
    vec<int> inputs = call.inputs;
    inputs.push_back(emit::constant(b, call.body.values[call.body.outputs[0]], 1));
    const vec<int> out = inline_tape(b, t, inputs);
    // Leaves come in the order of the arguments, whatever the order of I.
    auto gradient_in = [&]<int J>(std::integral_constant<int, J>) {
      int first = keep ? 1 + auxiliary : 0;
      for (int i = 0; i < offsets::first(J); ++i) first += wanted[i];
      return bound<canonical_t<argument_t<J, X...>>>(b, out, first);
    };
    const auto gradients = one_or_tuple(gradient_in(std::integral_constant<int, I>{})...);
    if constexpr (WithValue) {
      return std::pair{bound<R>(b, out), gradients};
    } else if constexpr (loss_of<R>::with_auxiliary) {
      return std::pair{gradients, bound<typename loss_of<R>::auxiliary>(b, out, 1)};
    } else {
      return gradients;
    }
  }
};

}  // namespace detail

/// The derivative of a function of structures that returns one floating number, with respect to its argument 0, or to
/// arguments I..., with the type of that argument (a tuple of several). grad<0, 2>(f)(x, y, z)
/// If the function returns a pair of the number and another value: a pair of the derivative and that value.
template <int... I, class F>
constexpr auto grad(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::gradient<false, F, 0>{f};
  } else {
    return detail::gradient<false, F, I...>{f};
  }
}
/// The pair (f(x...), the derivative), in one pass.
template <int... I, class F>
constexpr auto value_and_grad(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::gradient<true, F, 0>{f};
  } else {
    return detail::gradient<true, F, I...>{f};
  }
}

}  // namespace drx
