// drx/primitives/reduce_with.hpp: reduction over members by any monoid: a function that combines two values, and its
// identity.
#pragma once

#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/broadcast.hpp>
#include <drx/primitives/cast.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/indexing.hpp>
#include <drx/primitives/map.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/where.hpp>
#include <drx/tracing/region.hpp>

#include <limits>

namespace drx {
namespace prim::rules {
/// placement; as many operands as results. Regions: {combine(a..., b...), identity()}, then, if there is a reverse
/// derivative, its sources: for a monoid that the user wrote {pull(member..., result..., cotangent of the result...) ->
/// cotangent of the member}; for its forward derivative, which is a monoid of pairs, the regions of the former.
struct reduce_with {
  static constexpr vec<abstract_value> type(const typing& t) {
    vec<abstract_value> r;
    for (const auto& x : t.operands) {
      typing::require(x.depth == 1 && x.placements[0] == t.attrs.placement,
                      "reduce_with: an operand is not placed there");
      r.push_back(x.of_member());
    }
    vec<abstract_value> pair = r;
    pair.append(r);
    typing::require(t.regions[0].types_of(t.regions[0].inputs) == pair, "reduce_with: combine takes other types");
    typing::require(t.regions[0].types_of(t.regions[0].outputs) == r, "reduce_with: combine gives another type");
    typing::require(t.regions[1].types_of(t.regions[1].outputs) == r, "reduce_with: identity is of another type");
    return r;
  }
  /// The tangent of a reduction is a reduction of pairs (value and tangent) by combine's own forward derivative.
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    const tape& combine = s.e.regions[0];
    const int n = s.operands.size();
    vec<bool> floating, moving;
    vec<int> operands = s.operands;
    for (int i = 0; i < n; ++i) {
      floating.push_back(is_floating(s.b.type(s.operands[i]).type));
      if (floating[i]) operands.push_back(emit::instantiate_zeros(s.b, tangents[i], s.operands[i]));
    }
    moving.append(floating);
    moving.append(floating);
    const int pairs = operands.size();

    builder both;
    vec<int> in;
    for (int i = 0; i < 2 * pairs; ++i) in.push_back(both.input(s.b.type(operands[i % pairs]).of_member()));
    vec<int> order;  // of combine's forward derivative: both values, then both tangents
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < n; ++i) order.push_back(in[side * pairs + i]);
    for (int side = 0; side < 2; ++side)
      for (int i = n; i < pairs; ++i) order.push_back(in[side * pairs + i]);
    for (int o : inline_tape(both, s.drivers.jvp(combine, moving), order)) both.output(o);

    builder start;
    const vec<int> identity = inline_tape(start, s.e.regions[1], {});
    for (int o : identity) start.output(o);
    for (int i = 0; i < n; ++i)
      if (floating[i]) start.output(emit::zeros_like(start, identity[i]));

