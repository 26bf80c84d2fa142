// language_model/transformer.hpp: a decoder that predicts each letter of a text from those before it.
#pragma once

#include <boost/hana/define_struct.hpp>
#include <cstdint>
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>
#include <utility>

namespace language_model {

struct sizes {
  int width, heads, context, layers, letters;
  friend bool operator==(const sizes&, const sizes&) = default;
};

/// The weights of one layer: attention, then a network with one hidden layer, each after a normalisation.
template <sizes S, class T = float>
struct layer {
  using vector = drx::array<T, S.width>;
  using hidden = drx::array<T, 4 * S.width>;
  using to_attention = drx::array<T, S.width, 3 * S.width>;
  using from_attention = drx::array<T, S.width, S.width>;
  using to_hidden = drx::array<T, S.width, 4 * S.width>;
  using from_hidden = drx::array<T, 4 * S.width, S.width>;
  BOOST_HANA_DEFINE_STRUCT(layer, (vector, scale1), (vector, shift1), (to_attention, qkv), (from_attention, out),
                           (vector, scale2), (vector, shift2), (to_hidden, up), (hidden, up_bias), (from_hidden, down),
                           (vector, down_bias));
};

template <sizes S, class T = float>
struct transformer {
  using embedding = drx::array<T, S.letters, S.width>;
  using positions = drx::array<T, S.context, S.width>;
  using all_layers = drx::batched<layer<S, T>, S.layers>;
  using vector = drx::array<T, S.width>;
  BOOST_HANA_DEFINE_STRUCT(transformer, (embedding, letter), (positions, place), (all_layers, layers), (vector, scale),
                           (vector, shift));
};

// cut-begin transformer
inline constexpr auto normalised = [](auto x, auto scale, auto shift) {
  auto centred = x - drx::mean<1>(x, drx::keepdims);
  return centred * drx::rsqrt(drx::mean<1>(drx::square(centred), drx::keepdims) + 1e-5) * scale + shift;
};

/// Each place of a text attends to itself and those before it. x: the places of all texts, one after the other.
template <sizes S>
inline constexpr auto attention = [](auto x, auto qkv, auto out) {
  constexpr auto places = decltype(x)::shape[0];
  constexpr int of_head = S.width / S.heads;
  using square = drx::array<std::int32_t, S.context, S.context>;
  using scale = drx::scalar<typename decltype(x)::value_type>;
  auto all = drx::reshape<places / S.context, S.context, 3, S.heads, of_head>(drx::matmul(x, qkv));
  auto by_head = drx::transpose<2, 0, 3, 1, 4>(all);  // q, k, v: texts x heads x context x of_head
  auto q = drx::index<0>(by_head), k = drx::index<1>(by_head), v = drx::index<2>(by_head);
  auto scores = drx::einsum<"bhqd,bhkd->bhqk">(q, k) * drx::rsqrt(drx::full<scale>(of_head));
  auto seen = drx::iota<square, 0>() >= drx::iota<square, 1>();
  auto weights = drx::softmax(drx::where(seen, scores, -1e9));
  return drx::matmul(drx::reshape<places, S.width>(drx::einsum<"bhqk,bhkd->bqhd">(weights, v)), out);
};

template <sizes S>
inline constexpr auto through_layer = [](auto x, auto l) {
  auto y = x + attention<S>(normalised(x, l.scale1, l.shift1), l.qkv, l.out);
  auto hidden = drx::gelu(drx::matmul(normalised(y, l.scale2, l.shift2), l.up) + l.up_bias);
  return y + drx::matmul(hidden, l.down) + l.down_bias;
};

/// The scores of the letters that may follow each place of the texts. read: texts x context.
template <sizes S>
inline constexpr auto logits = [](auto model, auto read) {
  auto x = drx::reshape<decltype(read)::size, S.width>(drx::take(model.letter, read) + model.place);
  auto next_layer = [](auto y, auto l) { return std::pair{through_layer<S>(y, l), std::tuple{}}; };
  auto y = drx::scan(next_layer, x, model.layers, drx::keep_all).first;
  return drx::matmul(normalised(y, model.scale, model.shift), drx::transpose(model.letter));
};

/// The loss in nats of each letter but the first of each text. texts: n x (context + 1).
template <sizes S>
inline constexpr auto losses = [](auto model, auto texts) {
  constexpr auto n = decltype(texts)::shape[0];
  auto read = drx::slice<drx::all, drx::range<0, S.context>>(texts);
  auto next = drx::slice<drx::all, drx::range<1, S.context + 1>>(texts);
  auto all = drx::softmax_cross_entropy(logits<S>(model, read), drx::reshape<n * S.context>(next));
  return drx::reshape<n, S.context>(all);
};
template <sizes S>
inline constexpr auto mean_loss = [](auto model, auto texts) { return drx::mean(losses<S>(model, texts)); };
// cut-end transformer

}  // namespace language_model
