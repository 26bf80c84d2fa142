// Random values of programs' inputs.
#pragma once

#include <drx/core/tensor.hpp>

#include <cstdint>
#include <random>

namespace harness {

/// The values of inputs.
struct sample {
  double low = -1, high = 1;  // of floating inputs
  std::int64_t members = 5;   // of placements at the top
  std::int64_t below = 5;     // integer inputs are in [0, below)
  std::int64_t nested =
      6;  // nested placements have fewer, others from parent to parent; 0: as many as those at the top
  std::uint64_t seed = 1;
};

namespace detail {
inline drx::tensor random_tensor(const drx::abstract_value& type, const sample& s, std::mt19937_64& r,
                                 std::int64_t count, std::int64_t path) {
  drx::tensor x(type);
  if (type.depth > 0) {
    for (std::int64_t m = 0; m < count; ++m) {
      const std::int64_t below = path * 5 + m;  // another number for each member on each level
      x.members.push_back(
          random_tensor(type.of_member(), s, r, s.nested == 0 ? s.members : (below * 7 + 3) % s.nested, below));
    }
    return x;
  }
  drx::visit_element(type.type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if constexpr (drx::is_floating(drx::dtype_of<T>)) {
        x.data<T>()[i] = static_cast<T>(std::uniform_real_distribution<double>(s.low, s.high)(r));
      } else {
        x.data<T>()[i] = static_cast<T>(static_cast<std::int64_t>(r() >> 1) % (std::is_same_v<T, bool> ? 2 : s.below));
      }
    }
  });
  return x;
}
}  // namespace detail

inline drx::tensor random_tensor(const drx::abstract_value& type, const sample& s, std::mt19937_64& r) {
  return detail::random_tensor(type, s, r, s.members, 0);
}

}  // namespace harness
