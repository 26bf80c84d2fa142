// drx/functions/scan.hpp: a loop over the slices of stacked arrays, which stacks a result of each step.
#pragma once

#include <drx/functions/fori_loop.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {

/// The extent of axis 0 if all leaves of X have the same; else -1.
template <class X>
constexpr std::int64_t common_length() {
  leaf_types<X> types;
  std::int64_t n = -1;
  for (int i = 0; i < leaf_count<X>; ++i) {
    const shape& s = types[i].shape;
    if (s.rank == 0 || (i > 0 && s[0] != n)) return -1;
    n = s[0];
  }
  return n;
}

}  // namespace detail

/// For each slice x of xs along axis 0: (carry, y) = f(carry, x). Returns (last carry, stacked ys). xs is an array or a
/// structure of arrays. ys of arrays and tuples get the axis; ys of a struct are a drx::batched<Y, length>. f returns a
/// std::pair or std::tuple of two. `options` as in fori_loop.
template <class Carry, class Xs, class F>
constexpr auto scan(const F& f, const Carry& init, const Xs& xs, const loop_options& options = {}) {
  constexpr std::int64_t length = detail::common_length<canonical_t<Xs>>();
  static_assert(length >= 0, "drx::scan: the xs are not of one length");
  static_assert(detail::CountableSteps<length>, "drx::scan: loop_has_more_steps_than_an_int32_counts");
  using X = typename detail::drop_axis<canonical_t<Xs>, 0>::type;
  const auto step = [&](const detail::index_t&, const auto& carry, const auto& x) { return f(carry, x); };
  using R = decltype(f(std::declval<traced_t<Carry>>(), std::declval<traced_t<X>>()));
  using C = canonical_t<std::tuple_element_t<0, R>>;
  using Y = canonical_t<std::tuple_element_t<1, R>>;
  static_assert(std::is_same_v<C, canonical_t<Carry>>, "drx::scan: loop_body_changes_the_type_of_its_carry");
  const detail::leaf_refs<Carry> refs(init);
  const detail::leaf_refs<Xs> xs_refs(xs);
  tracing_builder* b = detail::or_of_constants(detail::inner_of(refs.innermost(), xs_refs.innermost()));
  const auto region = detail::trace_region(b, step, std::type_identity<std::int32_t>{}, std::type_identity<Carry>{},
                                           std::type_identity<X>{});
  const vec<int> r = detail::add_loop(b, region, length, leaf_count<Carry>, false, options, [&](tracing_builder& t) {
    vec<int> ids = refs.on(t);
    ids.append(xs_refs.on(t));
    return ids;
  });
  using Ys = stacked_t<Y, length>;
  return std::pair<traced_t<Carry>, traced_t<Ys>>{detail::bound<Carry>(*b, r),
                                                  detail::bound<Ys>(*b, r, leaf_count<Carry>)};
}

DRX_SILENT(scan)

}  // namespace drx
