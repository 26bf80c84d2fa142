// Gradients of ADBench's functions as ordinary C++ beside those written by hand, on one thread. Prints milliseconds and ratios.
#include "ba.hpp"
#include "gmm.hpp"
#include "lstm.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

namespace ad = drx::ad;

namespace {

/// The shortest of many runs, in milliseconds.
template <class F>
double shortest(F f) {
  using clock = std::chrono::steady_clock;
  double best = 1e300;
  const auto start = clock::now();
  for (int run = 0; run < 15 || clock::now() - start < std::chrono::seconds(1); ++run) {
    const auto before = clock::now();
    f();
    best = std::min(best, std::chrono::duration<double, std::milli>(clock::now() - before).count());
  }
  return best;
}
void print(const char* what, double ms, double hand, double error) {
  std::printf("  %-34s %9.4f ms  %6.2f x hand  error %.1e\n", what, ms, ms / hand, error);
}
template <class G>
double distance(const G& a, const G& b) {
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return most / scale;
}

void mixture() {
  using model = adbench::gmm<10, 5>;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 0.3);
  model::vector theta, hand, g;
  for (double& t : theta) t = normal(random);
  std::vector<model::point> x(1000);
  for (auto& p : x)
    for (double& v : p) v = normal(random);
  const model f{x.size(), 1, 0};
  const auto sample = [&](std::size_t i) -> const auto& { return x[i]; };
  const ad::arena memory(1 << 22);
  volatile double sink = 0;
  std::printf("Gaussian mixture, 1000 points in 10 dimensions, 5 components, %zu parameters\n", model::parameters);
  const double by_hand = shortest([&] { sink = f.by_hand(theta, x, hand); });
  print("value", shortest([&] { sink = f.value(theta, x); }), by_hand, 0);
  print("gradient by hand", by_hand, by_hand, 0);
  const double lane = shortest([&] { sink = ad::sum_over_into<10, 1>(g, f, theta, x.size(), sample, memory); });
  print("drx, local tape", lane, by_hand, distance(g, hand));
  const double lanes = shortest([&] { sink = ad::sum_over_into<10>(g, f, theta, x.size(), sample, memory); });
  print("drx, local tape of packs", lanes, by_hand, distance(g, hand));
}

void bundles() {
  constexpr std::size_t n = 1000;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 0.1);
  const adbench::bundle f{{310, 250}};
  const adbench::bundle::input base{0.1, -0.3, 0.2, 1, -2, 0.5, 500, 320, 240, 0.1, -0.02, 0.4, 0.3, 5, 0.8};
  std::vector<adbench::bundle::input> x(n, base);
  for (auto& in : x)
    for (double& v : in) v += normal(random);
  using jacobians = std::vector<std::array<adbench::bundle::input, 2>>;
  jacobians hand(n), j(n);
  const auto error = [&] {
    double most = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t o = 0; o < 2; ++o) most = std::max(most, distance(j[i][o], hand[i][o]));
    return most;
  };
  const auto measure = [&](const char* what, double by_hand, auto jacobian) {
    const double ms = shortest([&] {
      for (std::size_t i = 0; i < n; ++i) j[i] = jacobian(x[i]);
    });
    print(what, ms, by_hand, error());
  };
  volatile double sink = 0;
  std::printf("Bundle adjustment, 1000 Jacobians of 2 x 15\n");
  const double by_hand = shortest([&] {
    for (std::size_t i = 0; i < n; ++i) hand[i] = f.by_hand(x[i]);
  });
  print("values", shortest([&] {
          double sum = 0;
          for (const auto& in : x) sum += f(in)[0];
          sink = sum;
        }), by_hand, 0);
  print("Jacobians by hand", by_hand, by_hand, 0);
  measure("drx, duals", by_hand, [&](const auto& in) { return ad::jacobian<ad::forward>(f, in); });
  measure("drx, local tape", by_hand, [&](const auto& in) { return ad::jacobian<ad::reverse>(f, in); });
  // Eight observations at once: packs as numbers.
  using pack = ad::pack<double, 8>;
  const double lanes = shortest([&] {
    for (std::size_t i = 0; i < n; i += 8) {
      std::array<pack, 15> in;
      for (std::size_t k = 0; k < 15; ++k)
        for (int l = 0; l < 8; ++l) in[k].set(l, x[i + static_cast<std::size_t>(l)][k]);
      const auto at_once = ad::jacobian<ad::forward>([&](const auto& v) { return f.lanes(v); }, in);
      for (std::size_t o = 0; o < 2; ++o)
        for (std::size_t k = 0; k < 15; ++k)
          for (int l = 0; l < 8; ++l) j[i + static_cast<std::size_t>(l)][o][k] = at_once[o][k][l];
    }
  });
  print("drx, duals of packs", lanes, by_hand, error());
}

void recurrent() {
  using model = adbench::lstm<2, 14>;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 0.3);
  model f;
  f.sequence.resize(1024);
  for (double& v : f.start) v = normal(random);
  for (auto& c : f.sequence) c[random() % 14] = 1;
  model::vector w, hand, g;
  for (double& v : w) v = normal(random);
  const ad::arena memory(1 << 27);
  volatile double sink = 0;
  std::printf("Long short-term memory, 2 layers of 14 units, 1024 characters, %zu parameters\n", model::parameters);
  const double by_hand = shortest([&] { sink = f.by_hand(w, hand); });
  print("value", shortest([&] { sink = f(w); }), by_hand, 0);
  print("gradient by hand", by_hand, by_hand, 0);
  const double tape = shortest([&] { sink = ad::value_and_gradient_into(g, f, w, memory); });
  print("drx, local tape", tape, by_hand, distance(g, hand));
}

}  // namespace

int main() {
  mixture();
  bundles();
  recurrent();
}
