// drx/tape/builder.hpp: writes a tape entry by entry: it computes each entry's types, shares equal entries, and
// simplifies.
#pragma once

#include <drx/core/structure.hpp>
#include <drx/tape/in_float.hpp>
#include <drx/tape/primitive.hpp>

namespace drx {

/// A tape being written.
class builder {
 public:
  constexpr builder() = default;
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  constexpr int input(const abstract_value& type) {
    const int id = new_value(type);
    tape_.inputs.push_back(id);
    return id;
  }

  /// Makes room for as many entries and values as t has, if nothing has been recorded yet.
  constexpr void expect(const tape& t) {
    if (!tape_.entries.empty()) return;
    tape_.values.reserve(t.values.size());
    tape_.entries.reserve(t.entries.size());
    definition_.reserve(t.values.size());
    same_bucket_.reserve(t.entries.size());
  }

  /// Records an entry and returns its results. An equal entry is shared; an identity is simplified away.
  constexpr vec<int> add(const primitive& prim, const vec<int>& operands, const attributes& attrs = {},
                         tapes regions = {}) {
    if (halves_ && !prim.takes_halves && regions.empty() && has_halves(operands))
      return emit::in_float(*this, prim, operands, attrs);
    if (regions.empty() && prim.simplify) {
      const int known = prim.simplify(*this, operands, attrs);
      if (known >= 0) return {known};
    }
    if (prim.unfold) {
      vec<int> known = prim.unfold(*this, operands, regions);
      if (!known.empty()) return known;
    }
    const unsigned h = hash(prim, operands, attrs);
    if (regions.empty()) {
      const int known = find(h, prim, operands, attrs);
      if (known >= 0) return tape_.entries[known].results;
    }
    entry e;
    e.prim = &prim;
    e.operands = operands;
    e.attrs = attrs;
    e.hash = h;
    const vec<abstract_value> operand_types = tape_.types_of(operands);
    const vec<abstract_value> types = prim.type({operand_types, attrs, regions});
    e.regions = static_cast<tapes&&>(regions);
    for (const auto& t : types) e.results.push_back(new_value(t));
    definition_.resize(tape_.values.size(), -1);
    for (int r : e.results) definition_[r] = tape_.entries.size();
    vec<int> results = e.results;
    remember(e);
    tape_.entries.push_back(static_cast<entry&&>(e));
    return results;
  }
  /// Records a copy of another tape's entry, with these operands. Equal entries are shared even if they have regions.
  constexpr vec<int> add_shared(const entry& other, const vec<int>& operands) {
    if (!other.regions.empty())
      for (const entry& e : tape_.entries)
        if (e.operands == operands && same_work(e, other)) return e.results;
    return add(*other.prim, operands, other.attrs, other.regions);
  }
  /// As `add`, for a primitive of one result.
  constexpr int add1(const primitive& prim, const vec<int>& operands, const attributes& attrs = {},
                     tapes regions = {}) {
    return add(prim, operands, attrs, static_cast<tapes&&>(regions))[0];
  }

  // Returned by value, since the list of values moves when it grows.
  [[nodiscard]] constexpr abstract_value type(int id) const { return tape_.values[id]; }
  [[nodiscard]] constexpr drx::shape shape(int id) const { return tape_.values[id].shape; }
  /// The entry that defines a value, or null for an input.
  [[nodiscard]] constexpr const entry* definition(int id) const {
    const int at = id < definition_.size() ? definition_[id] : -1;
    return at < 0 ? nullptr : &tape_.entries[at];
  }

  constexpr void output(int id) { tape_.outputs.push_back(id); }
  [[nodiscard]] constexpr const tape& result() const { return tape_; }
  /// The tape, when nothing more is to be written.
  [[nodiscard]] constexpr tape take() { return static_cast<tape&&>(tape_); }

 private:
  constexpr int new_value(const abstract_value& type) {
    tape_.values.push_back(type);
    halves_ = halves_ || is_half_type(type.type);
    return tape_.values.size() - 1;
  }
  [[nodiscard]] constexpr bool has_halves(const vec<int>& values) const {
    for (int v : values)
      if (is_half_type(tape_.values[v].type)) return true;
    return false;
  }
  static constexpr unsigned hash(const primitive& prim, const vec<int>& operands, const attributes& attrs) {
    unsigned h = static_cast<unsigned>(prim.name[0]) * 31U + static_cast<unsigned>(prim.name[1]);
    for (int o : operands) h = h * 31U + static_cast<unsigned>(o);
    for (auto i : attrs.ints) h = h * 31U + static_cast<unsigned>(i);
    const auto number = __builtin_bit_cast(unsigned long long, attrs.number);
    h = h * 31U + static_cast<unsigned>(number ^ number >> 32);
    return h ^ h >> 15;
  }

  // Equal entries are found by a hash table: first_[bucket] is an entry, same_bucket_[entry] the next one.
  constexpr int find(unsigned h, const primitive& prim, const vec<int>& operands, const attributes& attrs) const {
    if (first_.empty()) return -1;
    for (int i = first_[bucket(h)]; i >= 0; i = same_bucket_[i]) {
      const entry& e = tape_.entries[i];
      if (e.hash == h && e.prim == &prim && e.operands == operands && e.attrs == attrs) return i;
    }
    return -1;
  }
  /// Enters the next entry into the hash table.
  constexpr void remember(const entry& e) {
    const int next = tape_.entries.size();
    same_bucket_.push_back(-1);
    if (!e.regions.empty()) return;
    if (next >= first_.size()) {
      first_ = vec<int>(first_.empty() ? 16 : 4 * first_.size(), -1);
      for (int i = 0; i < next; ++i)
        if (tape_.entries[i].regions.empty()) chain(tape_.entries[i].hash, i);
    }
    chain(e.hash, next);
  }
  constexpr void chain(unsigned h, int i) {
    same_bucket_[i] = first_[bucket(h)];
    first_[bucket(h)] = i;
  }
  [[nodiscard]] constexpr int bucket(unsigned h) const {
    return static_cast<int>(h & static_cast<unsigned>(first_.size() - 1));
  }

  tape tape_;
  bool halves_ = false;  // whether any value has elements of 16 bits
  vec<int> first_, same_bucket_;
  vec<int> definition_;  // by value: index of the entry, -1 for inputs
};

}  // namespace drx
