// drx/primitives/scan.hpp: loops of a fixed number of steps: fori_loop, and scan, which also reads and writes a slice
// of stacked arrays at each step.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

namespace drx {
namespace prim::rules {
/// ints: {length, runs backwards, constants, carries}; operands: constants, initial carries, stacked xs.
/// Region: (index, constants, carries, slices of xs) -> (carries, slices of ys). Results: last carries, stacked ys.
/// The index counts positions of xs: a scan that runs backwards sees length-1 first.
struct scan {
  struct parts {
    std::int64_t length;
    bool backwards;
    int constants, carries, xs, ys;
    constexpr parts(const attributes& a, int operands, int results)
        : length(a.ints[0]),
          backwards(a.ints[1] != 0),
          constants(static_cast<int>(a.ints[2])),
          carries(static_cast<int>(a.ints[3])),
          xs(operands - constants - carries),
          ys(results - carries) {}
  };
  static constexpr attributes attrs(std::int64_t length, bool backwards, int constants, int carries) {
    attributes a;
    a.ints = {length, backwards, constants, carries};
    return a;
  }
  static constexpr abstract_value stacked(const abstract_value& t, std::int64_t n) {
    return t.with_shape(with_front(t.shape, n));
  }
  static constexpr abstract_value slice(const abstract_value& t) { return t.with_shape(without_axis(t.shape, 0)); }

  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& body = t.regions[0];
    const parts n(t.attrs, t.operands.size(), body.outputs.size());
    typing::require(body.inputs.size() == t.operands.size() + 1, "scan: the body's inputs are not the operands' number");
    for (int i = 0; i < t.operands.size(); ++i) {
      const bool x = i >= n.constants + n.carries;
      if (x) typing::require(t.operands[i].shape.rank > 0 && t.operands[i].shape[0] == n.length, "scan: an x is not of the loop's length");
      typing::require((x ? slice(t.operands[i]) : t.operands[i]) == body.values[body.inputs[i + 1]],
                      "scan: an operand is of another type than the body's input");
    }
    vec<abstract_value> r;
    for (int i = 0; i < body.outputs.size(); ++i) {
      const abstract_value& y = body.values[body.outputs[i]];
      if (i < n.carries) typing::require(y == t.operands[n.constants + i], "scan: the body changes the type of a carry");
      r.push_back(i < n.carries ? y : stacked(y, n.length));
    }
    return r;
  }

  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    const tape& body = s.e.regions[0];
    const parts n(s.e.attrs, s.operands.size(), s.results.size());
    // The region's tangent has inputs (primal..., tangents...); the loop needs constants, carries and xs together.
    vec<bool> moving{false};
    for (int i = 0; i < s.operands.size(); ++i) {
      const bool carry = i >= n.constants && i < n.constants + n.carries;
      moving.push_back(is_floating(s.b.type(s.operands[i]).type) && (carry || tangents[i] != zero_tangent));
    }
    const tape forward = s.drivers.jvp(body, moving);
    auto tangent_of = [&](int i) { return tangents[i] != zero_tangent ? tangents[i] : emit::zeros_like(s.b, s.operands[i]); };
    vec<int> operands, order;  // order: for each operand, the input of `forward` that it feeds
    int tangent_inputs = body.inputs.size();
    vec<int> tangent_input(s.operands.size(), -1);
    for (int i = 0; i < s.operands.size(); ++i)
      if (moving[i + 1]) tangent_input[i] = tangent_inputs++;
    auto group = [&](int first, int count) {
      for (int i = first; i < first + count; ++i) {
        operands.push_back(s.operands[i]);
        order.push_back(i + 1);
      }
      int moved = 0;
      for (int i = first; i < first + count; ++i)
        if (moving[i + 1]) {
          operands.push_back(tangent_of(i));
          order.push_back(tangent_input[i]);
          ++moved;
        }
      return count + moved;
    };
    const int constants = group(0, n.constants);
    const int carries = group(n.constants, n.carries);
    group(n.constants + n.carries, n.xs);

