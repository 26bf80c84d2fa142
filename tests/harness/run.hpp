// Runs programs on tensors: on an executor and a communicator, and on the plain interpreter beside it.
#pragma once

#include <doctest/doctest.h>
#include <drx/run/call/compiled.hpp>
#include <drx/run/check/interpreter.hpp>

#include "call.hpp"
#include "difference.hpp"
#include "random_tensor.hpp"

#include <random>
#include <vector>

namespace harness {

template <class Program>
tensors random_inputs(const sample& s) {
  std::mt19937_64 r(s.seed);
  tensors in;
  const drx::tape t = Program::tape().thaw();
  for (int i : t.inputs) in.push_back(random_tensor(t.values[i], s, r));
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
inline double tolerance(drx::dtype t) {
  switch (t) {
    case drx::dtype::bf16: return 0x1p-8;  // the last bit: one side may round up where the other rounds down
    case drx::dtype::f16: return 0x1p-11;
    case drx::dtype::float32: return 1e-5;
    default: return 1e-12;
  }
}
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

#if defined(DRX_TESTED_ON_A_DEVICE)
template <class Program>
void check_run(sample s = {}, std::vector<std::int64_t> members = {5, 0, 1, 2, 37},
               const drx::compile_options& options = {});  // (on_device.hpp)
#else
/// Compares the program on one thread with the plain interpreter, twice in the same workspace, for several numbers of
/// members.
template <class Program>
void check_run(sample s = {}, std::vector<std::int64_t> members = {5, 0, 1, 2, 37},
               const drx::compile_options& options = {}) {
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
#endif

}  // namespace harness

#if defined(DRX_TESTED_ON_A_DEVICE)
#include "on_device.hpp"
#endif
