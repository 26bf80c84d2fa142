// Random programs with random layouts, their derivatives and batches: the program of shards computes what the one with
// whole members does. More of them: DRX_RANDOM_PROGRAMS=10000. One again: DRX_RANDOM_SEED=17.
#include <drx/drx.hpp>
#include <drx/plan/pipeline.hpp>
#include <drx/run/check/check_grads.hpp>

#include "harness/programs.hpp"
#include "harness/random_seeds.hpp"
#include "harness/run.hpp"
#include "harness/shards.hpp"

#include <algorithm>

namespace {
using drx::tape;
using drx::tapes;
using drx::tensor;
using drx::vec;
using harness::tensors;

struct model : drx::placement<model> {};
using random = std::mt19937_64;

/// t with layouts of some of its values, in regions too: over one mesh, and now and then over one with other shards.
tape with_layouts(const tape& t, std::int64_t shards, random& r) {
  drx::builder b;
  vec<int> names(t.values.size(), -1);
  const auto laid_out = [&](int v, int id) {
    const drx::abstract_value& x = t.values[v];
    names[v] = id;
    if (x.depth > 0 || r() % 2 == 0) return;
    const std::int64_t n = r() % 16 == 0 ? 8 - shards : shards;
    const int k = static_cast<int>(r() % static_cast<unsigned>(x.shape.rank + 1)) - 1;
    if (k < 0 || x.shape[k] % n == 0) names[v] = drx::emit::with_layout(b, id, &drx::placement_of<model>, n, k);
  };
  for (int i : t.inputs) laid_out(i, b.input(t.values[i]));
  for (const drx::entry& e : t.entries) {
    tapes regions;
    for (const tape& region : e.regions)
      regions.push_back(e.prim == &drx::prim::reduce_with ? region : with_layouts(region, shards, r));
    const vec<int> results = b.add(*e.prim, drx::renamed(e.operands, names), e.attrs, regions);
    for (int i = 0; i < results.size(); ++i) laid_out(e.results[i], results[i]);
  }
  for (int o : t.outputs) b.output(names[o]);
  return b.result();
}

int split = 0;

std::string compared(const tape& t, const tensors& in, const char* what) {
  const auto mesh = drx::plan::mesh_of(t);
  const tape shards = drx::plan::partitioned(t);
  drx::check(shards);
  split += mesh.count > 1;
  tensors parts;
  for (std::size_t i = 0; i < in.size(); ++i)
    parts.push_back(harness::in_shards(in[i], shards.values[shards.inputs[static_cast<int>(i)]], mesh));
  const tensors expected = drx::interpreter::run(t, in);
  const auto differs = [&](const tape& u, const char* form) {
    const tensors found = drx::interpreter::run(u, parts);
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      most = harness::larger(most,
                             harness::largest_difference(found[i], harness::in_shards(expected[i], found[i].type, mesh),
                                                         harness::relative_to::largest));
    return most < 1e-9 ? std::string()
                       : std::string(what) + form + ": results differ by " + std::to_string(most) + "\n";
  };
  return differs(shards, " in shards") + differs(drx::plan::staged(shards), " in shards and stages");
}

std::string fault(unsigned seed) {
  random r(seed);
  const std::int64_t shards = r() % 2 ? 3 : 5;
  const tape t = with_layouts(harness::random_program(seed, 8, true), shards, r);
  const harness::sample s{.members = static_cast<std::int64_t>(1 + seed % 3), .nested = 4, .seed = seed};
  drx::check(t);
  const auto input = [&](const drx::abstract_value& v) { return harness::random_tensor(v, s, r); };
  tensors x;
  for (int i : t.inputs) x.push_back(input(t.values[i]));
  std::string wrong = compared(t, x, "values");
  if (!wrong.empty()) return wrong + drx::show(t);

  tensors cotangents = x;
  for (const auto& y : drx::interpreter::run(t, x)) cotangents.push_back(drx::interpreter::detail::random_like(y, r));
  const vec<bool> all_in(t.inputs.size(), true), all_out(t.outputs.size(), true);
  const tape gradient = drx::transform::vjp(t, all_in, all_out, true);
  wrong = compared(gradient, cotangents, "gradient") +
          compared(with_layouts(gradient, shards, r), cotangents, "gradient, with more layouts");
  if (!wrong.empty()) return wrong + drx::show(t);

  tensors directions = x;
  for (const tensor& v : x) directions.push_back(drx::interpreter::detail::random_like(v, r));
  wrong = compared(drx::transform::jvp(t, all_in), directions, "directions");
  if (!wrong.empty()) return wrong + drx::show(t);

  const tape batch = drx::transform::batch(t, all_in, 2);
  tensors rows;
  for (int i : batch.inputs) rows.push_back(harness::random_tensor(batch.values[i], s, r));
  wrong = compared(batch, rows, "a batch");
  return wrong.empty() ? wrong : wrong + drx::show(t);
}
}  // namespace

TEST_CASE("random layouts in random programs") {
  harness::for_random_seeds(300, [](unsigned seed) {
    const std::string wrong = harness::fault_or_what_is_thrown([&] { return fault(seed); });
    if (!wrong.empty()) FAIL_CHECK("DRX_RANDOM_SEED=" << seed << ": " << wrong);
  });
  MESSAGE(split << " comparisons of programs that are split");
}
