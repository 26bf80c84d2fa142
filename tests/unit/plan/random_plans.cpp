// Random programs and their derivatives by the plan of their steps and memory, against the plain interpreter; the tape
// is checked after each pass of the plan. In their loops and branches results change places, and arguments are handed
// on. More of them: DRX_RANDOM_PROGRAMS=10000. One again: DRX_RANDOM_SEED=17.
#include <drx/drx.hpp>
#include <drx/run/check/check_grads.hpp>

#include "harness/plan_simulator.hpp"
#include "harness/programs.hpp"
#include "harness/random_seeds.hpp"
#include "harness/run.hpp"

#include <algorithm>

namespace {
using drx::tape;
using drx::vec;
using harness::plan_simulator;
using harness::tensors;
using random = std::mt19937_64;

/// t, of whose loops and branches some give one result in the place of another of its type, or an argument.
tape with_exchanges(tape t, random& r) {
  for (drx::entry& e : t.entries) {
    if (e.prim == &drx::prim::reduce_with) continue;
    for (tape& region : e.regions) {
      region = with_exchanges(region, r);
      if (e.prim != &drx::prim::scan && e.prim != &drx::prim::cond) continue;
      const int results = e.prim == &drx::prim::scan ? drx::prim::rules::scan::view(e).carries : region.outputs.size();
      for (int i = 0; i < results; ++i) {
        const drx::abstract_value type = region.values[region.outputs[i]];
        const auto pick = [&](const vec<int>& from, int count) {
          const int v = from[static_cast<int>(r() % static_cast<unsigned>(count))];
          return type.type == drx::dtype::float64 && region.values[v] == type ? v : -1;
        };
        const int other = static_cast<int>(r() % static_cast<unsigned>(results));
        if (r() % 3 == 0 && pick({region.outputs[other]}, 1) >= 0) {
          const int own = region.outputs[i];
          region.outputs[i] = region.outputs[other];
          region.outputs[other] = own;
        } else if (const int argument = r() % 3 == 0 ? pick(region.inputs, region.inputs.size()) : -1; argument >= 0) {
          region.outputs[i] = argument;
        }
      }
    }
  }
  return t;
}

int run = 0, lighter = 0, exchanged = 0, in_chunks = 0, with_rearranged = 0;

/// The tape after a pass. For half of the plans, passes that leave small values alone have no limits.
tape after(const drx::plan::pass& p, tape t) {
  const std::string before = drx::show(t);
  const bool always = run % 2 == 0;
  if (always && p.name == "rearrangements") {
    for (int turn = 0; turn < 2; ++turn) t = drx::plan::rearranged_in_sums(t, 1);
    lighter += drx::show(t) != before;
  } else if (always && p.name == "short axes") {
    t = drx::plan::with_short_axes_inside(std::move(t), {.longer = 2, .of_transposed = 0});
    exchanged += drx::show(t) != before;
  } else if (always && p.name == "row chunks") {
    t = drx::plan::in_row_chunks(std::move(t),
                                 {.value = 16, .numbers = 1, .steps = 1, .stacked_sums = run % 4 == 0 ? 0 : 64});
    in_chunks += drx::show(t) != before;
  } else {
    t = p.function(std::move(t));
  }
  return t;
}

std::string compared(const tape& t, const tensors& in, const char* what) {
  tape prepared = t;
  for (const drx::plan::pass& p : drx::plan::passes) {
    prepared = after(p, std::move(prepared));
    try {
      drx::check(prepared);
    } catch (const char* sentence) {
      return std::string(what) + ": after '" + std::string(p.name) + "': " + sentence + "\n";
    }
  }
  const bool always = run++ % 2 == 0;
  plan_simulator planned(prepared, always ? 1 : drx::machine::least_rearranged_row);
  with_rearranged += planned.has_rearranged();
  const tensors expected = drx::interpreter::run(t, in), found = planned.run(in);
  const double most = harness::largest_difference(found, expected, harness::relative_to::largest);
  return most < 1e-7 ? std::string() : std::string(what) + ": results differ by " + std::to_string(most) + "\n";
}

std::string fault(unsigned seed) {
  random r(seed);
  const tape t = with_exchanges(harness::random_program(seed, 8, true), r);
  drx::check(t);
  const harness::sample s{.members = seed % 5 == 0 ? 34 : static_cast<std::int64_t>(seed % 4),
                          .nested = seed % 7 == 0 ? 45 : 4,
                          .seed = seed};
  tensors x;
  for (int i : t.inputs) x.push_back(harness::random_tensor(t.values[i], s, r));
  std::string wrong = compared(t, x, "values");

  const vec<bool> all_in(t.inputs.size(), true), all_out(t.outputs.size(), true);
  tensors cotangents = x, directions = x;
  for (const auto& y : drx::interpreter::run(t, x)) cotangents.push_back(drx::interpreter::detail::random_like(y, r));
  for (const auto& v : x) directions.push_back(drx::interpreter::detail::random_like(v, r));
  if (wrong.empty()) wrong = compared(drx::transform::vjp(t, all_in, all_out, true), cotangents, "gradient");
  if (wrong.empty()) wrong = compared(drx::transform::jvp(t, all_in), directions, "directions");
  return wrong.empty() ? wrong : wrong + drx::show(t);
}
}  // namespace

TEST_CASE("random programs by their plans") {
  harness::for_random_seeds(300, [](unsigned seed) {
    const std::string wrong = harness::fault_or_what_is_thrown([&] { return fault(seed); });
    if (!wrong.empty()) FAIL_CHECK("DRX_RANDOM_SEED=" << seed << ": " << wrong);
  });
  MESSAGE(run << " plans, " << lighter << " with lighter rearrangements, " << exchanged << " with axes exchanged, "
              << in_chunks << " in chunks, " << with_rearranged << " with rearrangements");
  if (run >= 300) {  // (one program again may have none)
    CHECK(exchanged > run / 10);
    CHECK(in_chunks > run / 10);
    CHECK(with_rearranged > run / 10);
  }
}