    tapes regions{both.result(), start.result()};
    if (s.e.regions.size() > 2) regions.append(s.e.regions);
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, regions);
    vec<int> r;
    int next = n;
    for (int i = 0; i < n; ++i) r.push_back(floating[i] ? all[next++] : zero_tangent);
    return r;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (s.e.regions.size() < 3)
      throw "drx: reduce_with: this monoid has no reverse derivative: give drx::monoid its pull, or stop the gradient";
    const placement_info* p = s.e.attrs.placement;
    vec<int> operands = s.operands;
    if (s.e.regions.size() > 3) {
      vec<bool> given;
      for (int t : ct) {
        given.push_back(t != zero_tangent);
        if (given.back()) operands.push_back(t);
      }
      vec<abstract_value> types;
      for (int o : s.operands) types.push_back(s.b.type(o));
      const tape back = s.drivers.vjp(as_sums(s, s.e.regions, types), wanted, given);
      const vec<int> all = inline_tape(s.b, back, operands);
      vec<int> r;
      int next = 0;
      for (int i = 0; i < s.operands.size(); ++i) r.push_back(wanted[i] ? all[next++] : zero_tangent);
      return r;
    }
    for (int y : s.results) operands.push_back(emit::broadcast(s.b, y, p));
    for (int i = 0; i < ct.size(); ++i)
      operands.push_back(emit::broadcast(s.b, emit::instantiate_zeros(s.b, ct[i], s.results[i]), p));
    return emit::map(s.b, p, operands,
                     [&](builder& b, const vec<int>& in) { return inline_tape(b, s.e.regions[2], in); });
  }
  /// The reduction by these regions, with each forward derivative as a sum over members of J t: J^T is the pull, which
  /// is linear in its cotangent, so that J is its transpose. A fold of pairs has no pull of its own (the cotangent of a
  /// member depends on all others' tangents); sums, maps and broadcasts have all derivatives.
  static constexpr tape as_sums(const rule_site& s, const tapes& regions, const vec<abstract_value>& types) {
    const placement_info* p = s.e.attrs.placement;
    builder b;
    vec<int> in;
    for (const auto& t : types) in.push_back(b.input(t));
    if (regions.size() == 3) {
      for (int y : b.add(*s.e.prim, in, s.e.attrs, regions)) b.output(y);
      return b.take();
    }
    tapes former;
    for (int i = 2; i < regions.size(); ++i) former.push_back(regions[i]);
    const int n = types.size() / 2;
    vec<abstract_value> halves;
    for (int i = 0; i < n; ++i) halves.push_back(types[i]);
    const tape primal = as_sums(s, former, halves);
    if (former.size() > 3) return s.drivers.jvp(primal, vec<bool>(n, true));
    vec<int> values, operands;
    for (int i = 0; i < n; ++i) values.push_back(in[i]);
    const vec<int> y = inline_tape(b, primal, values);
    operands = values;
    for (int v : y) operands.push_back(emit::broadcast(b, v, p));
    for (int i = n; i < 2 * n; ++i) operands.push_back(in[i]);
    vec<bool> only_cotangents(3 * n, false);
    for (int i = 2 * n; i < 3 * n; ++i) only_cotangents[i] = true;
    const tape push = s.drivers.vjp(former[2], only_cotangents, vec<bool>(n, true));
    const vec<int> terms = emit::map(b, p, operands, [&](builder& body, const vec<int>& x) {
      vec<int> at;  // member, result, a cotangent on which nothing depends, tangent
      for (int i = 0; i < 2 * n; ++i) at.push_back(x[i]);
      for (int i = 0; i < n; ++i) at.push_back(emit::zeros_like(body, x[n + i]));
      for (int i = 2 * n; i < 3 * n; ++i) at.push_back(x[i]);
      return inline_tape(body, push, at);
    });
    for (int v : y) b.output(v);
    for (int t : terms) b.output(emit::reduce_sum(b, t, p));
    return b.take();
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i])
        operands[i] = emit::map(s.b, s.e.attrs.placement, {operands[i]}, [&](builder& b, const vec<int>& in) {
          return vec<int>{emit::repeated(b, in[0], n)};
        })[0];
    tapes regions;
    for (const tape& r : s.e.regions) regions.push_back(s.drivers.batch(r, vec<bool>(r.inputs.size(), true), n));
    return s.b.add(*s.e.prim, operands, s.e.attrs, regions);
  }
  /// Of members, and of what has been combined so far.
  static constexpr known_values known_inside(const known_site& s, int region) {
    if (region != 0) return {};
    known_values one = s.outputs(s.e.regions[1], {});
    for (int i = 0; i < one.size(); ++i) one[i] = either(one[i], s.operands[i]);
    known_values inputs;
    for (bool changed = true; changed;) {
      changed = false;
      inputs = one;
      inputs.append(one);
      const known_values after = s.outputs(s.e.regions[0], inputs);
      for (int i = 0; i < one.size(); ++i) {
        const known_value both = either(one[i], after[i]);
        changed = changed || !(both == one[i]);
        one[i] = both;
      }
    }
    return inputs;
  }
  static constexpr known_values known(const known_site& s) {  // nothing may have been combined
    const known_values inside = known_inside(s, 0);
    known_values r = s.outputs(s.e.regions[0], inside);
    for (int i = 0; i < r.size(); ++i) r[i] = either(r[i], inside[i]);
    return r;
  }
  static void evaluate(evaluation& v) {
    std::vector<tensor> state = v.run(v.e.regions[1], {});
    for (std::size_t m = 0; m < v.in[0]->members.size(); ++m) {
      for (const tensor* x : v.in) state.push_back(x->members[m]);
      state = v.run(v.e.regions[0], std::move(state));
    }
    v.out = std::move(state);
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive reduce_with{.name = "reduce_with",
                                       .type = rules::reduce_with::type,
                                       .jvp = rules::reduce_with::jvp,
                                       .vjp = rules::reduce_with::vjp,
                                       .batch = rules::reduce_with::batch,
                                       .print = rules::broadcast::print,
                                       .evaluate = rules::reduce_with::evaluate,
                                       .fold = fold::monoid,
                                       .known = rules::reduce_with::known,
                                       .known_inside = rules::reduce_with::known_inside};
}

