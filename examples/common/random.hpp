// common/random.hpp: random numbers that are the same everywhere. The standard fixes the engine but not its
// distributions (libstdc++ and libc++ draw differently), so the few that the examples need are written here.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <utility>

namespace examples {

/// The use of a stream of random numbers: two uses of one seed never share numbers.
enum class purpose : std::uint64_t {
  split = 1,
  partition,
  participants,
  weights,
  batches,
  tasks,
  corruption,
  samples,
  eddies,
  places,
  noise
};

/// SplitMix64's finaliser: every bit of the input reaches every bit of the result.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A stream named by seed, purpose and indices (say, round and client): any rank can open it, in any order.
class random_stream {
 public:
  random_stream(std::uint64_t seed, purpose use, std::initializer_list<std::uint64_t> indices = {}) {
    std::uint64_t key = mix(mix(seed) ^ static_cast<std::uint64_t>(use));
    for (const auto index : indices) key = mix(key ^ index);
    engine_.seed(key);
  }

  /// A number in [0, 1).
  [[nodiscard]] double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// A number in [0, n), without bias: draws from the incomplete last stretch are repeated.
  [[nodiscard]] std::size_t below(std::size_t n) {
    const std::uint64_t usable = UINT64_MAX - UINT64_MAX % n;
    for (;;)
      if (const std::uint64_t draw = engine_(); draw < usable) return draw % n;
  }

  /// A standard normal number (Box and Muller).
  [[nodiscard]] double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  /// The logarithm of a gamma variate of the given shape (Marsaglia and Tsang 2000). For small shapes the variate
  /// itself is often below the smallest double.
  [[nodiscard]] double log_gamma_variate(double shape) {
    if (shape < 1) {
      const double above = log_gamma_variate(shape + 1);  // drawn first: the order in a sum is the compiler's choice
      return above + std::log(1 - uniform()) / shape;
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), cube = std::pow(1 + c * x, 3);
      if (cube > 0 && std::log(1 - uniform()) < 0.5 * x * x + d - d * cube + d * std::log(cube))
        return std::log(d * cube);
    }
  }

  /// An index into the weights, each as likely as its weight.
  [[nodiscard]] std::size_t of(std::span<const double> weights) {
    double left = uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i + 1 < weights.size(); ++i)
      if ((left -= weights[i]) < 0) return i;
    return weights.size() - 1;
  }

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace examples
