#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const auto product = drx::custom_vjp([](auto v, auto w) { return v * w; },
                                       [](auto v, auto w) { return std::pair{v * w, std::pair{v, w}}; },
                                       [](auto kept, auto c) { return std::tuple{c * kept.second, c * kept.first}; });
  return product(x, x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
