// drx/transform/grad.hpp: grad and value_and_grad of functions of structures.
#pragma once

#include <drx/transform/differentiate.hpp>

namespace drx {
namespace detail {

template <class... X>
struct leaf_offsets {  // where the leaves of argument I begin among those of all arguments
  static constexpr int total = (leaf_count<X> + ... + 0);
  static constexpr int first(int argument) {
    const int counts[] = {leaf_count<X>..., 0};
    int n = 0;
    for (int i = 0; i < argument; ++i) n += counts[i];
    return n;
  }
};
template <int I, class... X>
using argument_t = std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<X...>>;

template <class F, class... X>
struct scalar_result;
template <class F, Structured... X>
struct scalar_result<F, X...> {
  using type = call_result_t<F, traced_t<X>...>;
};
template <class F, class... X>
using traced_result = typename scalar_result<F, X...>::type;
template <class F, class... X>
concept AlreadyReported = error::AnyReported<X...> || (error::Reported<traced_result<F, X...>> && TracedResult<traced_result<F, X...>>);
template <class F, class... X>
concept ScalarFunction = FloatingArray<traced_result<F, X...>> && ScalarArray<traced_result<F, X...>>;
template <class F, class... X>
constexpr auto gradient_misuse() {
  if constexpr (requires { typename scalar_result<F, X...>::type; }) {
    using R = traced_result<F, X...>;
    return std::conditional_t<std::is_same_v<R, error::function_does_not_take_these_arguments>, R, error::grad_needs_a_scalar_result>{};
  } else {
    return error::not_a_value_of_drx{};
  }
}

template <bool WithValue, class F, int... I>
struct gradient {
  F f;

  template <class... X>
    requires(!AlreadyReported<F, X...> && ScalarFunction<F, X...> && (all_floating<argument_t<I, X...>> && ...))
  constexpr auto operator()(const X&... x) const {
    using offsets = leaf_offsets<X...>;
    const std::tuple<leaf_refs<X>...> refs{leaf_refs<X>(x)...};
    builder* b = nullptr;
    std::apply([&](const auto&... r) { ((b = builder::inner(b, r.innermost())), ...); }, refs);
    const auto region = trace_region(b, f, std::type_identity<X>{}...);
    b = with_captures(b, region.captures);
    if (!b) throw "drx: a gradient at constants only; let one argument be traced";
    vec<bool> wanted(region.body.inputs.size(), false);
    auto want = [&]<class A>(int argument, std::type_identity<A>) {
      for (int i = 0; i < leaf_count<A>; ++i) wanted[offsets::first(argument) + i] = true;
    };
    (want(I, std::type_identity<argument_t<I, X...>>{}), ...);
    const tape t = transform::vjp(region.body, wanted, vec<bool>{true}, WithValue);
    vec<int> inputs;
    std::apply([&](const auto&... r) { (inputs.append(r.on(*b)), ...); }, refs);
    for (const auto& c : region.captures) inputs.push_back(emit::resolve(*b, c, {}));
    inputs.push_back(emit::constant(*b, region.body.values[region.body.outputs[0]], 1));
    const vec<int> out = inline_tape(*b, t, inputs);
    // Leaves come in the order of the arguments, whatever the order of I.
    auto result = [&]<int J>(std::integral_constant<int, J>) {
      int first = WithValue ? 1 : 0;
      for (int i = 0; i < offsets::first(J); ++i) first += wanted[i];
      return bound<canonical_t<argument_t<J, X...>>>(*b, out, first);
    };
    auto grads = [&] {
      if constexpr (sizeof...(I) == 1) {
        return result(std::integral_constant<int, I...>{});
      } else {
        return std::tuple{result(std::integral_constant<int, I>{})...};
      }
    };
    if constexpr (WithValue) {
      return std::pair{bound<traced_result<F, X...>>(*b, out), grads()};
    } else {
      return grads();
    }
  }
  template <class... X>
    requires AlreadyReported<F, X...>
  constexpr error::reported operator()(const X&...) const { return {}; }
  template <class... X, class Why = decltype(gradient_misuse<F, X...>())>
    requires(!!AlreadyReported<F, X...> && ScalarFunction<F, X...>)
  Why operator()(const X&...) const = delete;  // drx: grad is of a function that returns one floating number: reduce it with sum or mean
  template <class... X, class Why = error::grad_needs_floating_arguments>
    requires(!AlreadyReported<F, X...> && ScalarFunction<F, X...> && !(all_floating<argument_t<I, X...>> && ...))
  Why operator()(const X&...) const = delete;  // drx: the arguments asked for must be float or double throughout; name others: grad<1>(f)
};

}  // namespace detail

/// The derivative of a function of structures that returns one floating number, in its argument 0, or in arguments I...
/// of the type of that argument (a tuple of several). grad<0, 2>(f)(x, y, z)
template <int... I, class F>
constexpr auto grad(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::gradient<false, F, 0>{f};
  } else {
    return detail::gradient<false, F, I...>{f};
  }
}
/// The pair (f(x...), grad(f)(x...)), in one pass.
template <int... I, class F>
constexpr auto value_and_grad(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::gradient<true, F, 0>{f};
  } else {
    return detail::gradient<true, F, I...>{f};
  }
}

}  // namespace drx
