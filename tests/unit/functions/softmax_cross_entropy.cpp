#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A, class B>
concept has_loss = requires(const A& a, const B& b) { drx::softmax_cross_entropy(a, b); };
using logits = array<float, 2, 3>;
}  // namespace

TEST_CASE("which labels go with which logits") {
  static_assert(has_loss<logits, array<int, 2>> && has_loss<logits, array<std::int64_t, 2>> &&
                has_loss<logits, logits> && has_loss<array<float, 3>, array<int>>);
  static_assert(!has_loss<logits, array<int, 3>> && !has_loss<logits, array<double, 2, 3>> &&
                !has_loss<logits, array<float, 2>> && !has_loss<array<int, 2, 3>, array<int, 2>> &&
                !has_loss<drx::placed<logits, clients>, array<int, 2>> &&
                !has_loss<logits, drx::placed<logits, clients>>);
}

TEST_CASE("the loss of a classifier") {
  constexpr auto f = [](auto x, auto classes) {
    return std::pair{drx::softmax_cross_entropy(x, classes),
                     drx::softmax_cross_entropy(x, drx::one_hot<double, 3>(classes))};
  };
  using P = program<f, array<double, 2, 3>, array<int, 2>>;
  const auto [by_class, by_row] =
      interpreter::call<P>(array<double, 2, 3>{0., 0., 0., 1., 2., 3.}, array<int, 2>{1, 2});
  for (const auto& loss : {by_class, by_row}) {
    CHECK(loss[0] == doctest::Approx(std::log(3)));
    CHECK(loss[1] == doctest::Approx(std::log(std::exp(-2) + std::exp(-1) + 1)));
  }
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(interpreter::call<P>(array<double, 2, 3>{0., -inf, 0., 1., 2., 3.}, array<int, 2>{0, 7}).first[0] ==
        doctest::Approx(std::log(2)));
}

TEST_CASE("its derivative") {
  constexpr auto loss = [](auto x, auto y, auto classes) {
    return drx::softmax_cross_entropy(x, y) + drx::softmax_cross_entropy(x, classes);
  };
  harness::check_program<program<loss, array<double, 3, 4>, array<double, 3, 4>, array<int, 3>>>();
}
