#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace adaptive {
struct cells : drx::placement<cells> {};
using drx::array;
using concentrations = array<double, 2>;

inline constexpr auto rates = [](auto y, auto b) {  // of the Brusselator
  auto u = drx::index<0>(y), v = drx::index<1>(y), made = u * u * v;
  return drx::stack(1 + made - (b + 1) * u, b * u - made);
};
inline constexpr auto end_of = [](auto b,
                                  auto from) {  // at time 10, by Bogacki's and Shampine's steps of order 3 and 2
  auto going = [](auto c) { return std::get<0>(c) < 10; };
  auto step = [=](auto c) {
    auto [t, h, y, first] = c;
    auto k2 = rates(y + h / 2 * first, b);
    auto k3 = rates(y + 0.75 * h * k2, b);
    auto next = y + h / 9 * (2 * first + 3 * k2 + 4 * k3);
    auto last = rates(next, b);
    auto error = drx::norm(h / 72 * (-5 * first + 6 * k2 + 8 * k3 - 9 * last)) / (1e-5 + 1e-5 * drx::norm(next));
    auto taken = error <= 1;
    auto factor = drx::clamp(0.9 / drx::cbrt(drx::max(error, 1e-6)), 0.2, 5.0);
    auto time = drx::where(taken, t + h, t);
    return std::tuple{time, drx::min(h * drx::stop_gradient(factor), 10.0 - time), drx::where(taken, next, y),
                      drx::where(taken, last, first)};
  };
  return std::get<2>(drx::while_loop(going, step, std::tuple{0 * b, 0 * b + 0.01, from, rates(from, b)}));
};
inline constexpr auto mean_end = [](auto b, auto starts) {
  auto mean = [=](auto x) { return drx::reduce_mean(drx::map(end_of, drx::broadcast<cells>(x), starts)); };
  return drx::jvp(mean, b, 0 * b + 1);
};
using Program = drx::program<mean_end, double, drx::placed<concentrations, cells>>;
}  // namespace adaptive
