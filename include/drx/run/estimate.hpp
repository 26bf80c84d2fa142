// drx/run/estimate.hpp: how long each step of a plan should take on one core, by the vectors that it computes and the
// bytes that it moves. bench/zoo/steps holds it against measured times; a step that takes much longer than this is one
// to look at.
// Tested by tests/unit/run/estimate.cpp.
#pragma once

#include <drx/plan/memory/workspace.hpp>
#include <drx/run/data/executor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx {

/// What a core does. The defaults are those of a server of 3 GHz with the vectors that this file is compiled for.
struct core_rates {
  double hertz = 3e9;  // cycles in a second
#if defined(__AVX512F__)
  double vector_bytes = 64;
#elif defined(__AVX2__)
  double vector_bytes = 32;
#else
  double vector_bytes = 16;
#endif
  double vectors_per_cycle = 2;                                                   // elementwise instructions
  double first_cache = 48 << 10, second_cache = 1 << 20, third_cache = 16 << 20;  // bytes
  double from_first = 500, from_second = 110, from_third = 48, from_memory = 7;   // bytes in a cycle, beside vectors
};

/// What one step should take. Its number is that of `drx::run::run_step<..., step>`, which profiles name.
struct step_estimate {
  int step = 0, region = 0;
  int entry = -1;                // of a step that is one entry: that of `drx::run::kernel<..., entry, ...>`
  std::string what;              // its primitives
  double runs = 0;               // in a call
  bool depends_on_data = false;  // a loop that ends by a condition, or a branch, decides how often it runs
  double vectors = 0;            // vector instructions of one run
  double bytes = 0;              // read and written in one run
  double cycles = 0;             // of one run
  double seconds = 0;            // of all runs
};

/// The members of each placement, by its name; of a nested one, those of each member of its parent. (Placements whose
/// members the program gives need no number.)
using member_counts = std::map<std::string, std::int64_t, std::less<>>;

namespace run::detail {

/// Instructions for a vector of numbers: of floats, and of doubles. They were fitted to steps of bench/zoo. Other
/// elementwise primitives take one, and other rearrangements two.
struct instructions {
  const primitive* prim;
  double of_floats, of_doubles;
};
// clang-format off
inline constexpr instructions long_operations[] = {
    {&prim::where, 4, 4}, {&prim::logical_and, 10, 10}, {&prim::cast, 2, 3}, {&prim::azmul, 2.5, 2},
    {&prim::mul_undecided, 2.5, 2}, {&prim::div, 17, 15}, {&prim::azdiv, 15, 17}, {&prim::remainder, 40, 60},
    {&prim::sqrt, 17, 40}, {&prim::rsqrt, 36, 60}, {&prim::cbrt, 60, 100}, {&prim::pow, 120, 200},
    {&prim::exp, 28, 50}, {&prim::exp2, 28, 50}, {&prim::expm1, 40, 70}, {&prim::log, 66, 74},
    {&prim::log1p, 70, 90}, {&prim::sigmoid, 34, 86}, {&prim::softplus, 120, 180}, {&prim::relu, 6, 6},
    {&prim::sin, 48, 70}, {&prim::cos, 48, 70}, {&prim::tan, 80, 120}, {&prim::asin, 60, 100},
    {&prim::acos, 60, 100}, {&prim::atan, 60, 100}, {&prim::atan2, 80, 120}, {&prim::sinh, 60, 100},
    {&prim::cosh, 60, 100}, {&prim::tanh, 21, 54}, {&prim::asinh, 120, 200}, {&prim::acosh, 120, 200},
    {&prim::atanh, 100, 160}, {&prim::erf, 60, 120}, {&prim::erfc, 90, 160}, {&prim::erfinv, 108, 200},
    {&prim::lgamma, 200, 400}, {&prim::digamma, 250, 526}, {&prim::floor, 6, 6},
    {&prim::random_bits, 72, 72}, {&prim::fold_in, 40, 40}, {&prim::scatter, 13, 13},
    {&prim::take, 7, 11}, {&prim::gather, 24, 24}, {&prim::dynamic_slice, 8, 16}, {&prim::transpose, 4, 5},
    {&prim::slice, 3, 2}, {&prim::concatenate, 5, 5}, {&prim::roll, 7, 7}, {&prim::flip, 7, 4}, {&prim::pad, 7, 5},
};
// clang-format on

/// Goes through the steps of a plan.
class step_estimator {
 public:
  step_estimator(const frozen_view& t, const plan::workspace_plan& p, const member_counts& members,
                 const core_rates& rates)
      : t_(t), p_(p), members_(members), rates_(rates), footprint_(static_cast<std::size_t>(t.sizes.values), -1.) {}

