// registers: 128, stack: 256
// Neighbours in a grid and their transposes, read where they lie, and copied ones.
#include "stage_kernel.cuh"

namespace {
struct basins : drx::placement<basins> {};
using field = drx::array<float, 16, 32>;
constexpr auto ahead = [](auto h) {
  auto padded = drx::pad<1, 1>(h);
  auto flow = drx::slice<1, 18>(padded) - drx::slice<0, 17>(padded);
  auto next = h + 0.2f * (drx::slice<1, 17>(flow) - drx::slice<0, 16>(flow));
  auto left =
      drx::concatenate<1>(drx::slice<drx::all, drx::range<1, 32>>(next), drx::slice<drx::all, drx::range<0, 1>>(next));
  return next + 0.1f * (left - drx::roll<1, 1>(next)) * drx::flip<0>(next);
};
constexpr auto energy = [](auto h) {
  auto last = drx::fori_loop<10>(h, ahead);
  auto product = drx::matmul(drx::slice<2, 10>(last), drx::transpose<1, 0>(drx::slice<8, 16>(last)));
  return drx::sum(drx::square(last)) + drx::sum(drx::sin(product));
};
constexpr auto slope = [](auto heights) {
  auto [value, gradient] = drx::map(drx::value_and_grad(energy), heights);
  return std::pair{drx::reduce_mean(value), drx::reduce_sum(gradient)};
};
}  // namespace
KERNELS_OF(drx::program<slope, drx::placed<field, basins>>)
