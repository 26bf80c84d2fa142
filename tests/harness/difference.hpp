// The difference of numbers, the one comparison of all tests. A NaN is infinitely far from everything, so that no
// tolerance lets it pass.
#pragma once

#include <drx/core/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace harness {

/// Whether a NaN agrees with a NaN.
enum class nans { differ, agree };
/// The divisor of a difference: 1 + |expected number|, or the largest finite number expected, at least 1.
enum class relative_to { each, largest };

/// The larger of two differences; infinite if one is NaN. (std::max(most, NaN) is `most`.)
template <class T>
T larger(T most, T difference) {
  constexpr T infinite = std::numeric_limits<T>::infinity();
  return std::isnan(most) || std::isnan(difference) ? infinite : std::max(most, difference);
}

/// |found - expected| / scale; 0 for equal numbers, infinite ones too.
inline double difference(double found, double expected, double scale = 1, nans n = nans::differ) {
  if (found == expected || (n == nans::agree && std::isnan(found) && std::isnan(expected))) return 0;
  return larger(0., std::abs(found - expected) / scale);
}

/// The largest difference between corresponding numbers; infinite if one range is longer.
template <class A, class B>
double largest_difference(const A& found, const B& expected, relative_to r = relative_to::each, nans n = nans::differ) {
  double largest = 1, most = 0;
  for (const auto& y : expected)
    if (std::isfinite(static_cast<double>(y))) largest = std::max(largest, std::abs(static_cast<double>(y)));
  auto x = std::begin(found);
  auto y = std::begin(expected);
  for (; x != std::end(found) && y != std::end(expected); ++x, ++y) {
    const auto number = static_cast<double>(*y);
    most = larger(
        most, difference(static_cast<double>(*x), number, r == relative_to::each ? 1 + std::abs(number) : largest, n));
  }
  return x == std::end(found) && y == std::end(expected) ? most : HUGE_VAL;
}

/// Whether types, numbers of members and all bits are equal.
inline bool same_bits(const drx::tensor& a, const drx::tensor& b) {
  if (!(a.type == b.type) || a.members.size() != b.members.size() || a.bytes != b.bytes) return false;
  for (std::size_t m = 0; m < a.members.size(); ++m)
    if (!same_bits(a.members[m], b.members[m])) return false;
  return true;
}
inline bool same_bits(const std::vector<drx::tensor>& a, const std::vector<drx::tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return false;
  return true;
}

/// The largest difference of elements; infinite if types, numbers of members, or elements that are not floating differ.
inline double largest_difference(const drx::tensor& found, const drx::tensor& expected,
                                 relative_to r = relative_to::each, nans n = nans::differ) {
  if (!(found.type == expected.type) || found.members.size() != expected.members.size()) return HUGE_VAL;
  double most = 0;
  for (std::size_t m = 0; m < found.members.size(); ++m)
    most = larger(most, largest_difference(found.members[m], expected.members[m], r, n));
  if (found.type.depth > 0) return most;
  drx::visit_element(found.type.type, [&]<class T>(T) {
    if constexpr (drx::is_floating(drx::dtype_of<T>)) {
      const auto elements = [](const drx::tensor& x) { return std::vector<T>(x.data<T>(), x.data<T>() + x.size()); };
      most = largest_difference(elements(found), elements(expected), r, n);
    } else if (!same_bits(found, expected)) {
      most = HUGE_VAL;
    }
  });
  return most;
}
/// The same for several tensors; infinite if one list is longer.
inline double largest_difference(const std::vector<drx::tensor>& found, const std::vector<drx::tensor>& expected,
                                 relative_to r = relative_to::each, nans n = nans::differ) {
  double most = found.size() == expected.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
    most = larger(most, largest_difference(found[i], expected[i], r, n));
  return most;
}

}  // namespace harness
