#pragma once
#include <drx/drx.hpp>

namespace permutation_test {
struct genes : drx::placement<genes> {};
using drx::array;
using levels = array<float, 40>;  // of 20 ill and 20 healthy people

inline constexpr auto difference = [](auto x) {
  return drx::mean(drx::slice<0, 20>(x)) - drx::mean(drx::slice<20, 40>(x));
};
inline constexpr auto p_value = [](auto seed, auto gene, auto x) {  // the share of 100 shuffles that differ as much
  auto key = drx::fold_in(drx::random_key(seed), gene);
  auto seen = drx::abs(difference(x));
  auto more = drx::fori_loop<100>(0 * seen, [=](auto i, auto count) {
    auto shuffled = drx::take(x, drx::permutation<40>(drx::fold_in(key, i)));
    return count + drx::cast<float>(drx::abs(difference(shuffled)) >= seen);
  });
  return (1 + more) / 101;
};
inline constexpr auto share_of_signs = [](auto seed, auto data) {  // of genes, at one in twenty
  auto p = drx::map(p_value, drx::broadcast<genes>(seed), drx::partition_index<genes>(), data);
  return std::pair{drx::reduce_mean(drx::map([](auto q) { return drx::cast<float>(q <= 0.05f); }, p)),
                   drx::reduce_mean(p)};
};
using Program = drx::program<share_of_signs, std::int64_t, drx::placed<levels, genes>>;
}  // namespace permutation_test
