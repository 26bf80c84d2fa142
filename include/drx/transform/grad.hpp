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
using traced_result = call_result_t<F, traced_t<X>...>;
/// Why there is no gradient of F at X... in the arguments I...; `fine` where there is, or where the compiler has said why.
template <class F, int... I, class... X>
constexpr auto gradient_misuse(std::type_identity<X>...) {
  if constexpr (error::AnyReported<X...>) {
    return fine{};
  } else if constexpr (!(Structured<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else {
    using R = traced_result<F, X...>;
    if constexpr (!TracedResult<R>) {
      return result_misuse<R>();
    } else if constexpr (error::Reported<R>) {
      return fine{};
    } else if constexpr (!(FloatingArray<R> && ScalarArray<R>)) {
      return error::grad_needs_a_scalar_result{};
    } else if constexpr (((I < 0 || I >= static_cast<int>(sizeof...(X))) || ...)) {
      return error::wrong_number_of_arguments{};
    } else if constexpr (!(all_floating<argument_t<I, X...>> && ...)) {
      return error::grad_needs_floating_arguments{};
    } else {
      return fine{};
    }
  }
}

template <bool WithValue, class F, int... I>
struct gradient {
  F f;

  template <class... X, class Why = decltype(gradient_misuse<F, I...>(std::type_identity<X>{}...))>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: grad is of a function that returns one floating number (reduce with sum or mean); the arguments asked for must be float or double throughout: others are grad<1>(f)
    if constexpr (error::AnyReported<X...>) {
      return error::reported{};
    } else if constexpr (error::Reported<traced_result<F, X...>>) {
      return error::reported{};
    } else {
      return differentiate(x...);
    }
  }

 private:
  template <class... X>
  constexpr auto differentiate(const X&... x) const {
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
