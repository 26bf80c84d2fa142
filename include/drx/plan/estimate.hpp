// drx/plan/estimate.hpp: how long each step of a plan should take on one core, by the vectors that it computes and the
// bytes that it moves. bench/zoo/steps holds it against measured times; a step that takes much longer than this is one
// to look at.
// Tested by tests/unit/plan/estimate.cpp.
#pragma once

#include <drx/plan/memory/workspace.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace drx::plan {

/// What a core does. The defaults are those of a server of 3 GHz with the vectors that this file is compiled for.
struct core_rates {
  double hertz = 3e9;
#if defined(__AVX512F__)
  double vector_bytes = 64, vectors_per_cycle = 1;  // elementwise instructions
#elif defined(__AVX2__)
  double vector_bytes = 32, vectors_per_cycle = 2;
#else
  double vector_bytes = 16, vectors_per_cycle = 2;
#endif
  double first_cache = 48 << 10, second_cache = 1 << 20, third_cache = 16 << 20;  // bytes
  double from_first = 64, from_second = 24, from_third = 10, from_memory = 3;     // bytes in a cycle
};

/// What one step should take. Its number is that of `drx::run::run_step<..., step>`, which profiles name.
struct step_estimate {
  int step = 0, region = 0;
  int entry = -1;      // of a step that is one entry: that of `drx::run::kernel<..., entry, ...>`
  std::string what;    // its primitives
  double runs = 0;     // in a call
  double vectors = 0;  // vector instructions of one run
  double bytes = 0;    // read and written in one run
  double cycles = 0;   // of one run
  double seconds = 0;  // of all runs
};

/// The members of each placement, by its name.
using member_counts = std::map<std::string, std::int64_t, std::less<>>;

namespace detail {

/// Vector instructions for a vector of results of an elementwise primitive: of floats, and of doubles.
struct instructions {
  const primitive* prim;
  double of_floats, of_doubles;
};
inline constexpr instructions long_operations[] = {
    {&prim::div, 10, 16},         {&prim::sqrt, 12, 20},     {&prim::rsqrt, 14, 34},     {&prim::azmul, 3, 3},
    {&prim::mul_undecided, 3, 3}, {&prim::azdiv, 12, 18},    {&prim::remainder, 30, 40}, {&prim::exp, 14, 20},
    {&prim::exp2, 14, 20},        {&prim::expm1, 22, 30},    {&prim::log, 20, 30},       {&prim::log1p, 24, 36},
    {&prim::sigmoid, 26, 40},     {&prim::softplus, 40, 60}, {&prim::sin, 22, 32},       {&prim::cos, 22, 32},
    {&prim::tan, 40, 60},         {&prim::asin, 30, 50},     {&prim::acos, 30, 50},      {&prim::atan, 30, 50},
    {&prim::atan2, 40, 60},       {&prim::sinh, 40, 60},     {&prim::cosh, 40, 60},      {&prim::tanh, 24, 44},
    {&prim::asinh, 50, 80},       {&prim::acosh, 50, 80},    {&prim::atanh, 40, 60},     {&prim::pow, 50, 90},
    {&prim::cbrt, 30, 50},        {&prim::erf, 30, 60},      {&prim::erfc, 40, 80},      {&prim::erfinv, 50, 80},
    {&prim::lgamma, 90, 130},     {&prim::digamma, 60, 90},
};
}  // namespace detail

/// Goes through the steps of a plan.
class step_estimator {
 public:
  step_estimator(const frozen_view& t, const workspace_plan& p, const member_counts& members, const core_rates& rates)
      : t_(t), p_(p), members_(members), rates_(rates), footprint_(static_cast<std::size_t>(t.sizes.values), -1.) {}

  /// All steps, in the order of their regions.
  [[nodiscard]] std::vector<step_estimate> all() {
    go_through(0, 1, 0);
    return std::move(found_);
  }

 private:
  using id = int;

