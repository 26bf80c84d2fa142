#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace experts {
struct clients : drx::placement<clients> {};
using drx::array;
using network =
    std::tuple<array<float, 32, 6>, array<float, 6, 32, 48>, array<float, 6, 48, 8>>;  // a gate, six experts

inline constexpr auto error = [](auto net, auto x, auto wanted) {
  auto [gate, first, second] = net;
  auto one = [=](auto w, auto v) { return drx::matmul(drx::gelu(drx::matmul(x, w)), v); };
  auto all = drx::vmap(one)(first, second);  // {6, 40, 8}
  auto shares = drx::transpose(drx::softmax(drx::matmul(x, gate)));
  auto mixed = drx::sum<0>(drx::expand_dims<2>(shares) * all);
  return drx::mean(drx::square(mixed - wanted));
};
inline constexpr auto loss = [](auto net, auto x, auto wanted) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<clients>(net), x, wanted));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<array<float, 40, 32>, clients>,
                             drx::placed<array<float, 40, 8>, clients>>;
}  // namespace experts
