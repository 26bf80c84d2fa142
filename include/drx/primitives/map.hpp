// drx/primitives/map.hpp: a function of each member's values, without communication.
#pragma once

#include <drx/primitives/broadcast.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/region.hpp>

namespace drx {
namespace prim::rules {
struct map {  // placement: whose members; regions: {body of one member}; operands and results are placed there
  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& body = t.regions[0];
    typing::require(body.inputs.size() == t.operands.size(), "map: the body's inputs are not the operands' number");
    for (int i = 0; i < t.operands.size(); ++i) {
      typing::require(t.operands[i].depth > 0 && t.operands[i].placements[0] == t.attrs.placement,
                      "map: an operand is not placed there");
      typing::require(t.operands[i].of_member() == body.values[body.inputs[i]], "map: an operand is of another type");
    }
    vec<abstract_value> r;
    for (int o : body.outputs) r.push_back(body.values[o].placed_at(t.attrs.placement));
    return r;
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    vec<bool> moving;
    vec<int> operands = s.operands;
    for (int t : tangents) {
      moving.push_back(t != zero_tangent);
      if (t != zero_tangent) operands.push_back(t);
    }
    tape body = s.drivers.jvp(s.e.regions[0], moving);
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, one_region(static_cast<tape&&>(body)));
    vec<int> r;
    int next = s.results.size();
    for (int i = 0; i < s.results.size(); ++i)
      r.push_back(is_floating(s.b.type(s.results[i]).type) ? all[next++] : zero_tangent);
    return r;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<bool> given;
    vec<int> operands = s.operands;
    for (int t : ct) {
      given.push_back(t != zero_tangent);
      if (t != zero_tangent) operands.push_back(t);
    }
    tape body = s.drivers.vjp_of_member(s.e.regions[0], wanted, given);
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, one_region(static_cast<tape&&>(body)));
    vec<int> r;
    int next = 0;
    for (int i = 0; i < s.operands.size(); ++i) r.push_back(wanted[i] ? all[next++] : zero_tangent);
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    return s.b.add(*s.e.prim, s.operands, s.e.attrs, one_region(s.drivers.batch(s.e.regions[0], batched, n)));
  }
  static constexpr void prune(entry& e, const vec<bool>& wanted) {
    vec<bool> used;
    vec<bool> keep(e.operands.size(), false);
    const entry& before = e;
    if (wanted.find(false) < 0 && is_all_used(before.regions[0], true, false)) return;
    tape body = pruned_region(before.regions[0], wanted, keep, used);
    if (body.inputs.empty()) {  // the members are counted by an operand: keep one
      keep[0] = true;
      body = pruned_region(before.regions[0], wanted, keep, used);
    }
    e.regions[0] = static_cast<tape&&>(body);
    e.operands = filtered(e.operands, used);
    e.results = filtered(e.results, wanted);
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name); }
  static constexpr vec<int> share(share_site& s) {
    vec<int> inputs;
    for (int i = 0; i < s.e.operands.size(); ++i) inputs.push_back(s.share(i));
    return inline_tape(s.b, s.e.regions[0], inputs);
  }
  static void evaluate(evaluation& v) {
    const std::int64_t n = v.members(v.e.attrs.placement);
    for (std::int64_t m = 0; m < n; ++m) {
      std::vector<tensor> inputs;
      for (const tensor* x : v.in) inputs.push_back(x->members.at(static_cast<std::size_t>(m)));
      std::vector<tensor> outputs = v.run_member(v.e.regions[0], std::move(inputs), m);
      for (std::size_t i = 0; i < outputs.size(); ++i) v.out[i].members.push_back(std::move(outputs[i]));
    }
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive map{.name = "map",
                               .type = rules::map::type,
                               .jvp = rules::map::jvp,
                               .vjp = rules::map::vjp,
                               .batch = rules::map::batch,
                               .prune = rules::map::prune,
                               .print = rules::map::print,
                               .evaluate = rules::map::evaluate,
                               .share = rules::map::share,
                               .known = rules::known::of_region,
                               .known_inside = rules::known::operands_inside};
}

