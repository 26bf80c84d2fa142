// registers: 72, stack: 208
// Numbers of 16 bits: cast, moved, carried by a loop, summed over members.
#include "stage_kernel.cuh"

namespace {
struct schools : drx::placement<schools> {};
template <class T>
using m4 = drx::array<T, 4, 4>;
constexpr auto work = [](auto w, auto x) {
  auto y = drx::matmul(drx::cast<float>(x), drx::cast<float>(drx::transpose(w)));
  return drx::fori_loop<3>(drx::cast<drx::bfloat16>(y),
                           [](auto v) { return drx::cast<drx::bfloat16>(drx::cast<float>(v) * 0.5f); });
};
constexpr auto all_of_members = [](auto w, auto x) {
  auto each = drx::map(work, drx::broadcast<schools>(w), x);
  return std::tuple{drx::reduce_sum(x), drx::reduce_mean(each, drx::as<drx::float16>)};
};
}  // namespace
KERNELS_OF(drx::program<all_of_members, m4<drx::bfloat16>, drx::placed<m4<drx::float16>, schools>>)
