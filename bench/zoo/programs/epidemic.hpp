#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace epidemic {
struct regions : drx::placement<regions> {};
using rates = std::tuple<float, float, float>;  // logarithms of contacts, recoveries and the part that is reported

inline constexpr auto likelihood = [](auto r, auto start, auto cases) {  // of the counts of 60 days in one region
  auto [contacts, recoveries, reported] = r;
  auto day = [=](auto state, auto seen) {
    auto [healthy, ill] = state;
    auto fresh = drx::exp(contacts) * healthy * ill, well = drx::exp(recoveries) * ill;
    auto expected = 1e5f * drx::exp(reported) * fresh;
    return std::pair{std::pair{healthy - fresh, ill + fresh - well}, seen * drx::log(expected) - expected};
  };
  return drx::sum(std::get<1>(drx::scan(day, std::pair{1 - start, start}, cases)));
};
inline constexpr auto mean = [](auto r, auto start, auto cases) {
  return drx::reduce_mean(drx::map(likelihood, drx::broadcast<regions>(r), start, cases));
};
using Program = drx::program<drx::value_and_grad<0, 1>(mean), rates, drx::placed<float, regions>,
                             drx::placed<drx::array<float, 60>, regions>>;
}  // namespace epidemic