  /// All steps, those of a region behind the one that runs it.
  [[nodiscard]] std::vector<step_estimate> all() {
    go_through(0, {1, false}, 0);
    return std::move(found_);
  }

 private:
  using id = int;
  struct how_often {
    double runs;
    bool depends_on_data;
  };

  [[nodiscard]] id value(const span_of_pool& s, int i) const { return static_cast<id>(t_.pool[s.first + i]); }
  [[nodiscard]] id operand(const frozen_entry& x, int i) const { return value(x.operands, i); }
  [[nodiscard]] id result(int e) const { return value(t_.entries[e].results, 0); }
  [[nodiscard]] double size(id v) const { return static_cast<double>(t_.values[v].shape.size()); }
  [[nodiscard]] double last(id v) const {
    const shape& s = t_.values[v].shape;
    return static_cast<double>(s.rank == 0 ? 1 : s.last());
  }
  [[nodiscard]] double bytes(id v) const {
    return static_cast<double>(t_.values[v].shape.size() * byte_size(t_.values[v].type));
  }
  [[nodiscard]] double lanes(id v) const {
    const auto each = static_cast<double>(std::max<std::int64_t>(byte_size(t_.values[v].type), 4));
    return rates_.vector_bytes / each;
  }
  /// Vectors of the numbers of v: rows that are no shorter than half a vector are whole vectors.
  [[nodiscard]] double vectors(id v) const {
    if (size(v) == 0) return 0;
    return last(v) >= lanes(v) / 2 ? size(v) / last(v) * std::ceil(last(v) / lanes(v)) : std::ceil(size(v) / lanes(v));
  }

