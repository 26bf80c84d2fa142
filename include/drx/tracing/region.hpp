// drx/tracing/region.hpp: functions traced on a tape of their own: the bodies of maps, loops and branches.
#pragma once

#include <drx/tracing/values.hpp>

namespace drx::detail {

/// Traces f on values of the given types in a region of its own. Its operands are the leaves, then the captured values.
template <class Result>
struct traced_region {
  tape body;
  vec<traced_ref> captures;
};

template <region_kind Kind, class Axis, class F, class... X>
constexpr auto trace_region_in(tracing_context& context, const F& f, std::type_identity<X>...) {
  using R = call_result_t<F, traced_t<X>...>;
  tracing_builder own(context);
  tracing_builder& region = context.constants() ? context.constants()->open_region() : own;
  const placement_info* axis = nullptr;
  if constexpr (!std::is_void_v<Axis>) axis = &placement_of<Axis>;
  const region_scope scope(context, region, Kind, axis);
  vec<int> ids;
  [[maybe_unused]] auto input = [&]<class Y>(std::type_identity<Y>) {
    constexpr leaf_types<Y> types;
    const int first = ids.size();
    for (int i = 0; i < leaf_count<Y>; ++i) ids.push_back(region.input(types[i]));
    return bound<Y>(region, ids, first);
  };
  std::tuple<traced_t<X>...> inputs{input(std::type_identity<X>{})...};
  const auto result = std::apply(f, inputs);
  for (int id : leaf_refs<R>(result).on(region)) region.output(id);
  tape body;
  if (&region == &own)
    body = own.take();
  else
    body = region.result();
  return traced_region<R>{with_broadcasts_inside(static_cast<tape&&>(body)), region.captures()};
}
template <region_kind Kind = region_kind::loop, class Axis = void, class F, class... X>
constexpr auto trace_region(tracing_builder* outer, const F& f, std::type_identity<X>... x) {
  if (!outer->of_constants()) return trace_region_in<Kind, Axis>(outer->context(), f, x...);
  constants_trace* around = &constants_trace::open(outer->context());
  auto region = trace_region_in<Kind, Axis>(around->context(), f, x...);
  if (around->is_ambiguous()) {
    const constants_trace& first_attempt = *around;
    around = &constants_trace::open(outer->context());
    around->set_depth_by(first_attempt);
    region = trace_region_in<Kind, Axis>(around->context(), f, x...);
  }
  return region;
}
/// The innermost among b, the builders that a region captured from, and branches.
constexpr tracing_builder* with_captures(tracing_builder* b, const vec<traced_ref>& captures) {
  tracing_builder* const first = b;
  for (const auto& c : captures) b = inner_of(b, c.from.tape);
  if (first->of_constants()) constants_trace::adopt(b->context(), first->context());
  return &at_work(*b);
}

/// Regions of one entry that captured different values: each gets all of them, as its first inputs.
class regions_of_one_entry {
 public:
  tapes bodies;
  vec<traced_ref> captures;

  template <class... R>
  constexpr explicit regions_of_one_entry(const R&... regions) {
    (collect(regions.captures), ...);
    (add(regions.body, regions.captures), ...);
  }
  /// The captured values and the leaves of x... on b.
  template <class... X>
  constexpr vec<int> operands(tracing_builder& b, const X&... x) const {
    vec<int> ids;
    for (const auto& c : captures) ids.push_back(emit::resolve(b, c, {}));
    ids.append(leaves_on(b, x...));
    return ids;
  }

 private:
  static constexpr bool same(const traced_ref& a, const traced_ref& b) {
    return a.from.tape == b.from.tape && a.id == b.id;
  }
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