  [[nodiscard]] id value(const span_of_pool& s, int i) const { return static_cast<id>(t_.pool[s.first + i]); }
  [[nodiscard]] id result(int e) const { return value(t_.entries[e].results, 0); }
  [[nodiscard]] double bytes(id v) const {
    return static_cast<double>(t_.values[v].shape.size() * byte_size(t_.values[v].type));
  }
  [[nodiscard]] double lanes(id v) const {
    const auto each = static_cast<double>(std::max<std::int64_t>(byte_size(t_.values[v].type), 4));
    return rates_.vector_bytes / each;
  }
  /// Vectors of the numbers of v: rows that are no shorter than half a vector are whole vectors.
  [[nodiscard]] double vectors(id v) const {
    const shape& s = t_.values[v].shape;
    const auto size = static_cast<double>(s.size()), row = static_cast<double>(s.rank == 0 ? 1 : s.last());
    if (size == 0) return 0;
    return row >= lanes(v) / 2 ? size / row * std::ceil(row / lanes(v)) : std::ceil(size / lanes(v));
  }
  [[nodiscard]] int definition(id v) const { return p_.definition[v]; }

  /// Vector instructions of entry e.
  [[nodiscard]] double instructions(int e) const {
    const frozen_entry& x = t_.entries[e];
    if (x.prim->role == role::virtual_ || x.prim->role == role::alias || x.results.count == 0) return 0;
    const id r = result(e);
    const bool doubles = t_.values[r].type == dtype::float64;
    for (const detail::instructions& i : detail::long_operations)
      if (i.prim == x.prim) return vectors(r) * (doubles ? i.of_doubles : i.of_floats);
    if (prim::is_matrix_product(x.prim)) {
      const product_extents n = extents_of(t_, x);
      const double across = static_cast<double>(n.n);
      const double of_row = across >= lanes(r) / 2 ? std::ceil(across / lanes(r)) : across / lanes(r) * 2;
      return 1.25 * static_cast<double>(n.rows()) * static_cast<double>(n.k) * of_row + 4 * vectors(r);
    }
    if (x.prim == &prim::random_bits) return 60 * vectors(r);
    if (x.prim->elementwise || x.prim->pointwise) return vectors(r);
    if (prim::is_fold(x.prim)) return vectors(value(x.operands, 0)) + 4 * vectors(r);
    if (x.prim == &prim::argsort) {
      const auto n = static_cast<double>(std::max<std::int64_t>(t_.values[r].shape.last(), 2));
      return 4 * static_cast<double>(t_.values[r].shape.size()) * std::log2(n);
    }
    if (x.prim->role == role::rearranged) return 2 * vectors(r);
    return others(e);
  }
  /// Of other entries: their multiplications, if they have some, else a few instructions for each number.
  [[nodiscard]] double others(int e) const {
    const frozen_entry& x = t_.entries[e];
    double n = 0;
    if (x.regions == 0 && x.prim->cost) {
      const shape& s = t_.values[result(e)].shape;
      entry copy;
      copy.prim = x.prim;
      tape operands;
      for (int i = 0; i < x.operands.count; ++i) {
        copy.operands.push_back(operands.values.size());
        operands.values.push_back(t_.values[value(x.operands, i)]);
      }
      for (int i = 0; i < x.results.count; ++i) {
        copy.results.push_back(operands.values.size());
        operands.values.push_back(t_.values[value(x.results, i)]);
      }
      for (std::int64_t i : t_.attributes(x)) copy.attrs.ints.push_back(i);
      n = cost_of(operands, copy).multiplications /
          std::min(lanes(result(e)), static_cast<double>(s.rank == 0 ? 1 : std::max<std::int64_t>(s.last(), 1)));
    }
    for (int i = 0; i < x.results.count; ++i) n += 2 * vectors(value(x.results, i));
    return n;
  }
  /// Cycles to move so many bytes of a value, or values, that has this footprint.
  [[nodiscard]] double moved(double bytes, double footprint) const {
    return bytes / (footprint <= rates_.first_cache    ? rates_.from_first
                    : footprint <= rates_.second_cache ? rates_.from_second
                    : footprint <= rates_.third_cache  ? rates_.from_third
                                                       : rates_.from_memory);
  }

