#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace attention {
struct texts : drx::placement<texts> {};
using weights = std::tuple<drx::array<float, 64, 192>, drx::array<float, 64, 64>>;
using text = drx::array<float, 64, 64>;

inline constexpr auto attend = [](auto w, auto x) {  // four heads of 16, each place sees those before it
  auto [qkv, out] = w;
  auto by_head = drx::transpose<1, 2, 0, 3>(drx::reshape<64, 3, 4, 16>(drx::matmul(x, qkv)));
  auto q = drx::index<0>(by_head), k = drx::index<1>(by_head), v = drx::index<2>(by_head);
  using square = drx::array<std::int32_t, 64, 64>;
  auto before = drx::iota<square, 0>() >= drx::iota<square, 1>();
  auto scores = drx::where(before, 0.25f * drx::einsum<"hqd,hkd->hqk">(q, k), -1e9f);
  auto mixed = drx::einsum<"hqk,hkd->qhd">(drx::softmax(scores), v);
  return drx::mean(drx::square(x + drx::matmul(drx::reshape<64, 64>(mixed), out)));
};
inline constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(attend, drx::broadcast<texts>(w), data));
};
using Program = drx::program<drx::value_and_grad(loss), weights, drx::placed<text, texts>>;
}  // namespace attention