  /// Vector instructions of entry e.
  [[nodiscard]] double instructions_of(int e) const {
    const frozen_entry& x = t_.entries[e];
    if (x.prim->role == role::virtual_ || x.prim->role == role::alias || x.results.count == 0) return 0;
    const id r = result(e);
    const bool doubles = t_.values[r].type == dtype::float64;
    for (const instructions& i : long_operations)
      if (i.prim == x.prim) return vectors(r) * (doubles ? i.of_doubles : i.of_floats);
    if (x.prim->elementwise || x.prim->pointwise) return vectors(r);
    if (const double n = cumulated(x); n > 0) return n;
    if (prim::is_fold(x.prim)) return 2 * vectors(operand(x, 0)) + 2 * vectors(r);
    if (x.prim == &prim::argmax || x.prim == &prim::argmin) return 8 * vectors(operand(x, 0)) + 2 * vectors(r);
    if (x.prim == &prim::argsort) return 28 * size(r) * std::log2(std::max(last(r), 2.));
    if (x.prim->role == role::rearranged) return 2 * vectors(r);
    return multiplications(x) + vectors(r);
  }
  /// Of a running sum, product or extremum: one number after the other, or vectors where neighbours are apart.
  [[nodiscard]] double cumulated(const frozen_entry& x) const {
    const primitive* const of[] = {&prim::cumsum, &prim::cumprod, &prim::cummax, &prim::cummin, &prim::recurrence};
    if (std::find(std::begin(of), std::end(of), x.prim) == std::end(of)) return 0;
    const id r = value(x.results, 0);
    const bool along_last = prim::rules::along_axis::view(t_.attributes(x)).axis + 1 == t_.values[r].shape.rank;
    return along_last ? 12 * size(r) : 4 * vectors(r);
  }
  /// Vectors of multiplications of a product, a convolution, or a decomposition. Those of small matrices are single.
  [[nodiscard]] double multiplications(const frozen_entry& x) const {
    const id r = value(x.results, 0);
    if (prim::is_matrix_product(x.prim)) {
      const plan::product_extents n = plan::extents_of(t_, x);
      const auto columns = static_cast<double>(n.n);
      const double of_row = columns >= lanes(r) / 2 ? std::ceil(columns / lanes(r)) : 2 * columns / lanes(r);
      return 1.15 * static_cast<double>(n.rows()) * static_cast<double>(n.k) * of_row;
    }
    if (x.prim == &prim::convolution || x.prim == &prim::lane_convolution) return of_convolution(x);
    const id a = operand(x, 0);
    const shape& of_first = t_.values[a].shape;
    const auto extent = [&](int from_last) {
      return of_first.rank > from_last ? static_cast<double>(of_first[of_first.rank - 1 - from_last]) : 1.;
    };
    if (x.prim == &prim::window_sum || x.prim == &prim::window_max || x.prim == &prim::window_select ||
        x.prim == &prim::window_argmax)
      return 8 * std::max(vectors(a), vectors(r));
    if (x.prim == &prim::determinant || x.prim == &prim::cofactors || x.prim == &prim::minors)
      return size(a) * extent(0);
    if (x.prim == &prim::lane_matmul) {
      const prim::rules::lane_matmul::view product(t_.attributes(x));
      return 2 * vectors(r) * extent((product.first_in_lanes ? 1 : 0) + (product.transposes_first ? 1 : 0));
    }
    if (x.prim == &prim::lane_cholesky || x.prim == &prim::lane_lu_factors || x.prim == &prim::lane_lu_solve ||
        x.prim == &prim::lane_triangular_solve)
      return vectors(r) * extent(1);
    if (x.prim == &prim::qr) return size(a) * extent(0) / 2;
    if (x.prim == &prim::eigh || x.prim == &prim::svd) return 20 * size(a) * extent(0);
    const double each = extent(0) < 2 * lanes(r) ? 1 : 4 / lanes(r);
    if (x.prim == &prim::cholesky || x.prim == &prim::lu_factors) return each * size(a) * extent(0);
    if (x.prim == &prim::triangular_solve || x.prim == &prim::lu_solve) return 2 * each * size(r) * extent(0);
    return 0;
  }
  /// y[n, o, co] = sum over k, ci of x[n, i, ci] w[k, ci, co], of which any may be the result, and each may have axes
  /// in front, of a batch, and one behind, of lanes.
  [[nodiscard]] double of_convolution(const frozen_entry& x) const {
    using prim::rules::convolution_role;
    const bool in_lanes = x.prim == &prim::lane_convolution;
    const int_list all = t_.attributes(x);
    const convolution_role which = prim::rules::convolution::view(in_lanes ? all.from(1) : all).result;
    const id r = value(x.results, 0), w = which == convolution_role::w ? r : operand(x, 1),
             y = which == convolution_role::y ? r : operand(x, which == convolution_role::x ? 0 : 1);
    if (size(w) == 0 || size(y) == 0) return 0;
    const bool kernel_in_lanes = in_lanes && (which == convolution_role::w || all.flag(0));
    const shape& kernel = t_.values[w].shape;
    const int rank = kernel.rank - (kernel_in_lanes ? 1 : 0);
    const double of_output = static_cast<double>(kernel[rank - 3] * kernel[rank - 2]);  // multiplications
    return of_output * (in_lanes ? vectors(y) : size(y) / lanes(y)) * (in_lanes ? 2 : 3);
  }
  /// Cycles to move so many bytes of a value, or values, that has this footprint.
  [[nodiscard]] double moved(double bytes, double footprint) const {
    return bytes / (footprint <= rates_.first_cache    ? rates_.from_first
                    : footprint <= rates_.second_cache ? rates_.from_second
                    : footprint <= rates_.third_cache  ? rates_.from_third
                                                       : rates_.from_memory);
  }

