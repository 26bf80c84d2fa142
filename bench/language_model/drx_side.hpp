// bench/language_model/drx_side.hpp: the round in drx, with the decoder of examples/language_model.
#pragma once

#include "../../examples/language_model/transformer.hpp"
#include "inputs.hpp"

#include <drx/run.hpp>

#include <algorithm>
#include <tuple>

namespace language_model_bench {

struct clients : drx::placement<clients> {};
template <task S>
inline constexpr language_model::sizes decoder{S.width, S.heads, S.context, S.layers, S.letters};
template <task S>
using model = language_model::transformer<decoder<S>>;
template <task S>
using texts = drx::array<std::int32_t, S.steps, S.texts, S.context + 1>;

template <task S>
inline constexpr auto trained = [](auto start, auto batches) {
  auto step = [](auto m, auto batch) {
    auto g = drx::grad(language_model::mean_loss<decoder<S>>)(m, batch);
    return std::pair{m - rate * g, std::tuple{}};
  };
  return drx::scan(step, start, batches).first;
};
template <task S>
inline constexpr auto round =
    [](auto m, auto batches) { return drx::reduce_mean(drx::map(trained<S>, drx::broadcast<clients>(m), batches)); };
template <task S>
using Round = drx::program<round<S>, model<S>, drx::placed<texts<S>, clients>>;

/// Copies a model's leaves from, or to, where they lie one after the other.
template <task S>
void copy(const float* from, model<S>& m) {
  drx::structure<model<S>>::visit(m, [&](float* leaf, const drx::shape& of) {
    std::copy_n(from, of.size(), leaf);
    from += of.size();
  });
}
template <task S>
void copy(const model<S>& m, float* to) {
  drx::structure<model<S>>::visit(
      m, [&](const float* leaf, const drx::shape& of) { to = std::copy_n(leaf, of.size(), to); });
}

}  // namespace language_model_bench
