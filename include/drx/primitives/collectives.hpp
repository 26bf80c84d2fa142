// drx/primitives/collectives.hpp: communication inside of a function of one member: psum, pmean, pmax, ... over a named axis. In
// a map (or pmap) the body is cut there into maps, reductions and broadcasts; under vmap an axis of arrays is reduced.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

namespace drx {
namespace prim::rules {
/// placement: over whose members, whether they are of a placement or the elements of an axis that bears its name.
struct collective {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 0, "a collective of a placed value");
    return {t.operands[0]};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {  // over another axis than this one
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static void evaluate(evaluation&) { throw std::logic_error("drx: a collective outside of a map, pmap or vmap over its axis"); }
};
/// The sum at each member: the derivative of all members' results in one member's x is the sum of theirs.
struct psum : collective {
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) { return jvp(s, ct); }
};
/// Those who attain the extremum share the derivative.
struct pextremum : collective {
  static constexpr int share(const rule_site& s) {
    const int hit = emit::cast(s.b, emit::equal(s.b, s.operands[0], s.results[0]), s.b.type(s.operands[0]).type);
    return emit::div(s.b, hit, emit::psum(s.b, hit, s.e.attrs.placement));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    return {emit::psum(s.b, emit::mul(s.b, share(s), t[0]), s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::mul(s.b, share(s), emit::psum(s.b, ct[0], s.e.attrs.placement))};
  }
};
struct all_gather : collective {  // ints: {how many members}
  static constexpr vec<abstract_value> type(const typing& t) {
    return {t.operands[0].with_shape(with_front(t.operands[0].shape, t.attrs.ints[0]))};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  /// My share of the sum of everybody's cotangents.
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::at_axis_index(s.b, emit::psum(s.b, ct[0], s.e.attrs.placement), s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(s.b, s.b.add1(*s.e.prim, s.operands, s.e.attrs))};
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name) + ": " + std::to_string(a.ints[0]); }
};
struct axis_index {
  static constexpr vec<abstract_value> type(const typing&) { return {abstract_value(dtype::int32, {})}; }
};
}  // namespace prim::rules

namespace prim {
template <class Rules>
constexpr primitive collective_primitive(const char* name) {
  return {.name = name,
          .type = Rules::type,
          .jvp = Rules::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .print = rules::broadcast::print,
          .evaluate = Rules::evaluate};
}
inline constexpr primitive psum = collective_primitive<rules::psum>("psum");
inline constexpr primitive pmax = collective_primitive<rules::pextremum>("pmax");
inline constexpr primitive pmin = collective_primitive<rules::pextremum>("pmin");
inline constexpr primitive all_gather{.name = "all_gather",
                                      .type = rules::all_gather::type,
                                      .jvp = rules::all_gather::jvp,
                                      .vjp = rules::all_gather::vjp,
                                      .batch = rules::all_gather::batch,
                                      .print = rules::all_gather::print,
                                      .evaluate = rules::all_gather::evaluate};
inline constexpr primitive axis_index{.name = "axis_index",
                                      .type = rules::axis_index::type,
                                      .jvp = rules::constant::jvp,
                                      .vjp = rules::constant::vjp,
                                      .batch = rules::constant::batch,
                                      .print = rules::broadcast::print,
                                      .evaluate = rules::collective::evaluate};

constexpr bool is_collective(const primitive* p) { return p == &psum || p == &pmax || p == &pmin || p == &all_gather; }
}  // namespace prim

namespace emit {
constexpr int collective(builder& b, const primitive& p, int x, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  return b.add1(p, {x}, a);
}
constexpr int psum(builder& b, int x, const placement_info* axis) { return collective(b, prim::psum, x, axis); }
constexpr int axis_index(builder& b, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  return b.add1(prim::axis_index, {}, a);
}
/// x[axis_index], along axis 0.
constexpr int at_axis_index(builder& b, int x, const placement_info* axis) {
  const int at = reshape(b, axis_index(b, axis), make_shape(1));
  return reshape(b, dynamic_slice(b, x, at, {1}, 0), without_axis(b.shape(x), 0));
}
}  // namespace emit

// ---- a body with collectives, as maps, reductions and broadcasts ----

