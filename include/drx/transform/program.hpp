// drx/transform/program.hpp: a program is a function and the types of its inputs; its tape is a constant of its type.
#pragma once

#include <drx/tape/frozen.hpp>
#include <drx/tape/print.hpp>
#include <drx/transform/differentiate.hpp>
#include <drx/transform/settled_products.hpp>

namespace drx {

namespace detail {
template <class F, class... Inputs>
constexpr auto traced_program_result() {
  if constexpr ((Structured<Inputs> && ...)) {
    return std::type_identity<call_result_t<F, traced_t<Inputs>...>>{};
  } else {
    return std::type_identity<error::not_a_value_of_drx>{};
  }
}
template <class X, class... Rest>
constexpr auto first_refusal() {
  if constexpr (Structured<X>) {
    return first_refusal<Rest...>();
  } else {
    return typename refusal<X>::type{};
  }
}
/// The misuse in a program that returns R; `no_misuse` where there is none, or where the compiler has reported it
/// already.
template <class R, class... Inputs>
constexpr auto program_misuse() {
  if constexpr (!(Structured<Inputs> && ...)) {
    return first_refusal<Inputs...>();
  } else {
    return result_misuse<R>();
  }
}
inline constexpr auto nothing = [](const auto&...) { return error::reported{}; };
}  // namespace detail

/// F, a lambda or function object without captures, traced and checked on inputs of the given types:
///     using Step = drx::program<step, model, float, drx::placed<batch, clients>>;
/// A program is itself a function object: called on traced values it writes its tape there, so that programs compose.
template <auto F, class... Inputs>
struct program {
  using function = std::remove_const_t<decltype(F)>;
  using traced_result = typename decltype(detail::traced_program_result<function, Inputs...>())::type;
  using misuse = decltype(detail::program_misuse<traced_result, Inputs...>());
  using result =
      typename structure<std::conditional_t<Structured<traced_result>, traced_result, error::reported>>::canonical;
  using inputs = std::tuple<Inputs...>;

  static constexpr drx::tape make() {
    if constexpr (error::Reported<result>) {
      return {};
    } else {
      tracing_context trace;
      drx::tape t = transform::settled_products(without_dead_entries(
          detail::trace_region_in<detail::region_kind::function, void>(trace, F, std::type_identity<Inputs>{}...)
              .body));
      check(t);
      return t;
    }
  }
  /// The tape, as a constant (drx::frozen_tape).
  static constexpr const auto& tape()
    requires(std::is_same_v<misuse, detail::no_misuse>)
  {
    return frozen<program>::value;
  }
  template <class Why = misuse>
    requires error::Reported<Why>
  static const detail::no_tape& tape() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

  template <class... X, class Why = std::conditional_t<sizeof...(X) == sizeof...(Inputs), detail::no_misuse,
                                                       error::wrong_number_of_arguments>>
    requires detail::NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: a program takes as many arguments as it has inputs
    if constexpr (error::AnyReported<result, X...>) {
      return error::reported{};
    } else {
      return F(x...);
    }
  }
};

/// A type of program<...> whose function takes its inputs and returns values of drx.
template <class P>
concept Program = requires { typename P::misuse; } && std::is_same_v<typename P::misuse, detail::no_misuse>;

namespace detail {
template <class P>
struct program_refusal {
  using type = error::not_a_program;
};
template <class P>
  requires requires { typename P::misuse; }
struct program_refusal<P> {
  using type = typename P::misuse;
};
/// Why P is no program; `no_misuse` where it is one.
template <class P>
using no_program_t = typename program_refusal<P>::type;
}  // namespace detail

/// The program of a lambda that stands where it is used:  auto step = drx::define<model, float>([](auto m, auto rate) {
/// ... }); A value known only at run time is an input of the program, not a capture.
template <class... Inputs, class F>
  requires(std::is_empty_v<F> && std::is_default_constructible_v<F>)
constexpr auto define(const F&) {
  return program<F{}, Inputs...>{};
}
template <class... Inputs, class F, class Why = error::traced_lambda_captures_a_runtime_value>
  requires(!std::is_empty_v<F> || !std::is_default_constructible_v<F>)
program<detail::nothing, Inputs...> define(const F&) = delete;  // drx: a traced lambda has no captures: make it an input (an argument of the lambda), or constexpr

/// The program's tape as text.
template <Program P>
std::string show() {
  return show(P::tape().thaw());
}
template <class P, class Why = detail::no_program_t<P>>
  requires(!Program<P>)
std::string show() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

}  // namespace drx
