#pragma once
#include <drx/drx.hpp>

namespace lennard_jones {
using points = drx::array<double, 256, 3>;

inline constexpr auto energy = [](auto x) {  // of all pairs
  using pairs = drx::array<std::int32_t, 256, 256>;
  auto other = drx::iota<pairs, 0>() != drx::iota<pairs, 1>();
  auto r2 = drx::sum<2>(drx::square(drx::reshape<256, 1, 3>(x) - x));
  auto s = drx::where(other, 1.0 / drx::where(other, r2, 1.0), 0.0);
  auto s3 = s * s * s;
  return 2.0 * drx::sum(s3 * s3 - s3);
};
using Program = drx::program<drx::value_and_grad(energy), points>;
}  // namespace lennard_jones
