// drx/tracing/values.hpp: traced values: the references in them, the builder at which they meet, and values made of results.
#pragma once

#include <drx/tracing/resolve.hpp>

namespace drx::detail {

template <class X>
constexpr traced_ref ref_of(const X& x) {
  if (!detail::is_tracing()) throw error::not_traced{};
  traced_ref r;
  structure<X>::refs(x, &r);
  return r;
}

/// All leaves of a structure, as references.
template <class X>
struct leaf_refs {
  traced_ref ref[leaf_count<X> > 0 ? leaf_count<X> : 1] = {};
  constexpr explicit leaf_refs(const X& x) {
    if (!detail::is_tracing()) throw error::not_traced{};
    structure<X>::refs(x, ref);
  }
  constexpr tracing_builder* innermost() const {
    tracing_builder* b = nullptr;
    for (int i = 0; i < leaf_count<X>; ++i)
      if (ref[i].what == traced_ref::kind::value) b = inner_of(b, ref[i].from.tape);
    return b;
  }
  /// The leaves' ids on b.
  constexpr vec<int> on(tracing_builder& b) const {
    constexpr leaf_types<X> types;
    vec<int> ids;
    for (int i = 0; i < leaf_count<X>; ++i) ids.push_back(emit::resolve(b, ref[i], types[i]));
    return ids;
  }
};

template <class... X>
constexpr tracing_builder& common_tape(const leaf_refs<X>&... refs) {
  tracing_builder* b = nullptr;
  ((b = inner_of(b, refs.innermost())), ...);
  return at_work(*or_of_constants(b));
}

/// The innermost builder among references, or one of constants.
template <class... R>
constexpr tracing_builder& tape_of(const R&... refs) {
  tracing_builder* b = nullptr;
  ((b = refs.what == traced_ref::kind::value ? inner_of(b, refs.from.tape) : b), ...);
  return at_work(*or_of_constants(b));
}
/// The builder at which x... meet; one of constants if all are constants.
template <class... X>
constexpr tracing_builder* meeting_builder(const X&... x) {
  tracing_builder* b = nullptr;
  ((b = inner_of(b, leaf_refs<X>(x).innermost())), ...);
  return or_of_constants(b);
}
/// The ids on b of all leaves of x....
template <class... X>
constexpr vec<int> leaves_on(tracing_builder& b, const X&... x) {
  vec<int> ids;
  (ids.append(leaf_refs<X>(x).on(b)), ...);
  return ids;
}

/// The traced value with that id on b.
constexpr traced_ref at(tracing_builder& b, int id) { return {{&b}, id, traced_ref::kind::value}; }
/// The traced value of type X whose leaves are ids of b.
template <class X>
constexpr traced_t<X> bound(tracing_builder& b, const vec<int>& ids, int first = 0) {
  traced_ref r[leaf_count<X> > 0 ? leaf_count<X> : 1] = {};
  for (int i = 0; i < leaf_count<X>; ++i) r[i] = at(b, ids[first + i]);
  return structure<X>::bind(r);
}

template <class A>
constexpr int id_on(tracing_builder& b, const A& x) {
  return emit::resolve(b, ref_of(x), {dtype_of<typename A::value_type>, A::shape});
}
/// Adds one entry on one array.
template <class R, class A, class Emit>
constexpr R unary(const A& x, Emit emit_entry) {
  tracing_builder& b = tape_of(ref_of(x));
  return R(at(b, emit_entry(b, emit::resolve(b, ref_of(x), {dtype_of<typename A::value_type>, A::shape}))));
}

}  // namespace drx::detail