namespace detail {

constexpr bool uses_axis(const tape& t, const placement_info* axis) {  // (null: any)
  for (const entry& e : t.entries) {
    if ((prim::is_collective(e.prim) || e.prim == &prim::axis_index) && (!axis || e.attrs.placement == axis)) return true;
    for (const tape& r : e.regions)
      if (uses_axis(r, axis)) return true;
  }
  return false;
}
constexpr bool has_collective(const tape& t, const placement_info* axis) {
  for (const entry& e : t.entries) {
    if (prim::is_collective(e.prim) && e.attrs.placement == axis) return true;
    for (const tape& r : e.regions)
      if (has_collective(r, axis)) return true;
  }
  return false;
}

/// Which values differ from member to member: those that depend on inputs that do, or on the member's number, but for what
/// a collective returns.
constexpr vec<bool> varying_values(const tape& t, const placement_info* p, const vec<bool>& inputs) {
  vec<bool> varies(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) varies[t.inputs[i]] = inputs[i];
  for (const entry& e : t.entries) {
    bool any = e.prim == &prim::axis_index && e.attrs.placement == p;
    for (int o : e.operands) any = any || varies[o];
    if (prim::is_collective(e.prim) && e.attrs.placement == p) any = false;
    if (e.prim == &prim::scan) {  // carries that come to differ in a later step differ from the start
      const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
      vec<bool> in{false};
      for (int o : e.operands) in.push_back(varies[o]);
      vec<bool> out;
      for (bool grown = true; grown;) {
        grown = false;
        const vec<bool> inner = varying_values(e.regions[0], p, in);
        out = vec<bool>();
        for (int o : e.regions[0].outputs) out.push_back(inner[o] || (n.guard > 0 && in[n.guard]));  // members stop at other steps
        for (int i = 0; i < n.carries; ++i)
          if (out[i] && !in[1 + n.constants + i]) in[1 + n.constants + i] = grown = true;
      }
      for (int i = 0; i < e.results.size(); ++i) varies[e.results[i]] = i < n.carries ? in[1 + n.constants + i] : out[i];
      continue;
    }
    for (const tape& r : e.regions) any = any || uses_axis(r, p);
    for (int r : e.results) varies[r] = any;
  }
  return varies;
}

/// Writes a function of one member of p for all members: values that differ between members are placed, the others unplaced.
class member_function {
 public:
  constexpr member_function(builder& on, const placement_info* placement, const tape& body) : b(on), p(placement), t(body) {}

  /// `inputs` on the builder, placed where `placed_inputs`. Returns the outputs; `placed` says which of them are placed.
  constexpr vec<int> write(const vec<int>& inputs, const vec<bool>& placed_inputs, vec<bool>& placed) {
    varies = varying_values(t, p, placed_inputs);
    level = vec<int>(t.values.size(), 0);
    outer = vec<int>(t.values.size(), -1);
    needed = vec<bool>(t.values.size(), false);
    for (int i = 0; i < t.inputs.size(); ++i) outer[t.inputs[i]] = inputs[i];
    int last = 0;
    for (const entry& e : t.entries) {
      int l = 0;
      for (int o : e.operands) l = level[o] > l ? level[o] : l;
      if (cuts(e)) ++l;
      for (int r : e.results) level[r] = l;
      last = l > last ? l : last;
    }
    for (const entry& e : t.entries)
      for (int o : e.operands)
        if (varies[o] && e.results.size() > 0 && (cuts(e) || level[e.results[0]] > level[o])) needed[o] = true;
    for (int o : t.outputs) needed[o] = needed[o] || varies[o];
    for (int l = 0; l <= last; ++l) {
      for (const entry& e : t.entries)
        if (e.results.size() > 0 && level[e.results[0]] == l && (cuts(e) || !in_map(e))) write_outside(e);
      write_map(l);
    }
    vec<int> out;
    for (int o : t.outputs) {
      out.push_back(outer[o]);
      placed.push_back(varies[o]);
    }
    return out;
  }

 private:
  builder& b;
  const placement_info* p;
  const tape& t;
  vec<bool> varies, needed;
  vec<int> level, outer;

  /// Whether an entry stands between maps.
  constexpr bool cuts(const entry& e) const {
    if (prim::is_collective(e.prim)) return e.attrs.placement == p;
    for (const tape& r : e.regions)
      if (has_collective(r, p)) return true;
    return false;
  }
  constexpr bool in_map(const entry& e) const {
    for (int r : e.results)
      if (varies[r]) return true;
    return false;
  }
  constexpr int placed(int v) { return varies[v] ? outer[v] : emit::broadcast(b, outer[v], p); }

