// drx/transform/vmap.hpp: a function of one example, applied to a batch of them.
#pragma once

#include <drx/core/batched.hpp>
#include <drx/transform/trace_call.hpp>

namespace drx {

/// Names the batch's axis in an argument or result; negative axes count from the end.
template <int K>
struct axis_t {};
/// Axis K of an argument or a result is that of the batch; a negative one counts from the end.
template <int K>
inline constexpr axis_t<K> axis{};
/// No axis: the whole argument goes to each example; the result is the same for all.
struct no_axis {};
/// No axis of the batch: the whole argument goes to each example; the result is the same for all.
inline constexpr no_axis none{};

namespace detail {

/// The effect of vmap's axes on arguments X and results: the leaves' axes (-1: none), the type X of one example, and
/// the type of a result for all. Axes are those of one value (axis<K>, none) or a tuple of them for the parts of a
/// tuple.
template <class X, class Axes>
struct batch_axes {
  static constexpr bool fits = false;
};
template <class X>
struct batch_axes<X, no_axis> {
  static constexpr bool fits = true;
  using one = X;
  static constexpr void write(int*& out) {
    for (int i = 0; i < leaf_count<X>; ++i) *out++ = -1;
  }
  template <std::int64_t>
  using all = X;
};
template <class X, int K>
constexpr bool axis_is_there(int more) {  // in X with `more` axes added
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i) {
    const int rank = t[i].shape.rank + more;
    if (K < -rank || K >= rank || rank > shape::max_rank) return false;
  }
  return true;
}
template <class X, int K>
struct batch_axes<X, axis_t<K>> {
  static constexpr bool fits = true;
  static constexpr bool there = axis_is_there<X, K>(0);
  static constexpr auto without() {
    if constexpr (there) {
      if constexpr (requires { typename drop_axis<X, K>::type; })
        return std::type_identity<typename drop_axis<X, K>::type>{};
    }
  }
  using one = typename std::conditional_t<std::is_void_v<decltype(without())>, std::type_identity<void>,
                                          decltype(without())>::type;
  static constexpr void write(int*& out) {
    leaf_types<X> t;
    for (int i = 0; i < leaf_count<X>; ++i) *out++ = normal_axis(K, t[i].shape.rank);
  }
  template <std::int64_t N>
  using all = typename add_axis<X, N, K>::type;
};
template <class... X, class... A>
  requires(sizeof...(X) == sizeof...(A))
struct batch_axes<std::tuple<X...>, std::tuple<A...>> {
  static constexpr bool fits = (batch_axes<X, A>::fits && ...);
  using one = std::tuple<typename batch_axes<X, A>::one...>;
  static constexpr void write(int*& out) { (batch_axes<X, A>::write(out), ...); }
  template <std::int64_t N>
  using all = std::tuple<typename batch_axes<X, A>::template all<N>...>;
};
template <class X, class Y, class A, class B>
struct batch_axes<std::pair<X, Y>, std::tuple<A, B>> {
  static constexpr bool fits = batch_axes<X, A>::fits && batch_axes<Y, B>::fits;
  using one = std::pair<typename batch_axes<X, A>::one, typename batch_axes<Y, B>::one>;
  static constexpr void write(int*& out) {
    batch_axes<X, A>::write(out);
    batch_axes<Y, B>::write(out);
  }
  template <std::int64_t N>
  using all = std::pair<typename batch_axes<X, A>::template all<N>, typename batch_axes<Y, B>::template all<N>>;
};
/// One axis for all arguments, or a tuple with one for each.
template <class Axes, int Arguments, class = std::make_integer_sequence<int, Arguments>>
struct argument_axes;
template <class A, int N, int... I>
struct argument_axes<A, N, std::integer_sequence<int, I...>> {
  template <int>
  using each = A;
  using type = std::tuple<each<I>...>;
};
template <class... A, int N, int... I>
struct argument_axes<std::tuple<A...>, N, std::integer_sequence<int, I...>> {
  using type = std::tuple<A...>;
};

template <class... X>
struct axes_of_leaves {
  int axis[leaf_offsets<X...>::total + 1] = {};
  std::int64_t extent = -1;
  bool equal = true;
  template <class... A>
  constexpr explicit axes_of_leaves(std::type_identity<std::tuple<A...>>) {
    int* out = axis;
    (batch_axes<X, A>::write(out), ...);
    int at = 0;
    const auto compare = [&]<class Y>(std::type_identity<Y>) {
      leaf_types<Y> t;
      for (int i = 0; i < leaf_count<Y>; ++i, ++at)
        if (axis[at] >= 0) {
          const std::int64_t n = t[i].shape[axis[at]];
          equal = equal && (extent < 0 || extent == n);
          extent = n;
        }
    };
    (compare(std::type_identity<X>{}), ...);
  }
};
template <class Name>
constexpr const placement_info* axis_named() {
  if constexpr (std::is_void_v<Name>) {
    return nullptr;
  } else {
    return &placement_of<Name>;
  }
}
template <class Axes, class... X>
struct batching;
template <class... A, class... X>
  requires(sizeof...(A) == sizeof...(X))
struct batching<std::tuple<A...>, X...> {
  static constexpr axes_of_leaves<X...> leaves{std::type_identity<std::tuple<A...>>{}};
  template <class F>
  using result = canonical_t<call_result_t<F, traced_t<typename batch_axes<X, A>::one>...>>;
  template <region_kind Kind, class Name, class F>
  static constexpr auto trace(tracing_builder* b, const F& f) {
    return trace_region<Kind, Name>(b, f, std::type_identity<typename batch_axes<X, A>::one>{}...);
  }
};

template <class F, class Out, class A, class... X>
struct vmap_check;
template <class F, class Out, class... A, class... X>
struct vmap_check<F, Out, std::tuple<A...>, X...> {
  static constexpr auto misuse() {
    if constexpr (sizeof...(A) != sizeof...(X)) {
      return error::wrong_number_of_arguments{};
    } else if constexpr (!(batch_axes<X, A>::fits && ...)) {
      return error::batch_axes_do_not_fit_the_structure{};
    } else if constexpr ((std::is_void_v<typename batch_axes<X, A>::one> || ...)) {
      return error::axis_out_of_range{};
    } else if constexpr (batching<std::tuple<A...>, X...>::leaves.extent < 0) {
      return error::nothing_is_batched{};
    } else if constexpr (!batching<std::tuple<A...>, X...>::leaves.equal) {
      return error::extents_differ{};
    } else {
      using R = call_result_t<F, traced_t<typename batch_axes<X, A>::one>...>;
      if constexpr (!TracedResult<R>) {
        return result_misuse<R>();
      } else if constexpr (error::Reported<R>) {
        return no_misuse{};
      } else if constexpr (!batch_axes<canonical_t<R>, Out>::fits) {
        return error::batch_axes_do_not_fit_the_structure{};
      } else {
        return no_misuse{};
      }
    }
  }
};

template <class F, class In, class Out, class Name = void, bool Parallel = false>
struct batched_function {
  F f;