    builder region(&s.b);
    vec<int> inputs(forward.inputs.size(), -1);
    inputs[0] = region.input(forward.values[forward.inputs[0]]);
    for (int at : order) inputs[at] = region.input(forward.values[forward.inputs[at]]);
    const vec<int> out = inline_tape(region, forward, inputs);
    // outputs: carries, their tangents, ys, their tangents; those of `forward` are all primals, then floating tangents
    vec<int> tangent_output(s.results.size(), -1);
    int next = s.results.size();
    for (int i = 0; i < s.results.size(); ++i)
      if (is_floating(s.b.type(s.results[i]).type)) tangent_output[i] = next++;
    vec<int> result_of(s.results.size(), zero_tangent);
    int written = 0;
    auto outputs = [&](int first, int count) {
      for (int i = first; i < first + count; ++i, ++written) region.output(out[i]);
      for (int i = first; i < first + count; ++i)
        if (tangent_output[i] >= 0) {
          region.output(out[tangent_output[i]]);
          result_of[i] = written++;
        }
    };
    outputs(0, n.carries);
    outputs(n.carries, n.ys);
    const vec<int> all = s.b.add(*s.e.prim, operands, attrs(n.length, n.backwards, constants, carries), vec<tape>{region.result()});
    return renamed(result_of, all);
  }

  /// Keeps the carries at the start of each step: the reverse sweep recomputes the rest of a step from them.
  static constexpr vec<int> augmented(const rule_site& s) {
    const tape& body = s.e.regions[0];
    const parts n(s.e.attrs, s.operands.size(), body.outputs.size());
    tape keeping = body;
    for (int i = 0; i < n.carries; ++i) keeping.outputs.push_back(body.inputs[1 + n.constants + i]);
    return s.b.add(*s.e.prim, s.operands, s.e.attrs, vec<tape>{keeping});
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    const tape& body = s.e.regions[0];
    const parts n(s.e.attrs, s.operands.size(), s.results.size());
    const auto floating = [&](int operand) { return is_floating(s.b.type(s.operands[operand]).type); };
    // One step backwards: cotangents of constants, carries and xs from those of carries and ys.
    vec<bool> step_wanted{false}, given;
    for (int i = 0; i < s.operands.size(); ++i) {
      const bool carry = i >= n.constants && i < n.constants + n.carries;
      step_wanted.push_back(carry ? floating(i) : wanted[i]);
    }
    for (int i = 0; i < n.carries; ++i) given.push_back(floating(n.constants + i));
    for (int i = 0; i < n.ys; ++i) given.push_back(ct[n.carries + i] != zero_tangent);
    const tape step = s.drivers.vjp(body, step_wanted, given);

    // The loop backwards. Constants: the same. Carries: cotangents of the carries, sums of those of the constants.
    // Xs: the kept carries, the xs, cotangents of the ys. Ys: cotangents of the xs.
    vec<int> operands, carry_at, constant_at;
    for (int i = 0; i < n.constants; ++i) operands.push_back(s.operands[i]);
    for (int i = 0; i < n.carries; ++i)
      if (given[i]) {
        operands.push_back(ct[i] != zero_tangent ? ct[i] : emit::zeros_like(s.b, s.results[i]));
        carry_at.push_back(n.constants + i);
      }
    for (int i = 0; i < n.constants; ++i)
      if (wanted[i]) {
        operands.push_back(emit::zeros_like(s.b, s.operands[i]));
        constant_at.push_back(i);
      }
    operands.append(s.residuals);
    for (int i = 0; i < n.xs; ++i) operands.push_back(s.operands[n.constants + n.carries + i]);
    for (int i = 0; i < n.ys; ++i)
      if (given[n.carries + i]) operands.push_back(ct[n.carries + i]);
    const int carries = carry_at.size() + constant_at.size();

    builder region(&s.b);
    vec<int> in;
    in.push_back(region.input(abstract_value(dtype::int32, {})));
    for (int i = 0; i < operands.size(); ++i) {
      const abstract_value& t = s.b.type(operands[i]);
      in.push_back(region.input(i < n.constants + carries ? t : slice(t)));
    }
    vec<int> step_in{in[0]};
    const int carry0 = 1 + n.constants, kept0 = carry0 + carries;
    for (int i = 0; i < n.constants; ++i) step_in.push_back(in[1 + i]);
    for (int i = 0; i < n.carries + n.xs; ++i) step_in.push_back(in[kept0 + i]);
    for (int i = 0; i < carry_at.size(); ++i) step_in.push_back(in[carry0 + i]);
    for (int i = kept0 + n.carries + n.xs; i < in.size(); ++i) step_in.push_back(in[i]);
    const vec<int> out = inline_tape(region, step, step_in);  // cotangents: wanted constants, carries, wanted xs
    const int sums = constant_at.size();
    for (int i = 0; i < carry_at.size(); ++i) region.output(out[sums + i]);
    for (int i = 0; i < sums; ++i) region.output(emit::accumulate(region, in[carry0 + carry_at.size() + i], out[i]));
    for (int i = sums + carry_at.size(); i < out.size(); ++i) region.output(out[i]);
    const vec<int> all =
        s.b.add(*s.e.prim, operands, attrs(n.length, !n.backwards, n.constants, carries), vec<tape>{region.result()});

    vec<int> r(s.operands.size(), zero_tangent);
    for (int i = 0; i < carry_at.size(); ++i) r[carry_at[i]] = all[i];
    for (int i = 0; i < sums; ++i) r[constant_at[i]] = all[carry_at.size() + i];
    int next = carries;
    for (int i = n.constants + n.carries; i < s.operands.size(); ++i)
      if (wanted[i]) r[i] = all[next++];
    return r;
  }

