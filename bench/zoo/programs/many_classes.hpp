#pragma once
#include <drx/drx.hpp>

namespace many_classes {
struct clients : drx::placement<clients> {};
using weights = drx::array<float, 128, 500>;

inline constexpr auto loss_of_client = [](auto w, auto x, auto labels) {
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(x, w), labels));
};
inline constexpr auto loss = [](auto w, auto x, auto labels) {
  return drx::reduce_mean(drx::map(loss_of_client, drx::broadcast<clients>(w), x, labels));
};
using Program = drx::program<drx::value_and_grad(loss), weights, drx::placed<drx::array<float, 32, 128>, clients>,
                             drx::placed<drx::array<std::int32_t, 32>, clients>>;
}  // namespace many_classes
