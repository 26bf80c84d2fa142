#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace splatting {
struct pictures : drx::placement<pictures> {};
using drx::array;
using spots = std::tuple<array<float, 48, 2>, array<float, 48, 2>, array<float, 48>, array<float, 48, 3>,
                         array<float, 48>, array<float, 48>>;

inline constexpr auto wide = [](auto x) { return drx::expand_dims<1, 2>(x); };
inline constexpr auto part = [](auto x, auto i) { return wide(drx::index(drx::transpose(x), i)); };
inline constexpr auto drawn = [](auto s) {  // the nearest first; each hides a part of those behind it
  auto order = drx::argsort(std::get<5>(s));
  auto [centre, size, angle, colour, opacity, depth] = drx::tree_map([=](auto x) { return drx::take(x, order); }, s);
  auto across = drx::iota<array<float, 1, 1, 32>, 2>() - part(centre, 0);
  auto down = drx::iota<array<float, 1, 32, 1>, 1>() - part(centre, 1);
  auto sine = wide(drx::sin(angle)), cosine = wide(drx::cos(angle));
  auto u = (cosine * across + sine * down) * drx::exp(-part(size, 0));
  auto v = (cosine * down - sine * across) * drx::exp(-part(size, 1));
  auto alpha = wide(drx::sigmoid(opacity)) * drx::exp(-0.5f * (drx::square(u) + drx::square(v)));
  auto behind = drx::cumprod<0>(1 - alpha);
  auto through = drx::concatenate(drx::ones<array<float, 1, 32, 32>>(), drx::slice<0, 47>(behind));
  return drx::einsum<"gyx,gc->yxc">(alpha * through, colour);
};
inline constexpr auto error = [](auto s, auto target) { return drx::mean(drx::square(drawn(s) - target)); };
inline constexpr auto slopes = [](auto s, auto targets) { return drx::map(drx::value_and_grad(error), s, targets); };
using Program = drx::program<slopes, drx::placed<spots, pictures>, drx::placed<array<float, 32, 32, 3>, pictures>>;
}  // namespace splatting
