// drx/tape/frozen.hpp: a tape as a static constant. Growing lists cannot outlive constant evaluation, so a finished
// tape is copied into arrays of just its size.
#pragma once

#include <drx/tape/builder.hpp>

namespace drx {

/// A range of a frozen tape's pool.
struct span_of_pool {
  int first = 0;
  int count = 0;
};

/// An entry whose lists lie in the frozen tape's pool.
struct frozen_entry {
  const primitive* prim = nullptr;
  span_of_pool operands, results, ints;  // value ids count through the whole frozen tape
  double number = 0;
  const placement_info* placement = nullptr;
  int first_region = 0;
  int regions = 0;
};

/// A region: its entries are consecutive.
struct frozen_region {
  span_of_pool inputs, outputs;
  int first_entry = 0;
  int entries = 0;
};

/// The lengths of a frozen tape's arrays.
struct frozen_sizes {
  int regions = 0, entries = 0, values = 0, pool = 0;
};

constexpr void measure(const tape& t, frozen_sizes& s) {
  ++s.regions;
  s.entries += t.entries.size();
  s.values += t.values.size();
  s.pool += t.inputs.size() + t.outputs.size();
  for (const entry& e : t.entries) {
    s.pool += e.operands.size() + e.results.size() + e.attrs.ints.size();
    for (const tape& r : e.regions) measure(r, s);
  }
}

/// The arrays of a frozen tape of any size: what reads them is compiled once, not for each size.
struct frozen_view {
  const frozen_region* regions = nullptr;
  const frozen_entry* entries = nullptr;
  const abstract_value* values = nullptr;
  const std::int64_t* pool = nullptr;
  frozen_sizes sizes = {};

  /// The ints of entry x, for its primitive's view.
  [[nodiscard]] constexpr int_list attributes(const frozen_entry& x) const {
    return {pool + x.ints.first, x.ints.count};
  }
  /// The growable form of a region, for another transformation.
  [[nodiscard]] constexpr tape thaw(int region = 0) const {
    tape t;
    const frozen_region& r = regions[region];
    vec<int> local(sizes.values, -1);
    auto name = [&](std::int64_t id) {
      int& n = local[static_cast<int>(id)];
      if (n < 0) {
        n = t.values.size();
        t.values.push_back(values[id]);
      }
      return n;
    };
    auto names = [&](const span_of_pool& s) {
      vec<int> v;
      for (int i = 0; i < s.count; ++i) v.push_back(name(pool[s.first + i]));
      return v;
    };
    t.inputs = names(r.inputs);
    for (int i = 0; i < r.entries; ++i) {
      const frozen_entry& f = entries[r.first_entry + i];
      entry e;
      e.prim = f.prim;
      e.operands = names(f.operands);
      e.results = names(f.results);
      for (int k = 0; k < f.ints.count; ++k) e.attrs.ints.push_back(pool[f.ints.first + k]);
      e.attrs.number = f.number;
      e.attrs.placement = f.placement;
      for (int k = 0; k < f.regions; ++k) e.regions.push_back(thaw(f.first_region + k));
      t.entries.push_back(static_cast<entry&&>(e));
    }
    t.outputs = names(r.outputs);
    return t;
  }
};

/// Writes a tape into arrays that have room for it.
class tape_freezer {
 public:
  constexpr tape_freezer(frozen_region* regions, frozen_entry* entries, abstract_value* values, std::int64_t* pool)
      : regions_(regions), entries_(entries), values_(values), pool_(pool) {}
  constexpr void write(const tape& t) {
    at_ = {.regions = 1};
    store(t, 0);
  }

