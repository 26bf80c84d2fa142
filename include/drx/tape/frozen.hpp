// drx/tape/frozen.hpp: a tape as a static constant. Lists that grow cannot outlive constant evaluation, so that a
// finished tape is copied into arrays of just its size.
#pragma once

#include <drx/tape/builder.hpp>

namespace drx {

/// A range of a frozen tape's pool.
struct span_of_pool {
  int first = 0;
  int count = 0;
};

struct frozen_entry {
  const primitive* prim = nullptr;
  span_of_pool operands, results, ints;  // value ids count through the whole frozen tape
  double number = 0;
  const placement_info* placement = nullptr;
  int first_region = 0;
  int regions = 0;
};

struct frozen_region {
  span_of_pool inputs, outputs;
  int first_entry = 0;
  int entries = 0;
};

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

template <frozen_sizes const& S>
struct frozen_tape {
  static constexpr frozen_sizes sizes = S;
  frozen_region regions[static_cast<unsigned>(S.regions)] = {};
  frozen_entry entries[static_cast<unsigned>(S.entries) + 1] = {};
  abstract_value values[static_cast<unsigned>(S.values) + 1] = {};
  std::int64_t pool[static_cast<unsigned>(S.pool) + 1] = {};

  constexpr frozen_tape() = default;
  constexpr explicit frozen_tape(const tape& t) {
    cursor at;
    at.regions = 1;
    store(t, 0, at);
  }
  /// The growable form again, for another transformation.
  [[nodiscard]] constexpr tape thaw(int region = 0) const {
    tape t;
    const frozen_region& r = regions[region];
    vec<int> local(S.values, -1);
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
/// The sizes of Maker's tape. No regions: the compiler has complained about what it is made from.
template <class Maker>
struct measured {
  static constexpr frozen_sizes value = [] {
    frozen_sizes s;
    if constexpr (error::Noted<Maker>) {
      if constexpr (ConstantTape<Maker>) measure(Maker::make(), s);
    } else {
      measure(Maker::make(), s);
    }
    return s;
  }();
};
template <class Maker>
concept Freezable = requires { typename std::enable_if_t<(measured<Maker>::value.regions > 0)>; };
inline constexpr frozen_sizes no_sizes{.regions = 1};
}  // namespace detail

/// The tape that Maker::make() returns, as a static constant. Empty where that is an error, which has been said by then.
template <class Maker>
struct frozen {
  static constexpr frozen_tape<detail::no_sizes> value{};
};
template <class Maker>
  requires detail::Freezable<Maker>
struct frozen<Maker> {
  static constexpr frozen_sizes sizes = detail::measured<Maker>::value;  // (nvcc 13 mistakes another class's member for its address)
  static constexpr frozen_tape<sizes> value{Maker::make()};
};

}  // namespace drx
