#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace diffusion {
struct clients : drx::placement<clients> {};
using drx::array;
using network =
    std::tuple<array<float, 3, 3, 1, 16>, array<float, 16, 32>, array<float, 3, 3, 16, 16>, array<float, 3, 3, 16, 32>,
               array<float, 3, 3, 32, 16>, array<float, 3, 3, 32, 16>, array<float, 3, 3, 16, 1>>;
using images = array<float, 8, 16, 16, 1>;

inline constexpr auto silu = [](auto x) { return x * drx::sigmoid(x); };
inline constexpr auto normed = [](auto x) {  // each channel of each image
  auto off = x - drx::mean<1, 2>(x, drx::keepdims);
  return off * drx::rsqrt(drx::mean<1, 2>(drx::square(off), drx::keepdims) + 1e-5f);
};
inline constexpr auto noise_of = [](auto net, auto x, auto times) {  // a small U-net with a skip
  auto [in, clock, first, down, middle, up, out] = net;
  auto phases = drx::outer(times, drx::exp(-0.5f * drx::iota<array<float, 8>>()));
  auto shift = drx::matmul(drx::concatenate<1>(drx::sin(phases), drx::cos(phases)), clock);
  auto h = drx::conv2d<drx::same>(x, in);
  h = h + drx::conv2d<drx::same>(silu(normed(h)), first);
  auto low = drx::conv2d<drx::same>(drx::avg_pool<drx::window<2, 2>>(h), down);
  low = silu(normed(low) + drx::reshape<8, 1, 1, 32>(shift));
  auto wide = drx::repeat<2, 2>(drx::repeat<2, 1>(drx::conv2d<drx::same>(low, middle)));
  return drx::conv2d<drx::same>(silu(normed(drx::conv2d<drx::same>(drx::concatenate<3>(h, wide), up))), out);
};
inline constexpr auto error = [](auto net, auto x, auto noise, auto times) {
  auto share = drx::reshape<8, 1, 1, 1>(drx::square(drx::cos(1.5f * times)));
  auto seen = drx::sqrt(share) * x + drx::sqrt(1 - share) * noise;
  return drx::mean(drx::square(noise_of(net, seen, 100 * times) - noise));
};
inline constexpr auto loss = [](auto net, auto... data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<clients>(net), data...));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<images, clients>,
                             drx::placed<images, clients>, drx::placed<array<float, 8>, clients>>;
}  // namespace diffusion
