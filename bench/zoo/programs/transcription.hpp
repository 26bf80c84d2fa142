#pragma once
#include <drx/drx.hpp>

#include <cstdint>
#include <tuple>
#include <utility>

namespace transcription {
struct clips : drx::placement<clips> {};
using frames = drx::array<float, 100, 29>;
using text = drx::array<std::int32_t, 20>;
using states = drx::array<float, 41>;  // each letter between two blanks, which are class 0

template <int By>
inline constexpr auto shifted =
    [](auto p) { return drx::concatenate(drx::zeros<drx::array<float, By>>(), drx::slice<0, 41 - By>(p)); };
inline constexpr auto loss = [](auto scores, auto letters) {  // connectionist temporal classification
  auto blanks = drx::zeros<text>();
  auto path = drx::concatenate(drx::reshape<40>(drx::stack<1>(blanks, letters)), drx::zeros<drx::array<int, 1>>());
  auto before = drx::concatenate(drx::zeros<drx::array<int, 2>>(), drx::slice<0, 39>(path));
  auto skip = drx::cast<float>(path != 0 && path != before);
  auto seen = drx::take<1>(drx::softmax(scores), path);
  auto step = [=](auto carry, auto own) {  // probabilities, scaled at each step
    auto [p, total] = carry;
    auto reached = (p + shifted<1>(p) + skip * shifted<2>(p)) * own;
    auto scale = drx::sum(reached);
    return std::pair{std::tuple{reached / scale, total + drx::log(scale)}, std::tuple{}};
  };
  auto first = drx::where(drx::iota<drx::array<int, 41>>() < 2, drx::index<0>(seen), drx::zeros<states>());
  auto start = std::tuple{first, drx::zeros<drx::scalar<float>>()};
  auto [p, total] = drx::scan(step, start, drx::slice<1, 100>(seen)).first;
  return -drx::log(drx::sum(drx::slice<39, 41>(p))) - total;
};
inline constexpr auto slopes = [](auto scores, auto letters) {
  auto [value, slope] = drx::map(drx::value_and_grad(loss), scores, letters);
  return std::pair{drx::reduce_mean(value), slope};
};
using Program = drx::program<slopes, drx::placed<frames, clips>, drx::placed<text, clips>>;
}  // namespace transcription
