// drx/tape/known_value.hpp: what is known of a value whatever a program's inputs are, as long as these are finite: whether it is finite
// too, and its sign; and what a primitive's rule `known` sees, which tells this of its results from its operands.
#pragma once

#include <drx/tape/primitive.hpp>

#include <limits>

namespace drx {

/// What is known of all elements of a value. The signs are those of its finite elements: where some may be infinite or
/// NaN, nothing is said of these. Sums, products and powers of finite numbers count as finite: infinity comes from
/// singular points, and from functions that grow as exp does.
struct known_value {
  bool finite = false;
  bool not_negative = false, not_positive = false;
  bool not_zero = false;  // nor near to it: it is no product of others, which may have become 0

  [[nodiscard]] constexpr bool positive() const { return not_negative && not_zero; }
  [[nodiscard]] constexpr bool negative() const { return not_positive && not_zero; }
  [[nodiscard]] constexpr known_value but_zero() const {  // or 0 itself
    known_value r = *this;
    r.not_zero = false;
    return r;
  }
  friend constexpr bool operator==(const known_value&, const known_value&) = default;

  // What is known of -x, x + y, x y and x / y.
  friend constexpr known_value operator-(const known_value& x) {
    return {x.finite, x.not_positive, x.not_negative, x.not_zero};
  }
  friend constexpr known_value operator+(const known_value& x, const known_value& y) {
    const bool up = x.not_negative && y.not_negative, down = x.not_positive && y.not_positive;
    return {x.finite && y.finite, up, down, (up || down) && (x.not_zero || y.not_zero)};
  }
  friend constexpr known_value operator*(const known_value& x, const known_value& y) {
    const bool same = (x.not_negative && y.not_negative) || (x.not_positive && y.not_positive);
    const bool opposite = (x.not_negative && y.not_positive) || (x.not_positive && y.not_negative);
    return {x.finite && y.finite, same, opposite, false};
  }
  friend constexpr known_value operator/(const known_value& x, const known_value& y) {
    known_value r = x * y;
    r.finite = r.finite && y.not_zero;
    return r;
  }
};
using known_values = vec<known_value>;

/// What holds of either.
constexpr known_value either(const known_value& x, const known_value& y) {
  return {x.finite && y.finite, x.not_negative && y.not_negative, x.not_positive && y.not_positive,
          x.not_zero && y.not_zero};
}
constexpr known_value larger_of(const known_value& x, const known_value& y) {
  return {x.finite && y.finite, x.not_negative || y.not_negative, x.not_positive && y.not_positive,
          x.positive() || y.positive() || (x.negative() && y.negative())};
}
constexpr known_value any_finite() { return {true, false, false, false}; }
constexpr known_value finite_and_not_negative() { return {true, true, false, false}; }
/// (Differences of infinities are no constant expressions.)
constexpr bool is_finite(double x) {
  return x >= -std::numeric_limits<double>::max() && x <= std::numeric_limits<double>::max();
}
constexpr known_value known_number(double x) { return {is_finite(x), !(x < 0), !(x > 0), x != 0}; }

/// A tape's entries by the values that they define.
struct definitions {
  const tape& t;
  vec<int> at;
  constexpr explicit definitions(const tape& of) : t(of), at(of.values.size(), -1) {
    for (int i = 0; i < t.entries.size(); ++i)
      for (int r : t.entries[i].results) at[r] = i;
  }
  [[nodiscard]] constexpr const entry* of(int v) const { return at[v] < 0 ? nullptr : &t.entries[at[v]]; }
};

/// What the rules `known` and `known_inside` see: the entry, where its operands come from, and what is known of these.
struct known_site {
  const definitions& definition;
  const entry& e;
  const known_values& operands;
  /// What is known of a region's outputs from what is known of its inputs.
  known_values (*outputs)(const tape& region, const known_values& inputs);

  [[nodiscard]] constexpr const abstract_value& type(int v) const { return definition.t.values[v]; }
};

namespace prim::rules::known {
/// The rules that many primitives share.
constexpr known_values nothing(const known_site&) { return {}; }
/// The result has the elements of operand 0 and no others.
constexpr known_values handed_on(const known_site& s) { return {s.operands[0]}; }
/// The result's elements are sums of some of operand 0, or 0.
constexpr known_values sums(const known_site& s) { return {s.operands[0].but_zero()}; }
/// The result's elements are products of elements of operand 0, which may be of any number.
constexpr known_values products(const known_site& s) {
  return {{s.operands[0].finite, s.operands[0].not_negative, false, false}};
}
/// The result's elements are sums of products of some of operand 0, of either sign.
constexpr known_values polynomials(const known_site& s) { return {{s.operands[0].finite, false, false, false}}; }
/// The results are those of region 0 on the operands.
constexpr known_values of_region(const known_site& s) { return s.outputs(s.e.regions[0], s.operands); }
constexpr known_values operands_inside(const known_site& s, int i) {
  if (i != 0) return {};
  return s.operands;
}
/// The result's elements are numbers from 0 on. (A float16 ends at 65504.)
constexpr known_values counts(const known_site& s) {
  known_value r = finite_and_not_negative();
  if (s.type(s.e.results[0]).type == dtype::f16) r.finite = false;
  return {r};
}
}  // namespace prim::rules::known

}  // namespace drx
