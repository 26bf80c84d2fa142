// drx/primitives/split_site.hpp: what a primitive's rule `split` sees, which writes an entry of a member whose values are split over shards:
// each shard holds a part along one axis of a value, or all of it. And the rules that many primitives share.
#pragma once

#include <drx/tape/builder.hpp>

namespace drx {

/// Whose members are split, over which axis, in how many shards. (count 0: no layouts.)
struct mesh_axes {
  const placement_info* members = nullptr;
  const placement_info* shards = nullptr;
  std::int64_t count = 0;
};

/// One result of an entry in shards: its name on the builder, and along which axis it is split.
struct split_result {
  int id;
  int axis;
};

struct split_site {
  static constexpr int whole = -1;  // no axis: not split

  builder& b;
  const tape& t;  // of whole members
  const entry& e;
  const mesh_axes& mesh;

  constexpr split_site(builder& on, const tape& source, const entry& of, const mesh_axes& axes)
      : b(on), t(source), e(of), mesh(axes) {}
  /// Along which axis operand i is split, or `whole`.
  [[nodiscard]] constexpr virtual int axis(int i) const = 0;
  /// Operand i on the builder, split along axis k, or whole.
  constexpr virtual int at(int i, int k) = 0;
  /// x of all shards, behind a new axis 0.
  constexpr virtual int from_shards(int x) = 0;

  /// Operand i as it is.
  constexpr int operand(int i) { return at(i, axis(i)); }
  [[nodiscard]] constexpr const shape& whole_shape(int i) const { return t.values[e.operands[i]].shape; }
  [[nodiscard]] constexpr const abstract_value& whole_result() const { return t.values[e.results[0]]; }
  [[nodiscard]] constexpr bool divides(const shape& s, int k) const {
    return k >= 0 && k < s.rank && s[k] % mesh.count == 0;
  }
  /// s of a part that is split along k.
  [[nodiscard]] constexpr shape part_of(shape s, int k) const {
    if (k != whole) s[k] /= mesh.count;
    return s;
  }
  /// The first operand that is split, or -1.
  [[nodiscard]] constexpr int first_split() const {
    for (int i = 0; i < e.operands.size(); ++i)
      if (axis(i) != whole) return i;
    return -1;
  }
  /// The axis along which that one is.
  [[nodiscard]] constexpr int first_axis() const {
    const int first = first_split();
    return first < 0 ? whole : axis(first);
  }
  /// The entry with these attributes on parts along first_axis(), of which its results are parts too: of a primitive
  /// that keeps apart the elements along that axis. Operands that have it once are taken whole. Nothing where nothing
  /// is split.
  constexpr vec<split_result> apart(const attributes& a) {
    const int first = first_split();
    if (first < 0) return {};
    const int k = axis(first);
    const shape& s = whole_shape(first);
    vec<int> operands;
    for (int i = 0; i < e.operands.size(); ++i) {
      const shape& other = whole_shape(i);
      const bool along = k < other.rank && other[k] == s[k];
      if (!along && k < other.rank && other[k] != 1) return {};
      operands.push_back(at(i, along ? k : whole));
    }
    vec<split_result> r;
    for (int id : b.add(*e.prim, operands, a)) r.push_back({id, k});
    return r;
  }
};

namespace prim::rules::split {
/// Operands are taken whole.
constexpr vec<split_result> whole(split_site&) { return {}; }
/// Elements depend on those in the same place.
constexpr vec<split_result> by_element(split_site& s) {
  const int k = s.first_axis();
  vec<int> operands;
  for (int i = 0; i < s.e.operands.size(); ++i) operands.push_back(s.at(i, k));
  return {{s.b.add1(*s.e.prim, operands, s.e.attrs), k}};
}
/// Along axes but the one that the entry names.
template <class Rules>
constexpr vec<split_result> but_along(split_site& s) {
  if (s.first_axis() == typename Rules::view(s.e).axis) return {};
  return s.apart(s.e.attrs);
}
/// Along the first axes, which are a batch.
template <class Rules>
constexpr vec<split_result> along_batch(split_site& s) {
  if (s.first_axis() >= typename Rules::view(s.e).batch) return {};
  return s.apart(s.e.attrs);
}
/// Along axes but the last two, of matrices.
constexpr vec<split_result> along_matrices(split_site& s) {
  const int first = s.first_split();
  if (first < 0 || s.axis(first) >= s.whole_shape(first).rank - 2) return {};
  return s.apart(s.e.attrs);
}
}  // namespace prim::rules::split

}  // namespace drx
