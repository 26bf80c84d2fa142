// Checks of a tape against itself: forward mode against central differences, reverse mode against forward mode (each
// is the other's transpose), both again on the derivative, and a batch against its elements one by one.
#pragma once

#include <doctest/doctest.h>
#include <drx/run/oracle.hpp>
#include <drx/transform/differentiate.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace harness {

using drx::abstract_value;
using drx::tape;
using drx::tensor;
using tensors = std::vector<tensor>;
using random = std::mt19937_64;

struct domain {
  double low = -1, high = 1;     // of floating inputs
  std::int64_t integers = 3;     // integer inputs are below
  std::size_t members = 3;       // of each placement
  int orders = 2;                // of derivatives
  double tolerance = 1e-6;
};

inline tensor random_tensor(const abstract_value& type, const domain& d, random& r) {
  tensor x(type);
  if (type.depth > 0) {
    for (std::size_t m = 0; m < d.members; ++m) x.members.push_back(random_tensor(type.of_member(), d, r));
    return x;
  }
  drx::visit_dtype(type.type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        x.data<T>()[i] = static_cast<T>(std::uniform_real_distribution<double>(d.low, d.high)(r));
      } else {
        x.data<T>()[i] = static_cast<T>(static_cast<std::int64_t>(r() >> 1) % (std::is_same_v<T, bool> ? 2 : d.integers));
      }
    }
  });
  return x;
}

/// Calls f with each element of x (and its partner in y) as a double reference.
template <class F>
void for_each_element(tensor& x, const tensor& y, F f) {
  for (std::size_t m = 0; m < x.members.size(); ++m) for_each_element(x.members[m], y.members.at(m), f);
  if (x.type.depth > 0 || x.type.type != drx::dtype::float64) return;
  for (std::int64_t i = 0; i < x.size(); ++i) f(x.data<double>()[i], y.data<double>()[i]);
}
inline tensor plus(tensor x, double h, const tensor& v) {
  for_each_element(x, v, [&](double& a, double b) { a += h * b; });
  return x;
}
inline double dot(tensor x, const tensor& y) {
  double sum = 0;
  for_each_element(x, y, [&](double a, double b) { sum += a * b; });
  return sum;
}

inline void check_derivatives(const tape& t, const domain& d, random& r, const tensors& x) {
  drx::vec<bool> moving;
  tensors directions;
  for (int i : t.inputs) {
    moving.push_back(drx::is_floating(t.values[i].type));
    if (moving.back()) directions.push_back(random_tensor(t.values[i], {.low = -1, .high = 1, .members = d.members}, r));
  }
  auto moved = [&](double h) {
    tensors y = x;
    std::size_t next = 0;
    for (int i = 0; i < moving.size(); ++i)
      if (moving[i]) y[static_cast<std::size_t>(i)] = plus(y[static_cast<std::size_t>(i)], h, directions[next++]);
    return drx::oracle::run(t, y);
  };
  // Forward mode against central differences.
  tensors with_directions = x;
  with_directions.insert(with_directions.end(), directions.begin(), directions.end());
  const tensors forward = drx::oracle::run(drx::transform::jvp(t, moving), with_directions);
  constexpr double h = 1e-5;
  const tensors above = moved(h), below = moved(-h);
  auto tangent = static_cast<std::size_t>(t.outputs.size());
  drx::vec<bool> given;
  tensors cotangents;
  double pushed = 0;  // <cotangents, tangents>
  double error = 0, scale = 1;
  for (std::size_t o = 0; o < above.size(); ++o) {
    given.push_back(drx::is_floating(above[o].type.type));
    if (!given.back()) continue;
    tensor slope = plus(above[o], -1, below[o]);
    for_each_element(slope, forward[tangent], [&](double a, double b) {
      error = std::max(error, std::isnan(a - b) ? HUGE_VAL : std::abs(a / (2 * h) - b));
      scale = std::max(scale, std::abs(b));
    });
    cotangents.push_back(random_tensor(t.values[t.outputs[static_cast<int>(o)]], {.low = -1, .high = 1, .members = d.members}, r));
    pushed += dot(cotangents.back(), forward[tangent]);
    ++tangent;
  }
  CHECK_MESSAGE(error <= d.tolerance * scale, "forward mode and differences");
  // Reverse mode against forward mode.
  tensors with_cotangents = x;
  with_cotangents.insert(with_cotangents.end(), cotangents.begin(), cotangents.end());
  const tape reverse = drx::transform::pullback(t, moving, given);
  const tensors gradients = drx::oracle::run(reverse, with_cotangents);
  REQUIRE(gradients.size() == directions.size());
  double pulled = 0, size = 1;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    CHECK(gradients[i].type == directions[i].type);
    pulled += dot(gradients[i], directions[i]);
    size += std::sqrt(dot(gradients[i], gradients[i]));
  }
  CHECK_MESSAGE(std::abs(pulled - pushed) <= 1e-11 * size, "reverse and forward mode");
  if (d.orders > 1) {
    domain lower = d;
    --lower.orders;
    check_derivatives(reverse, lower, r, with_cotangents);
  }
}