  constexpr void write_map(int l) {
    vec<int> operands, in(t.values.size(), -1), outputs;
    builder region(&b);
    bool any = false;
    const auto use = [&](int v) {
      if (in[v] >= 0) return;
      operands.push_back(placed(v));
      in[v] = region.input(t.values[v]);
    };
    for (const entry& e : t.entries) {
      if (e.results.size() == 0 || level[e.results[0]] != l || cuts(e) || !in_map(e)) continue;
      any = true;
      vec<int> results;
      if (e.prim == &prim::axis_index && e.attrs.placement == p) {
        attributes a;
        a.placement = p;
        operands.push_back(b.add1(prim::member_index, {}, a));
        results.push_back(emit::cast(region, region.input(abstract_value(dtype::int64, {})), dtype::int32));
      } else {
        for (int o : e.operands) use(o);
        results = region.add(*e.prim, renamed(e.operands, in), e.attrs, e.regions);
      }
      for (int i = 0; i < results.size(); ++i) in[e.results[i]] = results[i];
    }
    if (!any) return;
    for (const entry& e : t.entries)
      for (int r : e.results)
        if (needed[r] && level[r] == l && in[r] >= 0 && outer[r] < 0) {
          outputs.push_back(r);
          region.output(in[r]);
        }
    if (outputs.empty()) return;
    attributes a;
    a.placement = p;
    const vec<int> all = b.add(prim::map, operands, a, vec<tape>{region.result()});
    for (int i = 0; i < outputs.size(); ++i) outer[outputs[i]] = all[i];
  }

