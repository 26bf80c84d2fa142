// drx/tape/builder.hpp: writes a tape entry by entry: it computes each entry's types, shares equal entries, and
// simplifies.
#pragma once

#include <drx/core/structure.hpp>
#include <drx/tape/primitive.hpp>

namespace drx {

/// A tape being written. Builders nest: while a region is traced its builder is the innermost, and values of outer
/// builders that are used in the region become captured inputs.
class builder {
 public:
  constexpr builder() = default;
  /// The builder of a region traced while `outer` (any builder of that trace) is open. A region whose arguments are all
  /// constants knows no outer builder; it is inner to all builders from which it captures.
  constexpr explicit builder(builder* outer)
      : root_(outer ? outer->root() : nullptr), serial_(outer ? outer->root()->next_serial() : 0), orphan_(!outer) {}
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;
  constexpr ~builder() {
    for (builder* b : adopted_) delete b;
  }

  /// b, or, where b is null, a new tape for values computed from constants that have met no traced value. That tape has
  /// no inputs; it is written anew where its values are used (emit::resolve), by a builder that adopts it and frees it.
  static constexpr builder* or_of_constants(builder* b) {
    if (b) return b;
    b = new builder(nullptr);  // drx: allocated here: something is computed of constants only and never used. Use or remove it
    b->of_constants_ = true;
    return b;
  }
  [[nodiscard]] constexpr bool of_constants() const { return of_constants_; }
  /// A new builder for a region inside one of constants; null elsewhere. It lives as long as the outer one, since a
  /// finished first attempt (is_ambiguous) may refer to it.
  constexpr builder* kept_region() {
    if (!root()->of_constants_) return nullptr;
    builder* b = new builder(this);  // drx: allocated here: something is computed of constants only and never used. Use or remove it
    root()->adopted_.push_back(b);
    return b;
  }
  /// Makes a tape of constants, with all that it has adopted, live as long as this trace.
  constexpr void adopt(builder& constants) {
    builder *mine = last_adopter(), *its = constants.last_adopter();
    if (mine == its) return;
    if (!its->of_constants_) std::swap(mine, its);
    if (!its->of_constants_) return;
    its->adopter_ = mine;
    mine->adopted_.push_back(its);
  }

  constexpr int input(const abstract_value& type) {
    const int id = new_value(type);
    tape_.inputs.push_back(id);
    return id;
  }

