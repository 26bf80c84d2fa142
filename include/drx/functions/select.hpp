// drx/functions/select.hpp: the value of one member.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
/// Why member i of x cannot be selected; `no_misuse` if it can.
template <class X, class I>
constexpr auto select_misuse() {
  if constexpr (!Placed<X>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (!all_unplaced<typename X::member> || Placed<I>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Position<I>) {
    return error::needs_integer_values{};
  } else {
    return no_misuse{};
  }
}
template <class X, class I>
concept Selectable = std::is_same_v<decltype(select_misuse<X, I>()), no_misuse>;
}  // namespace detail

/// The value of member i, a number or a traced int, from 0; zeros if there is no such member.
template <class X, class I>
  requires detail::Selectable<X, I>
constexpr auto select(const X& x, const I& i) {
  constexpr const placement_info* p = &placement_of<typename X::placement>;
  const detail::leaf_refs<X> refs(x);
  const detail::leaf_refs<I> which(i);
  tracing_builder& b = detail::common_tape(refs, which);
  attributes a;
  a.placement = p;
  vec<int> operands = refs.on(b);
  operands.push_back(b.add1(prim::member_index, {}, a));
  operands.push_back(emit::broadcast(b, emit::cast(b, which.on(b)[0], dtype::int64), p));
  const int leaves = leaf_count<X>;
  vec<int> found = emit::map(b, p, operands, [=](builder& r, const vec<int>& in) {
    const int here = emit::equal(r, in[leaves], in[leaves + 1]);
    vec<int> out;
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const bool is_bool = r.type(in[leaf]).type == dtype::boolean;
      const int v = is_bool ? emit::cast(r, in[leaf], dtype::int32) : in[leaf];
      const int all_here = emit::broadcast_to(r, here, r.shape(v)), zero = emit::constant_like(r, v, 0);
      out.push_back(emit::where(r, all_here, v, zero));
    }
    return out;
  });
  constexpr leaf_types<typename X::member> types;
  for (int leaf = 0; leaf < leaves; ++leaf)
    found[leaf] = emit::cast(b, emit::reduce_sum(b, found[leaf], p), types[leaf].type);
  return detail::bound<typename X::member>(b, found);
}
template <class X, class I, class Why = decltype(detail::select_misuse<X, I>())>
  requires(Structured<X> && Structured<I> && !error::AnyReported<X, I> && !detail::Selectable<X, I>)
Why select(const X&, const I&) = delete;  // drx: select(placed, i): i is an int, or a traced int that is not placed

DRX_SILENT(select)

}  // namespace drx
