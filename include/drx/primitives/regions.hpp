// drx/primitives/regions.hpp: where values meet that an entry takes, and what the regions of one entry captured.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

namespace drx::detail {

/// The builder at which x... meet; one of constants where all are constants.
template <class... X>
constexpr builder* meeting_builder(const X&... x) {
  builder* b = nullptr;
  ((b = builder::inner(b, leaf_refs<X>(x).innermost())), ...);
  return builder::or_of_constants(b);
}
/// The numbers on b of all leaves of x....
template <class... X>
constexpr vec<int> leaves_on(builder& b, const X&... x) {
  vec<int> ids;
  (ids.append(leaf_refs<X>(x).on(b)), ...);
  return ids;
}

/// Regions of one entry that captured different values: each gets all of them, as its first inputs.
class regions_of_one_entry {
 public:
  vec<tape> bodies;
  vec<traced_ref> captures;

  template <class... R>
  constexpr explicit regions_of_one_entry(const R&... regions) {
    (collect(regions.captures), ...);
    (add(regions.body, regions.captures), ...);
  }
  /// The captured values and the leaves of x... on b.
  template <class... X>
  constexpr vec<int> operands(builder& b, const X&... x) const {
    vec<int> ids;
    for (const auto& c : captures) ids.push_back(emit::resolve(b, c, {}));
    ids.append(leaves_on(b, x...));
    return ids;
  }

 private:
  static constexpr bool same(const traced_ref& a, const traced_ref& b) { return a.from.tape == b.from.tape && a.id == b.id; }
  constexpr void collect(const vec<traced_ref>& own) {
    for (const auto& c : own) {
      bool known = false;
      for (const auto& k : captures) known = known || same(c, k);
      if (!known) captures.push_back(c);
    }
  }
  constexpr void add(tape body, const vec<traced_ref>& own) {
    const int explicit_inputs = body.inputs.size() - own.size();
    vec<int> inputs;
    for (const auto& c : captures) {
      int id = -1;
      for (int i = 0; i < own.size(); ++i)
        if (same(own[i], c)) id = body.inputs[explicit_inputs + i];
      if (id < 0) {
        id = body.values.size();
        body.values.push_back(c.from.tape->type(c.id));
      }
      inputs.push_back(id);
    }
    for (int i = 0; i < explicit_inputs; ++i) inputs.push_back(body.inputs[i]);
    body.inputs = inputs;
    bodies.push_back(body);
  }
};

}  // namespace drx::detail

#endif
