// Checks of a tape against itself: derivatives (drx/run/check/check_grads.hpp), a batch and lanes against their
// elements one by one, and shards against whole members.
#pragma once

#include <doctest/doctest.h>
#include <drx/plan/staging/lanes.hpp>
#include <drx/run/check/check_grads.hpp>
#include <drx/transform/differentiate.hpp>

#include "difference.hpp"
#include "random_tensor.hpp"
#include "shards.hpp"

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
  double low = -1, high = 1;  // for floating inputs
  std::int64_t integers = 3;  // integer inputs are below
  std::int64_t members = 3;   // for each placement
  int orders = 2;             // of derivatives
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

/// One lane: the last axis dropped.
inline tensor lane(const tensor& all, std::int64_t i) {
  abstract_value type = all.type;
  const std::int64_t n = type.shape.last();
  type.shape = drx::without_axis(type.shape, type.shape.rank - 1);
  tensor x(type);
  const auto width = static_cast<std::size_t>(drx::byte_size(type.type));
  for (std::int64_t k = 0; k < x.size(); ++k)
    std::memcpy(&x.bytes[width * static_cast<std::size_t>(k)], &all.bytes[width * static_cast<std::size_t>(k * n + i)],
                width);
  return x;
}
inline void check_lanes(const tape& t, drx::vec<bool> in_lanes, const domain& d, random& r) {
  constexpr std::int64_t n = 3;
  drx::builder b;
  drx::vec<int> in;
  tensors inputs;
  bool any = false;
  for (int i = 0; i < t.inputs.size(); ++i) {
    abstract_value type = t.values[t.inputs[i]];
    if (in_lanes[i]) type.shape = drx::with_last(type.shape, n);
    any = any || in_lanes[i];
    in.push_back(b.input(type));
    inputs.push_back(random_tensor(type, d, r));
  }
  if (!any) return;
  drx::vec<bool> results = in_lanes;
  for (int o : drx::plan::lane_writer{b, n}.write(t, in, results)) b.output(o);
  const tensors all = drx::interpreter::run(b.result(), inputs);
  for (std::int64_t k = 0; k < n; ++k) {
    tensors one;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      one.push_back(in_lanes[static_cast<int>(i)] ? lane(inputs[i], k) : inputs[i]);
    const tensors expected = drx::interpreter::run(t, one);
    for (std::size_t o = 0; o < expected.size(); ++o)
      CHECK_MESSAGE(close(results[static_cast<int>(o)] ? lane(all[o], k) : all[o], expected[o]), "lanes");
  }
}

struct whole_members : drx::placement<whole_members> {};
struct shards_of_members : drx::placement<shards_of_members> {};
/// t in each of two members, of whose inputs some are split along axis `axes[i]` (or not: -1), against the same with
/// whole members.
inline void check_shards(const tape& t, const std::vector<int>& axes, const domain& d, random& r) {
  constexpr std::int64_t count = 2;
  const drx::placement_info* members = &drx::placement_of<whole_members>;
  drx::builder b;
  drx::vec<int> in;
  tensors x;
  domain two = d;
  two.members = 2;
  for (int i : t.inputs) {
    in.push_back(b.input(t.values[i].placed_at(members)));
    x.push_back(random_tensor(t.values[i].placed_at(members), two, r));
  }
  const drx::vec<int> out = drx::emit::map(b, members, in, [&](drx::builder& body, const drx::vec<int>& of) {
    drx::vec<int> parts = of;
    for (int i = 0; i < of.size(); ++i)
      if (const int k = axes[static_cast<std::size_t>(i)]; k >= 0)
        parts[i] = drx::emit::with_layout(body, of[i], &drx::placement_of<shards_of_members>, count, k);
    return drx::inline_tape(body, t, parts);
  });
  for (int o : out) b.output(o);
  const tape whole = b.result(), split = drx::plan::partitioned(whole);
  const auto mesh = drx::plan::mesh_of(whole);
  tensors parts;
  for (std::size_t i = 0; i < x.size(); ++i)
    parts.push_back(in_shards(x[i], split.values[split.inputs[static_cast<int>(i)]], mesh));
  const tensors expected = drx::interpreter::run(whole, x), found = drx::interpreter::run(split, parts);
  for (std::size_t o = 0; o < expected.size(); ++o)
    CHECK_MESSAGE(close(found[o], in_shards(expected[o], found[o].type, mesh)), "shards");
}
/// Each input split along each axis, alone and with all that can be along the same one.
inline void check_all_shards(const tape& t, const domain& d, random& r) {
  const auto inputs = static_cast<std::size_t>(t.inputs.size());
  const auto splits = [&](std::size_t i, int k) {
    const drx::shape& s = t.values[t.inputs[static_cast<int>(i)]].shape;
    return k < s.rank && s[k] > 0 && s[k] % 2 == 0;
  };
  for (int k = 0; k < drx::shape::max_rank; ++k) {
    std::vector<int> all(inputs, -1);
    for (std::size_t i = 0; i < inputs; ++i) {
      if (!splits(i, k)) continue;
      all[i] = k;
      std::vector<int> one(inputs, -1);
      one[i] = k;
      check_shards(t, one, d, r);
    }
    if (std::count(all.begin(), all.end(), k) > 1) check_shards(t, all, d, r);
  }
}

/// Makes all of these checks. Floating values must be double.
inline void check_rules(const tape& t, const domain& d = {}, std::uint64_t seed = 1) {
  random r(seed);
  tensors x;
  for (int i : t.inputs) x.push_back(random_tensor(t.values[i], d, r));
  if (std::any_of(x.begin(), x.end(), [](const tensor& v) { return drx::is_floating(v.type.type); }))
    check_derivatives(t, d, seed, x);
  const int n = t.inputs.size();
  const bool of_member =
      std::all_of(t.values.begin(), t.values.end(), [](const abstract_value& v) { return v.depth == 0; });
  const auto check_some = [&](const drx::vec<bool>& some) {
    check_batch(t, some, d, r);
    if (of_member) check_lanes(t, some, d, r);
  };
  check_some(drx::vec<bool>(n, true));
  for (int i = 0; n > 1 && i < n; ++i) {
    drx::vec<bool> one(n, false);
    one[i] = true;
    check_some(one);
  }
  if (of_member) check_all_shards(t, d, r);
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