  /// All carries and xs are batched. A stacked array has its batch axis behind the axis that the loop runs along.
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const tape& body = s.e.regions[0];
    const parts p(s.e.attrs, s.operands.size(), body.outputs.size());
    vec<int> operands = s.operands;
    vec<bool> in{false};
    auto front_to_second = [&](int id) {
      vec<std::int64_t> perm{1, 0};
      for (int i = 2; i < s.b.shape(id).rank; ++i) perm.push_back(i);
      return emit::transpose(s.b, id, perm);
    };
    for (int i = 0; i < operands.size(); ++i) {
      const bool constant = i < p.constants;
      if (!constant && !batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
      if (i >= p.constants + p.carries) operands[i] = front_to_second(operands[i]);
      in.push_back(!constant || batched[i]);
    }
    vec<int> r = s.b.add(*s.e.prim, operands, s.e.attrs, vec<tape>{s.drivers.batch(body, in, n)});
    for (int i = p.carries; i < r.size(); ++i) r[i] = front_to_second(r[i]);
    return r;
  }

  static constexpr void prune(entry& e, const vec<bool>& wanted) {
    const parts n(e.attrs, e.operands.size(), e.results.size());
    vec<bool> outputs = wanted;  // a carry is kept where its result is wanted, or where a kept output needs it
    vec<bool> used;
    tape body;
    for (bool grown = true; grown;) {
      grown = false;
      vec<bool> keep{true};
      for (int i = 0; i < e.operands.size(); ++i)
        keep.push_back(i >= n.constants && i < n.constants + n.carries && outputs[i - n.constants]);
      body = pruned_region(e.regions[0], outputs, keep, used);
      for (int i = 0; i < n.carries; ++i)
        if (used[1 + n.constants + i] && !outputs[i]) outputs[i] = grown = true;
    }
    vec<bool> operands;
    int constants = 0, carries = 0;
    for (int i = 0; i < e.operands.size(); ++i) {
      operands.push_back(used[i + 1]);
      if (!used[i + 1]) continue;
      constants += i < n.constants;
      carries += i >= n.constants && i < n.constants + n.carries;
    }
    e.regions[0] = body;
    e.operands = filtered(e.operands, operands);
    e.results = filtered(e.results, outputs);
    e.attrs.ints[2] = constants;
    e.attrs.ints[3] = carries;
  }
  static std::string print(const attributes& a) {
    return std::to_string(a.ints[0]) + (a.ints[1] ? " backwards" : "") + ", " + std::to_string(a.ints[2]) +
           " constants, " + std::to_string(a.ints[3]) + " carries";
  }
  /// Slice `at` along axis 0, of each member where x is placed (carries of placed values that are kept for derivatives).
  static tensor slice_of(const tensor& x, std::int64_t at) {
    tensor t(slice(x.type));
    for (const tensor& m : x.members) t.members.push_back(slice_of(m, at));
    if (!t.bytes.empty()) std::memcpy(t.bytes.data(), x.bytes.data() + static_cast<std::size_t>(at) * t.bytes.size(), t.bytes.size());
    return t;
  }
  static void set_slice(tensor& all, const tensor& y, std::int64_t at) {
    while (all.members.size() < y.members.size()) all.members.emplace_back(all.type.of_member());
    for (std::size_t m = 0; m < y.members.size(); ++m) set_slice(all.members[m], y.members[m], at);
    if (!y.bytes.empty()) std::memcpy(all.bytes.data() + static_cast<std::size_t>(at) * y.bytes.size(), y.bytes.data(), y.bytes.size());
  }
  static void evaluate(evaluation& v) {
    const parts n(v.e.attrs, static_cast<int>(v.in.size()), static_cast<int>(v.out.size()));
    std::vector<tensor> carry;
    for (int i = 0; i < n.carries; ++i) carry.push_back(*v.in[static_cast<std::size_t>(n.constants + i)]);
    for (std::int64_t step = 0; step < n.length; ++step) {
      const std::int64_t at = n.backwards ? n.length - 1 - step : step;
      tensor index(abstract_value(dtype::int32, {}));
      index.data<std::int32_t>()[0] = static_cast<std::int32_t>(at);
      std::vector<tensor> in{index};
      for (int i = 0; i < n.constants; ++i) in.push_back(*v.in[static_cast<std::size_t>(i)]);
      for (auto& c : carry) in.push_back(std::move(c));
      for (int i = 0; i < n.xs; ++i) {
        in.push_back(slice_of(*v.in[static_cast<std::size_t>(n.constants + n.carries + i)], at));
      }
      std::vector<tensor> out = v.run(v.e.regions[0], std::move(in));
      carry.assign(std::make_move_iterator(out.begin()), std::make_move_iterator(out.begin() + n.carries));
      for (int i = 0; i < n.ys; ++i) {
        const auto y = static_cast<std::size_t>(n.carries + i);
        set_slice(v.out[y], out[y], at);
      }
    }
    for (int i = 0; i < n.carries; ++i) v.out[static_cast<std::size_t>(i)] = std::move(carry[static_cast<std::size_t>(i)]);
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive scan{.name = "scan",
                                .type = rules::scan::type,
                                .jvp = rules::scan::jvp,
                                .vjp = rules::scan::vjp,
                                .augmented = rules::scan::augmented,
                                .batch = rules::scan::batch,
                                .prune = rules::scan::prune,
                                .print = rules::scan::print,
                                .evaluate = rules::scan::evaluate};
}

namespace detail {

/// X with one more axis of extent N in front of each leaf: for arrays and tuples of them.
template <std::int64_t N, class X>
struct stacked;
template <std::int64_t N, class T, std::int64_t... E>
struct stacked<N, array<T, E...>> {
  using type = array<T, N, E...>;
};
template <std::int64_t N, class... X>
struct stacked<N, std::tuple<X...>> {
  using type = std::tuple<typename stacked<N, X>::type...>;
};
/// Its inverse, and the extent.
template <class X>
struct unstacked;
template <class T, std::int64_t N, std::int64_t... E>
struct unstacked<array<T, N, E...>> {
  using type = array<T, E...>;
  static constexpr std::int64_t length = N;
};
template <class X, class... Y>
struct unstacked<std::tuple<X, Y...>> {
  using type = std::tuple<typename unstacked<X>::type, typename unstacked<Y>::type...>;
  static constexpr std::int64_t length = unstacked<X>::length;
  static_assert(((unstacked<Y>::length == length) && ...), "drx::scan: the xs are not of one length");
};

using index_t = array<std::int32_t>;
template <class Body, class C>
inline constexpr bool counts = !std::is_same_v<call_result_t<Body, index_t, C>, error::function_does_not_take_these_arguments>;
template <class Body, class Carry>
struct loop_body {  // calls body(i, carry) or body(carry)
  const Body& body;
  template <class C>
  constexpr auto operator()(const index_t& i, const C& carry) const {
    if constexpr (counts<Body, C>) {
      return body(i, carry);
    } else {
      return body(carry);
    }
  }
};
template <class Body, class C>
struct loop_call : call_result_type<Body, C> {};
template <class Body, class C>
  requires counts<Body, C>
struct loop_call<Body, C> : call_result_type<Body, index_t, C> {};
template <class Body, class Carry>
using loop_result = typename loop_call<Body, traced_t<Carry>>::type;
template <class R, class Carry>
constexpr auto loop_misuse() {
  if constexpr (!TracedResult<R>) {
    return result_misuse<R>();
  } else if constexpr (error::Reported<R> || std::is_same_v<canonical_t<R>, canonical_t<Carry>>) {
    return fine{};
  } else {
    return error::loop_body_changes_the_type_of_its_carry{};
  }
}
template <class Body, class Carry>
concept LoopBody = std::is_same_v<decltype(loop_misuse<loop_result<Body, Carry>, Carry>()), fine>;

/// Adds the scan whose region was traced with inputs (index, carry, slices); captured values are its constants.
template <class R>
constexpr vec<int> add_scan(builder*& b, const traced_region<R>& region, std::int64_t length, int carries,
                            const auto& operands_on) {
  b = with_captures(b, region.captures);
  if (!b) throw "drx: a loop over constants only; let it meet a traced value first";
  tape body = region.body;  // (index, carries, xs, captured) -> (index, captured, carries, xs)
  const int captured = region.captures.size();
  vec<int> inputs{body.inputs[0]};
  vec<int> operands;
  for (int i = 0; i < captured; ++i) {
    inputs.push_back(body.inputs[body.inputs.size() - captured + i]);
    operands.push_back(emit::resolve(*b, region.captures[i], {}));
  }
  for (int i = 1; i < body.inputs.size() - captured; ++i) inputs.push_back(body.inputs[i]);
  body.inputs = inputs;
  operands.append(operands_on(*b));
  return b->add(prim::scan, operands, prim::rules::scan::attrs(length, false, captured, carries), vec<tape>{body});
}

}  // namespace detail

/// carry = body(carry), or body(i, carry) with i an int32 counting from 0, Steps times.
template <std::int64_t Steps, class Carry, class Body>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::LoopBody<Body, Carry>)
constexpr auto fori_loop(const Carry& init, const Body& body) {
  if constexpr (error::Reported<detail::loop_result<Body, Carry>>) {
    return error::reported{};
  } else {
    const detail::leaf_refs<Carry> refs(init);
    builder* b = refs.innermost();
    const auto region = detail::trace_region(b, detail::loop_body<Body, Carry>{body}, std::type_identity<std::int32_t>{},
                                             std::type_identity<Carry>{});
    const vec<int> r = detail::add_scan(b, region, Steps, leaf_count<Carry>, [&](builder& t) { return refs.on(t); });
    return detail::bound<Carry>(*b, r);
  }
}
template <std::int64_t Steps, class Carry, class Body, class Why = decltype(detail::loop_misuse<detail::loop_result<Body, Carry>, Carry>())>
  requires(Structured<Carry> && !error::Reported<Carry> && !detail::LoopBody<Body, Carry>)
