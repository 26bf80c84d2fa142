// Local SGD of a decoder: each client makes a few steps on sequences of its own, then the models are averaged.
// `unrolled<n>` has n layers, each on the tape; `scanned<n>` has them in a loop over stacked parameters.
#pragma once

#include <drx/drx.hpp>

#include <cmath>
#include <tuple>

namespace transformer {
using drx::array, drx::placed;

struct clients : drx::placement<clients> {};

inline constexpr int width = 64, context = 32, heads = 4, letters = 64, sequences = 4, steps = 4;
inline constexpr int of_head = width / heads;

template <std::int64_t... Layers>
using layers_of = std::tuple<array<float, Layers..., width, 3 * width>, array<float, Layers..., width, width>,
                             array<float, Layers..., width, 4 * width>, array<float, Layers..., 4 * width, width>,
                             array<float, Layers..., width>, array<float, Layers..., width>>;
using embedding = array<float, letters, width>;
using positions = array<float, context, width>;
using text = array<std::int32_t, context + 1>;

inline constexpr auto norm = [](auto x, auto scale) {
  auto centred = x - drx::reshape<context, 1>(drx::mean<1>(x));
  auto spread = drx::reshape<context, 1>(drx::mean<1>(drx::square(centred)));
  return centred * drx::rsqrt(spread + 1e-5f) * scale;
};
inline constexpr auto attention = [](auto x, auto qkv, auto out) {
  auto all = drx::reshape<context, 3, heads, of_head>(drx::matmul(x, qkv));
  auto by_head = drx::transpose<1, 2, 0, 3>(all);  // q, k, v: heads x context x of_head
  auto q = drx::index<0>(by_head), k = drx::index<1>(by_head), v = drx::index<2>(by_head);
  auto scores = drx::einsum<"hqd,hkd->hqk">(q, k) * (1 / std::sqrt(static_cast<float>(of_head)));
  using square = array<std::int32_t, context, context>;
  auto place = drx::iota<square, 0>() >= drx::iota<square, 1>();
  auto weights = drx::softmax(drx::where(place, scores, -1e9f));
  auto mixed = drx::transpose<1, 0, 2>(drx::einsum<"hqk,hkd->hqd">(weights, v));
  return drx::matmul(drx::reshape<context, width>(mixed), out);
};
inline constexpr auto layer = [](auto x, auto p) {
  auto [qkv, out, up, down, scale1, scale2] = p;
  auto y = x + attention(norm(x, scale1), qkv, out);
  return y + drx::matmul(drx::gelu(drx::matmul(norm(y, scale2), up)), down);
};
/// The mean loss of the next letter over one text.
template <class Layers>
constexpr auto loss_by(Layers all_layers) {
  const auto of_text = [=](auto model, auto read, auto next) {
    auto [letter, place, layers] = model;
    auto x = all_layers(drx::take(letter, read) + place, layers);
    return drx::mean(drx::softmax_cross_entropy(drx::matmul(x, drx::transpose(letter)), next));
  };
  return [=](auto model, auto read, auto next) {
    return drx::mean(drx::vmap(of_text, std::tuple{drx::none, drx::axis<0>, drx::axis<0>})(model, read, next));
  };
}
template <class Layers>
constexpr auto round_by(Layers all_layers) {
  return [=](auto model, auto rate, auto read, auto next) {
    const auto of_client = [=](auto start, auto r, auto own_read, auto own_next) {
      return drx::scan(
          [=](auto p, auto batch) {
            auto [batch_read, batch_next] = batch;
            auto [value, slope] = drx::value_and_grad(loss_by(all_layers))(p, batch_read, batch_next);
            return std::pair{drx::tree_map([=](auto u, auto g) { return u - r * g; }, p, slope), value};
          },
          start, std::pair{own_read, own_next});
    };
    auto [trained, losses] =
        drx::map(of_client, drx::broadcast<clients>(model), drx::broadcast<clients>(rate), read, next);
    return std::pair{drx::reduce_mean(trained), drx::reduce_mean(losses)};
  };
}

inline constexpr auto scanned_layers = [](auto x, auto layers) {
  return std::get<0>(drx::scan([](auto y, auto p) { return std::pair{layer(y, p), drx::sum(y)}; }, x, layers));
};
inline constexpr auto unrolled_layers = [](auto x, auto layers) {
  return std::apply(
      [=](auto... p) {
        auto y = x;
        ((y = layer(y, p)), ...);
        return y;
      },
      layers);
};
using texts = placed<array<std::int32_t, steps, sequences, context>, clients>;
template <int Layers>
using scanned_model = std::tuple<embedding, positions, layers_of<Layers>>;
template <int... Layer>
std::tuple<embedding, positions, std::tuple<std::enable_if_t<(Layer >= 0), layers_of<>>...>> unrolled_model(
    std::integer_sequence<int, Layer...>);

inline constexpr auto scanned_round = round_by(scanned_layers);
inline constexpr auto unrolled_round = round_by(unrolled_layers);
template <int Layers>
using scanned = drx::program<scanned_round, scanned_model<Layers>, float, texts, texts>;
template <int Layers>
using unrolled = drx::program<unrolled_round, decltype(unrolled_model(std::make_integer_sequence<int, Layers>{})),
                              float, texts, texts>;

using Scanned2 = scanned<2>;
using Scanned12 = scanned<12>;
using Unrolled2 = unrolled<2>;
using Unrolled12 = unrolled<12>;
}  // namespace transformer