 private:
  constexpr void store(const tape& t, int region) {
    const int value0 = at_.values;
    for (const auto& v : t.values) values_[at_.values++] = v;
    auto ids = [&](const vec<int>& list) {
      const span_of_pool s{at_.pool, list.size()};
      for (int id : list) pool_[at_.pool++] = value0 + id;
      return s;
    };
    frozen_region& r = regions_[region];
    r.inputs = ids(t.inputs);
    r.outputs = ids(t.outputs);
    r.first_entry = at_.entries;
    r.entries = t.entries.size();
    at_.entries += t.entries.size();
    for (int i = 0; i < t.entries.size(); ++i) {
      const entry& e = t.entries[i];
      frozen_entry& f = entries_[r.first_entry + i];
      f.prim = e.prim;
      f.operands = ids(e.operands);
      f.results = ids(e.results);
      f.ints = {at_.pool, e.attrs.ints.size()};
      for (auto k : e.attrs.ints) pool_[at_.pool++] = k;
      f.number = e.attrs.number;
      f.placement = e.attrs.placement;
      f.first_region = at_.regions;
      f.regions = e.regions.size();
      at_.regions += e.regions.size();
      for (int k = 0; k < e.regions.size(); ++k) store(e.regions[k], f.first_region + k);
    }
  }
  frozen_region* regions_;
  frozen_entry* entries_;
  abstract_value* values_;
  std::int64_t* pool_;
  frozen_sizes at_;
};

/// A tape in arrays of constant size. (An aggregate, so that a generated header can write one down.)
template <int Regions, int Entries, int Values, int Pool>
struct frozen_tape {
  static constexpr frozen_sizes sizes{Regions, Entries, Values, Pool};
  frozen_region regions[static_cast<unsigned>(Regions)] = {};
  frozen_entry entries[static_cast<unsigned>(Entries) + 1] = {};
  abstract_value values[static_cast<unsigned>(Values) + 1] = {};
  std::int64_t pool[static_cast<unsigned>(Pool) + 1] = {};

  constexpr void write(const tape& t) { tape_freezer(regions, entries, values, pool).write(t); }
  /// The first arrays of a frozen tape that has room for more.
  static constexpr frozen_tape part_of(const frozen_view& t) {
    frozen_tape r;
    for (int i = 0; i < Regions; ++i) r.regions[i] = t.regions[i];
    for (int i = 0; i < Entries; ++i) r.entries[i] = t.entries[i];
    for (int i = 0; i < Values; ++i) r.values[i] = t.values[i];
    for (int i = 0; i < Pool; ++i) r.pool[i] = t.pool[i];
    return r;
  }
  static constexpr frozen_tape of(const tape& t) {
    frozen_tape r;
    r.write(t);
    return r;
  }
  [[nodiscard]] constexpr frozen_view view() const { return {regions, entries, values, pool, sizes}; }
  /// The ints of entry x, for its primitive's view.
  [[nodiscard]] constexpr int_list attributes(const frozen_entry& x) const {
    return {pool + x.ints.first, x.ints.count};
  }
  /// The growable form of a region, for another transformation.
  [[nodiscard]] constexpr tape thaw(int region = 0) const { return view().thaw(region); }
};

/// What code asks of a tape at run time too, apart from it: with the tape its primitives, and all their rules, would be
/// compiled into the program.
template <int Entries, int Values, int Pool>
struct tape_numbers {
  std::int64_t pool[static_cast<unsigned>(Pool) + 1] = {};
  abstract_value values[static_cast<unsigned>(Values) + 1] = {};
  std::int64_t bytes[static_cast<unsigned>(Values) + 1] = {};
  span_of_pool operands[static_cast<unsigned>(Entries) + 1] = {}, results[static_cast<unsigned>(Entries) + 1] = {},
                                                         ints[static_cast<unsigned>(Entries) + 1] = {};

