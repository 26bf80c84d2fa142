// bench/scaling/products.hpp: products of large unplaced matrices, computed whole by each rank, and divided over the
// ranks, as those are of programs with a stage.
#pragma once

#include "timed.hpp"

#include <drx/run.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>

namespace scaling {

struct members : drx::placement<members> {};

constexpr auto product = [](auto a, auto b) { return drx::matmul(a, b); };
/// Five steps of the Newton-Schulz iteration of the Muon optimiser, to a matrix near the orthogonal one closest to g.
constexpr auto orthogonal = [](auto g) {
  return drx::fori_loop<5>(g / drx::sqrt(drx::sum(g * g)), [](auto m) {
    const auto a = drx::matmul(m, drx::transpose(m));
    return 3.4445 * m + drx::matmul(2.0315 * drx::matmul(a, a) - 4.775 * a, m);
  });
};
/// F beside a sum over members, which makes the program one that all ranks call together.
template <auto F>
constexpr auto with_members = [](auto x, auto... inputs) { return std::pair{F(inputs...), drx::reduce_sum(x)}; };

/// An array of normal numbers, in memory of its own.
template <class A>
std::unique_ptr<A> drawn(unsigned seed) {
  auto a = std::make_unique<A>();
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < A::size; ++i)
    a->data()[i] = static_cast<std::remove_reference_t<decltype(a->data()[0])>>(normal(bits));
  return a;
}

/// Times F of these inputs both ways, as rows of this name.
template <auto F, class... A>
void time_both(drx::session& s, const std::string& name, const A&... inputs) {
  timed c(s.communicator());
  drx::compiled<drx::program<F, A...>> whole(s.executor(), c);
  auto alone = std::make_unique<typename decltype(whole)::result>();
  report(s, c, name + ", whole", 1, 10, [&] { whole.call(*alone, inputs...); });
  using number = drx::array<float, 1>;
  const auto x = s.place<members>(s.ranks(), [](std::int64_t) { return number{1}; });
  drx::compiled<drx::program<with_members<F>, drx::placed<number, members>, A...>> divided(s.executor(), c);
  auto shared = std::make_unique<typename decltype(divided)::result>();
  report(s, c, name + ", divided", 1, 10, [&] { divided.call(*shared, x, inputs...); });
}

/// Times the products and the iterations of docs/scaling.md.
inline void products(drx::session& s) {
  using square = drx::array<float, 1024, 1024>;
  const auto a = drawn<square>(1), b = drawn<square>(2);
  time_both<product>(s, "product of 1024 x 1024 floats", *a, *b);
  const auto tall = drawn<drx::array<float, 1024, 256>>(3);
  const auto wide = drawn<drx::array<float, 256, 1024>>(4);
  time_both<product>(s, "1024 x 256 times 256 x 1024 floats", *tall, *wide);
  time_both<orthogonal>(s, "five steps of Newton-Schulz of 1024 x 1024 floats", *a);
  const auto doubles = drawn<drx::array<double, 1024, 1024>>(5);
  time_both<orthogonal>(s, "the same of doubles", *doubles);
  const auto smaller = drawn<drx::array<float, 512, 512>>(6);
  time_both<orthogonal>(s, "the same of 512 x 512 floats", *smaller);
}

}  // namespace scaling
