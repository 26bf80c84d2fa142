#pragma once
#include <drx/drx.hpp>

namespace topics {
struct documents : drx::placement<documents> {};
using words = drx::array<float, 10, 200>;  // how likely each word is in each topic

inline constexpr auto shares = [](auto table, auto counts) {  // of the topics in a document: five multiplicative steps
  auto expected = [=](auto share) { return drx::matmul(share, table) + 1e-6f; };
  auto step = [=](auto share) { return share * drx::matmul(table, counts / expected(share)) / drx::sum(counts); };
  return drx::fori_loop<5>(drx::full<drx::array<float, 10>>(0.1f), step);
};
inline constexpr auto step = [](auto table, auto counts) {  // of expectation and maximisation
  auto one = [](auto t, auto own) {
    auto share = shares(t, own);
    return drx::outer(share, own / (drx::matmul(share, t) + 1e-6f));
  };
  auto next = table * drx::reduce_sum(drx::map(one, drx::broadcast<documents>(table), counts));
  return next / drx::sum<1>(next, drx::keepdims);
};
using Program = drx::program<step, words, drx::placed<drx::array<float, 200>, documents>>;
}  // namespace topics
