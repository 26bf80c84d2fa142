#include <drx/scalar/wide.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ad = drx::ad;

TEST_CASE("sums and inner products of long vectors are added up by halves") {
  std::vector<float> x(4'000'001);
  std::uint32_t state = 1;
  for (float& v : x) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
  for (const std::size_t n : {std::size_t{15}, std::size_t{2048}, std::size_t{2049}, x.size()}) {
    CAPTURE(n);
    const std::span<const float> some(x.data(), n);
    double sum = 0, square = 0;
    for (const float v : some) sum += static_cast<double>(v), square += static_cast<double>(v) * static_cast<double>(v);
    CHECK(std::abs(static_cast<double>(ad::sum(some)) - sum) <= 8 * 0x1p-24 * sum);
    CHECK(std::abs(static_cast<double>(ad::dot(some, some)) - square) <= 8 * 0x1p-24 * square);
  }
}
