// Checks of a tape against itself: derivatives (drx/run/check/check_grads.hpp), and a batch against its elements one by one.
#pragma once

#include <doctest/doctest.h>
#include <drx/run/check/check_grads.hpp>
#include <drx/transform/differentiate.hpp>

#include "difference.hpp"
#include "random_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace harness {

using drx::abstract_value;
using drx::tape;
using drx::tensor;
using tensors = std::vector<tensor>;
using random = std::mt19937_64;

struct domain {
  double low = -1, high = 1;     // for floating inputs
  std::int64_t integers = 3;     // integer inputs are below
  std::int64_t members = 3;      // for each placement
  int orders = 2;                // of derivatives
  double tolerance = 1e-6;
  operator sample() const { return {.low = low, .high = high, .members = members, .below = integers, .nested = 0}; }
};

inline void check_derivatives(const tape& t, const domain& d, std::uint64_t seed, const tensors& x) {
  const auto report = drx::interpreter::check_grads(t, x, {.order = d.orders, .tolerance = d.tolerance, .seed = seed});
  CHECK_MESSAGE(report.ok(), report.text());
  CHECK_MESSAGE(report.unclear == 0, report.text());
}

/// The tensors of one element of a batch: axis 0 is dropped, also from members.
inline tensor element(const tensor& batch, std::int64_t i) {
  abstract_value type = batch.type;
  type.shape = drx::without_axis(type.shape, 0);
  tensor x(type);
  for (const tensor& m : batch.members) x.members.push_back(element(m, i));
  if (type.depth == 0 && !x.bytes.empty())
    std::memcpy(x.bytes.data(), batch.bytes.data() + static_cast<std::size_t>(i) * x.bytes.size(), x.bytes.size());
  return x;
}
inline bool close(const tensor& found, const tensor& expected) { return largest_difference(found, expected) < 1e-12; }
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
  const tensors all = drx::interpreter::run(drx::transform::batch(t, batched, n), inputs);
  for (std::int64_t k = 0; k < n; ++k) {
    tensors one;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      one.push_back(batched[static_cast<int>(i)] ? element(inputs[i], k) : inputs[i]);
    const tensors expected = drx::interpreter::run(t, one);
    for (std::size_t o = 0; o < expected.size(); ++o) CHECK_MESSAGE(close(element(all[o], k), expected[o]), "batch");
  }
}

/// Makes all of these checks. Floating values must be double.
inline void check_rules(const tape& t, const domain& d = {}, std::uint64_t seed = 1) {
  random r(seed);
  tensors x;
  for (int i : t.inputs) x.push_back(random_tensor(t.values[i], d, r));
  if (std::any_of(x.begin(), x.end(), [](const tensor& v) { return drx::is_floating(v.type.type); })) check_derivatives(t, d, seed, x);
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

inline tensor zeros_like(const tensor& x) {
  tensor zeros(x.type);
  for (const tensor& m : x.members) zeros.members.push_back(zeros_like(m));
  return zeros;
}
/// Runs a program whose results are differences of equal values, both as it is and as it is executed.
template <class Program>
void check_zero(const domain& d = {.low = .5, .high = 1.5}) {
  random r(1);
  const tape t = Program::tape().thaw();
  tensors x;
  for (int i : t.inputs) x.push_back(random_tensor(t.values[i], d, r));
  for (const tape& form : {t, drx::without_transparent_entries(t)}) {
    for (const tensor& y : drx::interpreter::run(form, x)) CHECK(close(y, zeros_like(y)));
  }
}

}  // namespace harness