  constexpr void write_outside(const entry& e) {
    vec<int> results;
    if (!cuts(e)) {
      results = b.add(*e.prim, renamed(e.operands, outer), e.attrs, e.regions);
    } else if (prim::is_collective(e.prim)) {
      results.push_back(reduced(e));
    } else if (e.prim == &prim::scan) {
      results = loop(e);
    } else if (e.prim == &prim::cond) {
      results = branch(e);
    } else {
      throw "drx: a collective in a function with a derivative of its own, or over one placement inside of a map over another, which is in a map over the first: take it out";
    }
    for (int i = 0; i < results.size(); ++i) outer[e.results[i]] = results[i];
  }
  constexpr int reduced(const entry& e) {
    const int x = e.operands[0], y = outer[x];
    attributes a;
    a.placement = p;
    if (e.prim == &prim::all_gather) return varies[x] ? emit::gather(b, y, e.attrs.ints[0], p) : emit::repeated(b, y, e.attrs.ints[0]);
    if (e.prim == &prim::psum) {
      if (varies[x]) return emit::reduce_sum(b, y, p);
      return emit::mul(b, y, emit::broadcast_to(b, emit::members(b, p, b.type(y).type), b.shape(y)));
    }
    return varies[x] ? b.add1(e.prim == &prim::pmax ? prim::reduce_max : prim::reduce_min, {y}, a) : y;
  }
  /// A branch with collectives: all members take the same one.
  constexpr vec<int> branch(const entry& e) {
    if (varies[e.operands[0]]) throw "drx: a collective inside of a branch that some members take and others do not: the condition must be the same for all";
    vec<int> operands{outer[e.operands[0]]};
    vec<bool> differs;
    for (int i = 1; i < e.operands.size(); ++i) {
      operands.push_back(outer[e.operands[i]]);
      differs.push_back(varies[e.operands[i]]);
    }
    vec<tape> branches;
    for (const tape& body : e.regions) {
      builder region(&b);
      vec<int> in;
      for (int i = 0; i < differs.size(); ++i) {
        const abstract_value one = body.values[body.inputs[i]];
        in.push_back(region.input(differs[i] ? one.placed_at(p) : one));
      }
      vec<bool> out_placed;
      member_function inner(region, p, body);
      const vec<int> out = inner.write(in, differs, out_placed);
      for (int i = 0; i < out.size(); ++i)
        region.output(varies[e.results[i]] && !out_placed[i] ? emit::broadcast(region, out[i], p) : out[i]);
      branches.push_back(region.result());
    }
    return b.add(prim::cond, operands, {}, branches);
  }
  /// A loop with collectives: around the maps, its carries placed where they differ.
  constexpr vec<int> loop(const entry& e) {
    const tape& body = e.regions[0];
    const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
    const int guard = n.guarding_carry() >= 0 ? e.results[n.guarding_carry()] : n.guard > 0 ? e.operands[n.guard - 1] : -1;
    if (guard >= 0 && varies[guard]) throw "drx: a loop with a collective that ends after other numbers of steps for other members";
    for (int i = 0; i < n.ys; ++i)
      if (varies[e.results[n.carries + i]]) throw "drx: a scan with a collective whose ys differ between members: carry them";
    vec<int> operands;
    vec<bool> differs{false};
    builder region(&b);
    vec<int> in{region.input(abstract_value(dtype::int32, {}))};
    for (int i = 0; i < e.operands.size(); ++i) {
      const int v = e.operands[i];
      const bool differing = n.is_carry(i) ? varies[e.results[i - n.constants]] : varies[v];
      if (differing && i >= n.constants + n.carries) throw "drx: a scan with a collective over xs that differ between members: index them by the step";
      operands.push_back(differing ? placed(v) : outer[v]);
      const abstract_value one = body.values[body.inputs[1 + i]];
      in.push_back(region.input(differing ? one.placed_at(p) : one));
      differs.push_back(differing);
    }
    vec<bool> out_placed;
    member_function inner(region, p, body);
    vec<int> out = inner.write(in, differs, out_placed);
    for (int i = 0; i < n.carries; ++i)
      if (differs[1 + n.constants + i] && !out_placed[i]) out[i] = emit::broadcast(region, out[i], p);
    for (int o : out) region.output(o);
    return b.add(prim::scan, operands, e.attrs, vec<tape>{region.result()});
  }
};

/// A map whose body communicates.
constexpr vec<int> map_with_collectives(builder& b, const placement_info* p, const tape& body, const vec<int>& operands) {
  vec<bool> all_placed;
  member_function f(b, p, body);
  vec<int> out = f.write(operands, vec<bool>(operands.size(), true), all_placed);
  for (int i = 0; i < out.size(); ++i)
    if (!all_placed[i]) out[i] = emit::broadcast(b, out[i], p);
  return out;
}

constexpr bool has_other_collective(const tape& t, const placement_info* axis) {
  for (const entry& e : t.entries) {
    if (prim::is_collective(e.prim) && e.attrs.placement != axis) return true;
    for (const tape& r : e.regions)
      if (has_other_collective(r, axis)) return true;
  }
  return false;
}
/// The tape of x, or the function of one member if x comes from around it; P must be the name of a map around it.
template <class P, class X>
constexpr builder& tape_in_axis(const X& x) {
  builder& b = common_tape(leaf_refs<X>(x));
  if (!b.knows_axis(&placement_of<P>)) throw "drx: a collective over an axis that no map, pmap or vmap around it has; those that it is in are named below";
  return *builder::inner(&b, b.member_of_axis(&placement_of<P>));
}
/// Where the member's number, and the number of members, are written: outside of its loops and branches, which take them as
/// they take other values from around them.
template <class P, class X>
constexpr builder& member_in_axis(const X& x) {
  builder& b = tape_in_axis<P>(x);
  builder* member = b.member_of_axis(&placement_of<P>);
  return member ? *member : b;
}
template <class X>
concept Communicable = Structured<X> && !error::Reported<X> && all_unplaced<X>;
template <class P, class X, class Write>
constexpr auto communicate(const X& x, Write write) {
  builder& b = tape_in_axis<P>(x);
  vec<int> ids = leaf_refs<X>(x).on(b);
  for (int& id : ids) id = write(b, id);
  return ids;
}
template <class P, class X>
constexpr auto communicate_same(const primitive& p, const X& x) {
  builder& b = tape_in_axis<P>(x);
  vec<int> ids = leaf_refs<X>(x).on(b);
  for (int& id : ids) id = emit::collective(b, p, id, &placement_of<P>);
  return bound<canonical_t<X>>(b, ids);
}
}  // namespace detail

// Over all members of the axis P, in a function of one member: the body of a map over P, or what pmap<P> or vmap<P> is of.
// Of structures leaf by leaf. A derivative inside of such a function is that of all members' results together (as in JAX): the
// transpose of psum is psum.
// clang-format off
/// The sum over all members, at each of them.
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto psum(const X& x) { return detail::communicate_same<P>(prim::psum, x); }
/// The largest. Ties share the derivative.
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto pmax(const X& x) { return detail::communicate_same<P>(prim::pmax, x); }
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto pmin(const X& x) { return detail::communicate_same<P>(prim::pmin, x); }
// clang-format on

/// The member's number on the axis, an int32 from 0. (It needs a traced value to be written beside: any of the function's.)
template <class P, class X>
  requires(Placement<P> && detail::Communicable<X>)
constexpr array<std::int32_t> axis_index(const X& beside) {
  builder& b = detail::member_in_axis<P>(beside);
  return array<std::int32_t>(detail::at(b, emit::axis_index(b, &placement_of<P>)));
}
/// How many members there are, in x's tape.
template <class P, class T = double, class X>
  requires(Placement<P> && detail::Communicable<X>)