  /// The most bytes of one operand or result that entry x reads or writes, where that is not all.
  [[nodiscard]] double part_of(const frozen_entry& x) const {
    const primitive* const reads[] = {&prim::dynamic_slice, &prim::slice, &prim::take, &prim::gather};
    if (std::find(std::begin(reads), std::end(reads), x.prim) != std::end(reads)) return bytes(value(x.results, 0));
    if (x.prim == &prim::update_slice) return bytes(operand(x, 1));
    return std::numeric_limits<double>::infinity();
  }

  /// Region r, which runs so often, in a frame of so many bytes.
  void go_through(int r, how_often runs, double around) {
    const plan::values_of_region values(t_, t_.regions[r]);
    double frame = around;
    for (id v = values.first; v < values.first + values.count; ++v)
      if (p_.stored[v] && p_.root[v] == v && p_.where[v].space != plan::space::slot) frame += bytes(v);
    frame = std::min(frame, static_cast<double>(r == 0 ? p_.server_bytes : p_.server_bytes + p_.thread_bytes));
    for (int s = p_.first_step[r]; s < p_.first_step[r] + p_.step_count[r]; ++s) {
      found_.push_back(one_step(s, r, runs, frame));
      if (!p_.steps[s].is_loop) go_into(p_.steps[s].entry, runs, frame);
    }
  }
  void go_into(int e, how_often runs, double frame) {
    const frozen_entry& x = t_.entries[e];
    if (x.prim == &prim::stage) return go_into_stage(x, runs);
    how_often each = runs;
    if (x.prim == &prim::scan) {
      const prim::rules::scan::view loop(t_.attributes(x));
      each.runs *= static_cast<double>(loop.length.value_or(1));
      each.depends_on_data |= loop.guard.has_value();
    }
    if (x.prim == &prim::cond) each = {runs.runs / x.regions, true};
    for (int k = 0; k < x.regions; ++k) go_through(x.first_region + k, each, frame);
  }
  void go_into_stage(const frozen_entry& x, how_often runs) {
    const prim::rules::stage::view stage(t_.attributes(x));
    const auto known = members_.find(x.placement->name);
    if (!stage.members && known == members_.end())
      throw std::invalid_argument("drx: estimate: how many members has " + std::string(x.placement->name) + "?");
    const std::int64_t all = stage.members ? *stage.members : known->second;
    if (all < 0)
      throw std::invalid_argument("drx: estimate: " + std::string(x.placement->name) + " has " + std::to_string(all) +
                                  " members");
    for (int k = 0; k < stage.bodies(); ++k)
      for (int i = 0; i < stage.placed; ++i)
        footprint_[static_cast<std::size_t>(value(t_.regions[x.first_region + k].inputs, 1 + i))] =
            static_cast<double>(all) * bytes(value(t_.regions[x.first_region].inputs, 1 + i));
    const std::int64_t most = nested_ ? all : members_in_block(all);  // of a leaf
    const std::int64_t leaf = std::clamp<std::int64_t>(stage.members_of_leaf(), 1, std::max<std::int64_t>(most, 1));
    vec<std::int64_t> times(stage.bodies(), 0);
    for (const auto& [count, members] : {std::pair{all / leaf, leaf}, std::pair{std::int64_t{1}, all % leaf}}) {
      std::int64_t left = members;
      for (int k = 1; k <= stage.block_bodies(); ++k) {  // the largest come first
        times[k] += count * (left / stage.members_of_body(k));
        left %= stage.members_of_body(k);
      }
      times[0] += count * left;
    }
    if (const std::int64_t group = stage.group(); group > 0) {
      times[stage.group_body()] = (times[0] + group - 1) / group;
      times[0] = 0;
    }
    const bool around = nested_;
    nested_ = true;
    for (int k = 0; k < stage.bodies(); ++k)
      if (times[k] > 0)
        go_through(x.first_region + k, {runs.runs * static_cast<double>(times[k]), runs.depends_on_data}, 0);
    for (int i = 0; i < stage.results; ++i)
      if (stage.begins_monoid(i))
        go_through(x.first_region + stage.combine_region(i),
                   {runs.runs * static_cast<double>(std::max<std::int64_t>(all - 1, 0)), runs.depends_on_data}, 0);
    nested_ = around;
  }

