#pragma once
#include <drx/drx.hpp>

namespace word2vec {
struct samples : drx::placement<samples> {};
using table = drx::array<float, 1000, 32>;

inline constexpr auto error = [](auto words, auto contexts, auto centre, auto context, auto negatives) {
  auto word = drx::index(words, centre);
  auto others = drx::matmul(drx::take(contexts, negatives), word);
  return drx::softplus(-drx::dot(drx::index(contexts, context), word)) + drx::sum(drx::softplus(others));
};
inline constexpr auto loss = [](auto words, auto contexts, auto centre, auto context, auto negatives) {
  return drx::reduce_mean(
      drx::map(error, drx::broadcast<samples>(words), drx::broadcast<samples>(contexts), centre, context, negatives));
};
using Program = drx::program<drx::value_and_grad<0, 1>(loss), table, table, drx::placed<std::int32_t, samples>,
                             drx::placed<std::int32_t, samples>, drx::placed<drx::array<std::int32_t, 8>, samples>>;
}  // namespace word2vec
