// drx/tape/primitive.hpp: a primitive: a name and its rules.
#pragma once

#include <drx/tape/int_list.hpp>

#include <optional>
#include <string>

namespace drx {

class builder;
struct evaluation;   // drx/tape/evaluation.hpp: one entry being evaluated by the plain interpreter
struct known_value;  // drx/tape/known_value.hpp: what is known of a value whatever the inputs are
struct known_site;
struct int_list;    // drx/tape/int_list.hpp
struct share_site;  // drx/primitives/share_site.hpp: what one member has of an entry's placed results, being written
struct split_site;  // drx/primitives/split_site.hpp: an entry being written for shards of a member
struct split_result;
struct lane_site;  // drx/primitives/lane_site.hpp: an entry being written for several members, one in each lane

/// An entry as its typing rule sees it.
struct typing {
  const vec<abstract_value>& operands;
  const attributes& attrs;
  const tapes& regions;

  /// Fails with a sentence. Users do not meet it: the typed front end refuses misuse before.
  static constexpr void require(bool ok, const char* sentence) {
    if (!ok) throw sentence;
  }
};

/// The transformations of whole tapes, for the rules of primitives that have regions. (They are passed to the rules,
/// since drx/transform/ may include drx/primitives/, but not the other way.)
struct region_drivers {
  /// inputs [t's..., tangents of those moving...] -> outputs [t's..., tangents of the floating ones...]
  tape (*jvp)(const tape& t, const vec<bool>& moving);
  /// inputs [t's..., cotangents of outputs given...] -> outputs [cotangents of the inputs wanted...]
  tape (*vjp)(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
  /// the same of the body of a map, by the mode that costs less
  tape (*vjp_of_member)(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
  /// as vjp, with t's outputs in front
  tape (*value_and_vjp)(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
  /// t with an axis 0 of extent n on the inputs batched, on the outputs that must have it, and on those that differ
  /// along it, which are then named; collectives over `axis` are over that axis
  tape (*batch_along)(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                      vec<bool>& outputs_with_axis, const placement_info* axis);
  const placement_info* axis = nullptr;
  [[nodiscard]] constexpr tape batch(const tape& t, const vec<bool>& batched, std::int64_t n) const;  // on all outputs
  [[nodiscard]] constexpr tape batch(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                                     vec<bool>& outputs_with_axis) const;
};

/// An entry as its derivative or batching rule sees it, with operands and results already on `b`.
struct rule_site {
  builder& b;
  const entry& e;
  const vec<int>& operands;
  const vec<int>& results;  // empty for a batching rule
  const region_drivers& drivers;
  const vec<int>& residuals = {};  // in vjp: the residuals that `augmented` returned
};

/// Stands for a tangent or cotangent that is zero: it never becomes work.
inline constexpr int zero_tangent = -1;

/// What becomes of what each member computes: an entry that folds it ends a stage (plan/staging). `collect`: it is kept
/// for each.
enum class fold : std::int8_t {
  none = -1,
  sum,
  mean,
  max,
  min,
  collect,
  monoid,
  gather,
  shards,
  permute,
  transpose,
  shard_sum
};

/// What becomes of an entry when a program is executed.
enum class role : std::int8_t {
  step,        // it is a step of its own
  fused,       // elementwise: a member of a fused loop
  virtual_,    // constant, iota, broadcast_to: read where it is used
  rearranged,  // slice, pad, concatenate, roll, flip: read where its operands lie, or a step
  alias        // reshape, stop_gradient: another name of its operand
};

/// A collective's result where an axis of arrays takes the members' place, and whether it has that axis in front.
struct along_axis_result {
  int id;
  bool has_axis;
};

/// What an entry costs, as far as plans weigh it. The default is that of an entry whose cost does not matter.
struct entry_cost {
  double multiplications =
      0;                     // in the entry's own matrix products. (In nested long loops they may exceed the integers.)
  double repeats = 1;        // how often its regions are computed
  bool suits_lanes = false;  // several members compute it faster each in a lane than along a first axis
};

/// A primitive owns its rules. An object of this type, with static storage, is its identity.
struct primitive {
  const char* name;
  /// Result types from operand types.
  vec<abstract_value> (*type)(const typing&);
  /// Tangents of the results from tangents of the operands. A rule that computes the results again along the way
  /// returns them after the tangents, and they take the place of the first ones.
  vec<int> (*jvp)(const rule_site&, const vec<int>& tangents) = nullptr;
  /// Cotangents of the operands (those with wanted[i]) from cotangents of the results. For a primitive that is
  /// linear in an operand this is its transpose.
  vec<int> (*vjp)(const rule_site&, const vec<int>& cotangents, const vec<bool>& wanted) = nullptr;
  /// Writes the entry for a reverse sweep that will want the same operands' cotangents. Returns its results, then the
  /// residuals for vjp. Without this rule the entry is written as it is, and vjp needs only operands and results.
  vec<int> (*augmented)(const rule_site&, const vec<bool>& wanted) = nullptr;
  /// The entry on a batch of n: operands with batched[i] have a new axis 0, and so do all results.
  vec<int> (*batch)(const rule_site&, const vec<bool>& batched, std::int64_t n) = nullptr;
  /// A collective over the axis of a batch of n (vmap over a named axis): its operands have that axis in front, if they
  /// differ along it.
  along_axis_result (*along_axis)(const rule_site&, bool operands_have_axis, std::int64_t n) = nullptr;
  /// A value that is already on the tape and equal to this entry's one result, or -1.
  int (*simplify)(builder&, const vec<int>& operands, const attributes&) = nullptr;
  /// The results of an entry with regions, if they can be had without it, as those of a branch on a constant; else
  /// empty.
  vec<int> (*unfold)(builder&, const vec<int>& operands, const tapes& regions) = nullptr;
  /// Removes from an entry with regions the results that are not wanted, and all that only they needed.
  void (*prune)(entry&, const vec<bool>& wanted) = nullptr;
  /// The text that is printed after the name, from the attributes.
  std::string (*print)(const attributes&) = nullptr;
  /// Computes the entry in the plain interpreter.
  void (*evaluate)(evaluation&) = nullptr;
  /// Computes the entry on addresses: attrs.ints, the operands' elements, the results'. A primitive that has it needs
  /// no kernel: it allocates nothing.
  void (*native)(const std::int64_t* ints, const void* const* in, void* const* out) = nullptr;
  /// How the entry folds what members compute; `none`: it does not.
  drx::fold fold = drx::fold::none;
  /// A member's share of each result, of an entry that makes placed values member by member.
  vec<int> (*share)(share_site&) = nullptr;
  /// How many members the placement has, where the entry says so.
  std::optional<std::int64_t> (*members)(const tape&, const entry&) = nullptr;
  /// What is known of the results, one by one (of what is behind the last that is returned: nothing). Without this rule
  /// nothing is known: products of derivatives with the results are guarded, which is right, and slower than need be.
  vec<known_value> (*known)(const known_site&) = nullptr;
  /// What is known of the inputs of region number i. Without this rule nothing is.
  vec<known_value> (*known_inside)(const known_site&, int i) = nullptr;
  /// The entry for several members at once, what differs between them along a last axis. Without this rule, and where
  /// it returns nothing, the entry is batched between two transposes: right, and slow.
  vec<int> (*lanes)(const lane_site&) = nullptr;
  /// The entry on a shard of a member (with_layout), whose operands are parts of what the member has: its results, and
  /// along which axis these are split. Without this rule, and where it returns nothing, the operands are gathered from
  /// the shards and taken whole.
  vec<split_result> (*split)(split_site&) = nullptr;
  drx::role role = drx::role::step;
  /// The bytes that the entry's kernel computes in, beside operands and results.
  std::int64_t (*scratch)(const vec<abstract_value>& operands, int_list) = nullptr;
  /// What the entry costs. Without this rule it costs as much as what it has in its regions, computed once: plans are
  /// right, and may be slower than need be.
  entry_cost (*cost)(const tape&, const entry&) = nullptr;
  bool transparent = false;  // region 0, applied to the operands, computes the entry and takes its place when executed
  bool elementwise = false;  // there is a row for it (primitives/elementwise.hpp)
  bool pointwise = false;    // result[i] depends on operand[i] only, all of one shape
  bool in_place =
      false;  // its kernel may write the result over operand 0, of which it reads nothing else than it writes
  /// Its rules take numbers of 16 bits as they are: it copies elements, or rounds what it computes with them itself.
  /// For others they are cast to float, and the results back.
  bool takes_halves = false;
};

constexpr entry_cost cost_of(const tape& t, const entry& e) { return e.prim->cost ? e.prim->cost(t, e) : entry_cost(); }

constexpr tape region_drivers::batch(const tape& t, const vec<bool>& batched, std::int64_t n) const {
  vec<bool> all;
  return batch_along(t, batched, n, vec<bool>(t.outputs.size(), true), all, axis);
}
constexpr tape region_drivers::batch(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                                     vec<bool>& outputs_with_axis) const {
  return batch_along(t, batched, n, must, outputs_with_axis, axis);
}

}  // namespace drx