namespace emit {
/// A map whose body a rule writes: body(builder, inputs) returns the outputs.
template <class Body>
constexpr vec<int> map(builder& b, const placement_info* p, const vec<int>& operands, Body body) {
  builder region;
  vec<int> inputs;
  for (int o : operands) inputs.push_back(region.input(b.type(o).of_member()));
  for (int o : body(region, inputs)) region.output(o);
  attributes a;
  a.placement = p;
  return b.add(prim::map, operands, a, one_region(region.take()));
}
constexpr int accumulate(builder& b, int x, int y) {
  if (x == zero_tangent) return y;
  if (y == zero_tangent) return x;
  const abstract_value t = b.type(x);
  if (t.depth == 0) return add(b, x, y);
  return map(b, t.placements[0], {x, y},
             [](builder& r, const vec<int>& in) { return vec<int>{accumulate(r, in[0], in[1])}; })[0];
}
constexpr int cast_of_members(builder& b, int x, dtype type) {
  const abstract_value t = b.type(x);
  if (t.depth == 0) return cast(b, x, type);
  return map(b, t.placements[0], {x},
             [=](builder& r, const vec<int>& in) { return vec<int>{cast_of_members(r, in[0], type)}; })[0];
}
constexpr int repeated(builder& b, int x, std::int64_t n) {
  const abstract_value t = b.type(x);
  if (t.depth == 0) return broadcast_to(b, x, with_front(t.shape, n));
  return map(b, t.placements[0], {x},
             [=](builder& r, const vec<int>& in) { return vec<int>{repeated(r, in[0], n)}; })[0];
}
constexpr int first_axes_exchanged(builder& b, int x) {
  const abstract_value t = b.type(x);
  if (t.depth > 0)
    return map(b, t.placements[0], {x},
               [](builder& r, const vec<int>& in) { return vec<int>{first_axes_exchanged(r, in[0])}; })[0];
  vec<std::int64_t> order{1, 0};
  for (int i = 2; i < t.shape.rank; ++i) order.push_back(i);
  return transpose(b, x, order);
}
constexpr int zeros_like(builder& b, int x) {
  const abstract_value t = b.type(x);
  if (t.depth == 0) return constant(b, t, 0);
  return map(b, t.placements[0], {x}, [](builder& r, const vec<int>& in) { return vec<int>{zeros_like(r, in[0])}; })[0];
}
/// A tangent or cotangent as an entry: a zero one becomes zeros like `like`.
constexpr int instantiate_zeros(builder& b, int tangent, int like) {
  return tangent == zero_tangent ? zeros_like(b, like) : tangent;
}
}  // namespace emit

namespace detail {

template <class... X>
struct placement_of_all;
template <class S, class P, class... X>
struct placement_of_all<placed<S, P>, X...> {
  using type = P;
};

template <class P, class... X>
concept AllPlacedAt = (std::is_same_v<typename X::placement, P> && ...);

template <class... X>
constexpr auto map_misuse() {
  if constexpr (!(Placed<X> && ...)) {
    return error::map_needs_placed_arguments{};
  } else {
    return error::map_over_two_placements{};
  }
}
template <class... X>
struct mappable_check : std::false_type {};
template <class... X>
  requires(sizeof...(X) > 0 && (Placed<X> && ...) && !error::AnyReported<X...>)
struct mappable_check<X...> : std::bool_constant<AllPlacedAt<typename placement_of_all<X...>::type, X...>> {};
template <class... X>
concept Mappable = mappable_check<X...>::value;
template <class F, class... X>
struct map_result;
template <class F, class... X>
  requires Mappable<X...>
struct map_result<F, X...> {
  using type = call_result_t<F, traced_t<typename X::member>...>;
};
template <class F, class... X>
concept MapFunction = TracedResult<typename map_result<F, X...>::type>;
template <class F, class... X>
constexpr auto map_function_misuse() {
  if constexpr (Mappable<X...>) return result_misuse<typename map_result<F, X...>::type>();
}

// drx/primitives/collectives.hpp
constexpr bool uses_axis(const tape& t, const placement_info* axis);
constexpr vec<int> map_with_collectives(builder& b, const placement_info* p, const tape& body,
                                        const vec<int>& operands);
}  // namespace detail

/// f(x...) for each member of the placement of x..., which is the same for all; the result is placed there. f may
/// return any structure. Unplaced values that f captures are broadcast. Derivative: map of f's derivative.
template <class F, class... X>
  requires(detail::Mappable<X...> && detail::MapFunction<F, X...>)
