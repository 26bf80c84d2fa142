// drx/primitives/patterns.hpp: what rules recognise in how an operand was computed, beyond what is known of each value: that x - max(x)
// is nowhere above 0, that a sum over exp(x - max(x)) is at least 1. Declared here, defined in the files that have what
// they name.
#pragma once

#include <drx/tape/int_list.hpp>
#include <drx/tape/known_value.hpp>

#include <optional>

namespace drx::patterns {

/// Where v comes from, through entries of this primitive and stop_gradient.
constexpr int behind(const definitions& d, int v, const primitive& p);
/// Whether v is the largest (or smallest) of x along some axes, repeated along these, as x - max(x) has it: the entry
/// that finds it, or null. (Instead of the largest there may be one that is asked first whether it is finite:
/// log(sum(exp(x))) does.)
constexpr const entry* extremum_of(const definitions& d, int v, int x);
/// The axes along which e is x minus the largest x, so that it is 0 somewhere along them and never more.
constexpr std::optional<int_list> below_maximum(const definitions& d, const entry& e);
/// Whether e is a sum over exp(x - max(x)) along the same axes: at least 1.
constexpr bool is_softmax_sum(const definitions& d, const entry& e);
/// Whether e divides ones, where x is its own maximum, and zeros by their number.
constexpr bool is_share(const definitions& d, const entry& e);
/// Whether e is erfinv of uniform numbers between -1 and 1, of which none is an end: what normal ones are made of.
constexpr bool is_of_uniform(const definitions& d, const entry& e);
/// Whether a product of matrices is the inner product of a vector with itself.
constexpr bool is_squared_norm(const definitions& d, const entry& e);

}  // namespace drx::patterns
