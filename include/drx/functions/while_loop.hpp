// drx/functions/while_loop.hpp: a loop that goes on as long as a condition holds.
#pragma once

#include <drx/functions/fori_loop.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {

template <class Cond, class Body, class Carry>
constexpr auto while_misuse() {
  if constexpr (!TracedResult<call_result_t<Cond, traced_t<Carry>>>) {
    return result_misuse<call_result_t<Cond, traced_t<Carry>>>();
  } else if constexpr (!error::Reported<call_result_t<Cond, traced_t<Carry>>> &&
                       !Condition<call_result_t<Cond, traced_t<Carry>>>) {
    return error::condition_is_not_one_bool{};
  } else {
    return loop_misuse<loop_result<Body, Carry>, Carry>();
  }
}
template <class Cond, class Body, class Carry>
concept WhileLoop = std::is_same_v<decltype(while_misuse<Cond, Body, Carry>()), no_misuse>;

/// One step of a guarded loop: the condition is evaluated on the step's result.
template <class Cond, class Body, class Carry>
struct while_step {
  const Cond& condition;
  const Body& body;
  constexpr auto operator()(const index_t& i, const array<bool>&, const traced_t<Carry>& carry) const {
    tracing_builder& b = *ref_of(i).from.tape;
    const auto next = loop_body<Body, Carry>{body}(i, carry);
    using R = std::remove_const_t<decltype(next)>;
    const traced_t<Carry> x = bound<Carry>(b, leaf_refs<R>(next).on(b));
    return std::tuple<array<bool>, traced_t<Carry>>{condition(x), x};
  }
};

}  // namespace detail

/// carry = body(carry), or body(i, carry) with i an int32 counting from 0, while condition(carry), one bool, holds; at
/// most Max times, if given. Forward derivatives go along with the steps. Reverse mode needs Max: it keeps Max carries,
/// and goes back over the steps that were done (`options` as in fori_loop). In a batch all elements go on until the
/// last is done.
template <std::int64_t Max = -1, class Cond, class Body, class Carry>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Max> &&
           detail::WhileLoop<Cond, Body, Carry>)
constexpr auto while_loop(const Cond& condition, const Body& body, const Carry& init,
                          const loop_options& options = {}) {
  static_assert(Max >= -1, "drx::while_loop: a negative number of steps");
  if constexpr (error::AnyReported<detail::loop_result<Body, Carry>, detail::call_result_t<Cond, traced_t<Carry>>>) {
    return error::reported{};
  } else {
    const detail::leaf_refs<Carry> refs(init);
    tracing_builder* b = detail::or_of_constants(refs.innermost());
    const auto region = detail::trace_region(b, detail::while_step<Cond, Body, Carry>{condition, body},
                                             std::type_identity<std::int32_t>{}, std::type_identity<bool>{},
                                             std::type_identity<Carry>{});
    std::optional<std::int64_t> length;
    if (Max >= 0) length = Max;
    const vec<int> r =
        detail::add_loop(b, region, length, 1 + leaf_count<Carry>, true, options, [&](tracing_builder& t) {
          const vec<int> start = refs.on(t);
          const auto holds = condition(detail::bound<Carry>(t, start));
          vec<int> ids = detail::leaf_refs<std::remove_const_t<decltype(holds)>>(holds).on(t);
          ids.append(start);
          return ids;
        });
    return detail::bound<Carry>(*b, r, 1);
  }
}
template <std::int64_t Max = -1, class Cond, class Body, class Carry,
          class Why = decltype(detail::while_misuse<Cond, Body, Carry>())>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Max> &&
           !detail::WhileLoop<Cond, Body, Carry>)
Why while_loop(const Cond&, const Body&, const Carry&, const loop_options& = {}) = delete;  // drx: while_loop(condition, body, carry): condition(carry) is one bool, a drx::array<bool>; body(carry) or body(i, carry) returns the carry's own type
template <std::int64_t Max, class Cond, class Body, class Carry,
          class Why = error::loop_has_more_steps_than_an_int32_counts>
  requires(Structured<Carry> && !error::Reported<Carry> && !detail::CountableSteps<Max>)
Why while_loop(const Cond&, const Body&, const Carry&, const loop_options& = {}) = delete;  // drx: a bound of at most 2147483647 steps, or none: while_loop(condition, body, carry)

DRX_SILENT(while_loop)

}  // namespace drx
