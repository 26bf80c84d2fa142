// Runs programs on tensors: on an executor and a communicator, and on the plain interpreter beside it.
#pragma once

#include <doctest/doctest.h>
#include <drx/run/call/compiled.hpp>
#include <drx/run/check/interpreter.hpp>

#include "call.hpp"
#include "difference.hpp"

#include <random>
#include <vector>

namespace harness {

/// The values of inputs. The numbers of nested members differ from parent to parent, and some parents have none.
struct sample {
  std::int64_t members = 5;    // of placements at the top
  double low = -1, high = 1;   // of floating inputs
  std::int64_t below = 5;      // integer inputs are in [0, below)
  std::int64_t nested = 6;     // nested placements have fewer members than this
  std::uint64_t seed = 1;
};
inline std::int64_t nested_members(const sample& s, std::int64_t path) { return (path * 7 + 3) % s.nested; }

inline tensor random_tensor(const abstract_value& type, const sample& s, std::mt19937_64& r, std::int64_t count, std::int64_t path = 0) {
  tensor x(type);
  if (type.depth > 0) {
    for (std::int64_t m = 0; m < count; ++m)
      x.members.push_back(random_tensor(type.of_member(), s, r, nested_members(s, path * 5 + m), path * 5 + m));
    return x;
  }
  drx::visit_dtype(type.type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        x.data<T>()[i] = static_cast<T>(std::uniform_real_distribution<double>(s.low, s.high)(r));
      } else {
        x.data<T>()[i] = static_cast<T>(static_cast<std::int64_t>(r() >> 1) % (std::is_same_v<T, bool> ? 2 : s.below));
      }
    }
  });
  return x;
}
template <class Program>
tensors random_inputs(const sample& s) {
  std::mt19937_64 r(s.seed);
  tensors in;
  const drx::tape t = Program::tape().thaw();
  for (int i : t.inputs) in.push_back(random_tensor(t.values[i], s, r, s.members));
  return in;
}

template <class Program>
tensors run_plain(const tensors& in, const drx::compile_options& options = {}) {
  drx::interpreter::member_counts counts;
  for (const auto& m : options.members) counts.push_back({m.placement, m.count});
  return drx::interpreter::run(Program::tape().thaw(), in, counts);
}

// ---- comparing ----

/// Range `rank` of the members of each placed tensor.
inline tensors own_block(tensors all, const std::vector<std::int64_t>& blocks, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  for (tensor& x : all)
    if (x.type.depth > 0) x.members = {x.members.begin() + blocks[r], x.members.begin() + blocks[r + 1]};
  return all;
}
inline double tolerance(drx::dtype t) { return t == drx::dtype::float32 ? 1e-5 : 1e-12; }
inline void check_near(const tensors& got, const tensors& expected, double slack = 1) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].type == expected[i].type);
    // (The results of infinities and NaNs are compared, too.)
    const double most = largest_difference(got[i], expected[i], relative_to::largest, nans::agree);
    CHECK(most <= slack * tolerance(got[i].type.type));
  }
}

/// Compares the program on one thread with the plain interpreter, twice in the same workspace, for several numbers of
/// members.
template <class Program>
void check_run(sample s = {}, std::vector<std::int64_t> members = {5, 0, 1, 2, 37}, const drx::compile_options& options = {}) {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<Program> p(e, c, options);
  for (std::int64_t n : members) {
    CAPTURE(n);
    s.members = n;
    ++s.seed;
    const tensors in = random_inputs<Program>(s), expected = run_plain<Program>(in, options);
    const tensors got = call(p, c, in);
    check_near(got, expected, 1 + static_cast<double>(n) / 32);
    CHECK_MESSAGE(same_bits(call(p, c, in), got), "the second call");
  }
}

}  // namespace harness
