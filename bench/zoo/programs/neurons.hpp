#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace neurons {
struct cells : drx::placement<cells> {};
using conductances = drx::array<float, 3>;  // of sodium, potassium and leaks

inline constexpr auto gate = [](auto x, auto opening, auto closing) {  // one step of 0.02 ms
  return x + 0.02f * (opening * (1 - x) - closing * x);
};
inline constexpr auto mean_voltage = [](auto g, auto current) {  // by Hodgkin and Huxley: 500 steps
  auto step = [=](auto carry) {
    auto [v, m, h, n, sum] = carry;
    auto a = v + 40, b = v + 55, off = v + 65;
    auto sodium = drx::index<0>(g) * m * m * m * h * (v - 50);
    auto potassium = drx::index<1>(g) * drx::square(drx::square(n)) * (v + 77);
    auto next = v + 0.02f * (current - sodium - potassium - drx::index<2>(g) * (v + 54.4f));
    auto m2 = gate(m, 0.1f * a / (1 - drx::exp(-0.1f * a)), 4 * drx::exp(off * (-1 / 18.f)));
    auto h2 = gate(h, 0.07f * drx::exp(-0.05f * off), 1 / (1 + drx::exp(-0.1f * (v + 35))));
    auto n2 = gate(n, 0.01f * b / (1 - drx::exp(-0.1f * b)), 0.125f * drx::exp(-0.0125f * off));
    return std::tuple{next, m2, h2, n2, sum + next};
  };
  auto of = [](float x) { return drx::full<drx::scalar<float>>(x); };
  return std::get<4>(drx::fori_loop<500>(std::tuple{of(-64.f), of(0.05f), of(0.6f), of(0.32f), of(0.f)}, step)) / 500;
};
inline constexpr auto loss = [](auto g, auto currents, auto seen) {
  auto error = [](auto c, auto i, auto y) { return drx::square(mean_voltage(c, i) - y); };
  return drx::reduce_mean(drx::map(error, drx::broadcast<cells>(g), currents, seen));
};
using Program =
    drx::program<drx::value_and_grad(loss), conductances, drx::placed<float, cells>, drx::placed<float, cells>>;
}  // namespace neurons
