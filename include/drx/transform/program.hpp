// drx/transform/program.hpp: a program is a function and the types of its inputs; its tape is a constant of its type.
#pragma once

#include <drx/tape/frozen.hpp>
#include <drx/tape/print.hpp>
#include <drx/transform/differentiate.hpp>

namespace drx {

/// F, a lambda or function object without captures, traced and checked on inputs of the given types:
///     using Step = drx::program<step, model, float, drx::placed<batch, clients>>;
/// A program is itself a function object: called on traced values it writes its tape there, so programs compose.
template <auto F, class... Inputs>
struct program {
  static_assert((Structured<Inputs> && ...), "drx::program: an input is not a value of drx (number, array, placed, structure of them)");
  using function = std::remove_const_t<decltype(F)>;
  using traced_result = decltype(F(std::declval<traced_t<Inputs>>()...));
  static_assert(Structured<traced_result>, "drx::program: the function does not return a value of drx");
  using result = canonical_t<traced_result>;
  using inputs = std::tuple<Inputs...>;

  static constexpr drx::tape make() {
    builder trace;
    drx::tape t = without_dead_entries(detail::trace_region(&trace, F, std::type_identity<Inputs>{}...).body);
    check(t);
    return t;
  }
  /// The tape, as a constant (drx::frozen_tape).
  static constexpr const auto& tape() { return frozen<program>::value; }

  template <class... X>
    requires(sizeof...(X) == sizeof...(Inputs))
  constexpr auto operator()(const X&... x) const {
    return F(x...);
  }
};

/// The program's tape as text.
template <class Program>
std::string show() {
  return show(Program::tape().thaw());
}

}  // namespace drx
