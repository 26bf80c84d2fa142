#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace ray_marching {
struct pixels : drx::placement<pixels> {};
using vec3 = drx::array<float, 3>;
using balls = drx::array<float, 6, 4>;  // centres and radii

inline constexpr vec3 light{0.48f, 0.8f, -0.36f}, eye{0.f, 1.f, -4.f};

inline constexpr auto distance = [](auto scene, auto p) {  // to a floor and to balls that melt into each other
  auto off = p - drx::slice<drx::all, drx::range<0, 3>>(scene);
  auto each = drx::norm<1>(off) - drx::index<3>(drx::transpose(scene));
  return drx::min(drx::index<1>(p), -0.1f * drx::logsumexp(-10.f * each));
};
inline constexpr auto shade = [](auto scene, auto ray) {
  auto t = drx::fori_loop<32>(drx::full<drx::scalar<float>>(1),
                              [=](auto at) { return at + distance(scene, eye + at * ray); });
  auto p = eye + t * ray;
  auto normal = drx::grad([=](auto q) { return distance(scene, q); })(p);
  auto start = std::pair{drx::full<drx::scalar<float>>(0.1f), drx::ones<drx::scalar<float>>()};
  auto lit = drx::fori_loop<16>(start, [=](auto c) {  // a soft shadow: how near the way to the light comes to a ball
    auto [at, open] = c;
    auto free = distance(scene, p + at * light);
    return std::pair{at + drx::max(free, 0.05f), drx::min(open, 8 * drx::relu(free) / at)};
  });
  return drx::exp(-0.1f * t) * (0.2f + 0.8f * lit.second * drx::relu(drx::dot(normal, light)));
};
inline constexpr auto error = [](auto scene, auto ray, auto seen) { return drx::square(shade(scene, ray) - seen); };
inline constexpr auto loss = [](auto scene, auto rays, auto seen) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<pixels>(scene), rays, seen));
};
using Program = drx::program<drx::value_and_grad(loss), balls, drx::placed<vec3, pixels>, drx::placed<float, pixels>>;
}  // namespace ray_marching
