#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

#include <doctest/doctest.h>

namespace {

using vec64 = drx::array<double, 64>;
/// The gradient of a loop of 64 steps that keeps Memory.
template <const drx::loop_memory& Memory>
constexpr auto slope = drx::grad<0>([](auto x, auto w) {
  return drx::sum(drx::fori_loop<64>(x, [=](auto v) { return drx::sin(drx::tanh(v * w) * v); }, Memory));
});
template <const drx::loop_memory& Memory>
using program_of = drx::program<slope<Memory>, vec64, vec64>;
template <const drx::loop_memory& Memory>
constexpr std::int64_t bytes() {
  return drx::plan::lowered<program_of<Memory>>::plan.server_bytes;
}

}  // namespace

TEST_CASE("what a loop's memories cost") {
  constexpr std::int64_t step = 64 * 8, all = bytes<drx::keep_all>(), carries = bytes<drx::keep_carries>(),
                         some = bytes<drx::checkpoint_every<16>>(), few = bytes<drx::recompute_all>();
  CHECK(all > carries);
  CHECK(carries > some);
  CHECK(some > few);
  CHECK(carries >= 64 * step);
  CHECK(carries < 70 * step);
}

TEST_CASE("the plan tells the bytes of its workspaces") {
  using P = program_of<drx::keep_carries>;
  const std::string text = drx::plan::show<P>();
  CHECK(text.find("scan[64 backwards") != std::string::npos);
  CHECK(text.ends_with("workspace: " + std::to_string(bytes<drx::keep_carries>()) +
                       " bytes, and 0 bytes for each thread\n"));
}
