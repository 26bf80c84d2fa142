#include <drx/run/call/compiled.hpp>

#include "models.hpp"

#include <cstdio>
#include <type_traits>

static_assert(std::is_same_v<drx::plan::lowered_t<models::Mean>, drx_plans::models_Mean>);

int main() {
  drx::serial_executor executor;
  drx::single_rank rank;
  const auto x = drx::place<models::clients>(
      rank, 2, [](std::int64_t i) { return drx::array<double, 3>(1. + static_cast<double>(i), 2., 3.); });
  drx::compiled<models::Mean> mean(executor, rank);
  drx::compiled<models::Slope> slope(executor, rank);
  std::printf("%g %g\n", mean(x, 2.), slope(x, 2.));
  return mean(x, 2.) == 31 && slope(x, 2.) == 15.5 ? 0 : 1;
}
