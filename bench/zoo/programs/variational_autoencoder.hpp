#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace variational_autoencoder {
struct examples : drx::placement<examples> {};
using layer = std::tuple<drx::array<float, 64, 48>, drx::array<float, 48>>;
using encoder = std::tuple<layer, drx::array<float, 48, 16>>;
using decoder = std::tuple<drx::array<float, 8, 48>, drx::array<float, 48, 64>>;
using network = std::pair<encoder, decoder>;

inline constexpr auto bound_of_one = [](auto net, auto i, auto x) {  // x: 64 numbers between 0 and 1
  auto [first, second] = std::get<0>(net);
  auto [w, b] = first;
  auto [back, out] = std::get<1>(net);
  auto code = drx::matmul(drx::relu(drx::matmul(x, w) + b), second);
  auto mean = drx::slice<0, 8>(code), log_sd = drx::slice<8, 16>(code);
  auto drawn = mean + drx::exp(log_sd) * drx::normal<float, 8>(drx::fold_in(drx::random_key(5), i));
  auto logits = drx::matmul(drx::relu(drx::matmul(drawn, back)), out);
  auto wrong = drx::sum(drx::softplus(logits) - x * logits);
  return wrong + 0.5f * drx::sum(drx::exp(2 * log_sd) + drx::square(mean) - 1 - 2 * log_sd);
};
inline constexpr auto loss = [](auto net, auto i, auto x) {
  return drx::reduce_mean(drx::map(bound_of_one, drx::broadcast<examples>(net), i, x));
};
using Program = drx::program<drx::value_and_grad<0>(loss), network, drx::placed<std::int32_t, examples>,
                             drx::placed<drx::array<float, 64>, examples>>;
}  // namespace variational_autoencoder
