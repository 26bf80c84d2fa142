#pragma once
#include <drx/drx.hpp>

namespace multigrid {
struct plates : drx::placement<plates> {};
using field = drx::array<double, 64, 64>;

inline constexpr auto along = [](auto k, auto u) {  // what flows into each cell from those above and below; 0 outside
  constexpr auto n = decltype(k)::shape[0];
  auto faces = (drx::concatenate(drx::slice<0, 1>(k), k) + drx::concatenate(k, drx::slice<n - 1, n>(k))) / 2;
  auto around = drx::pad<1>(u);
  auto flow = faces * (drx::slice<1, n + 2>(around) - drx::slice<0, n + 1>(around));
  return drx::slice<1, n + 1>(flow) - drx::slice<0, n>(flow);
};
inline constexpr auto applied = [](auto k, auto u) {
  return -along(k, u) - drx::transpose(along(drx::transpose(k), drx::transpose(u)));
};
template <int N>
inline constexpr auto blocks = [](auto x) { return drx::sum<1, 3>(drx::reshape<N, 2, N, 2>(x)); };  // sums of 2 x 2
struct cycle {  // smooths, corrects by a coarser grid, and smooths
  constexpr auto operator()(auto k, auto f) const {
    constexpr auto n = decltype(k)::shape[0];
    auto edges = [](auto x) { return drx::concatenate(drx::slice<0, 1>(x), x, drx::slice<n - 1, n>(x)); };
    auto around = [=](auto x) { return x + (drx::slice<0, n>(edges(x)) + drx::slice<2, n + 2>(edges(x))) / 2; };
    auto diagonal = around(k) + drx::transpose(around(drx::transpose(k)));
    auto smooth = [=](auto u) { return u + 0.8 * (f - applied(k, u)) / diagonal; };
    auto u = drx::fori_loop<3>(drx::zeros<decltype(f)>() * f, smooth);
    if constexpr (n > 16)
      u += drx::repeat<2, 1>(drx::repeat<2>((*this)(blocks<n / 2>(k) / 4, blocks<n / 2>(f - applied(k, u)))));
    return drx::fori_loop<3>(u, smooth);
  }
};
inline constexpr auto heat = [](auto log_k, auto source) {
  auto k = drx::exp(log_k);
  auto u = drx::fori_loop<4>(0 * source, [=](auto v) { return v + cycle{}(k, source - applied(k, v)); });
  return drx::mean(u * source);
};
inline constexpr auto slopes = [](auto k, auto source) { return drx::map(drx::value_and_grad(heat), k, source); };
using Program = drx::program<slopes, drx::placed<field, plates>, drx::placed<field, plates>>;
}  // namespace multigrid
