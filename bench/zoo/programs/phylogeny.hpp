#pragma once
#include <drx/drx.hpp>

#include <cstdint>

namespace phylogeny {
struct sites : drx::placement<sites> {};
using rates = drx::array<double, 4, 4>;
using lengths = drx::array<double, 30>;
using leaves = drx::array<std::int32_t, 16>;

inline constexpr auto transitions = [](auto raw, auto length) {  // exp(length q) for each branch, by squaring
  auto exchange = drx::exp(raw + drx::transpose(raw)) * (1 - drx::identity<rates>());
  auto q = exchange - drx::diagonal_matrix(drx::sum<1>(exchange));
  auto small = drx::exp(drx::expand_dims<1, 2>(length)) * q / 64;
  auto series = drx::identity<rates>() + small * 1;
  auto term = small;
  for (int n = 2; n < 8; ++n) {
    term = drx::matmul(term, small) / n;
    series += term;
  }
  return drx::fori_loop<6>(series, [](auto p) { return drx::matmul(p, p); });
};
inline constexpr auto merged = [](auto moves, auto partials) {  // both branches below each of half as many nodes
  constexpr auto nodes = decltype(partials)::shape[0] / 2;
  return drx::prod<1>(drx::reshape<nodes, 2, 4>(drx::einsum<"bij,bj->bi">(moves, partials)));
};
inline constexpr auto site = [](auto moves, auto states) {  // Felsenstein's pruning of a balanced tree
  auto eight = merged(drx::slice<0, 16>(moves), drx::one_hot<double, 4>(states));
  auto four = merged(drx::slice<16, 24>(moves), eight);
  auto two = merged(drx::slice<24, 28>(moves), four);
  return drx::log(drx::mean(merged(drx::slice<28, 30>(moves), two)));
};
inline constexpr auto loss = [](auto raw, auto length, auto data) {
  return -drx::reduce_mean(drx::map(site, drx::broadcast<sites>(transitions(raw, length)), data));
};
using Program = drx::program<drx::value_and_grad<0, 1>(loss), rates, lengths, drx::placed<leaves, sites>>;
}  // namespace phylogeny
