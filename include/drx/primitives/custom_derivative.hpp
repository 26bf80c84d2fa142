// drx/primitives/custom_derivative.hpp: functions whose derivative the user gives: custom_jvp, custom_vjp. Each is an
// entry with f as its first region, which takes the entry's place when a program runs.
#pragma once

#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/guarded.hpp>
#include <drx/primitives/loop.hpp>
#include <drx/primitives/matmul.hpp>
#include <drx/tracing/region.hpp>

namespace drx {
namespace prim::rules {
/// Operands, and inputs of each region: captured values, then the region's own.
struct custom {
  struct view {  // ints: {captured operands}
    int captured;
    constexpr explicit view(int_list a) : captured(a.number(0)) {}
  };
  static constexpr int captured(const attributes& a) { return view(a).captured; }
  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& f = t.regions[0];
    typing::require(t.operands == f.types_of(f.inputs),
                    "custom derivative: an operand is of another type than the function's input");
    return f.types_of(f.outputs);
  }
  static constexpr void refuse_captured(const rule_site& s, const vec<int>& tangents) {
    for (int i = 0; i < captured(s.e.attrs); ++i)
      if (tangents[i] != zero_tangent)
        throw "drx: a derivative in what a function with a custom derivative captured: make it an argument of the function";
  }
  /// All operands get the new axis, so that tangents and cotangents have their types.
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    tapes regions;
    for (const tape& r : s.e.regions) regions.push_back(s.drivers.batch(r, vec<bool>(r.inputs.size(), true), n));
    return s.b.add(*s.e.prim, operands, s.e.attrs, regions);
  }
  static std::string print(const attributes& a) { return std::to_string(view(a).captured) + " captured"; }
  static void evaluate(evaluation& v) {
    std::vector<tensor> in;
    for (const tensor* x : v.in) in.push_back(*x);
    v.out = v.run(v.e.regions[0], std::move(in));
  }
};
/// Regions: f: (captured, x) -> y; df: (captured, x, tangents of x) -> tangents of y, linear in the latter.
struct custom_jvp : custom {
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    refuse_captured(s, tangents);
    vec<int> inputs = s.operands;
    for (int i = captured(s.e.attrs); i < s.operands.size(); ++i)
      inputs.push_back(emit::instantiate_zeros(s.b, tangents[i], s.operands[i]));
    vec<int> moved = inline_tape(s.b, s.e.regions[1], inputs);
    for (int i = 0; i < moved.size(); ++i)
      if (!is_floating(s.b.type(s.results[i]).type)) moved[i] = zero_tangent;
    return moved;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    const int first = captured(s.e.attrs), operands = s.operands.size();
    vec<bool> in(operands, false), given;
    vec<int> inputs = s.operands;
    for (int i = 0; i < operands; ++i)
      if (i < first) {
        if (wanted[i]) refuse_captured(s, s.operands);
      } else {
        in.push_back(wanted[i]);
        inputs.push_back(emit::zeros_like(s.b, s.operands[i]));
      }
    for (int c : ct) {
      given.push_back(c != zero_tangent);
      if (c != zero_tangent) inputs.push_back(c);
    }
    const vec<int> back = inline_tape(s.b, s.drivers.vjp(s.e.regions[1], in, given), inputs);
    vec<int> r(operands, zero_tangent);
    int next = 0;
    for (int i = first; i < operands; ++i)
      if (wanted[i]) r[i] = back[next++];
    return r;
  }
};
/// Regions: f: (captured, x) -> y; forward: (captured, x) -> (y, residuals); backward: (captured, residuals, cotangents
/// of y) -> cotangents of x.
struct custom_vjp : custom {
  static constexpr vec<int> jvp(const rule_site&, const vec<int>& tangents) {
    if (tangents.empty()) return {};
    throw "drx: a function with a custom_vjp has no forward derivative: give it a custom_jvp, which serves both modes";
  }
  static constexpr vec<int> augmented(const rule_site& s, const vec<bool>&) {
    return inline_tape(s.b, s.e.regions[1], s.operands);
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    const int first = captured(s.e.attrs);
    vec<int> inputs;
    for (int i = 0; i < first; ++i) {
      if (wanted[i]) refuse_captured(s, s.operands);
      inputs.push_back(s.operands[i]);
    }
    inputs.append(s.residuals);
    for (int i = 0; i < ct.size(); ++i) inputs.push_back(emit::instantiate_zeros(s.b, ct[i], s.results[i]));
    const vec<int> back = inline_tape(s.b, s.e.regions[2], inputs);
    vec<int> r(first, zero_tangent);
    r.append(back);
    return r;
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive custom_jvp{.name = "custom_jvp",
                                      .type = rules::custom::type,
                                      .jvp = rules::custom_jvp::jvp,
                                      .vjp = rules::custom_jvp::vjp,
                                      .batch = rules::custom::batch,
                                      .print = rules::custom::print,
                                      .evaluate = rules::custom::evaluate,
                                      .known = rules::known::of_region,
                                      .known_inside = rules::known::operands_inside,
                                      .transparent = true};
inline constexpr primitive custom_vjp{.name = "custom_vjp",
                                      .type = rules::custom::type,
                                      .jvp = rules::custom_vjp::jvp,
                                      .vjp = rules::custom_vjp::vjp,
                                      .augmented = rules::custom_vjp::augmented,
                                      .batch = rules::custom::batch,
                                      .print = rules::custom::print,
                                      .evaluate = rules::custom::evaluate,
                                      .known = rules::known::of_region,
                                      .known_inside = rules::known::operands_inside,
                                      .transparent = true};
}  // namespace prim

namespace detail {

/// Turns the products and quotients of a derivative rule, which a user wrote as ordinary code, into those of a
/// derivative: a zero stops in them too. `moved`: which inputs are tangents or cotangents.
constexpr void mark_products(tape& rule, const vec<bool>& moved) {
  vec<bool> linear(rule.values.size(), false);
  for (int i = 0; i < rule.inputs.size(); ++i) linear[rule.inputs[i]] = moved[i];
  for (entry& e : rule.entries) {
    bool any = false, all_regions = e.prim == &prim::scan;  // (a carry may become one in a later step)
    for (int o : e.operands) any = any || linear[o];
    if (!any) continue;
    for (int r : e.results) linear[r] = is_floating(rule.values[r].type);
    const abstract_value type = rule.values[e.results[0]];
    if (e.prim == &prim::mul && is_floating(type.type)) e.prim = &prim::mul_undecided;
    if (e.prim == &prim::div && is_floating(type.type) && linear[e.operands[0]]) e.prim = &prim::azdiv;
    if (e.prim == &prim::matmul && prim::rules::matmul_undecided::applies(type, rule.values[e.operands[0]], e.attrs))
      e.prim = &prim::matmul_undecided;
    for (tape& region : e.regions) {
      vec<bool> inner;
      const int first =
          region.inputs.size() - e.operands.size();  // a loop's index; a branch has no input for its condition
      for (int i = 0; i < region.inputs.size(); ++i)
        inner.push_back(i >= first && (all_regions || linear[e.operands[i - first]]));
      mark_products(region, inner);
    }
  }
}
/// The last `count` inputs of the rule are tangents or cotangents.
constexpr void mark_products(tape& rule, int count) {
  vec<bool> moved(rule.inputs.size(), false);
  for (int i = rule.inputs.size() - count; i < rule.inputs.size(); ++i) moved[i] = true;
  mark_products(rule, moved);
}

/// Adds an entry with these regions, the first of which returns the results, of type R.
template <class R, class... X>
constexpr auto add_custom(const primitive& p, tracing_builder* b, regions_of_one_entry regions, const X&... x) {
  if (&p == &prim::custom_jvp)
    mark_products(regions.bodies[1], regions.bodies[0].inputs.size() - regions.captures.size());
  if (&p == &prim::custom_vjp) mark_products(regions.bodies[2], regions.bodies[0].outputs.size());
  b = with_captures(b, regions.captures);
  attributes a;
  a.ints = {regions.captures.size()};
  return bound<R>(*b, b->add(p, regions.operands(*b, x...), a, regions.bodies));
}
template <class... X>
using one_or_tuple_t =
    std::conditional_t<sizeof...(X) == 1, std::tuple_element_t<0, std::tuple<X...>>, std::tuple<X...>>;

/// Whether a function returns a value of type R (up to scalars being arrays of rank 0).
template <class R, class F, class... X>
constexpr auto rule_misuse() {
  using Y = call_result_t<F, traced_t<X>...>;
  if constexpr (!TracedResult<Y>) {
    return result_misuse<Y>();
  } else if constexpr (error::Reported<Y> || std::is_same_v<canonical_t<Y>, R>) {
    return no_misuse{};
  } else {
    return error::custom_rule_returns_another_type{};
  }
}
template <class F, class DF>
struct with_jvp {
  F f;
  DF df;

