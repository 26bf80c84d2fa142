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

namespace detail {
/// The arrays of a frozen tape of any size, so that `thaw` is compiled once, not for each size.
struct frozen_arrays {
  const frozen_region* regions;
  const frozen_entry* entries;
  const abstract_value* values;
  const std::int64_t* pool;
  int count;  // of values
};
constexpr tape thaw(const frozen_arrays& from, int region) {
  tape t;
  const frozen_region& r = from.regions[region];
  vec<int> local(from.count, -1);
  auto name = [&](std::int64_t id) {
    int& n = local[static_cast<int>(id)];
    if (n < 0) {
      n = t.values.size();
      t.values.push_back(from.values[id]);
    }
    return n;
  };
  auto names = [&](const span_of_pool& s) {
    vec<int> v;
    for (int i = 0; i < s.count; ++i) v.push_back(name(from.pool[s.first + i]));
    return v;
  };
  t.inputs = names(r.inputs);
  for (int i = 0; i < r.entries; ++i) {
    const frozen_entry& f = from.entries[r.first_entry + i];
    entry e;
    e.prim = f.prim;
    e.operands = names(f.operands);
    e.results = names(f.results);
    for (int k = 0; k < f.ints.count; ++k) e.attrs.ints.push_back(from.pool[f.ints.first + k]);
    e.attrs.number = f.number;
    e.attrs.placement = f.placement;
    for (int k = 0; k < f.regions; ++k) e.regions.push_back(thaw(from, f.first_region + k));
    t.entries.push_back(static_cast<entry&&>(e));
  }
  t.outputs = names(r.outputs);
  return t;
}
}  // namespace detail

template <int Regions, int Entries, int Values, int Pool>
struct frozen_tape {
  static constexpr frozen_sizes sizes{Regions, Entries, Values, Pool};
  frozen_region regions[static_cast<unsigned>(Regions)] = {};
  frozen_entry entries[static_cast<unsigned>(Entries) + 1] = {};
  abstract_value values[static_cast<unsigned>(Values) + 1] = {};
  std::int64_t pool[static_cast<unsigned>(Pool) + 1] = {};

  constexpr frozen_tape() = default;
  constexpr explicit frozen_tape(const tape& t) { write(t); }
  /// A copy of a frozen tape that has room for more.
  template <int R, int E, int V, int P>
  constexpr explicit frozen_tape(const frozen_tape<R, E, V, P>& t) {
    for (int i = 0; i < Regions; ++i) regions[i] = t.regions[i];
    for (int i = 0; i < Entries; ++i) entries[i] = t.entries[i];
    for (int i = 0; i < Values; ++i) values[i] = t.values[i];
    for (int i = 0; i < Pool; ++i) pool[i] = t.pool[i];
  }
  constexpr void write(const tape& t) {
    cursor at;
    at.regions = 1;
    store(t, 0, at);
  }
  /// The ints of entry x, for its primitive's view.
  [[nodiscard]] constexpr int_list attributes(const frozen_entry& x) const { return {pool + x.ints.first, x.ints.count}; }
  /// The growable form of a region, for another transformation.
  [[nodiscard]] constexpr tape thaw(int region = 0) const { return detail::thaw({regions, entries, values, pool, Values}, region); }

 private:
  struct cursor {
    int regions = 0, entries = 0, values = 0, pool = 0;
  };
  constexpr void store(const tape& t, int region, cursor& at) {
    const int value0 = at.values;
    for (const auto& v : t.values) values[at.values++] = v;
    auto ids = [&](const vec<int>& list) {
      const span_of_pool s{at.pool, list.size()};
      for (int id : list) pool[at.pool++] = value0 + id;
      return s;
    };
    frozen_region& r = regions[region];
    r.inputs = ids(t.inputs);
    r.outputs = ids(t.outputs);
    r.first_entry = at.entries;
    r.entries = t.entries.size();
    at.entries += t.entries.size();
    for (int i = 0; i < t.entries.size(); ++i) {
      const entry& e = t.entries[i];
      frozen_entry& f = entries[r.first_entry + i];
      f.prim = e.prim;
      f.operands = ids(e.operands);
      f.results = ids(e.results);
      f.ints = {at.pool, e.attrs.ints.size()};
      for (auto k : e.attrs.ints) pool[at.pool++] = k;
      f.number = e.attrs.number;
      f.placement = e.attrs.placement;
      f.first_region = at.regions;
      f.regions = e.regions.size();
      at.regions += e.regions.size();
      for (int k = 0; k < e.regions.size(); ++k) store(e.regions[k], f.first_region + k, at);
    }
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
    return sizes.regions <= room::sizes.regions && sizes.entries <= room::sizes.entries && sizes.values <= room::sizes.values &&
           sizes.pool <= room::sizes.pool;
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
concept Freezable = !is_error<Maker>() && requires { typename std::bool_constant<(drafted<Maker>::value.sizes.regions > 0)>; };
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
    return result(d.tape);
  } else {
    return result(Maker::make());
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
