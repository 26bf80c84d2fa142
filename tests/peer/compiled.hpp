// A function's value, jvp, vjp and second derivative by the compiled program.
#pragma once

#include <drx/drx.hpp>

#include "harness/call.hpp"

#include <tuple>

/// In one program, of x..., the cotangent and v...
template <auto F>
constexpr auto derivatives = [](auto x, auto ct, auto v) {
  const auto pull = [=](auto... y) { return drx::vjp(F, y...).second(ct); };
  const auto along = [&](auto f) {
    return std::apply(
        [&](auto... y) { return std::apply([&](auto... d) { return drx::jvp(f, y..., d...).second; }, v); }, x);
  };
  return std::tuple{std::apply(F, x), along(F), std::apply(pull, x), along(pull)};
};
/// What they are at x, the cotangent and v, leaf by leaf.
template <auto F, class... A>
harness::tensors compiled(const harness::tensors& in) {
  using X = std::tuple<A...>;
  return harness::run_serial<drx::program<derivatives<F>, X, typename drx::program<F, A...>::result, X>>(in);
}