namespace emit {
constexpr int first_to_attain(builder& b, int x, int number, const placement_info* p, bool maximum) {
  const vec<int> pairs = emit::map(b, p, {x, number}, [](builder& body, const vec<int>& in) {
    return vec<int>{body.add1(prim::stop_gradient, {in[0]}), broadcast_to(body, in[1], body.shape(in[0]))};
  });
  const abstract_value value = b.type(pairs[0]).of_member(), position = b.type(pairs[1]).of_member();
  builder combine, identity;
  vec<int> in;
  for (int side = 0; side < 2; ++side)
    for (const abstract_value& t : {value, position}) in.push_back(combine.input(t));
  const int second = maximum ? less(combine, in[0], in[2]) : less(combine, in[2], in[0]);
  for (int i = 0; i < 2; ++i) combine.output(where(combine, second, in[2 + i], in[i]));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  identity.output(constant(identity, value, maximum ? -infinity : infinity));
  identity.output(constant(identity, position, -1));
  attributes a;
  a.placement = p;
  return b.add(prim::reduce_with, {pairs[0], pairs[1]}, a, tapes{combine.result(), identity.result()})[1];
}
}  // namespace emit

namespace detail {
struct no_pull {};
// drx/primitives/custom_derivative.hpp
constexpr void mark_products(tape& rule, int count);
}  // namespace detail

/// A way to reduce: combine(a, b) of two values of one type, associative, and its identity: a number, used for every
/// element, or a function without arguments that returns the value.
///     constexpr auto product = drx::monoid{[](auto a, auto b) { return a * b; }, 1};
/// Forward derivatives follow from combine. A reverse derivative must be given: pull(x, y, ct) is the cotangent of
/// member x if the result y has cotangent ct; it must be linear in ct. (It cannot be derived: the derivative by one
/// member depends on the members before and after it, which only the author of combine can tell from the result.)
///     constexpr auto product = drx::monoid{[](auto a, auto b) { return a * b; }, 1,
///                                          [](auto x, auto y, auto ct) { return ct * y / x; }};
template <class Combine, class Identity, class Pull = detail::no_pull>
struct monoid {
  Combine combine;
  Identity identity;
  Pull pull = {};
};
template <class Combine, class Identity>
monoid(Combine, Identity) -> monoid<Combine, Identity>;
template <class Combine, class Identity, class Pull>
monoid(Combine, Identity, Pull) -> monoid<Combine, Identity, Pull>;

