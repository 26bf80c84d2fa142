// drx/core/placement.hpp: a placement is a named set of members, each of which holds its own value.
#pragma once

#include <drx/config.hpp>
#include <drx/meta/names.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace drx {

/// The base of a user's placement:
///     struct clients : drx::placement<clients> {};
/// The number of members is known at run time and never part of the type. (A placement is a type and not a value, since
/// nvcc 13 mangles template arguments of class type wrongly.)
template <class Self>
struct placement {};

/// A user's placement.
template <class P>
concept Placement = std::is_base_of_v<placement<P>, P>;

/// A placement as a tape knows it. Its address is its identity.
struct placement_info {
  std::string_view name;
};

/// The identity of a placement on tapes.
template <class P>
inline constexpr placement_info placement_of{meta::type_name<P>()};

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