  [[nodiscard]] step_estimate one_step(int s, int region, how_often runs, double frame) const {
    const plan::step& now = p_.steps[s];
    step_estimate r{.step = s,
                    .region = region,
                    .entry = now.is_loop ? -1 : now.entry,
                    .what = {},
                    .runs = runs.runs,
                    .depends_on_data = runs.depends_on_data};
    std::vector<id> touched;
    double cycles = 0;
    const auto move = [&](id m, double most) {
      if (std::find(touched.begin(), touched.end(), m) != touched.end()) return;
      touched.push_back(m);
      const double known = footprint_[static_cast<std::size_t>(m)], some = std::min(bytes(m), most);
      r.bytes += some;
      cycles += moved(some, known >= 0 ? known : std::max(frame, bytes(m)));
    };
    const auto entry = [&](int e) {
      const frozen_entry& x = t_.entries[e];
      r.what += (r.what.empty() ? "" : " ") + std::string(x.prim->name);
      if (x.regions > 0) return;
      r.vectors += instructions_of(e);
      const double part = part_of(x);  // of large operands, or of the result, that is read or written
      for (int i = 0; i < x.operands.count; ++i)
        if (const id o = value(x.operands, i); p_.loop_of[o] != s || !now.is_loop)
          plan::for_each_touched(t_, p_, o, [&](id m) { move(m, std::min(bytes(o), part)); });
      for (int i = 0; i < x.results.count; ++i)
        if (const id v = value(x.results, i); p_.stored[v]) move(v, part);
    };
    if (now.is_loop) {
      for (int i = 0; i < now.members + now.sums; ++i) entry(p_.members[now.first_member + i]);
    } else {
      entry(now.entry);
    }
    r.cycles = cycles + r.vectors / rates_.vectors_per_cycle + 5;  // (a call)
    r.seconds = runs.runs * r.cycles / rates_.hertz;
    return r;
  }

  const frozen_view t_;
  const plan::workspace_plan& p_;
  const member_counts& members_;
  const core_rates rates_;
  std::vector<double> footprint_;  // by value: the bytes of all members' shares, of a stage's placed operands
  bool nested_ = false;            // in a stage
  std::vector<step_estimate> found_;
};

}  // namespace run::detail

/// What the steps of program P should take on one core, where placements have so many members:
///     for (const drx::step_estimate& s : drx::estimate<P>({{"clients", 1000}})) ...
/// A loop without a bound counts as one step, one that may end sooner as all of them, and each branch as taken as
/// often as the others: such steps say that their `runs` depend on data. Throws
/// std::invalid_argument if a placement's members are missing or fewer than none.
template <Program P>
std::vector<step_estimate> estimate(const member_counts& members = {}, const core_rates& rates = {}) {
  const frozen_view t = plan::staged_program<P>::tape_constant().view();
  const plan::workspace_plan p = plan::workspace_of(t);
  return run::detail::step_estimator(t, p, members, rates).all();
}

template <class P, class Why = drx::detail::no_program_t<P>>
  requires(!Program<P>)
Why estimate(const member_counts& = {}, const core_rates& = {}) = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them; its function takes one argument for each

}  // namespace drx
