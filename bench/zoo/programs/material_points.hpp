#pragma once
#include <drx/drx.hpp>

#include <cstdint>
#include <tuple>

namespace material_points {
struct throws : drx::placement<throws> {};
using drx::array;
inline constexpr float dt = 0.004f;
inline constexpr array<float, 9, 2> nodes{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}};
inline constexpr array<std::int32_t, 9> about{0, 1, 2, 16, 17, 18, 32, 33, 34};
inline constexpr auto error = [](auto stiffness, auto start, auto speed, auto wanted) {  // a soft body on 16 x 16 nodes
  auto step = [=](auto carry) {
    auto [x, v, affine, volume] = carry;
    auto base = drx::floor(16 * x - 0.5f), f = 16 * x - base;
    auto u = drx::transpose<2, 1, 0>(
        drx::stack(0.5f * drx::square(1.5f - f), 0.75f - drx::square(f - 1), 0.5f * drx::square(f - 0.5f)));
    auto share = drx::reshape<64, 9, 1>(drx::einsum<"pi,pj->pij">(drx::index<0>(u), drx::index<1>(u)));
    auto cells = drx::matmul(drx::cast<std::int32_t>(base), array<std::int32_t, 2, 1>{{16}, {1}}) + about;
    auto apart = (nodes - drx::expand_dims<1>(f)) / 16;
    auto stress = drx::expand_dims<1, 2>(-1024 * dt * stiffness * (volume - 1)) * drx::identity<array<float, 2, 2>>();
    auto sent = share * (drx::expand_dims<1>(v) + drx::einsum<"pij,pnj->pni">(affine + stress, apart));
    auto grid = drx::scatter_add(drx::zeros<array<float, 256, 3>>(), cells, drx::concatenate<2>(sent, share));
    auto speeds = drx::slice<drx::all, drx::range<0, 2>>(grid) / (drx::slice<drx::all, drx::range<2, 3>>(grid) + 1e-6f);
    auto got = share * (drx::take(speeds, cells) - array<float, 2>{0, 10 * dt});
    auto slope = 1024 * drx::einsum<"pni,pnj->pij">(got, apart);
    auto faster = drx::sum<1>(got);
    return std::tuple{x + dt * faster, faster, slope, volume * (1 + dt * drx::einsum<"pii->p">(slope))};
  };
  auto from = std::tuple{start, speed, drx::zeros<array<float, 64, 2, 2>>(), drx::ones<array<float, 64>>()};
  return drx::mean(drx::square(std::get<0>(drx::fori_loop<30>(from, step)) - wanted));
};
inline constexpr auto loss = [](auto s, auto start, auto speeds, auto wanted) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<throws>(s), drx::broadcast<throws>(start), speeds, wanted));
};
using points = array<float, 64, 2>;
using Program = drx::program<drx::value_and_grad<0, 1>(loss), float, points, drx::placed<points, throws>,
                             drx::placed<array<float, 2>, throws>>;
}  // namespace material_points
