#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include <doctest/doctest.h>

namespace {

using square = drx::array<double, 16, 16>;
constexpr auto power = [](auto x, auto y) { return drx::matmul(drx::matmul(drx::matmul(x, y), y), y); };
constexpr auto one = [](auto x, auto y) { return drx::sum(power(x, y)); };
constexpr auto either = [](auto x, auto y) {
  return drx::sum(drx::cond(drx::sum(x) > 0, [=] { return power(x, y); }, [=] { return power(y, x); }));
};
template <const auto& F>
constexpr std::int64_t bytes = drx::plan::lowered<drx::program<F, square, square>>::plan.server_bytes;

}  // namespace

TEST_CASE("branches lie in the same memory, and write their results where they belong") {
  constexpr std::int64_t matrix = 16 * 16 * 8;
  CHECK(bytes<one> >= 2 * matrix);
  CHECK(bytes<either> < bytes<one> + 2 * matrix);
  CHECK(bytes<either> < 2 * bytes<one>);
}
