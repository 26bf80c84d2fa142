#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace tensor_factors {
struct tensors : drx::placement<tensors> {};
using drx::array;
using factors = std::tuple<array<double, 20, 6>, array<double, 24, 6>, array<double, 28, 6>>;

inline constexpr auto solved = [](auto products, auto b, auto c) {  // one factor, with both others as they are
  auto ridge = 1e-3 * drx::identity<array<double, 6, 6>>();
  auto gram = drx::matmul(drx::transpose(b), b) * drx::matmul(drx::transpose(c), c) + ridge;
  return drx::transpose(drx::solve(gram, drx::transpose(products)));
};
inline constexpr auto factored = [](auto start, auto x) {  // alternating least squares
  auto sweep = [=](auto f) {
    auto [a, b, c] = f;
    a = solved(drx::einsum<"ijk,jr,kr->ir">(x, b, c), b, c);
    b = solved(drx::einsum<"ijk,ir,kr->jr">(x, a, c), a, c);
    c = solved(drx::einsum<"ijk,ir,jr->kr">(x, a, b), a, b);
    return std::tuple{a, b, c};
  };
  auto [a, b, c] = drx::fori_loop<8>(start, sweep);
  return std::pair{std::tuple{a, b, c}, drx::norm(x - drx::einsum<"ir,jr,kr->ijk">(a, b, c))};
};
inline constexpr auto all = [](auto start, auto x) { return drx::map(factored, drx::broadcast<tensors>(start), x); };
using Program = drx::program<all, factors, drx::placed<array<double, 20, 24, 28>, tensors>>;
}  // namespace tensor_factors
