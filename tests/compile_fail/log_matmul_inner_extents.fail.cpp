// (12) times (8, 12): the second has a row for each element of the first.
// expect: error::inner_extents_differ
// expect: log_matmul of \(m, k\) and \(k, n\)
#include <drx/drx.hpp>

constexpr auto f = [](auto alpha, auto moves) {
  auto next = drx::log_matmul(alpha, moves);
  // correct: auto next = drx::log_matmul(alpha, drx::transpose(moves));
  return drx::sum(next + 1);
};
using F = drx::program<f, drx::array<float, 12>, drx::array<float, 8, 12>>;
const auto& tape = F::tape();
