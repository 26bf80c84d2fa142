// drx/core/tensor.hpp: a value at run time in its plainest form, on which the plain interpreter computes and tests
// compare.
#pragma once

#include <drx/core/abstract_value.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

namespace drx {

/// A value of any abstract type: its elements, row-major, or, for a placed value, one tensor per member.
struct tensor {
  abstract_value type;
  std::vector<std::byte> bytes;
  std::vector<tensor> members;

  tensor() = default;
  /// Zeros for an unplaced type; no members for a placed one.
  explicit tensor(const abstract_value& t) : type(t) {
    if (t.depth == 0) bytes.resize(static_cast<std::size_t>(t.shape.size() * byte_size(t.type)));
  }
  template <Element T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <Element T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  [[nodiscard]] std::int64_t size() const { return type.shape.size(); }
};

/// Numbers of 16 bits as floats; other numbers as they are.
inline tensor to_floats(const tensor& x) {
  if (!is_half_type(x.type.type)) return x;
  tensor y(x.type.with_type(dtype::float32));
  visit_element(x.type.type, [&]<class H>(H) {
    if constexpr (is_half<H>)
      for (std::int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = x.data<H>()[i];
  });
  return y;
}
/// Floats rounded to a type of 16 bits.
inline tensor to_halves(const tensor& x, dtype half) {
  tensor y(x.type.with_type(half));
  visit_element(half, [&]<class H>(H) {
    if constexpr (is_half<H>)
      for (std::int64_t i = 0; i < x.size(); ++i) y.data<H>()[i] = H(x.data<float>()[i]);
  });
  return y;
}

/// Calls f(index) for each index of s, row-major, with index[axis] for axis < s.rank.
template <class F>
void for_each_index(const shape& s, F&& f) {
  std::int64_t index[shape::max_rank] = {};
  const std::int64_t n = s.size();
  for (std::int64_t i = 0; i < n; ++i) {
    f(static_cast<const std::int64_t*>(index));
    for (int axis = s.rank - 1; axis >= 0 && ++index[axis] == s[axis]; --axis) index[axis] = 0;
  }
}

/// The row-major position of an index.
constexpr std::int64_t flat_index(const shape& s, const std::int64_t* index) {
  std::int64_t at = 0;
  for (int axis = 0; axis < s.rank; ++axis) at = at * s[axis] + index[axis];
  return at;
}

}  // namespace drx
