#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace labelling {
struct sentences : drx::placement<sentences> {};
using drx::array;
using model = std::pair<array<float, 20, 12>, array<float, 12, 12>>;  // scores of labels, and of their neighbours

inline constexpr auto likelihood = [](auto m, auto words, auto labels) {  // a chain of conditional random fields
  auto [weights, follows] = m;
  auto scores = drx::matmul(words, weights);
  auto step = [=](auto logs, auto own) { return std::pair{drx::log_matmul(logs, follows) + own, std::tuple{}}; };
  auto all = drx::scan(step, drx::index<0>(scores), drx::slice<1, 40>(scores)).first;
  auto here = drx::slice<1, 40>(labels), before = drx::slice<0, 39>(labels);
  auto pairs = drx::take(drx::reshape<144>(follows), 12 * before + here);
  auto own = drx::sum(drx::one_hot<float, 12>(labels) * scores);
  return own + drx::sum(pairs) - drx::logsumexp(all);
};
inline constexpr auto loss = [](auto m, auto words, auto labels) {
  return -drx::reduce_mean(drx::map(likelihood, drx::broadcast<sentences>(m), words, labels));
};
using Program = drx::program<drx::value_and_grad(loss), model, drx::placed<array<float, 40, 20>, sentences>,
                             drx::placed<array<std::int32_t, 40>, sentences>>;
}  // namespace labelling
