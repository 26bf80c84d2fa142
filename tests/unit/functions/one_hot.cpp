#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A>
concept has_one_hot = requires(const A& a) { drx::one_hot<float, 3>(a); };
}  // namespace

TEST_CASE("one_hot") {
  static_assert(has_one_hot<array<int>> && has_one_hot<array<std::int64_t, 2, 2>>);
  static_assert(!has_one_hot<array<float, 2>> && !has_one_hot<array<bool, 2>> &&
                !has_one_hot<drx::placed<array<int>, clients>>);
  constexpr auto f = [](auto l) { return drx::one_hot<float, 3>(l); };
  using P = program<f, array<int, 4>>;
  static_assert(std::is_same_v<P::result, array<float, 4, 3>>);
  const auto rows = interpreter::call<P>(array<int, 4>{2, 0, 3, -1});
  const float expected[] = {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  for (int i = 0; i < 12; ++i) CHECK(rows[i] == expected[i]);
}