  template <class... X>
  using axes = typename argument_axes<In, sizeof...(X)>::type;
  template <class... X>
  static constexpr auto misuse() {
    if constexpr (error::AnyReported<X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else {
      return vmap_check<F, Out, axes<X...>, canonical_t<X>...>::misuse();
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: vmap(f, axes of the arguments, axes of the result): axis<k> or none for each, or a tuple of them for the parts of a tuple; the axes have one common extent; a struct has its axis as drx::batched<S, n>
    if constexpr (error::AnyReported<X...>) {
      return error::reported{};
    } else {
      using plan = batching<axes<X...>, canonical_t<X>...>;
      using R = typename plan::template result<F>;
      if constexpr (error::Reported<R>) {
        return error::reported{};
      } else {
        return write<plan, R>(x...);
      }
    }
  }

 private:
  static constexpr int moved(builder& b, int x, int from, int to) {
    const abstract_value t = b.type(x);
    if (t.depth > 0)
      return emit::map(b, t.placements[0], {x},
                       [=](builder& r, const vec<int>& in) { return vec<int>{moved(r, in[0], from, to)}; })[0];
    vec<std::int64_t> order;
    for (int i = 0; i < t.shape.rank; ++i)
      if (i != from) order.push_back(i);
    vec<std::int64_t> p;
    for (int i = 0, next = 0; i < t.shape.rank; ++i) p.push_back(i == to ? from : order[next++]);
    return emit::transpose(b, x, p);
  }
  /// Deals the batch out to the members of the placement with that name.
  static constexpr vec<int> in_parallel(builder& b, const tape& body, vec<int> inputs, const vec<bool>& on,
                                        std::int64_t n, vec<bool>& has_axis) {
    constexpr const placement_info* p = axis_named<Name>();
    for (int i = 0; i < inputs.size(); ++i)
      if (on[i]) inputs[i] = emit::distribute(b, inputs[i], p);
    member_function f(b, p, body);
    vec<int> out = f.write(inputs, on, has_axis);
    for (int i = 0; i < out.size(); ++i)
      if (has_axis[i]) out[i] = emit::gather(b, out[i], n, p);
    return out;
  }
  template <class Plan, class R, class... X>
  constexpr auto write(const X&... x) const {
    using results = batch_axes<R, Out>;
    constexpr std::int64_t n = Plan::leaves.extent;
    tracing_builder* b = meeting_builder(x...);
    const auto region = Plan::template trace<Parallel ? region_kind::parallel : region_kind::loop, Name>(b, f);
    b = with_captures(b, region.captures);
    vec<int> inputs = leaves_on(*b, x...);
    vec<bool> on(region.body.inputs.size(), false);
    for (int i = 0; i < inputs.size(); ++i)
      if (Plan::leaves.axis[i] >= 0) {
        inputs[i] = moved(*b, inputs[i], Plan::leaves.axis[i], 0);
        on[i] = true;
      }
    for (const auto& c : region.captures) inputs.push_back(emit::resolve(*b, c, {}));
    vec<bool> has_axis;
    vec<int> out;
    constexpr const placement_info* name = axis_named<Name>();
    const bool of_shards = Parallel && n > 0 &&
                           (b->context().now().member_body ||
                            b->context().now().parallel);  // in a member of another axis: with it, a mesh
    const auto laid_out = [&](int& value, bool along) {
      if (of_shards && along) value = emit::with_layout(*b, value, name, n, 0);
    };
    if (Parallel && !of_shards && !has_other_collective(region.body, name)) {
      out = in_parallel(*b, region.body, inputs, on, n, has_axis);
    } else {
      for (int i = 0; i < inputs.size(); ++i) laid_out(inputs[i], on[i]);
      out = inline_tape(*b, transform::batch_where_needed(region.body, on, n, has_axis, name), inputs);
      for (int i = 0; i < out.size(); ++i) laid_out(out[i], has_axis[i]);
    }
    using Y = typename results::template all<n>;
    int to[leaf_count<R> + 1] = {};
    int* at = to;
    batch_axes<Y, Out>::write(at);
    for (int i = 0; i < out.size(); ++i) {
      if (to[i] < 0) {
        if (has_axis[i])
          throw "drx: vmap: a result with axis `none` differs from example to example: reduce it, or give it an axis";
      } else {
        if (!has_axis[i]) out[i] = emit::repeated(*b, out[i], n);
        out[i] = moved(*b, out[i], 0, to[i]);
      }
    }
    return bound<Y>(*b, out);
  }
};

}  // namespace detail

/// f, a function of one example, as a function of a batch. `in` tells which axis of each argument is the batch's, `out`
/// where that is in the result: axis<k> or none (the whole argument for each example; a result that is the same for
/// all), one for all arguments or a tuple with one for each; for an argument that is a tuple, a tuple again.
///     drx::vmap(f)(x, y)                                                        axis 0 of both, and of the result
///     drx::vmap(drx::grad(loss), std::tuple{drx::none, drx::axis<0>})(w, rows)  one gradient for each row
///     drx::vmap(f, drx::axis<-1>, drx::axis<1>)(x)
/// A struct with an axis is a drx::batched<S, n>. f may capture; captured values have no axis.
template <class F, class In = axis_t<0>, class Out = axis_t<0>>
constexpr auto vmap(const F& f, const In& = {}, const Out& = {}) {
  return detail::batched_function<F, In, Out>{f};
}
/// vmap with a name for the axis, over which psum<Name> and the other collectives in f communicate.
template <class Name, class F, class In = axis_t<0>, class Out = axis_t<0>>
  requires Placement<Name>
constexpr auto vmap(const F& f, const In& = {}, const Out& = {}) {
  return detail::batched_function<F, In, Out, Name>{f};
}
/// vmap whose examples are dealt out to ranks and threads: each is a member of the placement Name, which has as many
/// members as the axis is long, whatever the number of ranks. Collectives over Name in f are messages. A result without
/// an axis (`none`) must be the same for all members, so it must have gone through a collective.
///     struct devices : drx::placement<devices> {};
///     drx::pmap<devices>(step, std::tuple{drx::none, drx::axis<0>}, drx::none)(w, rows)
template <class Name, class F, class In = axis_t<0>, class Out = axis_t<0>>
  requires Placement<Name>
constexpr auto pmap(const F& f, const In& = {}, const Out& = {}) {
  return detail::batched_function<F, In, Out, Name, true>{f};
}

}  // namespace drx
