#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  return drx::sum(drx::vmap([](auto a, auto b) { return a * b; }, std::tuple{drx::none, drx::axis<0>})(x, x));
};
using F = drx::program<f, drx::array<float, 2>>;
const auto& tape = F::tape();