  template <class Tape>
  explicit constexpr tape_numbers(const Tape& t) {
    for (int i = 0; i < Pool; ++i) pool[i] = t.pool[i];
    for (int v = 0; v < Values; ++v) {
      values[v] = t.values[v];
      bytes[v] = values[v].shape.size() * byte_size(values[v].type);
    }
    for (int e = 0; e < Entries; ++e) {
      operands[e] = t.entries[e].operands;
      results[e] = t.entries[e].results;
      ints[e] = t.entries[e].ints;
    }
  }
  [[nodiscard]] constexpr int operand(int e, int i) const { return static_cast<int>(pool[operands[e].first + i]); }
  [[nodiscard]] constexpr int result(int e, int i) const { return static_cast<int>(pool[results[e].first + i]); }
  /// The ints of entry e, for its primitive's view.
  [[nodiscard]] constexpr int_list attributes(int e) const { return {pool + ints[e].first, ints[e].count}; }
};

/// A tape frozen where its size is not known before: in a program that plans others.
struct frozen_lists {
  vec<frozen_region> regions;
  vec<frozen_entry> entries;
  vec<abstract_value> values;
  vec<std::int64_t> pool;
  frozen_sizes sizes;

  constexpr explicit frozen_lists(const tape& t) {
    measure(t, sizes);
    regions.resize(sizes.regions);
    entries.resize(sizes.entries);
    values.resize(sizes.values);
    pool.resize(sizes.pool);
    tape_freezer(regions.begin(), entries.begin(), values.begin(), pool.begin()).write(t);
  }
  [[nodiscard]] constexpr frozen_view view() const {
    return {regions.begin(), entries.begin(), values.begin(), pool.begin(), sizes};
  }
};

namespace detail {
template <class Maker>
constexpr bool makes_a_tape() {  // (a function: clang 14 does not destroy the temporaries of a template argument)
  const tape t = Maker::make();
  return t.values.size() >= 0;
}
template <class Maker>
concept ConstantTape = requires { typename std::bool_constant<makes_a_tape<Maker>()>; };
/// A tape with room for most programs: these are traced once. The draft is then copied into arrays of just its size.
struct draft {
  using room = frozen_tape<256, 4096, 4096, 32768>;
  frozen_sizes sizes;
  room tape;

  constexpr explicit draft(const drx::tape& t) {
    measure(t, sizes);
    if (fits()) tape.write(t);
  }
  [[nodiscard]] constexpr bool fits() const {
    return sizes.regions <= room::sizes.regions && sizes.entries <= room::sizes.entries &&
           sizes.values <= room::sizes.values && sizes.pool <= room::sizes.pool;
  }
};
using no_tape = frozen_tape<1, 0, 0, 0>;
template <class Maker>
constexpr bool is_error() {  // the compiler has complained about the function behind the tape
  if constexpr (error::Noted<Maker>) {
    return !ConstantTape<Maker>;
  } else {
    return false;
  }
}
#if defined(__clang__)  // clang complains five times about a local constant, once about a member
#define DRX_DRAFT(Maker) constexpr const draft& d = drafted<Maker>::value
template <class Maker>
struct drafted {
  static constexpr draft value{Maker::make()};
};
template <class Maker>
concept Freezable =
    !is_error<Maker>() && requires { typename std::bool_constant<(drafted<Maker>::value.sizes.regions > 0)>; };
#else  // g++ writes static members into the object, without -O
#define DRX_DRAFT(Maker) constexpr draft d(Maker::make())
template <class Maker>
concept Freezable = !is_error<Maker>();
#endif
template <class Maker>
consteval auto freeze() {
  DRX_DRAFT(Maker);
  constexpr frozen_sizes s = d.sizes;
  using result = frozen_tape<s.regions, s.entries, s.values, s.pool>;
  if constexpr (d.fits()) {
    return result::part_of(d.tape.view());
  } else {
    return result::of(Maker::make());
  }
}
#undef DRX_DRAFT
}  // namespace detail

/// The tape that Maker::make() returns, as a static constant. It is empty where that is an error, which has then been
/// reported.
template <class Maker>
struct frozen {
  static constexpr detail::no_tape value{};
};
template <class Maker>
  requires detail::Freezable<Maker>
struct frozen<Maker> {
  static constexpr auto value = detail::freeze<Maker>();
};

}  // namespace drx
