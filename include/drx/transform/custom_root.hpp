// drx/transform/custom_root.hpp: the derivative of a root, a fixed point or a minimiser by the implicit function theorem,
// however it was found.
#pragma once

#include <drx/primitives/reported.hpp>
#include <drx/transform/jacobian.hpp>

namespace drx {
namespace prim::rules {
/// Operands: captured values, the first guess. Regions: solve: (captured, guess) ->
/// x; f: (captured, x) -> residual; tangent: (captured, x, r) -> v with f'(x) v = r; transposed: (captured, x, c) -> u
/// with f'(x)^T u = c.
struct custom_root : custom {
  static constexpr vec<int> at_root(const rule_site& s) {  // the captured values and x
    vec<int> r;
    for (int i = 0; i < captured(s.e.attrs); ++i) r.push_back(s.operands[i]);
    r.append(s.results);
    return r;
  }
  static constexpr vec<bool> moving_captures(const rule_site& s, const vec<bool>& moving) {
    vec<bool> r(captured(s.e.attrs) + s.results.size(), false);
    for (int i = 0; i < captured(s.e.attrs); ++i) r[i] = moving[i];
    return r;
  }
  /// dx = -f'(x)^-1 df, where df is the change of f at the root along the captured values' tangents. The guess does not
  /// count.
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    vec<int> inputs = at_root(s);
    vec<bool> moving;
    bool any = false;
    for (int i = 0; i < captured(s.e.attrs); ++i) {
      moving.push_back(tangents[i] != zero_tangent);
      any = any || moving[i];
      if (moving[i]) inputs.push_back(tangents[i]);
    }
    if (!any) return vec<int>(s.results.size(), zero_tangent);
    const vec<int> moved = inline_tape(s.b, s.drivers.jvp(s.e.regions[1], moving_captures(s, moving)), inputs);
    vec<int> solve = at_root(s);
    for (int i = s.results.size(); i < moved.size(); ++i) solve.push_back(moved[i]);
    vec<int> r;
    for (int v : inline_tape(s.b, s.e.regions[2], solve)) r.push_back(emit::neg(s.b, v));
    return r;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> solve = at_root(s);
    for (int i = 0; i < ct.size(); ++i) solve.push_back(emit::instantiate_zeros(s.b, ct[i], s.results[i]));
    vec<int> inputs = at_root(s);
    for (int u : inline_tape(s.b, s.e.regions[3], solve)) inputs.push_back(emit::neg(s.b, u));
    const vec<int> back = inline_tape(
        s.b, s.drivers.vjp(s.e.regions[1], moving_captures(s, wanted), vec<bool>(s.results.size(), true)), inputs);
    vec<int> r(s.operands.size(), zero_tangent);
    int next = 0;
    for (int i = 0; i < captured(s.e.attrs); ++i)
      if (wanted[i]) r[i] = back[next++];
    return r;
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive custom_root{.name = "custom_root",
                                       .type = rules::custom::type,
                                       .jvp = rules::custom_root::jvp,
                                       .vjp = rules::custom_root::vjp,
                                       .batch = rules::custom::batch,
                                       .print = rules::custom::print,
                                       .evaluate = rules::custom::evaluate,
                                       .known = rules::known::of_region,
                                       .known_inside = rules::known::operands_inside,
                                       .transparent = true};
}  // namespace prim

namespace detail {
template <class F, class Solve, class X>
constexpr auto root_misuse() {
  if constexpr (error::AnyReported<X>) {
    return no_misuse{};
  } else if constexpr (!Structured<X>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!all_floating<X> || any_placed<X>) {
    return error::grad_needs_floating_arguments{};
  } else {
    using Why = decltype(rule_misuse<canonical_t<X>, F, X>());
    if constexpr (!std::is_same_v<Why, no_misuse>) {
      return Why{};
    } else {
      return rule_misuse<canonical_t<X>, Solve, X>();
    }
  }
}
}  // namespace detail

/// The root x of f, f(x) = 0, that solve(guess) finds. f maps x to a residual of x's own type; the parameters are the
/// values that f and solve capture. The derivative by them is that of the root, whatever the steps that found it
/// (implicit function theorem):
///     f'(x) dx = -df.
/// solve_linear(g, r) returns v with g(v) = r, where g is the linear function f'(x), or its transpose: by conjugate
/// gradients, GMRES, or for few unknowns drx::solve of g's Jacobian. A minimiser of h is the root of drx::grad(h), a
/// fixed point of h that of h(x) - x. The guess has no influence on the derivative.
///     auto x = drx::custom_root([=](auto x) { return drx::grad(loss)(x, rate); }, guess,
///                               [=](auto x) { return newton(x, rate); },
///                               [](auto g, auto r) { return drx::solve(drx::jacfwd(g)(r), r); });
template <class F, class X, class Solve, class SolveLinear, class Why = decltype(detail::root_misuse<F, Solve, X>())>
  requires(detail::NoMisuse<Why> && !error::Reported<X>)
constexpr auto custom_root(const F& f, const X& guess, const Solve& solve, const SolveLinear& solve_linear) {
  using R = canonical_t<X>;
  tracing_builder* b = detail::meeting_builder(guess);
  const auto x = std::type_identity<R>{};
  const auto tangent = [&](const auto& at, const auto& r) { return solve_linear(drx::linearize(f, at).second, r); };
  const auto transposed = [&](const auto& at, const auto& c) { return solve_linear(drx::vjp(f, at).second, c); };
  return detail::add_custom<R>(
      prim::custom_root, b,
      detail::regions_of_one_entry(detail::trace_region(b, solve, x), detail::trace_region(b, f, x),
                                   detail::trace_region(b, tangent, x, x), detail::trace_region(b, transposed, x, x)),
      guess);
}
template <class F, class X, class Solve, class SolveLinear, class Why = decltype(detail::root_misuse<F, Solve, X>())>
  requires error::Reported<Why>
Why custom_root(const F&, const X&, const Solve&, const SolveLinear&) = delete;  // drx: custom_root(f, guess, solve, solve_linear): f(x) and solve(x) take and return values of the guess's type, unplaced and floating

DRX_SILENT(custom_root)

}  // namespace drx
