// registers: 128, stack: 256
// A round of federated averaging: eight steps of a network 64-128-10 on a client's 32 rows, as one kernel.
#include "stage_kernel.cuh"

namespace {
struct clients : drx::placement<clients> {};
using model =
    std::tuple<drx::array<float, 64, 128>, drx::array<float, 128>, drx::array<float, 128, 10>, drx::array<float, 10>>;
using data = std::pair<drx::array<float, 32, 64>, drx::array<float, 32, 10>>;
constexpr auto loss = [](auto m, auto d) {
  auto [w1, b1, w2, b2] = m;
  auto h = drx::tanh(drx::matmul(d.first, w1) + b1);
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(h, w2) + b2, d.second));
};
constexpr auto steps = [](auto m, auto d) {
  return drx::fori_loop<8>(m, [=](auto w) { return w - 0.1 * drx::grad(loss)(w, d); });
};
constexpr auto round_of_members = [](auto m, auto d) {
  return drx::reduce_mean(drx::map(steps, drx::broadcast<clients>(m), d));
};
}  // namespace
KERNELS_OF(drx::program<round_of_members, model, drx::placed<data, clients>>)
