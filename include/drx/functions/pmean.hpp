// drx/functions/pmean.hpp: the mean over the members of a named axis, in the function of one member.
#pragma once

#include <drx/functions/tree_map.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {

/// The mean over all members of the axis P, at each of them, for floating numbers.
template <class P, class X>
  requires(Placement<P> && detail::Communicable<X> && all_floating<X>)
constexpr auto pmean(const X& x) {
  return tree_map(
      [](const auto& sum) { return sum / axis_size<P, typename std::remove_cvref_t<decltype(sum)>::value_type>(sum); },
      psum<P>(x));
}
template <class P, class X,
          class Why = std::conditional_t<detail::Communicable<X>, error::needs_floating_values,
                                         error::array_operation_on_a_placed_value>>
  requires(Structured<X> && !error::Reported<X> && !(detail::Communicable<X> && all_floating<X>))
Why pmean(const X&) = delete;  // drx: pmean<P>(x) is of one member's floating value, in a map or pmap over P; of a placed value use reduce_mean

DRX_SILENT_OF_TYPE(pmean)

}  // namespace drx
