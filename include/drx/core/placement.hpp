// drx/core/placement.hpp: a placement is a named set of members, each of which holds its own value.
#pragma once

#include <drx/config.hpp>
#include <drx/meta/names.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace drx {

/// The base of a user's placement:
///     struct clients : drx::placement<clients> {};
/// The number of members is known at run time and never part of the type. A placement may say how many there are at
/// most (at each member of its parent, if it is nested); a call with more throws std::invalid_argument:
///     struct clients : drx::placement<clients> {
///       static constexpr std::int64_t most_members = 50;
///     };
/// Fewer code is compiled then: small members are computed in blocks only from 64 of them on. (A placement is a type
/// and not a value, since nvcc 13 mangles template arguments of class type wrongly.)
template <class Self>
struct placement {};

/// A user's placement.
template <class P>
concept Placement = std::is_base_of_v<placement<P>, P>;

/// A placement as a tape knows it. Its address is its identity.
struct placement_info {
  static constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
  std::string_view name;
  std::int64_t most_members = any_number;
};

namespace detail {
template <class P>
constexpr std::int64_t most_members_of() {
  if constexpr (requires { P::most_members; }) {
    static_assert(std::integral<std::remove_cvref_t<decltype(P::most_members)>> && P::most_members > 0,
                  "drx: most_members is an integer above 0");
    return P::most_members;
  } else {
    return placement_info::any_number;
  }
}
}  // namespace detail

/// The identity of a placement on tapes.
template <class P>
inline constexpr placement_info placement_of{meta::type_name<P>(), detail::most_members_of<P>()};

/// The number of members of a placement that no argument of the program has.
struct member_count {
  const placement_info* placement;
  std::int64_t count;
};
/// n members of placement P: {.members = {drx::members<clients>(100)}}
template <class P>
  requires(Placement<P>)
constexpr member_count members(std::int64_t n) {
  return {&placement_of<P>, n};
}

}  // namespace drx
