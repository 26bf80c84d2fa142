// Labels of 4 rows for logits of 3.
// expect: error::extents_differ|error::element_types_differ
// expect: \(rows, classes\) logits with \(rows\) int labels
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto labels) {
  auto y = drx::softmax_cross_entropy(x, labels);
  // correct: auto y = drx::softmax_cross_entropy(drx::transpose(x), labels);
  return drx::mean(y);
};
using F = drx::program<f, drx::array<float, 3, 4>, drx::array<int, 4>>;
const auto& tape = F::tape();
