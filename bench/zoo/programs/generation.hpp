#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace generation {
struct texts : drx::placement<texts> {};
template <std::int64_t... N>
using real = drx::array<float, N...>;
using weights = std::tuple<real<96, 64>, real<48, 64>, real<64, 192>, real<64, 64>, real<64, 128>, real<128, 64>>;
using letter = drx::scalar<std::int32_t>;

inline constexpr auto next_letter = [](auto w, auto i, auto state) {  // with the keys and values of all letters so far
  auto [table, place, in, out, up, down] = w;
  auto [now, keys, values, score] = state;
  auto x = drx::index(table, now) + drx::index(place, i);
  auto parts = drx::reshape<3, 4, 16>(drx::matmul(x, in));
  auto k = drx::update_slice(keys, drx::expand_dims<0>(drx::index<1>(parts)), i);
  auto v = drx::update_slice(values, drx::expand_dims<0>(drx::index<2>(parts)), i);
  auto fits = 0.25f * drx::einsum<"jhd,hd->hj">(k, drx::index<0>(parts));
  auto seen = drx::softmax(drx::where(drx::iota<drx::array<int, 48>>() <= i, fits, -1e9f));
  auto y = x + drx::matmul(drx::reshape<64>(drx::einsum<"hj,jhd->hd">(seen, v)), out);
  auto z = y + drx::matmul(drx::gelu(drx::matmul(y, up)), down);
  auto chances = drx::log_softmax(drx::matmul(table, z));
  return std::tuple{drx::argmax(chances), k, v, score + drx::max(chances)};
};
inline constexpr auto written = [](auto w, auto first) {  // 48 letters, always the likeliest, and how likely they are
  auto none = drx::zeros<real<48, 4, 16>>();
  auto start = std::tuple{first, none, none, drx::zeros<real<>>()};
  auto step = [=](auto i, auto state) { return next_letter(w, i, state); };
  auto [last, k, v, score] = drx::fori_loop<48>(start, step);
  return std::pair{last, score};
};
inline constexpr auto all_written = [](auto w, auto first) {
  return drx::map(written, drx::broadcast<texts>(w), first);
};
using Program = drx::program<all_written, weights, drx::placed<letter, texts>>;
}  // namespace generation
