// drx/primitives/cond.hpp: cond, a branch on a value, of which only one function runs, and switch_case, which is made
// of it.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/map.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/where.hpp>
#include <drx/tracing/region.hpp>

namespace drx {
namespace prim::rules {
/// Operands: a bool, then what both branches take. Regions: {what runs if it holds, what runs if not}, of the same
/// types.
struct cond {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0] == abstract_value(dtype::boolean, {}), "cond: the condition is not one bool");
    for (const tape& branch : t.regions) {
      typing::require(branch.inputs.size() + 1 == t.operands.size(),
                      "cond: a branch's inputs are not the operands' number");
      for (int i = 0; i < branch.inputs.size(); ++i)
        typing::require(t.operands[i + 1] == branch.values[branch.inputs[i]],
                        "cond: an operand is of another type than a branch's input");
    }
    vec<abstract_value> r = t.regions[0].types_of(t.regions[0].outputs);
    typing::require(r == t.regions[1].types_of(t.regions[1].outputs), "cond: the branches return different types");
    return r;
  }

  static constexpr bool is_zero(const tape& t, int value) {
    for (const entry& e : t.entries)
      if (e.prim == &prim::constant && e.results[0] == value) return e.attrs.number == 0;
    return false;
  }
  /// Result k of both branches, or zero where both return the constant 0.
  static constexpr int unless_zero(const tapes& branches, int k, const vec<int>& results) {
    bool zero = true;
    for (const tape& branch : branches) zero = zero && is_zero(branch, branch.outputs[k]);
    return zero ? zero_tangent : results[k];
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    vec<bool> moving;
    vec<int> operands = s.operands;
    for (int i = 1; i < tangents.size(); ++i) {
      moving.push_back(tangents[i] != zero_tangent);
      if (moving.back()) operands.push_back(tangents[i]);
    }
    tapes branches;
    for (const tape& branch : s.e.regions) branches.push_back(s.drivers.jvp(branch, moving));
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, branches);
    vec<int> r;
    int next = s.results.size();
    for (int i = 0; i < s.results.size(); ++i)
      r.push_back(is_floating(s.b.type(s.results[i]).type) ? unless_zero(branches, next++, all) : zero_tangent);
    for (int i = 0; i < s.results.size(); ++i) r.push_back(all[i]);
    return r;
  }
  /// The branch that was taken runs again, and then backwards.
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<bool> given, region_wanted;
    vec<int> operands = s.operands;
    for (int t : ct) {
      given.push_back(t != zero_tangent);
      if (given.back()) operands.push_back(t);
    }
    for (int i = 1; i < s.operands.size(); ++i) region_wanted.push_back(wanted[i]);
    tapes branches;
    for (const tape& branch : s.e.regions) branches.push_back(s.drivers.vjp(branch, region_wanted, given));
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, branches);
    vec<int> r{zero_tangent};
    int next = 0;
    for (bool w : region_wanted) r.push_back(w ? unless_zero(branches, next++, all) : zero_tangent);
    return r;
  }

  /// If each element has a condition of its own, both branches run.
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<bool> on;
    for (int i = 1; i < batched.size(); ++i) on.push_back(batched[i]);
    tapes branches;
    for (const tape& branch : s.e.regions) branches.push_back(s.drivers.batch(branch, on, n));
    if (!batched[0]) return s.b.add(*s.e.prim, s.operands, s.e.attrs, branches);
    vec<int> inputs;
    for (int i = 1; i < s.operands.size(); ++i) inputs.push_back(s.operands[i]);
    const vec<int> x = inline_tape(s.b, branches[0], inputs), y = inline_tape(s.b, branches[1], inputs);
    vec<int> r;
    for (int i = 0; i < x.size(); ++i) r.push_back(emit::choose(s.b, s.operands[0], x[i], y[i]));
    return r;
  }
  static constexpr vec<int> unfold(builder& b, const vec<int>& operands, const tapes& regions) {
    double condition = 0;
    if (!emit::is_constant(b, operands[0], condition)) return {};
    vec<int> inputs;
    for (int i = 1; i < operands.size(); ++i) inputs.push_back(operands[i]);
    return inline_tape(b, regions[condition != 0 ? 0 : 1], inputs);
  }
  static constexpr void prune(entry& e, const vec<bool>& wanted) {
    vec<bool> keep(e.operands.size() - 1, false), used;
    const entry& before = e;
    for (const tape& branch : before.regions) {  // an operand that one branch uses, the other takes too
      pruned_region(branch, wanted, keep, used);
      keep = used;
    }
    for (tape& branch : e.regions) branch = pruned_region(branch, wanted, keep, used);
    vec<bool> operands{true};
    operands.append(keep);
    e.operands = filtered(e.operands, operands);
    e.results = filtered(e.results, wanted);
  }
  static constexpr known_values known_inside(const known_site& s, int) {
    known_values r;
    for (int i = 1; i < s.operands.size(); ++i) r.push_back(s.operands[i]);
    return r;
  }
  static constexpr known_values known(const known_site& s) {
    const known_values inside = known_inside(s, 0), other = s.outputs(s.e.regions[1], inside);
    known_values r = s.outputs(s.e.regions[0], inside);
    for (int i = 0; i < r.size(); ++i) r[i] = either(r[i], other[i]);
    return r;
  }
  /// Where each member has a condition of its own, both branches run.
  static constexpr vec<int> lanes(const lane_site& s) {
    vec<int> inputs;
    vec<bool> in;
    for (int i = 1; i < s.operands.size(); ++i) {
      inputs.push_back(s.operands[i]);
      in.push_back(s.in_lanes[i]);
    }
    if (!s.in_lanes[0]) {
      vec<bool> must(s.e.results.size(), true), lanes;
      tapes branches;
      for (const tape& branch : s.e.regions) branches.push_back(s.region(branch, in, must, lanes));
      return s.b.add(*s.e.prim, s.operands, s.e.attrs, branches);
    }
    vec<bool> first = in, second = in;
    const vec<int> x = s.write(s.b, s.n, s.e.regions[0], inputs, first, 0),
                   y = s.write(s.b, s.n, s.e.regions[1], inputs, second, 0);
    vec<int> r;
    for (int i = 0; i < x.size(); ++i) {
      const int yes = first[i] ? x[i] : s.spread(x[i]), no = second[i] ? y[i] : s.spread(y[i]);
      r.push_back(emit::where(s.b, emit::broadcast_to(s.b, s.operands[0], s.b.shape(yes)), yes, no));
    }
    s.results = vec<bool>(r.size(), true);
    return r;
  }
  static void evaluate(evaluation& v) {
    std::vector<tensor> inputs;
    for (std::size_t i = 1; i < v.in.size(); ++i) inputs.push_back(*v.in[i]);
    v.out = v.run(v.e.regions[v.in[0]->data<bool>()[0] ? 0 : 1], std::move(inputs));
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive cond{.name = "cond",
                                .type = rules::cond::type,
                                .jvp = rules::cond::jvp,
                                .vjp = rules::cond::vjp,
                                .batch = rules::cond::batch,
                                .unfold = rules::cond::unfold,
                                .prune = rules::cond::prune,
                                .evaluate = rules::cond::evaluate,
                                .known = rules::cond::known,
                                .known_inside = rules::cond::known_inside,
                                .lanes = rules::cond::lanes};
}

