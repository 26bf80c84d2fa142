// drx/functions/fori_loop.hpp: a loop with a fixed number of steps.
#pragma once

#include <drx/functions/loop_memory.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

#include <limits>

namespace drx {
namespace detail {

using index_t = array<std::int32_t>;
/// Whether the loop's counter, an int32, can hold the number of steps.
template <std::int64_t Steps>
concept CountableSteps = Steps <= std::numeric_limits<std::int32_t>::max();
template <class Body, class C>
inline constexpr bool counts = !error::is_unsaid<call_result_t<Body, index_t, C>>;
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
    return no_misuse{};
  } else {
    return error::loop_body_changes_the_type_of_its_carry{};
  }
}
template <class Body, class Carry>
concept LoopBody = std::is_same_v<decltype(loop_misuse<loop_result<Body, Carry>, Carry>()), no_misuse>;

/// Adds the loop whose region was traced with inputs (index, carry, slices); captured values are its constants. A
/// guarded loop goes on as long as its first carry is true.
template <class R>
constexpr vec<int> add_loop(tracing_builder*& b, const traced_region<R>& region, std::optional<std::int64_t> length,
                            int carries, bool guarded, const loop_options& options, const auto& operands_on) {
  b = with_captures(b, region.captures);
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
  prim::rules::scan::view loop(length, captured, carries);
  if (guarded) loop.guard = 1 + captured;
  return write_loop(*b, body, operands, loop, options);
}

}  // namespace detail

/// carry = body(carry), or body(i, carry) with i an int32 counting from 0, Steps times. `options`: the residuals that
/// are kept for reverse mode (keep_carries, keep_all, checkpoint_every<K>, recompute_all), and whether the loop may
/// carry products (carry_products, no_carried_products); for both, write {keep_all, no_carried_products}.
template <std::int64_t Steps, class Carry, class Body>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Steps> &&
           detail::LoopBody<Body, Carry>)
constexpr auto fori_loop(const Carry& init, const Body& body, const loop_options& options = {}) {
  static_assert(Steps >= 0, "drx::fori_loop: a negative number of steps");
  if constexpr (error::Reported<detail::loop_result<Body, Carry>>) {
    return error::reported{};
  } else {
    const detail::leaf_refs<Carry> refs(init);
    tracing_builder* b = detail::or_of_constants(refs.innermost());
    const auto region = detail::trace_region(b, detail::loop_body<Body, Carry>{body},
                                             std::type_identity<std::int32_t>{}, std::type_identity<Carry>{});
    const vec<int> r = detail::add_loop(b, region, Steps, leaf_count<Carry>, false, options,
                                        [&](tracing_builder& t) { return refs.on(t); });
    return detail::bound<Carry>(*b, r);
  }
}
template <std::int64_t Steps, class Carry, class Body,
          class Why = decltype(detail::loop_misuse<detail::loop_result<Body, Carry>, Carry>())>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Steps> &&
           !detail::LoopBody<Body, Carry>)
Why fori_loop(const Carry&, const Body&, const loop_options& = {}) = delete;  // drx: the body takes (carry) or (i, carry), and must return the carry's own type: same shapes, element types, structure
template <std::int64_t Steps, class Carry, class Body, class Why = error::loop_has_more_steps_than_an_int32_counts>
  requires(Structured<Carry> && !error::Reported<Carry> && !detail::CountableSteps<Steps>)
Why fori_loop(const Carry&, const Body&, const loop_options& = {}) = delete;  // drx: at most 2147483647 steps: put a loop into a loop

DRX_SILENT(fori_loop)

}  // namespace drx
