// Sums of ten million floats: over axes, and over members.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace {
struct clients : drx::placement<clients> {};
constexpr std::int64_t n = 10'000'000;
using row = drx::array<float, n>;
using columns = drx::array<float, n / 5, 5>;
constexpr auto total = [](auto x) { return drx::sum(x); };
constexpr auto totals = [](auto x) { return drx::sum<0>(x); };
constexpr auto over_members = [](auto x) { return drx::reduce_sum(x); };

template <class A>
std::unique_ptr<A> random() {
  auto x = std::make_unique<A>();
  std::mt19937 r(1);
  for (std::int64_t i = 0; i < A::size; ++i) (*x)[i] = static_cast<float>(r() >> 8) * 0x1p-24f;
  return x;
}
/// |y - exact| at most `additions` roundings of the sum of magnitudes: the depth of the tree, not the number of
/// elements.
void check(float y, double exact, int additions) {
  CHECK(std::abs(static_cast<double>(y) - exact) <= additions * 0x1p-24 * exact);
}
}  // namespace

TEST_CASE("a sum over a long axis: rows of fewer than 2048 in 16 lanes, and a tree of them") {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<drx::program<total, row>> program(e, c);
  const auto x = random<row>();
  double exact = 0;
  for (std::int64_t i = 0; i < n; ++i) exact += static_cast<double>((*x)[i]);
  check(program(*x), exact, 2048 / 16 + 4 + 14);
}

TEST_CASE("a sum over a long axis that is not the last: parts of fewer than 256, and a tree of them") {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<drx::program<totals, columns>> program(e, c);
  const auto x = random<columns>();
  const auto y = program(*x);
  for (int k = 0; k < 5; ++k) {
    double exact = 0;
    for (std::int64_t i = k; i < n; i += 5) exact += static_cast<double>((*x)[i]);
    check(y[k], exact, 256 + 15);
  }
}

TEST_CASE("a sum over members: blocks of 32, and a tree of them") {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<drx::program<over_members, drx::placed<float, clients>>> program(e, c);
  const auto x = random<row>();
  double exact = 0;
  for (std::int64_t i = 0; i < n; ++i) exact += static_cast<double>((*x)[i]);
  const std::span<const float> view(x->data(), static_cast<std::size_t>(n));
  check(program(drx::place_memory<clients, float>(c, {0, n}, view)), exact, 32 + 19);
}

TEST_CASE("the plain interpreter adds floats in double") {
  drx::tensor x({drx::dtype::float32, drx::make_shape(1'000'000)});
  double exact = 0;
  std::mt19937 r(1);
  for (int i = 0; i < 1'000'000; ++i)
    exact += static_cast<double>(x.data<float>()[i] = static_cast<float>(r() >> 8) * 0x1p-24f);
  using P = drx::program<total, drx::array<float, 1'000'000>>;
  check(drx::interpreter::run(P::tape().thaw(), {x})[0].data<float>()[0], exact, 1);
}
