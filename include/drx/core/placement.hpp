// drx/core/placement.hpp: a placement is a named group of members, each of which holds its own value.
#pragma once

#include <drx/config.hpp>
#include <drx/meta/names.hpp>

#include <string_view>
#include <type_traits>

namespace drx {

/// Base of a user's placement:
///     struct clients : drx::placement<clients> {};
/// How many members it has is a run-time number and never part of the type.
/// (A type, not a value: nvcc 13 mangles template arguments of class type wrongly.)
template <class Self>
struct placement {};

/// A user's placement.
template <class P>
concept Placement = std::is_base_of_v<placement<P>, P>;

/// What a tape knows of a placement. Its address is its identity.
struct placement_info {
  std::string_view name;
};

/// The identity of a placement on tapes.
template <class P>
inline constexpr placement_info placement_of{meta::type_name<P>()};

}  // namespace drx