constexpr array<T> axis_size(const X& beside) {
  builder& b = detail::member_in_axis<P>(beside);
  return array<T>(detail::at(b, emit::members(b, &placement_of<P>, dtype_of<T>)));
}
/// The mean over all members, at each of them.
template <class P, class X>
  requires(Placement<P> && detail::Communicable<X> && all_floating<X>)
constexpr auto pmean(const X& x) {
  return tree_map([](const auto& sum) { return sum / axis_size<P, typename std::remove_cvref_t<decltype(sum)>::value_type>(sum); }, psum<P>(x));
}
/// Everybody's x as one array, [N, ...], at each member; N is the number of members.
template <class P, std::int64_t N, class A>
  requires(Placement<P> && Array<A>)
constexpr auto all_gather(const A& x) {
  const vec<int> ids = detail::communicate<P>(x, [](builder& b, int id) {
    attributes a;
    a.placement = &placement_of<P>;
    a.ints = {N};
    return b.add1(prim::all_gather, {id}, a);
  });
  return stacked_t<A, N>(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}
/// The product over all N members.
template <class P, std::int64_t N, class A>
  requires(Placement<P> && Array<A>)
constexpr auto pprod(const A& x) {
  return prod<0>(all_gather<P, N>(x));
}
/// My slice along axis 0 of the sum over all members of x, [N, ...].
template <class P, class A>
  requires(Placement<P> && Array<A> && (A::rank > 0))
constexpr auto psum_scatter(const A& x) {
  const vec<int> ids = detail::communicate<P>(
      x, [](builder& b, int id) { return emit::at_axis_index(b, emit::psum(b, id, &placement_of<P>), &placement_of<P>); });
  return typename detail::drop_axis<A, 0>::type(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}
/// What each member has for me: x is [N, ...] with slice j for member j; the result has at j what member j had for me.
template <class P, class A>
  requires(Placement<P> && Array<A> && (A::rank > 0))
constexpr A all_to_all(const A& x) {
  constexpr std::int64_t n = A::shape[0];
  const auto everybody = all_gather<P, n>(x);  // [from, to, ...]
  builder& b = detail::tape_in_axis<P>(x);
  const int exchanged = emit::first_axes_exchanged(b, emit::resolve(b, everybody.ref(), {}));
  return A(detail::at(b, emit::at_axis_index(b, exchanged, &placement_of<P>)));
}
/// x of another member: `from[i]` is the member whose value member i gets, -1 for none, which is zeros.
///     ppermute<ring>(x, std::array{3, 0, 1, 2})   each gets its left neighbour's
template <class P, class A, std::size_t N>
  requires(Placement<P> && Array<A>)
constexpr A ppermute(const A& x, const std::array<int, N>& from) {
  builder& b = detail::tape_in_axis<P>(x);
  int v = emit::resolve(b, all_gather<P, static_cast<std::int64_t>(N)>(x).ref(), {});
  const shape one = A::shape;
  vec<int> rows;
  for (int source : from) {
    if (source < -1 || source >= static_cast<int>(N)) throw "drx: ppermute: a source is not a member's number";
    vec<std::int64_t> start(one.rank + 1, 0), stop{1}, stride(one.rank + 1, 1);
    for (int i = 0; i < one.rank; ++i) stop.push_back(one[i]);
    start[0] = source < 0 ? 0 : source;
    stop[0] = start[0] + 1;
    const int row = emit::slice(b, v, start, stop, stride);
    rows.push_back(source < 0 ? emit::constant_like(b, row, 0) : row);
  }
  return A(detail::at(b, emit::at_axis_index(b, emit::concatenate(b, rows, 0), &placement_of<P>)));
}

// clang-format off
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why psum(const X&) = delete;  // drx: psum<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_sum
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why pmax(const X&) = delete;  // drx: pmax<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_max
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why pmin(const X&) = delete;  // drx: pmin<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_min
template <class P, class X, class Why = std::conditional_t<detail::Communicable<X>, error::needs_floating_values, error::array_operation_on_a_placed_value>>
  requires(Structured<X> && !error::Reported<X> && !(detail::Communicable<X> && all_floating<X>))
Why pmean(const X&) = delete;  // drx: pmean<P>(x) is of one member's floating value, in a map or pmap over P; of a placed value use reduce_mean
// clang-format on

}  // namespace drx

#endif