  template <class... X>
  static constexpr auto misuse() {
    if constexpr (error::AnyReported<X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else {
      using Y = call_result_t<F, traced_t<X>...>;
      if constexpr (!TracedResult<Y>) {
        return result_misuse<Y>();
      } else if constexpr (error::Reported<Y>) {
        return no_misuse{};
      } else {
        return rule_misuse<canonical_t<Y>, DF, X..., X...>();
      }
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: custom_jvp(f, df): df(x..., tangents of x...) returns the tangent of f(x...), of its type
    if constexpr (error::AnyReported<X...>) {
      return error::reported{};
    } else if constexpr (error::Reported<call_result_t<F, traced_t<X>...>>) {
      return error::reported{};
    } else {
      tracing_builder* b = meeting_builder(x...);
      return add_custom<canonical_t<call_result_t<F, traced_t<X>...>>>(
          prim::custom_jvp, b,
          regions_of_one_entry(trace_region(b, f, std::type_identity<X>{}...),
                               trace_region(b, df, std::type_identity<X>{}..., std::type_identity<X>{}...)),
          x...);
    }
  }
};
template <class P>
struct value_and_residuals;
template <class Y, class R>
struct value_and_residuals<std::pair<Y, R>> {
  using value = canonical_t<Y>;
  using residuals = canonical_t<R>;
};
template <class F, class Forward, class Backward>
struct with_vjp {
  F f;
  Forward forward;
  Backward backward;

  template <class... X>
  static constexpr auto misuse() {
    if constexpr (error::AnyReported<X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else {
      using Y = call_result_t<F, traced_t<X>...>;
      using P = call_result_t<Forward, traced_t<X>...>;
      if constexpr (!TracedResult<Y>) {
        return result_misuse<Y>();
      } else if constexpr (!TracedResult<P>) {
        return result_misuse<P>();
      } else if constexpr (error::AnyReported<Y, P>) {
        return no_misuse{};
      } else if constexpr (!requires { typename value_and_residuals<P>::residuals; }) {
        return error::custom_rule_returns_another_type{};
      } else if constexpr (!std::is_same_v<typename value_and_residuals<P>::value, canonical_t<Y>>) {
        return error::custom_rule_returns_another_type{};
      } else {
        return rule_misuse<one_or_tuple_t<canonical_t<X>...>, Backward, typename value_and_residuals<P>::residuals,
                           canonical_t<Y>>();
      }
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: custom_vjp(f, forward, backward): forward(x...) returns std::pair{f(x...), residuals}, backward(residuals, cotangent of f(x...)) the cotangents of x... (a tuple of several), of their types
    if constexpr (error::AnyReported<X...>) {
      return error::reported{};
    } else if constexpr (error::AnyReported<call_result_t<F, traced_t<X>...>, call_result_t<Forward, traced_t<X>...>>) {
      return error::reported{};
    } else {
      using Y = canonical_t<call_result_t<F, traced_t<X>...>>;
      using R = typename value_and_residuals<call_result_t<Forward, traced_t<X>...>>::residuals;
      tracing_builder* b = meeting_builder(x...);
      return add_custom<Y>(
          prim::custom_vjp, b,
          regions_of_one_entry(trace_region(b, f, std::type_identity<X>{}...),
                               trace_region(b, forward, std::type_identity<X>{}...),
                               trace_region(b, backward, std::type_identity<R>{}, std::type_identity<Y>{})),
          x...);
    }
  }
};
}  // namespace detail

/// f with the derivative df: df(x..., t...) returns the tangent of f(x...) along t..., and must be linear in t.... It
/// serves both modes (reverse mode transposes it). Derivatives are with respect to arguments; captured values are
/// constants.
///     constexpr auto softplus = drx::custom_jvp([](auto x) { return drx::log1p(drx::exp(x)); },
///                                               [](auto x, auto t) { return t * drx::sigmoid(x); });
template <class F, class DF>
constexpr auto custom_jvp(const F& f, const DF& df) {
  return detail::with_jvp<F, DF>{f, df};
}
/// f with a derivative for reverse mode: forward(x...) returns std::pair{f(x...), residuals}, and backward(residuals,
/// c) the cotangents of x... (a tuple of several) from that of f(x...). There is no forward derivative then.
///     constexpr auto clipped = drx::custom_vjp([](auto x) { return x; },
///                                              [](auto x) { return std::pair{x, std::tuple{}}; },
///                                              [](auto, auto c) { return drx::clamp(c, -1, 1); });
template <class F, class Forward, class Backward>
constexpr auto custom_vjp(const F& f, const Forward& forward, const Backward& backward) {
  return detail::with_vjp<F, Forward, Backward>{f, forward, backward};
}

}  // namespace drx
