#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace encoder {
struct texts : drx::placement<texts> {};
template <std::int64_t... N>
using real = drx::array<float, N...>;
using places = real<16, 64>;
using weights = std::tuple<real<64>, real<64, 192>, real<64, 64>, real<64>, real<64, 256>, real<128, 64>>;

inline constexpr auto scaled = [](auto x, auto gain) {
  return gain * x * drx::rsqrt(drx::mean<-1>(drx::square(x), drx::keepdims) + 1e-5f);
};
inline constexpr auto rotated = [](auto x) {  // x: heads, places, numbers; pairs of numbers turn with the place
  auto rate = drx::exp(-9.21034f / 8 * drx::cast<float>(drx::iota<drx::array<int, 8>>()));
  auto angle = drx::outer(drx::cast<float>(drx::iota<drx::array<int, 16>>()), rate);
  auto a = drx::slice<drx::all, drx::all, drx::range<0, 8>>(x),
       b = drx::slice<drx::all, drx::all, drx::range<8, 16>>(x);
  return drx::concatenate<2>(a * drx::cos(angle) - b * drx::sin(angle), a * drx::sin(angle) + b * drx::cos(angle));
};
inline constexpr auto layer = [](auto w, auto x) {
  auto [first, in, out, second, up, down] = w;
  auto parts = drx::transpose<1, 2, 0, 3>(drx::reshape<16, 3, 4, 16>(drx::matmul(scaled(x, first), in)));
  auto q = rotated(drx::index<0>(parts)), k = rotated(drx::index<1>(parts)), v = drx::index<2>(parts);
  auto seen = drx::matmul(drx::softmax(0.25f * drx::matmul(q, drx::transpose<0, 2, 1>(k))), v);
  auto y = x + drx::matmul(drx::reshape<16, 64>(drx::transpose<1, 0, 2>(seen)), out);
  auto hidden = drx::matmul(scaled(y, second), up);
  auto gate = drx::slice<drx::all, drx::range<0, 128>>(hidden),
       value = drx::slice<drx::all, drx::range<128, 256>>(hidden);
  return y + drx::matmul(gate * drx::sigmoid(gate) * value, down);
};
inline constexpr auto loss = [](auto w, auto x, auto y) {
  auto error = [](auto v, auto a, auto b) { return drx::mean(drx::square(layer(v, a) - b)); };
  return drx::reduce_mean(drx::map(error, drx::broadcast<texts>(w), x, y));
};
using Program =
    drx::program<drx::value_and_grad(loss), weights, drx::placed<places, texts>, drx::placed<places, texts>>;
}  // namespace encoder
