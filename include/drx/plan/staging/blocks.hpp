// drx/plan/staging/blocks.hpp: the bodies of stages for several members at once: which stages have them, and for how
// many members.
// Tested by tests/unit/run/long_rows.cpp and tests/unit/run/loops_in_members.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/staging/lanes.hpp>
#include <drx/plan/staging/numbers.hpp>
#include <drx/plan/staging/operations.hpp>
#include <drx/plan/staging/stage.hpp>

#include <algorithm>
#include <utility>

namespace drx::plan {

constexpr vec<bool> own_inputs(const entry& e, const tape& region, const vec<bool>& depends);

/// By input of a loop's region: whether it differs between members, if those in `own` do. A carry also does if a step
/// makes it so, as `values` says of a tape's values by its inputs.
constexpr vec<bool> with_own_carries(const entry& loop, vec<bool> own,
                                     vec<bool> (*values)(const tape&, const vec<bool>&)) {
  const tape& region = loop.regions[0];
  const prim::rules::scan::view n(loop);
  for (bool grown = true; grown;) {
    grown = false;
    const vec<bool> after = values(region, own);
    for (int i = 0; i < n.carries; ++i)
      if (after[region.outputs[i]] && !own[1 + n.constants + i]) own[1 + n.constants + i] = grown = true;
  }
  return own;
}
/// By value of a tape: whether it depends on the inputs that are in a list. Of a loop's results only some may.
constexpr vec<bool> depending(const tape& body, const vec<bool>& inputs) {
  vec<bool> depends(body.values.size(), false);
  for (int i = 0; i < inputs.size(); ++i) depends[body.inputs[i]] = inputs[i];
  for (const entry& e : body.entries) {
    if (e.prim == &prim::scan) {
      const prim::rules::scan::view loop(e);
      const vec<bool> own = own_inputs(e, e.regions[0], depends), after = depending(e.regions[0], own);
      const bool own_end = loop.guard && own[*loop.guard];
      for (int i = 0; i < e.results.size(); ++i)
        depends[e.results[i]] =
            own_end || (i < loop.carries ? own[1 + loop.constants + i] : after[e.regions[0].outputs[i]]);
      continue;
    }
    bool varies = false;
    for (int o : e.operands) varies = varies || depends[o];
    for (int r : e.results) depends[r] = varies;
  }
  return depends;
}
/// Which inputs of an entry's region differ between members, where `depends` says it of the values around it.
constexpr vec<bool> own_inputs(const entry& e, const tape& region, const vec<bool>& depends) {
  vec<bool> own(region.inputs.size(), true);
  if (e.prim != &prim::scan) return own;
  own[0] = false;
  for (int i = 0; i < e.operands.size(); ++i) own[1 + i] = depends[e.operands[i]];
  return with_own_carries(e, own, depending);
}
/// The same for a body's first `inputs` inputs.
constexpr vec<bool> depending(const tape& body, int inputs) {
  vec<bool> first(body.inputs.size(), false);
  for (int i = 0; i < inputs; ++i) first[i] = true;
  return depending(body, first);
}
/// Whether a product is of a few rows with a matrix that is the same for all members: a block's rows lie one below the
/// other, in one product.
constexpr bool is_stacked_product(const tape& body, const entry& e, const vec<bool>& depends) {
  return e.prim == &prim::matmul && !prim::rules::matmul::view(e).transposes_first && !depends[e.operands[1]] &&
         body.values[e.operands[0]].shape[0] <= machine::few_rows;
}
/// Whether the matrices that an entry multiplies, or gets, are rows or columns.
constexpr bool are_of_vectors(const tape& body, const entry& product) {
  for (const int v : {product.operands[0], product.operands[1]}) {
    const shape s = body.values[v].shape;
    if (s[s.rank - 1] == 1 || s[s.rank - 2] == 1) return true;
  }
  return false;
}
/// Whether an entry is several products of small matrices, or of them with vectors, side by side: a member alone leaves
/// vector units idle.
constexpr bool is_of_small_matrices(const tape& body, const entry& e) {
  if (!prim::is_matrix_product(e.prim)) return false;
  for (const int v : {e.operands[0], e.operands[1]}) {
    const shape s = body.values[v].shape;
    if (s.rank == 2 || s[s.rank - 1] * s[s.rank - 2] > machine::small_matrix) return false;
  }
  return true;
}
/// Whether a body has loops or branches.
constexpr bool has_loops(const tape& body) {
  return any_entry(body, [](const entry& e) { return !e.regions.empty(); });
}
/// Whether an entry is a loop that ends by a guard, or a choice, around a loop without a bound: where some members have
/// ended, or go the other way, that one would go on for them too, perhaps for ever.
constexpr bool may_never_end(const entry& e) {
  if (e.prim == &prim::scan ? !prim::rules::scan::view(e).guard : e.prim != &prim::cond) return false;
  for (const tape& region : e.regions)
    if (any_entry(region, [](const entry& x) { return x.prim == &prim::scan && !prim::rules::scan::view(x).length; }))
      return true;
  return false;
}
/// Whether all entries of a body can, and should, be computed for several members at once: its products are of vectors,
/// which become matrix products, of small matrices, which leave vector units idle, or stacked; or they stand beside
/// loops, whose steps are chains of short loops in one member. Members have the first `inputs` inputs of their own.
/// Members that stay rows may also have several products of vectors side by side, such as one for each head.
constexpr bool can_batch_small(const tape& body, int inputs, bool as_rows, bool beside_loops = false) {
  for (const abstract_value& v : body.values)
    if (v.shape.rank == shape::max_rank) return false;  // a block's members are one more axis
  const vec<bool> depends = depending(body, inputs);
  for (const entry& e : body.entries) {
    if (!e.prim->batch || e.prim == &prim::members || may_never_end(e)) return false;
    for (const tape& region : e.regions)
      if (!can_batch_small(region, region.inputs.size(), as_rows)) return false;
    for (int o : e.operands)
      if (body.values[o].depth > 0) return false;
    if (e.prim == &prim::matmul) {
      const shape x = body.values[e.operands[0]].shape, y = body.values[e.operands[1]].shape;
      if (as_rows ? x.rank > 2 && are_of_vectors(body, e) : is_of_small_matrices(body, e)) continue;
      const std::int64_t largest = std::max({x.size(), y.size(), body.values[e.results[0]].shape.size()});
      if (x.rank != 2 || !(prim::rules::matmul::is_of_vectors(body, e) || is_stacked_product(body, e, depends) ||
                           (x.size() <= 2 * machine::small_matrix && y.size() <= 2 * machine::small_matrix) ||
                           (beside_loops && largest <= machine::short_share)))
        return false;
    }
  }
  return true;
}

/// The bytes that a member's loops write step by step.
constexpr std::int64_t bytes_of_steps(const tape& body) {
  std::int64_t n = 0;
  for (const entry& e : body.entries)
    if (e.prim == &prim::scan)
      for (int i = prim::rules::scan::view(e).carries; i < e.results.size(); ++i) {
        const abstract_value& stacked = body.values[e.results[i]];
        n += stacked.shape.size() * byte_size(stacked.type);
      }
  return n;
}

/// The size of a block of members of `bytes` each, with elementwise functions of their numbers, of `number` bytes: as
/// many members as fill a vector of 64 bytes, if two blocks stay in a first cache of 32 KiB, else 8.
constexpr std::int64_t size_of_long_block(std::int64_t bytes, std::int64_t number) {
  const std::int64_t n = machine::cache_line / number;
  return n > 8 && 2 * n * bytes <= machine::first_cache ? n : 8;
}

/// Whether members may come in blocks of n, if there are at most `most` of them.
constexpr bool may_fill_blocks(std::int64_t n, std::int64_t most, bool nested) {
  const std::int64_t least = n > prim::rules::stage::leaf ? machine::least_members_in_large_blocks
                             : n > 16                     ? machine::least_members_in_blocks
                             : n > 8                      ? machine::least_members_in_blocks_of_16
                                                          : machine::least_members_in_small_blocks;
  return most >= (nested ? n : least);
}

/// t with the entries that do not depend on its first `batched` inputs in front, so that they do not cut the fused
/// loops of the others.
constexpr tape with_constants_first(tape t, int batched) {
  vec<bool> depends(t.values.size(), false);
  for (int i = 0; i < batched; ++i) depends[t.inputs[i]] = true;
  vec<entry> first, then;
  for (const entry& e : t.entries) {
    bool varies = !e.regions.empty();
    for (int o : e.operands) varies = varies || depends[o];
    for (int r : e.results) depends[r] = varies;
    (varies ? then : first).push_back(e);
  }
  first.append(then);
  t.entries = first;
  return t;
}

/// Whether an entry folds rows of few numbers, which leave vector units idle: several of a member, such as distances to
/// centres, or one.
constexpr bool folds_short_rows(const tape& body, const entry& e, bool several) {
  if (!prim::is_fold(e.prim)) return false;
  const abstract_value& x = body.values[e.operands[0]];
  const shape s = x.shape;
  if (!is_floating(x.type) || s.rank == 0 || !prim::rules::over_axes::view(e).is_only(s.rank - 1)) return false;
  if (s.last() == 1 || (s.size() > s.last()) != several) return false;
  // Members' only rows lie one below the other along a first axis, where those that fill a vector do well.
  return several ? s.last() <= machine::short_row : s.last() * byte_size(x.type) < machine::cache_line;
}
/// Whether all of a body that differs between members has rules for lanes, and no member reads rows at places of its
/// own, which may have to be turned.
constexpr bool stays_in_lanes(const tape& body, const vec<bool>& depends) {
  for (const entry& e : body.entries) {
    bool varies = false;
    for (int o : e.operands) varies = varies || depends[o];
    if (!varies) continue;
    const bool moves_rows = e.prim == &prim::take || e.prim == &prim::dynamic_slice || e.prim == &prim::update_slice;
    if (!e.prim->lanes || (moves_rows && depends[e.operands.back()])) return false;
  }
  return true;
}
/// The bytes of a member's largest value.
constexpr std::int64_t largest_value(const tape& body) {
  std::int64_t most = 0;
  for (const abstract_value& v : body.values) most = std::max(most, v.shape.size() * byte_size(v.type));
  return most;
}

/// The bytes of the largest value that a member computes at once, in its loops too. (Their stacked results are written
/// step by step.)
constexpr std::int64_t largest_computed(const tape& body) {
  std::int64_t most = 0;
  for (const entry& e : body.entries) {
    for (const tape& region : e.regions) most = std::max(most, largest_computed(region));
    if (e.regions.empty())
      for (const int r : e.results) most = std::max(most, body.values[r].shape.size() * byte_size(body.values[r].type));
  }
  return most;
}
/// Whether members multiply something of their own with a matrix that is the same for all, which a block reads once.
constexpr bool shares_matrix(const tape& body, const vec<bool>& own) {
  const vec<bool> depends = depending(body, own);
  for (const entry& e : body.entries) {
    for (const tape& region : e.regions) {
      vec<bool> inside(region.inputs.size(), true);
      if (e.prim == &prim::scan)
        for (int i = 0; i < prim::rules::scan::view(e).constants; ++i) inside[1 + i] = depends[e.operands[i]];
      if (shares_matrix(region, inside)) return true;
    }
    if (prim::is_matrix_product(e.prim) && depends[e.operands[0]] != depends[e.operands[1]]) return true;
  }
  return false;
}

/// Whether members read or write long rows at places of their own: along a first axis these are copied, but in lanes
/// each number has its own place.
constexpr bool moves_long_rows(const tape& body, const vec<bool>& own) {
  const vec<bool> depends = depending(body, own);
  for (const entry& e : body.entries) {
    for (const tape& region : e.regions)
      if (moves_long_rows(region, own_inputs(e, region, depends))) return true;
    if (e.prim != &prim::dynamic_slice && e.prim != &prim::update_slice) continue;
    const shape moved = body.values[e.prim == &prim::dynamic_slice ? e.results[0] : e.operands[1]].shape;
    if (depends[e.operands.back()] && moved.last() > machine::short_row) return true;
  }
  return false;
}

/// Whether members do better in lanes than along a first axis: they compute with small matrices or windows of their
/// own, in loops, or with short rows, if a block's values then stay in the second cache. One short row does not pay for
/// turning a block to the first axis and back. Products with a larger matrix that is the same for all of them do better
/// stacked, and long rows at places of their own where they lie.
constexpr bool suits_lanes(const tape& body, int placed) {
  vec<bool> own(body.inputs.size(), false);
  for (int i = 0; i <= placed; ++i) own[i] = true;
  const vec<bool> depends = depending(body, own);
  if (moves_long_rows(body, own)) return false;
  bool several = false, one = false, suited = false;
  for (const entry& e : body.entries) {
    const bool stacked = is_stacked_product(body, e, depends) && !is_of_small_matrices(body, e);
    if (stacked && !prim::rules::matmul::is_of_vectors(body, e) &&
        body.values[e.operands[1]].shape.size() > machine::small_matrix)
      return false;
    suited = suited || cost_of(body, e).suits_lanes || is_of_small_matrices(body, e);
    several = several || folds_short_rows(body, e, true);
    one = one || folds_short_rows(body, e, false);
  }
  if (suited) return true;
  const bool short_rows = several || (one && stays_in_lanes(body, depends));
  return short_rows && largest_value(body) * prim::rules::stage::leaf <= machine::value_of_lanes;
}

/// Whether members are small enough for blocks: their shares are short and their products are of vectors, which a block
/// turns into matrix products.
constexpr bool suits_blocks(const tape& body, int placed, bool foldable) {
  if (!foldable || (placed == 0 && !has_loops(body))) return false;
  for (int i = 1; i <= placed; ++i) {
    const abstract_value& share = body.values[body.inputs[i]];
    if (share.depth > 0 || share.shape.size() > machine::short_share) return false;
  }
  return can_batch_small(body, 1 + placed, !suits_lanes(body, placed), has_loops(body));
}

/// The sum over axis 0 of a block's values. Products that were added up are summed apart, each as one product.
constexpr int sum_over_block(builder& b, int x) {
  const auto is_of_products = [](const auto& self, const builder& in, int v) -> bool {
    const entry* e = in.definition(v);
    if (!e || in.shape(v).rank != 3) return false;
    if (e->prim == &prim::add) return self(self, in, e->operands[0]) && self(self, in, e->operands[1]);
    return prim::is_matrix_product(e->prim);
  };
  const entry* e = b.definition(x);
  if (!e || e->prim != &prim::add || !is_of_products(is_of_products, b, x)) return emit::sum(b, x, {0});
  const int first = e->operands[0], second = e->operands[1];
  const int sum = sum_over_block(b, first);
  return emit::add(b, sum, sum_over_block(b, second));
}

/// The body for n members at once: batched or in lanes, then folded over them, unless they are a group. Its shares and
/// results have members in front.
constexpr tape block_body(const tape& body, const prim::rules::stage::view& stage, std::int64_t n, bool folds = true) {
  const int placed = stage.placed;
  const bool lanes = suits_lanes(body, placed);
  builder b;
  const abstract_value numbers(dtype::int64, make_shape(n));
  const int first = b.input(folds ? body.values[body.inputs[0]] : numbers);  // a group has the numbers of all
  vec<bool> batched{true};
  vec<int> all{-1};
  for (int i = 1; i < body.inputs.size(); ++i) {
    const abstract_value& one = body.values[body.inputs[i]];
    batched.push_back(i <= placed);
    const int x = b.input(i <= placed ? one.with_shape(with_front(one.shape, n)) : one);
    all.push_back(lanes && i <= placed ? first_axis_last(b, x) : x);
  }
  all[0] = first;
  if (folds) {
    const int firsts = emit::broadcast_to(b, first, numbers.shape);
    all[0] = emit::add(b, firsts, emit::iota(b, numbers, 0));
  }
  vec<int> out;
  lane_writer w{b, n, folds};
  if (lanes) {
    out = w.write(with_numbers_in_loops(body), all, batched);
    for (int i = 0; i < out.size(); ++i)
      if (!batched[i]) out[i] = w.spread(out[i]);
  } else {
    out = inline_tape(b, transform::batch(body, batched, n), all);
  }
  for (int i = 0; i < out.size(); ++i) {
    const int axis = lanes ? b.shape(out[i]).rank - 1 : 0;
    switch (folds ? stage.fold_of(i) : fold::collect) {
      case fold::collect:
      case fold::gather: b.output(lanes ? last_axis_first(b, out[i]) : out[i]); break;
      case fold::max: b.output(emit::over_axes(b, prim::max_over, out[i], {axis})); break;
      case fold::min: b.output(emit::over_axes(b, prim::min_over, out[i], {axis})); break;
      default: b.output(lanes ? w.sum(out[i]) : sum_over_block(b, out[i]));
    }
  }
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}

/// The sizes of the blocks in a tree leaf. If products are only of vectors, a member is read once for its dot products
/// and once for its sums; then longer members go in smaller blocks, which the first cache still holds the second time.
/// (Members of 16 bits, whose products widen them to floats, count as floats there: such blocks overlap.)
/// The loops' residuals must stay in the second cache. Long bodies have one block size only, since each body is
/// compiled. Loops are chains, for which a block of 16 takes hardly longer than one of 8. Members of a few numbers go
/// in large blocks, if there may be as `many` as that takes.
constexpr vec<std::int64_t> block_sizes(const tape& body, const prim::rules::stage::view& stage, bool many) {
  const int placed = stage.placed;
  std::int64_t bytes = 0, bytes_as_floats = 0;
  for (int i = 1; i <= placed; ++i) {
    const abstract_value& share = body.values[body.inputs[i]];
    bytes += share.shape.size() * byte_size(share.type);
    bytes_as_floats += share.shape.size() * byte_size(drx::detail::computed_type(share.type));
  }
  bool of_vectors = true;
  std::int64_t number = 0;
  for (const entry& e : body.entries) {
    if (!prim::is_matrix_product(e.prim)) continue;
    const shape x = body.values[e.operands[0]].shape, y = body.values[e.operands[1]].shape;
    number = std::max<std::int64_t>(number, byte_size(body.values[e.results[0]].type));
    of_vectors = of_vectors && (x.size() == 1 || y.size() == 1 || body.values[e.results[0]].shape.size() == 1);
  }
  const std::int64_t multiplied = number == byte_size(dtype::float32) ? bytes_as_floats : bytes;
  if (number > 0 && of_vectors && multiplied >= machine::long_member) return {size_of_long_block(bytes, number)};
  constexpr std::int64_t leaf = prim::rules::stage::leaf;
  const std::int64_t kept = bytes_of_steps(body);
  const bool lanes = suits_lanes(body, placed);
  const auto keeps_too_much = [&](std::int64_t n) {  // in lanes, what is the same for all members is kept once
    if (n * kept <= machine::kept_by_block) return false;
    return !lanes || bytes_of_steps(block_body(body, stage, n)) > machine::kept_by_block;
  };
  if (keeps_too_much(8)) return {};
  vec<bool> own(body.inputs.size(), false);
  for (int i = 0; i <= placed; ++i) own[i] = true;
  const std::int64_t largest = shares_matrix(body, own) ? 0 : largest_computed(body);
  const auto outgrows = [&](std::int64_t n, std::int64_t cache) {  // (what is summed over members need not grow)
    return n * largest > cache && largest_computed(block_body(body, stage, n)) > std::max(cache, 2 * largest);
  };
  if (outgrows(leaf, machine::value_of_lanes)) return {};  // one member fills the vectors
  if (keeps_too_much(leaf)) return {keeps_too_much(16) ? 8 : 16};
  constexpr std::int64_t large = prim::rules::stage::large_leaf;
  const auto fits_large_block = [&](std::int64_t value) { return large * value <= machine::value_of_large_block; };
  if (many && !has_loops(body) && fits_large_block(bytes) &&
      (fits_large_block(largest_computed(body)) ||
       largest_computed(block_body(body, stage, large)) <= machine::value_of_large_block))
    return {large, leaf, 8};
  if (outgrows(8, machine::first_cache) || (has_loops(body) && entries_in_all(body) > machine::long_body))
    return {leaf};
  if (has_loops(body)) return {leaf, 16, 8};
  return {leaf, 8};
}

/// The number of members in a group, if there may be up to `most`: none if it does not pay. Members that fill no block
/// would each be computed alone. If a member with loops leaves vectors idle, several take hardly longer, so that their
/// body takes the place of the body for one. Their results lie side by side before they are folded.
constexpr std::int64_t members_in_group(const tape& body, const prim::rules::stage::view& stage,
                                        const vec<std::int64_t>& block_sizes, std::int64_t most) {
  constexpr std::int64_t n = machine::group;
  if (most == 1 || block_sizes.empty() || !has_loops(body) || !suits_lanes(body, stage.placed)) return 0;
  std::int64_t bytes = 0;
  for (const int o : body.outputs) bytes += body.values[o].shape.size() * byte_size(body.values[o].type);
  if (bytes > machine::results_of_group) return 0;
  const double alone = operations(body, n), in_lanes = operations(body);
  const std::int64_t cost = block_sizes.size() == 1 ? machine::cost_of_group : machine::cost_of_group_beside_blocks;
  return in_lanes <= static_cast<double>(std::min(most, cost)) * alone ? n : 0;
}

/// t whose stages first compute, in their bodies for blocks, the values that are the same for all members.
constexpr tape with_block_constants_first(tape t) {
  for (entry& e : t.entries) {
    for (tape& r : e.regions) r = with_block_constants_first(std::move(r));
    if (e.prim != &prim::stage) continue;
    const prim::rules::stage::view stage(e);
    for (int i = 1; i < stage.bodies(); ++i)
      e.regions[i] = with_constants_first(std::move(e.regions[i]), 1 + stage.placed);
  }
  return t;
}

}  // namespace drx::plan
