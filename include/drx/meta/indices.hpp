// drx/meta/indices.hpp: the indices for which something holds, so that code is made for these alone.
// Tested by tests/unit/core/indices.cpp.
#pragma once

#include <drx/config.hpp>

#include <utility>

namespace drx::meta {

template <bool... Holds>
struct indices_where_type {
  static constexpr int count = (0 + ... + static_cast<int>(Holds));
  struct list {
    int at[count + 1] = {};
  };
  static constexpr list chosen = [] {
    constexpr bool holds[] = {Holds..., false};
    list l;
    int n = 0;
    for (int i = 0; i < static_cast<int>(sizeof...(Holds)); ++i)
      if (holds[i]) l.at[n++] = i;
    return l;
  }();
  template <int... K>
  static std::integer_sequence<int, chosen.at[K]...> pick(std::integer_sequence<int, K...>);
  using type = decltype(pick(std::make_integer_sequence<int, count>{}));
};
/// The places at which Holds is true, as a std::integer_sequence: those of <true, false, true> are <0, 2>.
template <bool... Holds>
using indices_where = typename indices_where_type<Holds...>::type;

/// Calls f(std::integral_constant<int, I>{}) for each I of a sequence, in its order.
template <int... I, class F>
DRX_INLINE constexpr void for_each(std::integer_sequence<int, I...>, const F& f) {
  (f(std::integral_constant<int, I>{}), ...);
}

}  // namespace drx::meta