  /// Records an entry and returns its results. An equal entry is shared; an identity is simplified away.
  constexpr vec<int> add(const primitive& prim, const vec<int>& operands, const attributes& attrs = {},
                         const vec<tape>& regions = {}) {
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
    e.regions = regions;
    e.hash = h;
    const vec<abstract_value> operand_types = tape_.types_of(operands);
    const vec<abstract_value> types = prim.type({operand_types, attrs, regions});
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
                     const vec<tape>& regions = {}) {
    return add(prim, operands, attrs, regions)[0];
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
  /// The captured values of outer builders, in the order of the inputs made for them (after the explicit ones).
  [[nodiscard]] constexpr const vec<traced_ref>& captures() const { return captures_; }

  /// The number on this tape of an outer builder's value.
  constexpr int capture(const traced_ref& outer) {
    for (int i = 0; i < captures_.size(); ++i)
      if (captures_[i].from.tape == outer.from.tape && captures_[i].id == outer.id) return captured_[i];
    const int id = input(outer.from.tape->type(outer.id));
    captures_.push_back(outer);
    captured_.push_back(id);
    return id;
  }

  /// The inner one of two builders, that is the one opened later.
  static constexpr builder* inner(builder* a, builder* b) {
    if (!a || (b && a->of_constants_)) return b;
    if (!b || b->of_constants_) return a;
    builder *x = a->root(), *y = b->root();
    if (x == y) return a->serial_ >= b->serial_ ? a : b;
    if (!x->orphan_ || !y->orphan_) return x->orphan_ ? a : b;
    if (!x->is_known() && !y->is_known()) x->ambiguous_ = y->ambiguous_ = true;
    if (x->is_known() && x->depth_ == y->depth_) throw "drx: of two loops over constants it is not known which is the inner one; let one meet a traced value";
    if (x->is_known() && !y->is_known()) y->around_ = x->depth_ > y->around_ ? x->depth_ : y->around_;
    if (y->is_known() && !x->is_known()) x->around_ = y->depth_ > x->around_ ? y->depth_ : x->around_;
    return !x->is_known() || (y->is_known() && x->depth_ > y->depth_) ? a : b;
  }

  /// A region whose arguments are all constants does not know which regions contain it, until it uses a value of
  /// theirs. It is taken to be inner to all whose depth is known. Where two regions of unknown depth meet, the trace is
  /// useless: after the end of the outer one it is traced again, with a depth that only the regions around it undercut.
  [[nodiscard]] constexpr bool is_ambiguous() const { return ambiguous_; }
  constexpr void set_depth_by(const builder& first_attempt) { depth_ = first_attempt.around_ + 1; }

  /// The innermost map body being traced, or null. The number of members of a placement depends on the member that the
  /// code is in, so that a broadcast must not leave the body, wherever its operand comes from.
  constexpr builder* member_body() { return root()->member_body_; }
  constexpr void set_member_body(builder* b) { root()->member_body_ = b; }

  /// The innermost map body being traced, or the whole function if there is none.
  constexpr builder& around_loops() {
    if (member_body()) return *member_body();
    return root()->function_ ? *root()->function_ : *root();
  }
  constexpr void set_function(builder* b) { root()->function_ = b; }

  /// The builder that receives an operation whose operands are this builder's: this one, or the branch that is being
  /// traced, which may not run. (In a loop's body, an operation on values from outside is written before the loop; in a
  /// branch, it is written there.)
  constexpr builder& at_work() { return *inner(this, root()->branch_); }
  constexpr builder* branch() { return root()->branch_; }
  constexpr void set_branch(builder* b) { root()->branch_ = b; }

  /// Whether the function of one member of a pmap is being traced.
  constexpr bool parallel() { return root()->parallel_; }
  constexpr void set_parallel(bool on) { root()->parallel_ = on; }

  /// Opens an axis: its collectives may be used in the region that is being traced. Axes are the names of the maps
  /// around it.
  constexpr void open_axis(const placement_info* name) { root()->axes_.push_back({name, this}); }
  constexpr void close_axis() { root()->axes_.pop_back(); }
  constexpr bool knows_axis(const placement_info* name) { return root()->orphan_ || member_of_axis(name); }
  /// The function of one of the axis's members, whatever loop or branch of it is being traced; null where there is
  /// none.
  constexpr builder* member_of_axis(const placement_info* name) {
    const auto& axes = root()->axes_;
    for (int i = axes.size() - 1; i >= 0; --i)
      if (axes[i].name == name) return axes[i].member;
    return nullptr;
  }

 private:
  constexpr builder* root() { return root_ ? root_ : this; }
  constexpr builder* last_adopter() {
    builder* b = root();
    while (b->adopter_) b = b->adopter_;
    return b;
  }
  [[nodiscard]] constexpr bool is_known() const { return depth_ > 0; }
  constexpr int next_serial() { return ++last_serial_; }
  constexpr int new_value(const abstract_value& type) {
    tape_.values.push_back(type);
    return tape_.values.size() - 1;
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
  [[nodiscard]] constexpr int bucket(unsigned h) const { return static_cast<int>(h & static_cast<unsigned>(first_.size() - 1)); }

  tape tape_;
  vec<int> first_, same_bucket_;
  vec<int> definition_;  // by value: index of the entry, -1 for inputs
  vec<traced_ref> captures_;
  vec<int> captured_;
  builder* root_ = nullptr;
  int serial_ = 0;
  bool orphan_ = false;
  bool of_constants_ = false;
  bool ambiguous_ = false;       // in the root of a region of constants, as are the next ones
  int depth_ = 0, around_ = 0;   // its depth among such regions, once known; until then the largest one that it has met
  builder* adopter_ = nullptr;  // of a tape of constants
  vec<builder*> adopted_;       // in the root
  int last_serial_ = 0;  // in the root: builders opened so far
  builder* member_body_ = nullptr;  // in the root
  builder* branch_ = nullptr;       // in the root
  builder* function_ = nullptr;     // in the root
  bool parallel_ = false;           // in the root
  struct named_axis {
    const placement_info* name = nullptr;
    builder* member = nullptr;
  };
  vec<named_axis> axes_;  // in the root
};

}  // namespace drx
