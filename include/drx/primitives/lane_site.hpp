// drx/primitives/lane_site.hpp: what a primitive's rule `lanes` sees, which writes an entry for several members at once, one in each lane:
// what differs between members has a last axis, along which vectors run. And the rules that many primitives share.
#pragma once

// Compiled alone it has no definitions of the functions of declarations.hpp, of which compilers warn.
#pragma GCC system_header

#include <drx/tape/int_list.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx {

namespace emit {  // (of declarations.hpp, which includes this)
constexpr int broadcast_to(builder& b, int x, const shape& s);
constexpr int reshape(builder& b, int x, const shape& s);
}  // namespace emit

struct lane_site {
  builder& b;
  const entry& e;
  const vec<int>& operands;   // on b
  const vec<bool>& in_lanes;  // which of them have the lanes as their last axis; at least one
  std::int64_t n;             // how many lanes there are
  vec<bool>& results;         // which of the results have; all, unless the rule says otherwise
  bool is_added_up;           // whether the result is added up over the lanes, by itself or as a term of a sum
  const vec<int>& constants;  // on b: of the loop whose body this is
  /// t's entries on `inputs`, of which some are in lanes: its outputs, and in `lanes` which of them are. In a loop's
  /// body so many inputs, after the first one, are its constants.
  vec<int> (*write)(builder& b, std::int64_t n, const tape& t, const vec<int>& inputs, vec<bool>& lanes, int constants);

  /// x, which is the same in all lanes, in each of them.
  [[nodiscard]] constexpr int spread(int x) const { return spread(b, x); }
  constexpr int spread(builder& on, int x) const {
    const shape s = on.shape(x);
    return emit::broadcast_to(on, emit::reshape(on, x, with_last(s, 1)), with_last(s, n));
  }
  /// Operand i in lanes.
  [[nodiscard]] constexpr int operand(int i) const { return in_lanes[i] ? operands[i] : spread(operands[i]); }
  [[nodiscard]] constexpr vec<int> all_operands() const {
    vec<int> r;
    for (int i = 0; i < operands.size(); ++i) r.push_back(operand(i));
    return r;
  }
  /// The same entry on other operands.
  [[nodiscard]] constexpr vec<int> same_on(const vec<int>& o) const { return {b.add1(*e.prim, o, e.attrs)}; }
  /// A region's tape, of whose inputs some are in lanes; outputs that must be are spread. Says in `lanes` which outputs
  /// are. `loop_constants` as for `write`.
  constexpr tape region(const tape& t, const vec<bool>& in, const vec<bool>& must, vec<bool>& lanes,
                        int loop_constants = 0) const {
    builder r;
    vec<int> inputs;
    for (int i = 0; i < t.inputs.size(); ++i) {
      const abstract_value v = t.values[t.inputs[i]];
      inputs.push_back(r.input(in[i] ? v.with_shape(with_last(v.shape, n)) : v));
    }
    lanes = in;
    const vec<int> out = write(r, n, t, inputs, lanes, loop_constants);
    for (int i = 0; i < out.size(); ++i) {
      r.output(must[i] && !lanes[i] ? spread(r, out[i]) : out[i]);
      lanes[i] = lanes[i] || must[i];
    }
    return r.take();
  }
};

namespace prim::rules::lanes {
/// The entry is batched between two transposes.
constexpr vec<int> batched(const lane_site&) { return {}; }
/// An axis more at the end makes no difference: the same entry, on operands that are all in lanes.
constexpr vec<int> same(const lane_site& s) { return s.same_on(s.all_operands()); }
/// The same where what tells places, operand I, is common to all members.
template <int I>
constexpr vec<int> same_places(const lane_site& s) {
  if (s.in_lanes[I]) return {};
  vec<int> operands = s.operands;
  for (int i = 0; i < I; ++i) operands[i] = s.operand(i);
  return s.same_on(operands);
}
/// A number for each axis, and one for the lanes.
constexpr vec<std::int64_t> and_last(int_list of_axes, std::int64_t of_lanes) {
  vec<std::int64_t> r = of_axes;
  r.push_back(of_lanes);
  return r;
}
}  // namespace prim::rules::lanes

}  // namespace drx
