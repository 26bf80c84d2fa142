// drx/tape/tape.hpp: the tape, a flat list of entries (a jaxpr in JAX, a Wengert list in the literature on AD).
#pragma once

#include <drx/core/abstract_value.hpp>
#include <drx/meta/vec.hpp>

#include <initializer_list>
#include <type_traits>

namespace drx {

struct primitive;
using meta::vec;

/// The parameters of an entry beside its operands: axes, extents, constants, a placement.
struct attributes {
  vec<std::int64_t> ints;
  double number = 0;
  const placement_info* placement = nullptr;

  friend constexpr bool operator==(const attributes& a, const attributes& b) {
    return a.number == b.number && a.placement == b.placement && a.ints == b.ints;
  }
};

struct tape;

/// The regions of an entry: tapes that copies of the entry share until one of them writes to its own. (A reference to
/// one that may be written to holds until the entry is copied.)
class tapes {
 public:
  constexpr tapes() = default;
  constexpr tapes(std::initializer_list<tape> values);
  constexpr tapes(const tapes& other) : own_(other.own_) { more(); }
  constexpr tapes(tapes&& other) noexcept : own_(other.own_) { other.own_ = nullptr; }
  constexpr tapes& operator=(const tapes& other) {
    shared* const before = own_;
    own_ = other.own_;
    more();
    fewer(before);
    return *this;
  }
  constexpr tapes& operator=(tapes&& other) noexcept {
    shared* const before = own_;
    own_ = other.own_;
    other.own_ = before;
    return *this;
  }
  constexpr ~tapes() { fewer(own_); }

  [[nodiscard]] constexpr bool empty() const { return own_ == nullptr; }
  [[nodiscard]] constexpr int size() const;
  constexpr const tape& operator[](int i) const;
  constexpr tape& operator[](int i);
  constexpr const tape* begin() const;
  constexpr const tape* end() const;
  constexpr tape* begin();
  constexpr tape* end();
  constexpr tape& back();
  constexpr void push_back(tape t);
  constexpr void append(const tapes& other);

 private:
  struct shared;
  constexpr void more();
  static constexpr void fewer(shared* s);
  constexpr void unshare();
  shared* own_ = nullptr;
};

struct entry;

/// Values are numbered; each is an input or the result of one entry. Entries are in an order in which each operand
/// comes before its use. Regions (bodies of maps and loops) are tapes of their own, held by their entry.
struct tape {
  vec<abstract_value> values;
  vec<entry> entries;
  vec<int> inputs;
  vec<int> outputs;

  [[nodiscard]] constexpr vec<abstract_value> types_of(const vec<int>& ids) const {
    vec<abstract_value> r;
    r.reserve(ids.size());
    for (int id : ids) r.push_back(values[id]);
    return r;
  }
};

struct entry {
  const primitive* prim = nullptr;
  vec<int> operands;
  vec<int> results;
  attributes attrs;
  tapes regions;
  unsigned hash = 0;
};

struct tapes::shared {
  vec<tape> list;
  int uses = 1;
};
constexpr void tapes::more() {
  if (!own_) return;
  if (std::is_constant_evaluated())
    ++own_->uses;
  else  // threads may copy an entry at once
    __atomic_fetch_add(&own_->uses, 1, __ATOMIC_RELAXED);
}
constexpr void tapes::fewer(shared* s) {
  if (!s) return;
  // not const, of which clang 14 would say that it is always computed at compile time
  int left = std::is_constant_evaluated() ? --s->uses : __atomic_sub_fetch(&s->uses, 1, __ATOMIC_ACQ_REL);
  if (left == 0) delete s;
}
constexpr void tapes::unshare() {
  if (!own_) own_ = new shared{};
  if (std::is_constant_evaluated() ? own_->uses == 1 : __atomic_load_n(&own_->uses, __ATOMIC_ACQUIRE) == 1) return;
  shared* const copy = new shared{own_->list};
  fewer(own_);
  own_ = copy;
}
constexpr int tapes::size() const { return own_ ? own_->list.size() : 0; }
constexpr const tape& tapes::operator[](int i) const { return own_->list[i]; }
constexpr tape& tapes::operator[](int i) {
  unshare();
  return own_->list[i];
}
constexpr const tape* tapes::begin() const { return own_ ? own_->list.begin() : nullptr; }
constexpr const tape* tapes::end() const { return own_ ? own_->list.end() : nullptr; }
constexpr tape* tapes::begin() {
  if (!own_) return nullptr;
  unshare();
  return own_->list.begin();
}
constexpr tape* tapes::end() {
  if (!own_) return nullptr;
  unshare();
  return own_->list.end();
}
constexpr tapes::tapes(std::initializer_list<tape> values) {
  for (const tape& t : values) push_back(t);
}
constexpr tape& tapes::back() {
  unshare();
  return own_->list.back();
}
constexpr void tapes::append(const tapes& other) {
  const tapes all = other;  // it may be this very list
  for (const tape& t : all) push_back(t);
}
constexpr void tapes::push_back(tape t) {
  unshare();
  if (own_->list.empty()) own_->list.reserve(1);
  own_->list.push_back(static_cast<tape&&>(t));
}

constexpr bool same_regions(const tapes& a, const tapes& b);

/// The regions of an entry that has one. (A list in braces would copy it.)
constexpr tapes one_region(tape t) {
  tapes r;
  r.push_back(static_cast<tape&&>(t));
  return r;
}

/// Whether two entries compute the same function of their operands.
constexpr bool same_work(const entry& a, const entry& b) {
  return a.prim == b.prim && a.attrs == b.attrs && same_regions(a.regions, b.regions);
}
constexpr bool same_tape(const tape& a, const tape& b) {
  if (!(a.inputs == b.inputs && a.outputs == b.outputs && a.values == b.values) || a.entries.size() != b.entries.size())
    return false;
  for (int i = 0; i < a.entries.size(); ++i) {
    const entry &x = a.entries[i], &y = b.entries[i];
    if (!(x.operands == y.operands && x.results == y.results && same_work(x, y))) return false;
  }
  return true;
}
constexpr bool same_regions(const tapes& a, const tapes& b) {
  if (a.size() != b.size()) return false;
  for (int i = 0; i < a.size(); ++i)
    if (!same_tape(a[i], b[i])) return false;
  return true;
}

}  // namespace drx
