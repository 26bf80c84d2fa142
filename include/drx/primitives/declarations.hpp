// drx/primitives/declarations.hpp: the functions that rules write entries with, which add a primitive's entry to a
// builder. Each is defined in the primitive's own file. Rules write entries of other primitives, so that these files
// know each other by this one only. (A primitive that only its own rules write is not declared here.)
#pragma once

// When a primitive's file is compiled alone, the others' functions have no definition, and compilers warn.
#pragma GCC system_header

#include <drx/core/batched.hpp>
#include <drx/core/placed_parts.hpp>
#include <drx/primitives/lane_site.hpp>
#include <drx/primitives/patterns.hpp>
#include <drx/primitives/share_site.hpp>
#include <drx/primitives/split_site.hpp>
#include <drx/tape/evaluation.hpp>
#include <drx/tape/rewrite.hpp>

#include <optional>

namespace drx::emit {

constexpr int constant(builder& b, const abstract_value& type, double number);
constexpr int iota(builder& b, const abstract_value& type, int axis);
constexpr int identity(builder& b, const abstract_value& type);
constexpr bool is_constant(const builder& b, int id, double& number);

constexpr int add(builder& b, int x, int y);
constexpr int sub(builder& b, int x, int y);
constexpr int mul(builder& b, int x, int y);
constexpr int div(builder& b, int x, int y);
constexpr int neg(builder& b, int x);
constexpr int azmul(builder& b, int x, int y);
constexpr int azdiv(builder& b, int x, int y);
/// A tangent or cotangent t times a derivative d, which is a value of the program: 0 where either is 0, even where the
/// other is infinite.
constexpr int times(builder& b, int t, int d);
constexpr int equal(builder& b, int x, int y);
constexpr int less(builder& b, int x, int y);
constexpr int where(builder& b, int condition, int x, int y);
/// x or y along axis 0 of both, by the elements of a condition of rank 1; in each member if they are placed.
constexpr int choose(builder& b, int condition, int x, int y);
constexpr int cast(builder& b, int x, dtype type);
/// The same in each member, if x is placed.
constexpr int cast_of_members(builder& b, int x, dtype type);

constexpr int exp(builder& b, int x);
constexpr int log(builder& b, int x);
constexpr int sin(builder& b, int x);
constexpr int cos(builder& b, int x);
constexpr int sinh(builder& b, int x);
constexpr int cosh(builder& b, int x);
constexpr int rsqrt(builder& b, int x);
constexpr int pow(builder& b, int x, int y);

constexpr int broadcast_to(builder& b, int x, const shape& s);
constexpr int reshape(builder& b, int x, const shape& s);
constexpr int transpose(builder& b, int x, const vec<std::int64_t>& permutation);
/// sum, max_over, min_over or prod of x.
constexpr int over_axes(builder& b, const primitive& reduction, int x, const vec<std::int64_t>& axes);
constexpr int sum(builder& b, int x, const vec<std::int64_t>& axes);
constexpr int matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y);
/// The product of a tangent or cotangent and a value of the program, in which a zero wins if elements of the result are
/// single products, or if the result is one number for each element of the batch. (Larger matrix products are plain.)
constexpr int times_matrix(builder& b, int x, int y, bool transpose_x, bool transpose_y);
constexpr int slice(builder& b, int x, const vec<std::int64_t>& start, const vec<std::int64_t>& stop,
                    const vec<std::int64_t>& stride);
constexpr int part_of_axis(builder& b, int x, int axis, std::int64_t first, std::int64_t n);
constexpr int pad(builder& b, int x, const vec<std::int64_t>& low, const vec<std::int64_t>& high,
                  const vec<std::int64_t>& interior);
constexpr int concatenate(builder& b, const vec<int>& x, int axis);
constexpr int flip(builder& b, int x, const vec<std::int64_t>& axes);

constexpr int dynamic_slice(builder& b, int x, int starts, const vec<std::int64_t>& sizes, int batch);
constexpr int update_slice(builder& b, int x, int piece, int starts, int batch);
constexpr int take(builder& b, int x, int indices, int axis, int batch);
constexpr int scatter(builder& b, int indices, int updates, int axis, int batch, std::int64_t n);
constexpr int sum_of_scattered(builder& b, int x);

constexpr int cumsum(builder& b, int x, int axis, bool backwards);
constexpr int cumprod(builder& b, int x, int axis, bool backwards);
constexpr int recurrence(builder& b, int factor, int x, int axis, bool backwards);

constexpr int triangular_solve(builder& b, int a, int y, bool right, bool lower, bool transposed, bool unit);
constexpr int cholesky(builder& b, int a);
constexpr int solve(builder& b, int a, int y, bool transposed);
constexpr int logdet(builder& b, int a);
constexpr int minors(builder& b, int x, bool transposed, bool with_sign);
constexpr int cofactors(builder& b, int a);
constexpr int determinant(builder& b, int a);

constexpr int convolution(builder& b, int x, int w, const vec<std::int64_t>& ints);
constexpr int lane_matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y, bool x_in_lanes,
                          bool y_in_lanes);
constexpr int lane_convolution(builder& b, int x, int y, bool kernels_in_lanes, const attributes& single);
constexpr vec<int> lane_cholesky(builder& b, int a);
constexpr vec<int> lane_lu_factors(builder& b, int a);
constexpr int lane_triangular_solve(builder& b, int a, int y, const attributes& single, bool side_in_lanes);
constexpr int lane_lu_solve(builder& b, int lu, int exchanged, int y, bool transposed, bool side_in_lanes);
constexpr int window_sum(builder& b, int x, const vec<std::int64_t>& ints);
constexpr int window_max(builder& b, int x, const vec<std::int64_t>& ints);

constexpr int broadcast(builder& b, int x, const placement_info* p);
constexpr int members(builder& b, const placement_info* p, dtype type);
constexpr int reduce_sum(builder& b, int x, const placement_info* p);
/// For each element of x the number of the first member that attains the maximum or minimum; `number` has the members'
/// own.
constexpr int first_to_attain(builder& b, int x, int number, const placement_info* p, bool maximum);
constexpr int psum(builder& b, int x, const placement_info* axis);
constexpr int axis_index(builder& b, const placement_info* axis);
constexpr int first_member(builder& b, int x, const placement_info* axis, bool largest);
constexpr int at_axis_index(builder& b, int x, const placement_info* axis);
constexpr int distribute(builder& b, int x, const placement_info* p);
constexpr int gather(builder& b, int x, std::int64_t members, const placement_info* p);
constexpr int shard_gather(builder& b, int x, std::int64_t n, const placement_info* p);
constexpr int shard_sum(builder& b, int x, std::int64_t shards, const placement_info* p);
constexpr int with_layout(builder& b, int x, const placement_info* mesh_axis, std::int64_t shards,
                          std::optional<int> axis);

/// A constant with the type of x.
constexpr int constant_like(builder& b, int x, double number);

/// x + y where either may be a zero tangent; member by member if they are placed.
constexpr int accumulate(builder& b, int x, int y);

/// Zeros with the type and placement of x.
constexpr int zeros_like(builder& b, int x);
constexpr int instantiate_zeros(builder& b, int tangent, int like);

/// x repeated along a new axis of extent n at the front; in each member if it is placed.
constexpr int repeated(builder& b, int x, std::int64_t n);

/// x with axes 0 and 1 exchanged, such as a batch and the axis after it; in each member if it is placed.
constexpr int first_axes_exchanged(builder& b, int x);

}  // namespace drx::emit
