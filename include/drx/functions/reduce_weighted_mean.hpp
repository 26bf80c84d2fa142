// drx/functions/reduce_weighted_mean.hpp: the mean over members, each with its own weight.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
/// Why x cannot be averaged with weights w; `no_misuse` if it can.
template <class X, class W>
constexpr auto weighted_mean_misuse() {
  if constexpr (!Placed<X> || !Placed<W>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (!std::is_same_v<typename X::placement, typename W::placement>) {
    return error::values_of_two_placements_do_not_mix{};
  } else if constexpr (!all_unplaced<typename X::member> || !all_unplaced<typename W::member>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!ScalarArray<typename W::member>) {
    return error::wrong_rank{};
  } else if constexpr (!FloatingArray<typename W::member> ||
                       !(Array<typename X::member> || all_floating<typename X::member>)) {
    return error::needs_floating_values{};
  } else {
    return no_misuse{};
  }
}
template <class X, class W>
concept WeightedMean = std::is_same_v<decltype(weighted_mean_misuse<X, W>()), no_misuse>;
template <class M>
struct mean_of_members {
  using type = M;
};
template <class M>
  requires(Array<M> && !FloatingArray<M>)
struct mean_of_members<M> {
  using type = array_of<double, shape_of<M>>;
};
}  // namespace detail

/// sum(w x) / sum(w) over the members of x's placement, leaf by leaf; w has one floating number per member. Integers
/// give double. If the weights sum to 0, or there are no members, the result and its derivatives are 0.
template <class X, class W>
  requires detail::WeightedMean<X, W>
constexpr auto reduce_weighted_mean(const X& x, const W& w) {
  using R = typename detail::mean_of_members<typename X::member>::type;
  constexpr const placement_info* p = &placement_of<typename X::placement>;
  const detail::leaf_refs<X> refs(x);
  const detail::leaf_refs<W> weights(w);
  tracing_builder& b = detail::common_tape(refs, weights);
  int weight = weights.on(b)[0];
  weight = emit::cast_of_members(b, weight, detail::computed_type(b.type(weight).type));
  const int total = emit::reduce_sum(b, weight, p);
  const int nothing = emit::equal(b, total, emit::constant_like(b, total, 0));
  const int divisor =
      emit::where(b, nothing, emit::constant_like(b, total, 1), total);  // so that no 0/0 is differentiated
  vec<int> operands = refs.on(b);
  operands.push_back(weight);
  const vec<int> terms = emit::map(b, p, operands, [=](builder& r, const vec<int>& in) {
    constexpr leaf_types<R> types;
    vec<int> out;
    for (int i = 0; i < leaf_count<R>; ++i) {
      const dtype of = detail::computed_type(types[i].type);
      const int factor = emit::broadcast_to(r, emit::cast(r, in.back(), of), types[i].shape);
      out.push_back(emit::mul(r, factor, emit::cast(r, in[i], of)));
    }
    return out;
  });
  vec<int> means;
  for (int term : terms) {
    const int sum = emit::reduce_sum(b, term, p);
    const abstract_value t = b.type(sum);
    const int mean = emit::div(b, sum, emit::broadcast_to(b, emit::cast(b, divisor, t.type), t.shape));
    const int all_nothing = emit::broadcast_to(b, nothing, t.shape), zero = emit::constant(b, t, 0);
    constexpr leaf_types<R> types;
    means.push_back(emit::cast(b, emit::where(b, all_nothing, zero, mean), types[means.size()].type));
  }
  return detail::bound<R>(b, means);
}
template <class X, class W, class Why = decltype(detail::weighted_mean_misuse<X, W>())>
  requires(Structured<X> && Structured<W> && !error::AnyReported<X, W> && !detail::WeightedMean<X, W>)
Why reduce_weighted_mean(const X&, const W&) = delete;  // drx: reduce_weighted_mean(x, w): both placed at one placement, w a float or double per member

DRX_SILENT(reduce_weighted_mean)

}  // namespace drx