  /// Region r, which runs so often, in a frame of so many bytes.
  void go_through(int r, double runs, double around) {
    const values_of_region values(t_, t_.regions[r]);
    double frame = around;
    for (id v = values.first; v < values.first + values.count; ++v)
      if (p_.stored[v] && p_.root[v] == v && p_.where[v].space != space::slot) frame += bytes(v);
    frame = std::min(frame, static_cast<double>(r == 0 ? p_.server_bytes : p_.server_bytes + p_.thread_bytes));
    for (int s = p_.first_step[r]; s < p_.first_step[r] + p_.step_count[r]; ++s) {
      found_.push_back(one_step(s, r, runs, frame));
      if (!p_.steps[s].is_loop) go_into(p_.steps[s].entry, runs, frame);
    }
  }
  void go_into(int e, double runs, double frame) {
    const frozen_entry& x = t_.entries[e];
    if (x.prim == &prim::stage) return go_into_stage(x, runs);
    double each = runs;
    if (x.prim == &prim::scan)
      each *= static_cast<double>(prim::rules::scan::view(t_.attributes(x)).length.value_or(1));
    if (x.prim == &prim::cond) each /= x.regions;
    for (int k = 0; k < x.regions; ++k) go_through(x.first_region + k, each, frame);
  }
  void go_into_stage(const frozen_entry& x, double runs) {
    const prim::rules::stage::view stage(t_.attributes(x));
    const auto known = members_.find(x.placement->name);
    if (!stage.members && known == members_.end())
      throw std::invalid_argument("drx: estimate: how many members has " + std::string(x.placement->name) + "?");
    std::int64_t left = stage.members ? *stage.members : known->second;
    for (int k = 0; k < stage.bodies(); ++k)
      for (int i = 0; i < stage.placed; ++i)
        footprint_[static_cast<std::size_t>(value(t_.regions[x.first_region + k].inputs, 1 + i))] =
            static_cast<double>(left) * bytes(value(t_.regions[x.first_region].inputs, 1 + i));
    for (int k = 1; k <= stage.block_bodies(); ++k) {  // the largest come first
      const std::int64_t size = stage.members_of_body(k), blocks = left / size;
      left -= blocks * size;
      if (blocks > 0) go_through(x.first_region + k, runs * static_cast<double>(blocks), 0);
    }
    if (left == 0) return;
    const std::int64_t group = stage.group();
    const std::int64_t times = group > 0 ? (left + group - 1) / group : left;
    go_through(x.first_region + (group > 0 ? stage.group_body() : 0), runs * static_cast<double>(times), 0);
  }

  [[nodiscard]] step_estimate one_step(int s, int region, double runs, double frame) const {
    const step& now = p_.steps[s];
    step_estimate r{.step = s, .region = region, .entry = now.is_loop ? -1 : now.entry, .what = {}, .runs = runs};
    std::vector<id> touched;
    double cycles = 0;
    const auto move = [&](id m) {
      if (std::find(touched.begin(), touched.end(), m) != touched.end()) return;
      touched.push_back(m);
      const double known = footprint_[static_cast<std::size_t>(m)];
      r.bytes += bytes(m);
      cycles += moved(bytes(m), known >= 0 ? known : frame);
    };
    const auto entry = [&](int e) {
      const frozen_entry& x = t_.entries[e];
      r.what += (r.what.empty() ? "" : " ") + std::string(x.prim->name);
      if (x.regions > 0) return;
      r.vectors += instructions(e);
      for (int i = 0; i < x.operands.count; ++i)
        if (const id o = value(x.operands, i); p_.loop_of[o] != s || !now.is_loop) for_each_touched(t_, p_, o, move);
      for (int i = 0; i < x.results.count; ++i)
        if (const id v = value(x.results, i); p_.stored[v]) move(v);
    };
    if (now.is_loop) {
      for (int i = 0; i < now.members + now.sums; ++i) entry(p_.members[now.first_member + i]);
    } else {
      entry(now.entry);
    }
    r.cycles = std::max(cycles, r.vectors / rates_.vectors_per_cycle) + 15;  // (a call, and the loop's ends)
    r.seconds = runs * r.cycles / rates_.hertz;
    return r;
  }

  const frozen_view t_;
  const workspace_plan& p_;
  const member_counts& members_;
  const core_rates rates_;
  std::vector<double> footprint_;  // by value: the bytes of all members' shares, of a stage's placed operands
  std::vector<step_estimate> found_;
};

/// What the steps of program P should take on one core, where placements have so many members:
///     for (const drx::plan::step_estimate& s : drx::plan::estimate<P>({{"clients", 1000}})) ...
/// A loop that ends by a condition counts as one step, and each branch as taken as often as the others. Throws
/// std::invalid_argument if a placement's members are missing.
template <Program P>
std::vector<step_estimate> estimate(const member_counts& members, const core_rates& rates = {}) {
  const frozen_view t = staged_program<P>::tape_constant().view();
  const workspace_plan plan = workspace_of(t);
  return step_estimator(t, plan, members, rates).all();
}

}  // namespace drx::plan
