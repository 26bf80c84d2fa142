#include <drx/run/call/compiled.hpp>

#include "models.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <type_traits>

static_assert(std::is_same_v<drx::plan::lowered_t<models::Mean>, drx_plans::models_Mean>);

#if defined(DOCUMENT)
bool document_is_there() {
  std::ifstream file(DOCUMENT);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find("\"drx_plan\": 1") != std::string::npos;
}
#else
bool document_is_there() { return true; }
#endif

int main() {
  drx::serial_executor executor;
  drx::single_rank rank;
  const auto x = drx::place<models::clients>(
      rank, 2, [](std::int64_t i) { return drx::array<double, 3>(1. + static_cast<double>(i), 2., 3.); });
  drx::compiled<models::Mean> mean(executor, rank);
  drx::compiled<models::Slope> slope(executor, rank);
  std::printf("%g %g\n", mean(x, 2.), slope(x, 2.));
  return mean(x, 2.) == 31 && slope(x, 2.) == 15.5 && document_is_there() ? 0 : 1;
}
