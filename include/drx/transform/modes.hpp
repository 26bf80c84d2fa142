// drx/transform/modes.hpp: forward and reverse mode of functions of structures: jvp, vjp, linearize, linear_transpose.
#pragma once

#include <drx/primitives/reported.hpp>
#include <drx/transform/split.hpp>
#include <drx/transform/trace_call.hpp>

namespace drx {

/// A linear function on a tape, as linearize and vjp return it. Called on values of the types In..., it writes itself
/// where they meet and returns Out. Residuals, which depend on the point of linearization, were computed where it was
/// made.
template <class Out, class... In>
struct linear_function {
  tape body;  // residuals, then the leaves of In...
  vec<traced_ref> known;

  template <class... X, class Why = std::conditional_t<std::is_same_v<std::tuple<canonical_t<X>...>, std::tuple<In...>>,
                                                       detail::no_misuse, error::structures_differ>>
    requires(detail::NoMisuse<Why> && !error::AnyReported<X...>)
  constexpr auto operator()(const X&... x) const {  // drx: a tangent is of the type of its primal, a cotangent of the type of the result
    tracing_builder* b = detail::with_captures(detail::meeting_builder(x...), known);
    vec<int> inputs;
    for (const auto& k : known) inputs.push_back(emit::resolve(*b, k, {}));
    inputs.append(detail::leaves_on(*b, x...));
    return detail::bound<Out>(*b, inline_tape(*b, body, inputs));
  }
  template <class... X>
    requires error::AnyReported<X...>
  constexpr error::reported operator()(const X&...) const {
    return {};
  }
};

namespace detail {

/// The function of t's inputs marked late; the others are given by ids on b.
template <class Out, class... In>
constexpr linear_function<Out, In...> partially_applied(tracing_builder& b, const tape& t, const vec<bool>& late,
                                                        const vec<int>& ids) {
  const transform::split_tape parts = transform::split(t, late);
  linear_function<Out, In...> r{parts.rest, {}};
  for (int id : inline_tape(b, parts.known, ids)) r.known.push_back(at(b, id));
  return r;
}
/// The forward derivative of a call, with inputs as jvp's; the outputs are one tangent per output, with zeros for those
/// not floating.
constexpr tape tangents_only(const tape& body, const vec<bool>& moving) {
  const tape all = transform::jvp(body, moving);
  builder b;
  const vec<int> out = inline_tape(b, all, inputs_like(b, all));
  int next = body.outputs.size();
  for (int i = 0; i < body.outputs.size(); ++i)
    b.output(is_floating(body.values[body.outputs[i]].type) ? out[next++] : emit::zeros_like(b, out[i]));
  return without_dead_entries(b.take());
}
constexpr vec<bool> floating_outputs(const tape& body) {
  vec<bool> r;
  for (int o : body.outputs) r.push_back(is_floating(body.values[o].type));
  return r;
}
/// Marks the first `count` of all, or the last.
constexpr vec<bool> first(int count, int all) {
  vec<bool> r(all, false);
  for (int i = 0; i < count; ++i) r[i] = true;
  return r;
}
constexpr vec<bool> last(int count, int all) {
  vec<bool> r(all, false);
  for (int i = all - count; i < all; ++i) r[i] = true;
  return r;
}

template <class F, class... X>
constexpr auto linearize(const F& f, const X&... x) {
  using R = canonical_t<traced_result<F, X...>>;
  const traced_call call = trace_call(meeting_builder(x...), f, x...);
  constexpr int leaves = leaf_offsets<X...>::total;
  const tape forward = tangents_only(call.body, first(leaves, call.inputs.size()));
  return std::pair{
      bound<R>(*call.b, inline_tape(*call.b, call.body, call.inputs)),
      partially_applied<R, canonical_t<X>...>(*call.b, forward, last(leaves, forward.inputs.size()), call.inputs)};
}
template <class F, class... X>
constexpr auto vjp(const F& f, const X&... x) {
  using R = canonical_t<traced_result<F, X...>>;
  using Gradients = decltype(one_or_tuple(std::declval<canonical_t<X>>()...));
  const traced_call call = trace_call(meeting_builder(x...), f, x...);
  const vec<bool> given = floating_outputs(call.body);
  tape back = transform::pullback(call.body, first(leaf_offsets<X...>::total, call.inputs.size()), given);
  vec<int> inputs;  // a cotangent for each leaf of the result that is floating
  int next = call.inputs.size();
  for (int i = 0; i < call.inputs.size(); ++i) inputs.push_back(back.inputs[i]);
  for (int i = 0; i < given.size(); ++i) {
    if (given[i]) {
      inputs.push_back(back.inputs[next++]);
    } else {
      inputs.push_back(back.values.size());
      back.values.push_back(call.body.values[call.body.outputs[i]]);
    }
  }
  back.inputs = inputs;
  return std::pair{bound<R>(*call.b, inline_tape(*call.b, call.body, call.inputs)),
                   partially_applied<Gradients, R>(*call.b, back, last(given.size(), inputs.size()), call.inputs)};
}

/// f at the first half of all arguments, and its derivative along the second half, in one pass.
template <class F, class... X, std::size_t... I>
constexpr auto jvp(std::index_sequence<I...>, const F& f, const X&... x_then_t) {
  const auto all = std::tie(x_then_t...);
  using R = canonical_t<traced_result<F, std::tuple_element_t<I, std::tuple<X...>>...>>;
  constexpr int leaves = leaf_count<R>;
  tracing_builder* const b = meeting_builder(x_then_t...);
  traced_call call = trace_call(b, f, std::get<I>(all)...);
  const int primals = leaf_offsets<X...>::total / 2;
  const tape forward = transform::jvp(call.body, first(primals, call.inputs.size()));
  call.inputs.append(leaves_on(*call.b, std::get<I + sizeof...(I)>(all)...));
  vec<int> out = inline_tape(*call.b, forward, call.inputs);
  vec<int> tangents;
  int next = leaves;
  for (int i = 0; i < leaves; ++i)
    tangents.push_back(is_floating(call.b->type(out[i]).type) ? out[next++] : emit::zeros_like(*call.b, out[i]));
  return std::pair{bound<R>(*call.b, out), bound<R>(*call.b, tangents)};
}
template <class... X, std::size_t... I>
constexpr bool halves_agree(std::index_sequence<I...>) {
  using all = std::tuple<canonical_t<X>...>;
  return (std::is_same_v<std::tuple_element_t<I, all>, std::tuple_element_t<I + sizeof...(I), all>> && ...);
}
template <class F, class... X, std::size_t... I>
constexpr auto first_half_misuse(std::index_sequence<I...>) {
  using all = std::tuple<X...>;
  return derivative_misuse<F, static_cast<int>(I)...>(std::type_identity<std::tuple_element_t<I, all>>{}...);
}
template <class F, class... X>
constexpr auto jvp_misuse() {
  if constexpr (error::AnyReported<X...>) {
    return no_misuse{};
  } else if constexpr (!(Structured<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else if constexpr (sizeof...(X) == 0 || sizeof...(X) % 2 != 0) {
    return error::wrong_number_of_arguments{};
  } else if constexpr (!halves_agree<X...>(std::make_index_sequence<sizeof...(X) / 2>{})) {
    return error::structures_differ{};
  } else {
    return first_half_misuse<F, X...>(std::make_index_sequence<sizeof...(X) / 2>{});
  }
}
template <class F, class... X>
constexpr auto vjp_misuse() {
  return []<int... I>(std::integer_sequence<int, I...>) {
    return derivative_misuse<F, I...>(std::type_identity<X>{}...);
  }(std::make_integer_sequence<int, sizeof...(X)>{});
}
template <class Why, class... X>
concept Differentiable = sizeof...(X) > 0 && std::is_same_v<Why, no_misuse> && !error::AnyReported<X...>;
template <class Why, class... X>
concept Undifferentiable = !std::is_same_v<Why, no_misuse>;
}  // namespace detail

/// Forward mode: the pair of f(x...) and its derivative along the tangents t..., which have the types of x...:
///     auto [y, dy] = drx::jvp(f, x, w, tx, tw);
template <class F, class... X>
  requires detail::Differentiable<decltype(detail::jvp_misuse<F, X...>()), X...>
constexpr auto jvp(const F& f, const X&... x_then_t) {
  return detail::jvp(std::make_index_sequence<sizeof...(X) / 2>{}, f, x_then_t...);
}
/// Reverse mode: the pair of f(x...) and its pullback, a function from a cotangent of the result to those of x... (a
/// tuple of several):
///     auto [y, pullback] = drx::vjp(f, x, w);   auto [cx, cw] = pullback(cy);
template <class F, class... X>
  requires detail::Differentiable<decltype(detail::vjp_misuse<F, X...>()), X...>
constexpr auto vjp(const F& f, const X&... x) {
  return detail::vjp(f, x...);
}
/// The pair of f(x...) and its derivative there, a linear function of the tangents of x.... Residuals, which do not
/// depend on the tangents, are computed once, however often that function is called.
///     auto [y, push] = drx::linearize(f, x);   auto dy = push(dx);
template <class F, class... X>
  requires detail::Differentiable<decltype(detail::vjp_misuse<F, X...>()), X...>
constexpr auto linearize(const F& f, const X&... x) {
  return detail::linearize(f, x...);
}

template <class F, class... X, class Why = decltype(detail::jvp_misuse<F, X...>())>
  requires detail::Undifferentiable<Why, X...>
std::pair<Why, Why> jvp(const F&, const X&...) = delete;  // drx: jvp(f, x..., tangents of x...): as many tangents as arguments, of the same types, which must be float or double throughout: capture the others
template <class F, class... X, class Why = decltype(detail::vjp_misuse<F, X...>())>
  requires detail::Undifferentiable<Why, X...>
std::pair<Why, Why> vjp(const F&, const X&...) = delete;  // drx: vjp(f, x...): f must take x..., which must be float or double throughout: capture the others
template <class F, class... X, class Why = decltype(detail::vjp_misuse<F, X...>())>
  requires detail::Undifferentiable<Why, X...>
std::pair<Why, Why> linearize(const F&, const X&...) = delete;  // drx: linearize(f, x...): f must take x..., which must be float or double throughout: capture the others

/// The transpose of a linear function f of values of types X...: it maps a cotangent of f's result to those of its
/// arguments (a tuple of several). A function that is not linear is refused while compiling.
///     auto back = drx::linear_transpose<drx::array<double, 3>>(f);   auto cx = back(cy);
template <class... X, class F>
  requires detail::Differentiable<decltype(detail::vjp_misuse<F, X...>()), X...>
constexpr auto linear_transpose(const F& f) {
  return [f](const auto& ct) {
    using C = std::remove_cvref_t<decltype(ct)>;
    using R = canonical_t<detail::traced_result<F, X...>>;
    using Gradients = decltype(detail::one_or_tuple(std::declval<canonical_t<X>>()...));
    static_assert(std::is_same_v<canonical_t<C>, R>,
                  "drx::linear_transpose: the cotangent is not of the type of f's result");
    static_assert(all_floating<R>, "drx::linear_transpose: f's result is not float or double throughout");
    tracing_builder* b = detail::meeting_builder(ct);
    const auto region = detail::trace_region(b, f, std::type_identity<X>{}...);
    b = detail::with_captures(b, region.captures);
    constexpr int leaves = detail::leaf_offsets<X...>::total;
    tape back = transform::pullback(region.body, detail::first(leaves, region.body.inputs.size()),
                                    vec<bool>(leaf_count<R>, true));
    vec<bool> used;
    back = pruned_region(back, vec<bool>(leaves, true), vec<bool>(back.inputs.size(), false), used);
    for (int i = 0; i < leaves; ++i)
      if (used[i]) throw "drx: linear_transpose: the function is not linear";
    vec<int> inputs;
    for (const auto& c : region.captures) inputs.push_back(emit::resolve(*b, c, {}));
    inputs.append(detail::leaves_on(*b, ct));
    vec<bool> kept;
    for (int i = leaves; i < used.size(); ++i) kept.push_back(used[i]);
    inputs = filtered(inputs, kept);
    return detail::bound<Gradients>(*b, inline_tape(*b, back, inputs));
  };
}

DRX_SILENT(hvp)
DRX_SILENT(jvp)
DRX_SILENT(linearize)
DRX_SILENT(vjp)

}  // namespace drx
