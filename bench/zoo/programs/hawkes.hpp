#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace hawkes {
struct series : drx::placement<series> {};
using times = drx::array<double, 200>;

inline constexpr auto likelihood = [](auto p, auto waits) {  // of events that excite later ones
  auto base = drx::exp(drx::index<0>(p)), jump = drx::exp(drx::index<1>(p)), decay = drx::exp(drx::index<2>(p));
  auto step = [=](auto carry, auto wait) {
    auto [excited, total] = carry;
    auto left = excited * drx::exp(-decay * wait);
    auto gone = base * wait + (excited - left) / decay;
    return std::pair{std::tuple{left + jump, total + drx::log(base + left) - gone}, std::tuple{}};
  };
  auto none = drx::zeros<drx::scalar<double>>();
  return std::get<1>(drx::scan(step, std::tuple{none, none}, waits).first);
};
inline constexpr auto loss = [](auto p, auto waits) {
  return -drx::reduce_mean(drx::map(likelihood, drx::broadcast<series>(p), waits));
};
using Program = drx::program<drx::value_and_grad(loss), drx::array<double, 3>, drx::placed<times, series>>;
}  // namespace hawkes
