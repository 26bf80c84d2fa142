// drx/primitives/with_layout.hpp: layouts: how a value of one member is held by the shards of a mesh, whole at each or
// split along an axis. A layout changes no number; plan/shards/partitioner.hpp rewrites programs for shards by it.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

#include <optional>

namespace drx {
namespace prim::rules {
struct with_layout {  // placement: the axis of the mesh
  struct view {       // ints: {how many shards, the array's axis}
    std::int64_t shards;
    std::optional<int> axis;  // of the array; none: each shard has all of it
    constexpr view(std::int64_t n, std::optional<int> split) : shards(n), axis(split) {}
    constexpr explicit view(int_list a) : shards(a[0]) {
      if (a[1] != replicated) axis = a.number(1);
    }
    [[nodiscard]] constexpr attributes make(const placement_info* mesh_axis) const {
      attributes a;
      a.placement = mesh_axis;
      a.ints = {shards, axis.value_or(replicated)};
      return a;
    }

   private:
    static constexpr int replicated = -1;
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value& x = t.operands[0];
    const view to(t.attrs);
    typing::require(x.depth == 0, "with_layout: of a placed value");
    typing::require(!to.axis || (*to.axis < x.shape.rank && x.shape[*to.axis] % to.shards == 0),
                    "with_layout: no equal shards");
    return {x};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) { return jvp(s, ct); }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    view to(s.e);
    if (to.axis) ++*to.axis;
    return {s.b.add1(*s.e.prim, s.operands, to.make(s.e.attrs.placement))};
  }
  static std::string print(const attributes& a) {
    const view to(a);
    return std::string(a.placement->name) +
           (to.axis ? ": split along " + std::to_string(*to.axis) + " in " + std::to_string(to.shards)
                    : ": replicated");
  }
  static constexpr vec<split_result> split(split_site& s) {  // (a layout over another mesh is not heeded)
    const bool of_mesh = s.e.attrs.placement == s.mesh.shards && view(s.e).shards == s.mesh.count;
    const int k = of_mesh ? view(s.e).axis.value_or(split_site::whole) : s.axis(0);
    return {{s.at(0, k), k}};
  }
  static void evaluate(evaluation& v) { v.out[0] = *v.in[0]; }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive with_layout{.name = "with_layout",
                                       .type = rules::with_layout::type,
                                       .jvp = rules::with_layout::jvp,
                                       .vjp = rules::with_layout::vjp,
                                       .batch = rules::with_layout::batch,
                                       .print = rules::with_layout::print,
                                       .evaluate = rules::with_layout::evaluate,
                                       .known = rules::known::handed_on,
                                       .split = rules::with_layout::split,
                                       .takes_halves = true};
}

namespace emit {
constexpr int with_layout(builder& b, int x, const placement_info* mesh_axis, std::int64_t shards,
                          std::optional<int> axis) {
  return b.add1(prim::with_layout, {x}, prim::rules::with_layout::view(shards, axis).make(mesh_axis));
}
}  // namespace emit

/// Layouts: each shard has the whole array, or one of equal parts along axis K (negative ones count from the end).
struct replicated_t {};
/// Layout of with_layout: each shard has the whole value.
inline constexpr replicated_t replicated{};
template <int K>
struct split_along_t {};
/// Layout of with_layout: each shard has one of the equal parts along axis K.
template <int K>
inline constexpr split_along_t<K> split_along{};

namespace detail {
template <class A, std::int64_t Shards, int K>
constexpr auto layout_misuse(split_along_t<K>) {
  if constexpr (!Array<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (K < -A::rank || K >= A::rank) {
    return error::axis_out_of_range{};
  } else if constexpr (Shards < 1 || A::shape[normal_axis(K, A::rank)] % Shards != 0) {
    return error::axis_does_not_divide{};
  } else {
    return no_misuse{};
  }
}
template <class A, std::int64_t Shards>
constexpr auto layout_misuse(replicated_t) {
  return std::conditional_t<Array<A>, no_misuse, error::array_operation_on_a_placed_value>{};
}
template <int K>
constexpr std::optional<int> laid_along(split_along_t<K>, int rank) {
  return normal_axis(K, rank);
}
constexpr std::optional<int> laid_along(replicated_t, int) { return {}; }
template <class A, std::int64_t Shards, class Layout>
concept LaidOut = Array<A> && std::is_same_v<decltype(layout_misuse<A, Shards>(Layout{})), no_misuse>;
}  // namespace detail

/// x, pinned to a layout over the axis P of a mesh, which splits each member of the map around it in that many shards:
///     auto halves = drx::with_layout<model, 2>(w, drx::split_along<1>);  // half of the columns at each of two
///     auto h = drx::tanh(drx::matmul(x, halves));
/// The numbers are those of the program without it. Values computed from a split value are split; where a sum goes over
/// a split axis, as in a product, shards add up their parts. Layouts take effect in the body of a map or pmap, but not
/// in its branches, loops that end by a condition, or maps; there they change nothing. Derivative: the same layout.
template <class P, std::int64_t Shards, class A, class Layout>
  requires(Placement<P> && detail::LaidOut<A, Shards, Layout>)
constexpr A with_layout(const A& x, Layout layout) {
  tracing_builder& b = detail::tape_of(detail::ref_of(x));
  const int id = emit::resolve(b, detail::ref_of(x), {dtype_of<typename A::value_type>, A::shape});
  return A(detail::at(b, emit::with_layout(b, id, &placement_of<P>, Shards, detail::laid_along(layout, A::rank))));
}
template <class P, std::int64_t Shards, class A, class Layout,
          class Why = decltype(detail::layout_misuse<A, Shards>(Layout{}))>
  requires(Placement<P> && Structured<A> && !error::Reported<A> && !detail::LaidOut<A, Shards, Layout>)
Why with_layout(const A&, Layout) = delete;  // drx: with_layout<P, n>(x, split_along<k>): x is an array of one member, with an axis k whose extent is a multiple of n

DRX_SILENT_OF_TYPE(with_layout)

}  // namespace drx
