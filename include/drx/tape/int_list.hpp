// drx/tape/int_list.hpp: a read-only view of an entry's ints, wherever they lie.
#pragma once

#include <drx/tape/tape.hpp>

namespace drx {

/// Contiguous ints that others own: those of an entry, or some of them. Only the file of the entry's primitive knows
/// their meaning; it gives them names by the primitive's `view`, which is made from one of
///     prim::rules::matmul::view(e)                  an entry, or its attributes
///     prim::rules::matmul::view(t.attributes(x))    entry x of a frozen tape t
///     prim::rules::matmul::view(C::attributes(E))   entry E of running code C
struct int_list {
  const std::int64_t* first = nullptr;
  int count = 0;

  constexpr int_list() = default;
  constexpr int_list(const std::int64_t* at, int n) : first(at), count(n) {}
  constexpr int_list(const vec<std::int64_t>& ints) : first(ints.begin()), count(ints.size()) {}
  constexpr int_list(const attributes& a) : int_list(a.ints) {}
  constexpr int_list(const entry& e) : int_list(e.attrs.ints) {}

  [[nodiscard]] constexpr int size() const { return count; }
  constexpr std::int64_t operator[](int i) const { return first[i]; }
  [[nodiscard]] constexpr int number(int i) const { return static_cast<int>(first[i]); }
  [[nodiscard]] constexpr bool flag(int i) const { return first[i] != 0; }
  [[nodiscard]] constexpr const std::int64_t* begin() const { return first; }
  [[nodiscard]] constexpr const std::int64_t* end() const { return first + count; }
  [[nodiscard]] constexpr bool contains(std::int64_t value) const {
    for (int i = 0; i < count; ++i)
      if (first[i] == value) return true;
    return false;
  }
  /// The ints from number `from` on: n of them, or all.
  [[nodiscard]] constexpr int_list part(int from, int n) const { return {first + from, n}; }
  [[nodiscard]] constexpr int_list from(int at) const { return {first + at, count - at}; }

  constexpr operator vec<std::int64_t>() const {
    vec<std::int64_t> r;
    r.reserve(count);
    for (int i = 0; i < count; ++i) r.push_back(first[i]);
    return r;
  }
  friend constexpr bool operator==(const int_list& a, const int_list& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i)
      if (a.first[i] != b.first[i]) return false;
    return true;
  }
};

}  // namespace drx
