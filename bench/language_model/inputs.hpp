// bench/language_model/inputs.hpp: the models, the clients' texts, and where the numbers of a model lie. The twins in
// Python make the same numbers.
#pragma once

#include <harness.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace language_model_bench {

/// A decoder, and what each client does in a round: `steps` of SGD on `texts` sequences each.
struct task {
  int width, heads, context, layers, letters, clients, steps, texts;
};
inline constexpr task narrow{64, 4, 32, 2, 96, 8, 4, 4}, wide{256, 4, 128, 4, 96, 4, 2, 4};
inline constexpr float rate = 0.1f;

/// The leaves of a model, in their order; those of layers have an axis of layers in front.
enum leaf {
  letter,
  place,
  scale1,
  shift1,
  qkv,
  out,
  scale2,
  shift2,
  up,
  up_bias,
  down,
  down_bias,
  scale,
  shift,
  leaves
};

template <task S>
struct layout {
  static constexpr std::size_t w = S.width, h = 4 * w;
  static constexpr std::size_t size_of(int l) {  // of one layer
    constexpr std::size_t sizes[leaves] = {
        S.letters * w, S.context * w, w, w, w * 3 * w, w * w, w, w, w * h, h, h * w, w, w, w};
    return sizes[l];
  }
  static constexpr bool in_layers(int l) { return l >= scale1 && l <= down_bias; }
  /// Where a leaf begins, or layer `of` of it.
  static constexpr std::size_t at(int l, int of = 0) {
    std::size_t begin = 0;
    for (int i = 0; i < l; ++i) begin += size_of(i) * (in_layers(i) ? S.layers : 1);
    return of == 0 ? begin : begin + static_cast<std::size_t>(of) * size_of(l);
  }
  static constexpr std::size_t size = at(leaves);
};

template <task S>
struct inputs {
  std::vector<float> model;        // leaf after leaf
  std::vector<std::int32_t> text;  // [clients, steps, texts, context + 1]

  static constexpr std::size_t text_size = S.context + 1, batch = S.texts * text_size;
  [[nodiscard]] const std::int32_t* batch_of(int client, int step) const {
    return text.data() + static_cast<std::size_t>(client * S.steps + step) * batch;
  }
};
template <task S>
inputs<S> make_inputs() {
  using of = layout<S>;
  inputs<S> in;
  in.model.resize(of::size);
  bench::fill(in.model.data(), of::size, 1, 0.06f);
  for (int l : {scale1, scale2, scale})
    for (std::size_t i = of::at(l); i < of::at(l + 1); ++i) in.model[i] += 1;
  const std::size_t letters_in_all = S.clients * S.steps * inputs<S>::batch;
  for (std::uint32_t i = 0; i < letters_in_all; ++i)
    in.text.push_back(static_cast<std::int32_t>(bench::hash(2, i) % S.letters));
  return in;
}

}  // namespace language_model_bench