namespace detail {
template <class R, class M>
inline constexpr bool returns = false;
template <Structured R, Structured M>
inline constexpr bool returns<R, M> = error::Reported<R> || std::is_same_v<canonical_t<R>, canonical_t<M>>;

/// Why an identity is none of members M; `no_misuse` if it is.
template <class M, class Identity>
constexpr auto identity_misuse() {
  if constexpr (Literal<Identity>) {
    return std::conditional_t<number_fits<M, Identity, true>, no_misuse,
                              error::a_literal_does_not_fit_the_element_type>{};
  } else {
    return std::conditional_t<returns<call_result_t<Identity>, M>, no_misuse, error::structures_differ>{};
  }
}
/// Why the members M cannot be reduced with the monoid; `no_misuse` if they can.
template <class X, class Combine, class Identity, class Pull>
constexpr auto monoid_misuse() {
  if constexpr (!Placed<X>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (!all_unplaced<typename X::member>) {
    return error::array_operation_on_a_placed_value{};
  } else {
    using M = typename X::member;
    using T = traced_t<M>;
    if constexpr (!returns<call_result_t<Combine, T, T>, M>) {
      return error::structures_differ{};
    } else if constexpr (!std::is_same_v<decltype(identity_misuse<M, Identity>()), no_misuse>) {
      return identity_misuse<M, Identity>();
    } else if constexpr (std::is_same_v<Pull, no_pull>) {
      return no_misuse{};
    } else if constexpr (!all_floating<M>) {
      return error::needs_floating_values{};
    } else {
      return std::conditional_t<returns<call_result_t<Pull, T, T, T>, M>, no_misuse, error::structures_differ>{};
    }
  }
}
template <class X, class... Parts>
concept ReducibleWith = std::is_same_v<decltype(monoid_misuse<X, Parts...>()), no_misuse>;
}  // namespace detail

/// The members of x, in their order, combined by a monoid; without members, its identity.
template <class Combine, class Identity, class Pull, class X>
  requires detail::ReducibleWith<X, Combine, Identity, Pull>
constexpr auto reduce_with(const monoid<Combine, Identity, Pull>& m, const X& x) {
  using M = typename X::member;
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::common_tape(refs);
  auto closed = [](const vec<traced_ref>& captures) {
    if (!captures.empty()) throw "drx: reduce_with: a monoid may not use traced values besides its arguments";
  };
  tapes regions;
  const auto combine = detail::trace_region(&b, m.combine, std::type_identity<M>{}, std::type_identity<M>{});
  closed(combine.captures);
  regions.push_back(combine.body);
  tracing_builder identity(b.context());
  if constexpr (detail::Literal<Identity>) {
    constexpr leaf_types<M> types;
    for (int i = 0; i < leaf_count<M>; ++i)
      identity.output(emit::constant(identity, types[i], static_cast<double>(m.identity)));
  } else {
    const auto value = m.identity();
    for (int id : detail::leaf_refs<std::remove_const_t<decltype(value)>>(value).on(identity)) identity.output(id);
  }
  closed(identity.captures());
  regions.push_back(identity.result());
  if constexpr (!std::is_same_v<Pull, detail::no_pull>) {
    const auto pull =
        detail::trace_region(&b, m.pull, std::type_identity<M>{}, std::type_identity<M>{}, std::type_identity<M>{});
    closed(pull.captures);
    regions.push_back(pull.body);
    detail::mark_products(regions.back(), leaf_count<M>);
  }
  attributes a;
  a.placement = &placement_of<typename X::placement>;
  return detail::bound<M>(b, b.add(prim::reduce_with, refs.on(b), a, regions));
}
template <class Combine, class Identity, class Pull, class X,
          class Why = decltype(detail::monoid_misuse<X, Combine, Identity, Pull>())>
  requires(Structured<X> && !error::Reported<X> && !detail::ReducibleWith<X, Combine, Identity, Pull>)
Why reduce_with(const monoid<Combine, Identity, Pull>&, const X&) = delete;  // drx: reduce_with(monoid, placed): combine(a, b), identity and pull(x, y, ct) are of the members' own type

DRX_SILENT(reduce_with)

}  // namespace drx
