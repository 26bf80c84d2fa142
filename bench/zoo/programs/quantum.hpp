#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace quantum {
struct starts : drx::placement<starts> {};
constexpr int qubits = 8, size = 1 << qubits;
using states = drx::array<float, size>;  // real: turns about y and signs keep it so
using angles = drx::array<float, 4, qubits>;

template <int Q>
constexpr auto turned(auto state, auto row) {  // qubit Q about y, then those after it
  if constexpr (Q == qubits) {
    return state;
  } else {
    auto parts = drx::reshape<(1 << Q), 2, (size >> (Q + 1))>(state);
    auto zero = drx::index<0>(drx::transpose<1, 0, 2>(parts)), one = drx::index<1>(drx::transpose<1, 0, 2>(parts));
    auto half = 0.5f * drx::index<Q>(row), c = drx::cos(half), s = drx::sin(half);
    auto both = drx::stack(c * zero - s * one, s * zero + c * one);
    return turned<Q + 1>(drx::reshape<size>(drx::transpose<1, 0, 2>(both)), row);
  }
}
inline constexpr auto energy = [](auto turns, auto signs, auto bonds) {  // a chain of Ising's in a transverse field
  auto layer = [=](auto state, auto row) { return std::pair{signs * turned<0>(state, row), std::tuple{}}; };
  auto state = drx::scan(layer, drx::one_hot<float, size>(drx::zeros<drx::scalar<int>>()), turns).first;
  auto flipped = [=]<int... Q>(std::integer_sequence<int, Q...>) {
    auto flip = [=](auto x) { return drx::reshape<size>(drx::flip<1>(x)); };
    return (flip(drx::reshape<(1 << Q), 2, (size >> (Q + 1))>(state)) + ...);
  }(std::make_integer_sequence<int, qubits>());
  return drx::dot(state, bonds * state - 0.7f * flipped);
};
inline constexpr auto slopes = [](auto turns, auto signs, auto bonds) {
  auto [energies, by_turns] =
      drx::map(drx::value_and_grad(energy), turns, drx::broadcast<starts>(signs), drx::broadcast<starts>(bonds));
  return std::pair{drx::reduce_min(energies), by_turns};
};
using Program = drx::program<slopes, drx::placed<angles, starts>, states, states>;
}  // namespace quantum