Why fori_loop(const Carry&, const Body&) = delete;  // drx: the body takes (carry) or (i, carry), and must return the carry's own type: same shapes, element types, structure

/// For each slice x of xs along axis 0: (carry, y) = f(carry, x). Returns (last carry, stacked ys). xs and y are arrays
/// or tuples of arrays; f returns a std::pair or std::tuple of two.
template <class Carry, class Xs, class F>
constexpr auto scan(const F& f, const Carry& init, const Xs& xs) {
  using X = typename detail::unstacked<canonical_t<Xs>>::type;
  constexpr std::int64_t length = detail::unstacked<canonical_t<Xs>>::length;
  const auto step = [&](const detail::index_t&, const auto& carry, const auto& x) { return f(carry, x); };
  using R = decltype(f(std::declval<traced_t<Carry>>(), std::declval<traced_t<X>>()));
  using C = canonical_t<std::tuple_element_t<0, R>>;
  using Y = canonical_t<std::tuple_element_t<1, R>>;
  static_assert(std::is_same_v<C, canonical_t<Carry>>, "drx::scan: loop_body_changes_the_type_of_its_carry");
  const detail::leaf_refs<Carry> refs(init);
  const detail::leaf_refs<Xs> xs_refs(xs);
  builder* b = builder::inner(refs.innermost(), xs_refs.innermost());
  const auto region = detail::trace_region(b, step, std::type_identity<std::int32_t>{}, std::type_identity<Carry>{}, std::type_identity<X>{});
  const vec<int> r = detail::add_scan(b, region, length, leaf_count<Carry>, [&](builder& t) {
    vec<int> ids = refs.on(t);
    ids.append(xs_refs.on(t));
    return ids;
  });
  using Ys = typename detail::stacked<length, Y>::type;
  return std::pair<traced_t<Carry>, traced_t<Ys>>{detail::bound<Carry>(*b, r), detail::bound<Ys>(*b, r, leaf_count<Carry>)};
}

}  // namespace drx

#endif