constexpr auto map(const F& f, const X&... x) {
  using P = typename detail::placement_of_all<X...>::type;
  using R = typename detail::map_result<F, X...>::type;
  if constexpr (error::Reported<R>) {
    return error::reported{};
  } else {
    const std::tuple<detail::leaf_refs<X>...> refs{detail::leaf_refs<X>(x)...};
    tracing_builder* b = nullptr;
    std::apply([&](const auto&... r) { ((b = detail::inner_of(b, r.innermost())), ...); }, refs);
    b = detail::or_of_constants(b);
    const bool of_constants = b->of_constants();
    const auto region =
        detail::trace_region<detail::region_kind::member, P>(b, f, std::type_identity<typename X::member>{}...);
    b = detail::with_captures(b, region.captures);
    if (of_constants) b = &detail::in_member(*b);
    vec<int> operands;
    std::apply([&](const auto&... r) { (operands.append(r.on(*b)), ...); }, refs);
    for (const auto& c : region.captures)
      operands.push_back(emit::broadcast(*b, emit::resolve(*b, c, {}), &placement_of<P>));
    using Y = placed<canonical_t<R>, P>;
    if (detail::uses_axis(region.body, &placement_of<P>))
      return detail::bound<Y>(*b, detail::map_with_collectives(*b, &placement_of<P>, region.body, operands));
    attributes a;
    a.placement = &placement_of<P>;
    return detail::bound<Y>(*b, b->add(prim::map, operands, a, one_region(region.body)));
  }
}
template <class F, class... X, class Why = decltype(detail::map_function_misuse<F, X...>())>
  requires(detail::Mappable<X...> && !detail::MapFunction<F, X...>)
Why map(const F&, const X&...) = delete;  // drx: f must take one member of each x, and return arrays or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT)
template <class F, class... X, class Why = decltype(detail::map_misuse<X...>())>
  requires(sizeof...(X) > 0 && (Structured<X> && ...) && !error::AnyReported<X...> && !detail::Mappable<X...>)
Why map(const F&, const X&...) = delete;  // drx: map(f, x...) needs every x placed, all at one placement: broadcast<P>(x) places an unplaced value

// Arithmetic on placed values is a map. Literals may take part; unplaced values must be broadcast first.
namespace detail {
template <class A, class B>
concept PlacedPair =
    !error::AnyReported<A, B> && ((Placed<A> && (Placed<B> || Literal<B>)) || (Literal<A> && Placed<B>));
template <class A, class B>
concept PlacedTogether = PlacedPair<A, B> && (Literal<A> || Literal<B> || Mappable<A, B>);
template <class A, class B>
concept MixedPair = (Placed<A> && Structured<B> && !Literal<B>) || (Placed<B> && Structured<A> && !Literal<A>);
template <class A, class B>
concept Mixed = MixedPair<A, B> && !error::AnyReported<A, B> && !PlacedTogether<A, B>;
template <class A, class B>
using mixed_t = std::conditional_t<Placed<A> && Placed<B>, error::values_of_two_placements_do_not_mix,
                                   error::placed_and_unplaced_values_do_not_mix>;

template <class Op, class A, class B>
constexpr auto map_pair(Op op, const A& a, const B& b) {
  if constexpr (Literal<B>) {
    return map([=](const auto& x) { return op(x, b); }, a);
  } else if constexpr (Literal<A>) {
    return map([=](const auto& y) { return op(a, y); }, b);
  } else {
    return map(op, a, b);
  }
}
}  // namespace detail
// clang-format off
/// The sums member by member, of two values placed at one placement, or of a placed value and a number.
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator+(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x + y; }, a, b); }
/// The differences member by member, of two values placed at one placement, or of a placed value and a number.
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator-(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x - y; }, a, b); }
/// The products member by member, of two values placed at one placement, or of a placed value and a number.
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator*(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x * y; }, a, b); }
/// The quotients member by member, of two values placed at one placement, or of a placed value and a number.
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator/(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x / y; }, a, b); }
/// Every member's value, negated.
template <class A> requires(Placed<A> && !error::Reported<A>)
constexpr auto operator-(const A& a) { return map([](const auto& x) { return -x; }, a); }

template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator+(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first
template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator-(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first
template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator*(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first
template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator/(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first
// clang-format on

DRX_SILENT(map)

}  // namespace drx