namespace emit {
constexpr int choose(builder& b, int condition, int x, int y) {
  const abstract_value t = b.type(x);
  if (t.depth > 0)
    return map(b, t.placements[0], {broadcast(b, condition, t.placements[0]), x, y},
               [](builder& r, const vec<int>& in) { return vec<int>{choose(r, in[0], in[1], in[2])}; })[0];
  shape column = make_shape(t.shape[0]);
  while (column.rank < t.shape.rank) column.push_back(1);
  return where(b, broadcast_to(b, reshape(b, condition, column), t.shape), x, y);
}
}  // namespace emit

namespace detail {

template <class C>
concept Condition = ScalarArray<C> && std::is_same_v<typename std::remove_cvref_t<C>::value_type, bool>;

/// Why F and G are no branches on C for arguments of types X...; `no_misuse` if they are, or the compiler has
/// complained.
template <class C, class F, class G, class... X>
constexpr auto cond_misuse() {
  if constexpr (!Condition<C>) {
    return error::condition_is_not_one_bool{};
  } else if constexpr (!(Structured<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else {
    using R = call_result_t<F, traced_t<X>...>;
    using S = call_result_t<G, traced_t<X>...>;
    if constexpr (!TracedResult<R>) {
      return result_misuse<R>();
    } else if constexpr (!TracedResult<S>) {
      return result_misuse<S>();
    } else if constexpr (error::AnyReported<R, S> || std::is_same_v<canonical_t<R>, canonical_t<S>>) {
      return no_misuse{};
    } else {
      return error::branches_return_different_types<canonical_t<R>, canonical_t<S>>{};
    }
  }
}
template <class C, class F, class G, class... X>
concept Branches = std::is_same_v<decltype(cond_misuse<C, F, G, X...>()), no_misuse>;

}  // namespace detail

/// then(x...) if the condition, one bool, holds, else otherwise(x...): only the branch taken runs. Both return the same
/// type, and may capture traced values. In a map each member takes its own branch. The derivative is that of the branch
/// taken, which runs again in reverse mode.
template <class C, class F, class G, class... X>
  requires(!error::AnyReported<C, X...> && detail::Branches<C, F, G, X...>)
constexpr auto cond(const C& condition, const F& then, const G& otherwise, const X&... x) {
  using R = detail::call_result_t<F, traced_t<X>...>;
  if constexpr (error::AnyReported<R, detail::call_result_t<G, traced_t<X>...>>) {
    return error::reported{};
  } else {
    tracing_builder* b = detail::meeting_builder(condition, x...);
    const detail::regions_of_one_entry branches{
        detail::trace_region<detail::region_kind::branch>(b, then, std::type_identity<X>{}...),
        detail::trace_region<detail::region_kind::branch>(b, otherwise, std::type_identity<X>{}...)};
    b = detail::with_captures(b, branches.captures);
    vec<int> operands = detail::leaves_on(*b, condition);
    operands.append(branches.operands(*b, x...));
    return detail::bound<R>(*b, b->add(prim::cond, operands, {}, branches.bodies));
  }
}
template <class C, class F, class G, class... X, class Why = decltype(detail::cond_misuse<C, F, G, X...>())>
  requires(!error::AnyReported<C, X...> && !detail::Branches<C, F, G, X...>)
Why cond(const C&, const F&, const G&, const X&...) = delete;  // drx: cond(condition, then, otherwise, x...): the condition is a drx::array<bool>, not placed; then(x...) and otherwise(x...) return the same type

namespace detail {
/// Why functions F and G... are no cases of I; `no_misuse` if they are.
template <class I, class F, class... G>
constexpr auto switch_misuse() {
  if constexpr (!(ScalarArray<I> && IntegerArray<I>)) {
    return error::needs_integer_values{};
  } else if constexpr (sizeof...(G) == 0) {
    using R = call_result_t<F>;
    return result_misuse<R>();
  } else {
    using first = std::tuple_element_t<0, std::tuple<G...>>;
    if constexpr (!Branches<array<bool>, F, first>) {
      return cond_misuse<array<bool>, F, first>();
    } else {
      return switch_misuse<I, G...>();
    }
  }
}
template <class I, class... F>
concept Cases = std::is_same_v<decltype(switch_misuse<I, F...>()), no_misuse>;

template <class I, class F, class... G>
constexpr auto chosen_case(const I& i, const F& f, const G&... g) {
  if constexpr (sizeof...(G) == 0) {
    return f();
  } else {
    return drx::cond(i <= 0, f, [&] { return chosen_case(i - 1, g...); });
  }
}
}  // namespace detail

/// Runs the i-th of functions without arguments, which may capture traced values: the first if i is below 0, the last
/// if it is too large. Only that one runs.  switch_case(i, [&] { return x; }, [&] { return x * y; })
template <class I, class F, class... G>
  requires(!error::Reported<I> && detail::Cases<I, F, G...>)
constexpr auto switch_case(const I& i, const F& f, const G&... g) {
  return detail::chosen_case(i, f, g...);
}
template <class I, class F, class... G, class Why = decltype(detail::switch_misuse<I, F, G...>())>
  requires(!error::Reported<I> && !detail::Cases<I, F, G...>)
Why switch_case(const I&, const F&, const G&...) = delete;  // drx: switch_case(i, f...): i is a drx::array<int>, not placed; the functions take nothing and return the same type

DRX_SILENT(cond)
DRX_SILENT(switch_case)

}  // namespace drx
