// drx/transform/trace_call.hpp: a function traced where it is called, for the transformations of functions of structures.
#pragma once

#include <drx/transform/differentiate.hpp>

namespace drx::detail {

template <class... X>
struct leaf_offsets {  // the first leaf of argument I among those of all arguments
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

/// Whether the compiler has complained already about an argument, or about F's result for them.
template <class F, class... X>
concept AlreadyReported = error::AnyReported<X...> || error::Reported<traced_result<F, X...>>;

/// f's own tape, with inputs for the leaves of x... and then for the values that f captured; and these inputs on the
/// builder of the call.
struct traced_call {
  tape body;
  vec<int> inputs;
  tracing_builder* b;
};
template <class F, class... X>
constexpr traced_call trace_call(tracing_builder* b, const F& f, const X&... x) {  // b: where the call's values meet
  const auto region = trace_region(b, f, std::type_identity<X>{}...);
  b = with_captures(b, region.captures);
  vec<int> inputs = leaves_on(*b, x...);
  for (const auto& c : region.captures) inputs.push_back(emit::resolve(*b, c, {}));
  return {region.body, inputs, b};
}
/// Which inputs of the call are leaves of the arguments I....
template <int... I, class... X>
constexpr vec<bool> leaves_of_arguments(int inputs, std::type_identity<X>...) {
  vec<bool> wanted(inputs, false);
  auto want = [&]<class A>(int argument, std::type_identity<A>) {
    for (int i = 0; i < leaf_count<A>; ++i) wanted[leaf_offsets<X...>::first(argument) + i] = true;
  };
  (want(I, std::type_identity<argument_t<I, X...>>{}), ...);
  return wanted;
}

/// Why F cannot be differentiated at X... with respect to the arguments I...; `no_misuse` where it can, or where the
/// compiler has said why.
template <class F, int... I, class... X>
constexpr auto derivative_misuse(std::type_identity<X>...) {
  if constexpr (error::AnyReported<X...>) {
    return no_misuse{};
  } else if constexpr (!(Structured<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else {
    using R = traced_result<F, X...>;
    if constexpr (!TracedResult<R>) {
      return result_misuse<R>();
    } else if constexpr (error::Reported<R>) {
      return no_misuse{};
    } else if constexpr (((I < 0 || I >= static_cast<int>(sizeof...(X))) || ...)) {
      return error::wrong_number_of_arguments{};
    } else if constexpr (!(all_floating<argument_t<I, X...>> && ...)) {
      return error::grad_needs_floating_arguments{};
    } else {
      return no_misuse{};
    }
  }
}

/// One value itself, several as a tuple.
template <class... X>
constexpr auto one_or_tuple(X... x) {
  if constexpr (sizeof...(X) == 1) {
    return (x, ...);
  } else {
    return std::tuple{x...};
  }
}

}  // namespace drx::detail
