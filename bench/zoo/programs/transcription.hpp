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

inline constexpr auto loss = [](auto scores, auto letters) {  // connectionist temporal classification
  auto blanks = drx::zeros<text>();
  auto path = drx::concatenate(drx::reshape<40>(drx::stack<1>(blanks, letters)), drx::zeros<drx::array<int, 1>>());
  auto before = drx::concatenate(drx::zeros<drx::array<int, 2>>(), drx::slice<0, 39>(path));
  auto skip = path != 0 && path != before;
  auto never = drx::full<states>(-1e9f);
  auto seen = drx::take<1>(drx::log_softmax(scores), path);
  auto step = [=](auto alpha, auto own) {
    auto one = drx::concatenate(drx::slice<0, 1>(never), drx::slice<0, 40>(alpha));
    auto two = drx::concatenate(drx::slice<0, 2>(never), drx::slice<0, 39>(alpha));
    auto reached = drx::logsumexp<0>(drx::stack(alpha, one, drx::where(skip, two, never)));
    return std::pair{reached + own, std::tuple{}};
  };
  auto first = drx::where(drx::iota<drx::array<int, 41>>() < 2, drx::index<0>(seen), never);
  auto last = drx::scan(step, first, drx::slice<1, 100>(seen)).first;
  return -drx::logsumexp(drx::slice<39, 41>(last));
};
inline constexpr auto slopes = [](auto scores, auto letters) {
  auto [value, slope] = drx::map(drx::value_and_grad(loss), scores, letters);
  return std::pair{drx::reduce_mean(value), slope};
};
using Program = drx::program<slopes, drx::placed<frames, clips>, drx::placed<text, clips>>;
}  // namespace transcription
