#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace decoder {
using drx::array;
struct workers : drx::placement<workers> {};
using layers = std::tuple<array<float, 2, 256, 768>, array<float, 2, 256, 256>, array<float, 2, 256, 1024>,
                          array<float, 2, 1024, 256>>;
using weights = std::tuple<array<float, 96, 256>, array<float, 64, 256>, layers>;
inline constexpr auto norm = [](auto x) {
  auto centred = x - drx::mean<1>(x, drx::keepdims);
  return centred * drx::rsqrt(drx::mean<1>(drx::square(centred), drx::keepdims) + 1e-5f);
};
inline constexpr auto attention = [](auto x, auto qkv, auto out) {  // eight texts of 64 letters, four heads
  auto parts = drx::transpose<2, 0, 3, 1, 4>(drx::reshape<8, 64, 3, 4, 64>(drx::matmul(x, qkv)));
  auto q = drx::index<0>(parts), k = drx::index<1>(parts), v = drx::index<2>(parts);
  auto scores = 0.125f * drx::einsum<"bhqd,bhkd->bhqk">(q, k);
  auto seen = drx::tril(drx::ones<array<float, 64, 64>>()) > 0;
  auto mixed = drx::einsum<"bhqk,bhkd->bqhd">(drx::softmax(drx::where(seen, scores, -1e9f)), v);
  return drx::matmul(drx::reshape<512, 256>(mixed), out);
};
inline constexpr auto loss = [](auto w, auto own) {
  auto [letter, place, all] = w;
  auto read = drx::slice<drx::all, drx::range<0, 64>>(own), next = drx::slice<drx::all, drx::range<1, 65>>(own);
  auto step = [](auto x, auto l) {
    auto [qkv, out, up, down] = l;
    auto y = x + attention(norm(x), qkv, out);
    return std::pair{y + drx::matmul(drx::gelu(drx::matmul(norm(y), up)), down), std::tuple{}};
  };
  auto x = drx::scan(step, drx::reshape<512, 256>(drx::take(letter, read) + place), all, drx::keep_all).first;
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(norm(x), drx::transpose(letter)), drx::reshape<512>(next)));
};
inline constexpr auto all_losses = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(loss, drx::broadcast<workers>(w), data));
};
using Program =
    drx::program<drx::value_and_grad(all_losses), weights, drx::placed<array<std::int32_t, 8, 65>, workers>>;
}  // namespace decoder
