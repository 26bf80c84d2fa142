// drx/tracing/values.hpp: traced values: the references in them, the builder at which they meet, and values made of results.
#pragma once

#include <drx/tracing/resolve.hpp>

namespace drx::detail {

template <class X>
constexpr traced_ref ref_of(const X& x) {
  if (!std::is_constant_evaluated()) throw error::not_traced{};
  traced_ref r;
  structure<X>::refs(x, &r);
  return r;
}

/// All leaves of a structure, as references.
template <class X>
struct leaf_refs {
  traced_ref ref[leaf_count<X> > 0 ? leaf_count<X> : 1] = {};
  constexpr explicit leaf_refs(const X& x) {
    if (!std::is_constant_evaluated()) throw error::not_traced{};
    structure<X>::refs(x, ref);
  }
  constexpr builder* innermost() const {
    builder* b = nullptr;
    for (int i = 0; i < leaf_count<X>; ++i)
      if (ref[i].what == traced_ref::kind::value) b = builder::inner(b, ref[i].from.tape);
    return b;
  }
  /// The leaves' ids on b.
  constexpr vec<int> on(builder& b) const {
    constexpr leaf_types<X> types;
    vec<int> ids;
    for (int i = 0; i < leaf_count<X>; ++i) ids.push_back(emit::resolve(b, ref[i], types[i]));
    return ids;
  }
};

template <class... X>
constexpr builder& common_tape(const leaf_refs<X>&... refs) {
  builder* b = nullptr;
  ((b = builder::inner(b, refs.innermost())), ...);
  return builder::or_of_constants(b)->at_work();
}

/// The innermost builder among references, or one of constants.
template <class... R>
constexpr builder& tape_of(const R&... refs) {
  builder* b = nullptr;
  ((b = refs.what == traced_ref::kind::value ? builder::inner(b, refs.from.tape) : b), ...);
  return builder::or_of_constants(b)->at_work();
}
/// The builder at which x... meet; one of constants if all are constants.
template <class... X>
constexpr builder* meeting_builder(const X&... x) {
  builder* b = nullptr;
  ((b = builder::inner(b, leaf_refs<X>(x).innermost())), ...);
  return builder::or_of_constants(b);
}
/// The ids on b of all leaves of x....
template <class... X>
constexpr vec<int> leaves_on(builder& b, const X&... x) {
  vec<int> ids;
  (ids.append(leaf_refs<X>(x).on(b)), ...);
  return ids;
}

/// The traced value with that id on b.
constexpr traced_ref at(builder& b, int id) { return {{&b}, id, traced_ref::kind::value}; }
/// The traced value of type X whose leaves are ids of b.
template <class X>
constexpr traced_t<X> bound(builder& b, const vec<int>& ids, int first = 0) {
  traced_ref r[leaf_count<X> > 0 ? leaf_count<X> : 1] = {};
  for (int i = 0; i < leaf_count<X>; ++i) r[i] = at(b, ids[first + i]);
  return structure<X>::bind(r);
}

template <class A>
constexpr int id_on(builder& b, const A& x) {
  return emit::resolve(b, ref_of(x), {dtype_of<typename A::value_type>, A::shape});
}
/// Adds one entry on one array.
template <class R, class A, class Emit>
constexpr R unary(const A& x, Emit emit_entry) {
  builder& b = tape_of(ref_of(x));
  return R(at(b, emit_entry(b, emit::resolve(b, ref_of(x), {dtype_of<typename A::value_type>, A::shape}))));
}

}  // namespace drx::detail