/// The tensors of one element of a batch: axis 0 dropped, of members too.
inline tensor element(const tensor& batch, std::int64_t i) {
  abstract_value type = batch.type;
  type.shape = drx::without_axis(type.shape, 0);
  tensor x(type);
  for (const tensor& m : batch.members) x.members.push_back(element(m, i));
  if (type.depth == 0 && !x.bytes.empty())
    std::memcpy(x.bytes.data(), batch.bytes.data() + static_cast<std::size_t>(i) * x.bytes.size(), x.bytes.size());
  return x;
}
inline bool same(const tensor& a, const tensor& b) {
  if (!(a.type == b.type) || a.members.size() != b.members.size()) return false;
  for (std::size_t m = 0; m < a.members.size(); ++m)
    if (!same(a.members[m], b.members[m])) return false;
  return a.bytes == b.bytes;
}
inline bool close(const tensor& a, const tensor& b) {
  if (!(a.type == b.type) || a.members.size() != b.members.size()) return false;
  if (a.type.type != drx::dtype::float64) return same(a, b);
  double error = 0;
  for_each_element(const_cast<tensor&>(a), b, [&](double x, double y) { error = std::max(error, std::abs(x - y) / (1 + std::abs(x))); });
  return error < 1e-12;
}
inline void check_batch(const tape& t, const drx::vec<bool>& batched, const domain& d, random& r) {
  constexpr std::int64_t n = 3;
  tensors inputs;
  bool any = false;
  for (int i = 0; i < t.inputs.size(); ++i) {
    abstract_value type = t.values[t.inputs[i]];
    if (batched[i]) type.shape = drx::with_front(type.shape, n);
    any = any || batched[i];
    inputs.push_back(random_tensor(type, d, r));
  }
  if (!any) return;
  const tensors all = drx::oracle::run(drx::transform::batch(t, batched, n), inputs);
  for (std::int64_t k = 0; k < n; ++k) {
    tensors one;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      one.push_back(batched[static_cast<int>(i)] ? element(inputs[i], k) : inputs[i]);
    const tensors expected = drx::oracle::run(t, one);
    for (std::size_t o = 0; o < expected.size(); ++o) CHECK_MESSAGE(close(element(all[o], k), expected[o]), "batch");
  }
}

/// All of it. Floating values must be double.
inline void check_rules(const tape& t, const domain& d = {}, std::uint64_t seed = 1) {
  random r(seed);
  tensors x;
  for (int i : t.inputs) x.push_back(random_tensor(t.values[i], d, r));
  check_derivatives(t, d, r, x);
  const int n = t.inputs.size();
  check_batch(t, drx::vec<bool>(n, true), d, r);
  for (int i = 0; n > 1 && i < n; ++i) {
    drx::vec<bool> one(n, false);
    one[i] = true;
    check_batch(t, one, d, r);
  }
}
template <class Program>
void check_program(const domain& d = {}) {
  check_rules(Program::tape().thaw(), d);
}

}  // namespace harness
