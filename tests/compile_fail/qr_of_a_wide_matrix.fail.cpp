// The QR decomposition of 2 rows and 3 columns.
// expect: error::matrix_has_more_columns_than_rows
// expect: at least as many rows as columns
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::qr(x).second;
  // correct: auto z = drx::qr(drx::transpose(x)).second;
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 2, 3>>;
const auto& tape = F::tape();
