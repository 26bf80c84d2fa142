// Runs programs by the plan of their steps and memory, at run time. It does what the executor does, but entry by entry,
// so that no program has to be compiled. Memory that was never written holds NaN.
#pragma once

#include <drx/plan/memory/workspace.hpp>
#include <drx/run/check/interpreter.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace harness {

/// A fault in a plan: it does something that no program can mean.
struct plan_fault : std::logic_error {
  using std::logic_error::logic_error;
};

class plan_simulator {
 public:
  using tensor = drx::tensor;
  using tensors = std::vector<tensor>;

  /// Simulates the plan of a staged tape. Fused loops read rearrangements whose rows have `least_row` elements or more.
  explicit plan_simulator(const drx::tape& staged, std::int64_t least_row = drx::machine::least_rearranged_row)
      : tape_(staged),
        t(tape_.view()),
        p(drx::plan::workspace_of(t, least_row)),
        slots_(static_cast<std::size_t>(p.slots) + 1),
        input_(slots_.size(), false) {
    server_.resize(static_cast<std::size_t>(p.server_bytes), nothing);
    thread_.resize(static_cast<std::size_t>(p.thread_bytes), nothing);
  }
  /// Whether a fused loop, or a step, reads a rearrangement that is not stored.
  [[nodiscard]] bool has_rearranged() const {
    for (int v = 0; v < t.sizes.values; ++v)
      if (is_unstored_rearrangement(v)) return true;
    return false;
  }
  tensors run(const tensors& in) {
    drx::interpreter::detail::scope top;
    for (std::size_t i = 0; i < in.size(); ++i) drx::interpreter::detail::note(top, in[i], static_cast<int>(i));
    const drx::interpreter::member_counts given;
    for (int i = 0; i < t.regions[0].inputs.count; ++i)
      point(id(t.regions[0].inputs, i), in[static_cast<std::size_t>(i)]);
    region(0, {&top, nullptr, given}, false);
    tensors out;
    for (int i = 0; i < t.regions[0].outputs.count; ++i) out.push_back(read(id(t.regions[0].outputs, i)));
    return out;
  }

 private:
  using site = drx::interpreter::detail::site;
  using fold = drx::fold;
  using space = drx::plan::space;
  static constexpr std::byte nothing{0xff};

  drx::frozen_lists tape_;
  drx::frozen_view t;
  drx::plan::workspace_plan p;
  std::vector<std::byte> server_, thread_;
  tensors slots_;
  std::vector<bool> input_;  // by slot: nothing may be written there

  // ---- values and their places ----

  int id(const drx::span_of_pool& s, int i) const { return static_cast<int>(t.pool[s.first + i]); }
  int root(int v) const {
    while (p.root[v] != v) v = p.root[v];
    return v;
  }
  const drx::abstract_value& type(int v) const { return t.values[v]; }
  std::int64_t bytes(int v) const { return type(v).shape.size() * drx::byte_size(type(v).type); }
  bool is_slot(int v) const { return p.where[v].space == space::slot; }
  tensor& slot(int v) { return slots_[static_cast<std::size_t>(p.where[v].offset)]; }
  std::byte* memory(const drx::plan::location& l, std::int64_t size) {
    if (l.space != space::server && l.space != space::thread) throw plan_fault("a value is nowhere");
    auto& all = l.space == space::server ? server_ : thread_;
    if (l.offset < 0 || l.offset + size > static_cast<std::int64_t>(all.size()))
      throw plan_fault("a value is not in the workspace");
    return all.data() + l.offset;
  }
  static tensor named(tensor x, const drx::abstract_value& as) {
    x.type = as;
    return x;
  }
  tensor read(int v) {
    if (is_slot(v)) return named(slot(v), type(v));
    tensor x(type(v));
    std::copy_n(memory(p.where[v], bytes(v)), x.bytes.size(), x.bytes.begin());
    return x;
  }
  void write(int v, const tensor& x) {
    if (!is_slot(v)) {
      std::copy(x.bytes.begin(), x.bytes.end(), memory(p.where[v], bytes(v)));
      return;
    }
    if (input_[static_cast<std::size_t>(p.where[v].offset)]) throw plan_fault("an input is overwritten");
    slot(v) = x;
  }
  void point(int v, const tensor& x) {
    if (!is_slot(v)) throw plan_fault("an input has no slot");
    slot(v) = x;
    input_[static_cast<std::size_t>(p.where[v].offset)] = true;
  }
  void copy(int from, int to) {
    if (root(from) != root(to)) write(to, named(read(from), type(to)));
  }
  bool same_place(int a, int b) const {
    return p.where[a].space == p.where[b].space && p.where[a].offset == p.where[b].offset;
  }
  bool overlap(int a, int b) const {
    const auto x = p.where[a], y = p.where[b];
    if (x.space != y.space || bytes(a) == 0 || bytes(b) == 0) return false;
    return x.space == space::slot ? x.offset == y.offset
                                  : x.offset < y.offset + bytes(b) && y.offset < x.offset + bytes(a);
  }
  static void put_row(tensor& all, const tensor& row, std::int64_t at) {
    if (row.type.depth > 0) {
      all.members.resize(row.members.size(), tensor(all.type.of_member()));
      for (std::size_t m = 0; m < row.members.size(); ++m) put_row(all.members[m], row.members[m], at);
      return;
    }
    std::copy(row.bytes.begin(), row.bytes.end(),
              all.bytes.begin() + static_cast<std::ptrdiff_t>(row.bytes.size()) * at);
  }
  static tensor row_of(const tensor& all, const drx::abstract_value& of, std::int64_t at) {
    tensor r(of);
    for (const tensor& m : all.members) r.members.push_back(row_of(m, of.of_member(), at));
    std::copy_n(all.bytes.begin() + static_cast<std::ptrdiff_t>(r.bytes.size()) * at, r.bytes.size(), r.bytes.begin());
    return r;
  }

  // ---- entries ----

  struct one_entry final : drx::evaluation {
    const site& at;
    one_entry(const drx::entry& of, const site& s) : evaluation(of), at(s) {}
    tensors run(const drx::tape&, tensors) override { throw plan_fault("a region in a step"); }
    tensors run_member(const drx::tape&, tensors, std::int64_t) override { throw plan_fault("a region in a step"); }
    std::int64_t members(const drx::placement_info* of) override { return at.members(of); }
  };
  drx::entry entry_of(int e) const {
    const drx::frozen_entry& x = t.entries[e];
    drx::entry r;
    r.prim = x.prim;
    r.attrs.ints = t.attributes(x);
    r.attrs.number = x.number;
    r.attrs.placement = x.placement;
    return r;
  }
  tensors evaluate(int e, const tensors& in, const site& here) const {
    const drx::entry x = entry_of(e);
    one_entry one(x, here);
    for (const tensor& i : in) one.in.push_back(&i);
    for (int i = 0; i < t.entries[e].results.count; ++i) one.out.emplace_back(type(id(t.entries[e].results, i)));
    if (x.prim->evaluate) {
      x.prim->evaluate(one);
    } else {
      throw plan_fault(std::string("no evaluation of ") + x.prim->name);
    }
    return std::move(one.out);
  }

  // ---- steps ----

  void region(int r, const site& here, bool in_stage) {
    for (int s = p.first_step[r]; s < p.first_step[r] + p.step_count[r]; ++s) {
      if (p.steps[s].is_loop) {
        group(s, here);
      } else {
        const int e = p.steps[s].entry;
        const drx::primitive* prim = t.entries[e].prim;
        if (prim == &drx::prim::stage)
          stage(e, here, in_stage);
        else if (prim == &drx::prim::scan)
          scan(e, here, in_stage);
        else if (prim == &drx::prim::cond)
          cond(e, here, in_stage);
        else
          single(e, here);
      }
    }
  }
  /// Whether v is a constant that its reader writes out.
  bool is_unwritten_constant(int v) const {
    const int e = p.definition[root(v)];
    return e >= 0 && t.entries[e].prim == &drx::prim::constant && !p.stored[root(v)];
  }
  bool is_unstored_rearrangement(int v) const { return drx::plan::is_unstored_rearrangement(t, p, v); }
  /// Value v, computed from its operands' if it is such a rearrangement; check(m) is called for each value in memory.
  template <class F>
  tensor through_rearrangement(int v, const site& here, const F& check) {
    if (!is_unstored_rearrangement(v)) {
      check(v);
      return read(v);
    }
    const drx::frozen_entry& x = t.entries[p.definition[v]];
    tensors in;
    for (int i = 0; i < x.operands.count; ++i) in.push_back(through_rearrangement(id(x.operands, i), here, check));
    return evaluate(p.definition[v], in, here)[0];
  }
  /// Whether value v, in memory, is an operand of concatenation x and lies where its result has it.
  bool is_in_its_part(const drx::frozen_entry& x, int v) const {
    if (x.prim != &drx::prim::concatenate) return false;
    const int r = id(x.results, 0);
    std::int64_t offset = p.where[r].offset;
    for (int i = 0; i < x.operands.count; ++i) {
      const int o = id(x.operands, i);
      if (root(o) == root(v) && p.where[v].space == p.where[r].space && p.where[v].offset == offset) return true;
      offset += bytes(o);
    }
    return false;
  }
  void single(int e, const site& here) {
    const drx::frozen_entry& x = t.entries[e];
    const bool updates = x.prim == &drx::prim::update_slice;
    if (p.scratch[e].space != space::nowhere) *memory(p.scratch[e], 1) = nothing;
    tensors in;
    for (int i = 0; i < x.operands.count; ++i) {
      const int o = id(x.operands, i);
      const bool fills = updates && i == 0 && is_unwritten_constant(o);
      const auto check = [&](int from) {
        for (int k = 0; k < x.results.count; ++k)
          if (const int r = id(x.results, k);
              overlap(r, from) && !(updates && i == 0 && same_place(r, from)) && !is_in_its_part(x, from))
            throw plan_fault(std::string(x.prim->name) + " writes over its operand");
      };
      in.push_back(fills ? named(evaluate(p.definition[root(o)], {}, here)[0], type(o))
                   : x.prim->role == drx::role::rearranged || x.prim == &drx::prim::dynamic_slice
                       ? through_rearrangement(o, here, check)
                       : (check(o), read(o)));
    }
    const tensors out = evaluate(e, in, here);
    for (int i = 0; i < x.results.count; ++i) write(id(x.results, i), out[static_cast<std::size_t>(i)]);
  }

  /// A loop over elements. It reads its operands as a whole, so that writing over them is checked.
  struct loop {
    int step;
    drx::shape extents;
    std::vector<int> written, totals;
    std::vector<std::pair<int, tensor>> registers;
    [[nodiscard]] const tensor& at(int v) const {
      for (const auto& [name, x] : registers)
        if (name == v) return x;
      throw plan_fault("a register is read before it is written");
    }
  };
  void check_read(const loop& l, int v, bool in_place) const {
    for (int r : l.written)
      if (overlap(r, v) &&
          !(in_place && same_place(r, v) && drx::byte_size(type(r).type) == drx::byte_size(type(v).type)))
        throw plan_fault("a loop writes where it reads other elements");
    for (int r : l.totals)
      if (overlap(r, v)) throw plan_fault("a loop's sum lies where it reads");
  }
  tensor operand(const loop& l, int v, bool through_broadcast, const site& here) {
    if (p.loop_of[v] == l.step && !through_broadcast) return l.at(v);
    const int r = root(v), e = p.stored[r] ? -1 : p.definition[r];
    if (e >= 0 && t.entries[e].prim->role == drx::role::virtual_) {
      tensors from;
      if (t.entries[e].operands.count > 0) from.push_back(operand(l, id(t.entries[e].operands, 0), true, here));
      if (t.entries[e].prim != &drx::prim::constant && (r != v || (through_broadcast && from.empty())))
        throw plan_fault("a position or broadcast is renamed");
      return named(evaluate(e, from, here)[0], type(v));
    }
    if (is_unstored_rearrangement(r)) {
      if (r != v || through_broadcast) throw plan_fault("a rearrangement is renamed, or broadcast");
      return through_rearrangement(r, here, [&](int from) { check_read(l, root(from), false); });
    }
    check_read(l, r, type(v).shape == l.extents && !through_broadcast);
    return read(v);
  }
  void group(int s, const site& here) {
    const drx::plan::step& now = p.steps[s];
    loop l{s, {}, {}, {}, {}};
    for (int i = 0; i < now.members + now.sums; ++i) {
      const int v = id(t.entries[p.members[now.first_member + i]].results, 0);
      if (i == 0) l.extents = type(v).shape;
      if (i >= now.members)
        l.totals.push_back(v);
      else if (p.stored[v])
        l.written.push_back(v);
    }
    for (std::size_t i = 0; i < l.written.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (overlap(l.written[i], l.written[k])) throw plan_fault("two results of a loop in one place");
    for (int i = 0; i < now.members + now.sums; ++i) {
      const int e = p.members[now.first_member + i];
      const drx::frozen_entry& x = t.entries[e];
      const bool product = x.prim == &drx::prim::matmul;
      tensors in;
      for (int k = 0; k < x.operands.count; ++k) {
        const int o = id(x.operands, k);
        if (product && (i < now.members || k > 0)) {
          check_read(l, root(o), false);
          in.push_back(read(o));
        } else {
          in.push_back(operand(l, o, x.prim == &drx::prim::broadcast_to, here));
        }
      }
      l.registers.emplace_back(id(x.results, 0), evaluate(e, in, here)[0]);
    }
    for (int v : l.written) write(v, l.at(v));
    for (int v : l.totals) write(v, l.at(v));
  }

  void scan(int e, const site& here, bool in_stage) {
    const drx::frozen_entry& x = t.entries[e];
    const drx::prim::rules::scan::parts n(t.attributes(x), x.operands.count, x.results.count);
    const drx::frozen_region& body = t.regions[x.first_region];
    const auto result = [&](int k) { return id(x.results, k); };
    const auto output = [&](int k) { return id(body.outputs, k); };
    const auto exchanged = [&](int k) {
      for (int i = 0; i < n.carries; ++i)
        if (i != k && root(output(k)) == root(result(i))) return true;
      return false;
    };
    for (int k = 0; k < n.carries; ++k) copy(id(x.operands, n.constants + k), result(k));
    tensors stacks;
    for (int k = n.carries; k < x.results.count; ++k) stacks.emplace_back(type(result(k)));
    for (std::int64_t step = 0; !n.length || step < *n.length; ++step) {
      const std::int64_t at = n.backwards ? *n.length - 1 - step : step;
      tensor index(drx::abstract_value(drx::dtype::int32, {}));
      index.data<std::int32_t>()[0] = static_cast<std::int32_t>(at);
      point(id(body.inputs, 0), index);
      for (int k = 1 + n.constants + n.carries; k < body.inputs.count; ++k) {
        const int v = id(body.inputs, k);
        point(v, row_of(read(id(x.operands, k - 1)), type(v), at));
      }
      if (n.guard && !read(id(body.inputs, *n.guard)).data<bool>()[0]) {
        if (n.guarding_carry()) break;
        continue;
      }
      const auto stack = [&](bool before) {  // carries as the step finds them are stacked before the body runs
        for (std::size_t k = 0; k < stacks.size(); ++k) {
          const int v = output(n.carries + static_cast<int>(k));
          bool found = false;
          for (int i = 0; i < n.carries; ++i)
            found = found || (type(v).depth == 0 && drx::plan::is_name_of(p, v, id(body.inputs, 1 + n.constants + i)));
          if (found == before) put_row(stacks[k], read(v), at);
        }
      };
      stack(true);
      region(x.first_region, here, in_stage);
      stack(false);
      std::vector<std::pair<int, tensor>> others;
      for (int k = 0; k < n.carries; ++k)
        if (exchanged(k)) others.emplace_back(k, read(output(k)));
      if (!others.empty()) *memory(p.scratch[e], 1) = nothing;
      for (int k = 0; k < n.carries; ++k)
        if (!exchanged(k)) copy(output(k), result(k));
      for (const auto& [k, value] : others) write(result(k), value);
    }
    for (std::size_t k = 0; k < stacks.size(); ++k) write(result(n.carries + static_cast<int>(k)), stacks[k]);
  }
  void cond(int e, const site& here, bool in_stage) {
    const drx::frozen_entry& x = t.entries[e];
    const int r = x.first_region + (read(id(x.operands, 0)).data<bool>()[0] ? 0 : 1);
    region(r, here, in_stage);
    for (int i = 0; i < x.results.count; ++i) copy(id(t.regions[r].outputs, i), id(x.results, i));
  }

  // ---- stages ----

  /// Runs all members, in the largest blocks that fit, whatever their number; results are folded from left to right.
  void stage(int e, const site& here, bool in_stage) {
    using rules = drx::prim::rules::stage;
    const drx::frozen_entry& x = t.entries[e];
    const rules::view stage(t.attributes(x));
    const std::int64_t n = here.members(x.placement);
    const int placed = stage.placed, bodies = stage.block_bodies();
    std::vector<tensors> made(static_cast<std::size_t>(
        x.results.count));  // by result: for each member or block; for each member, if collected
    tensors shares;
    for (int i = 0; i < placed; ++i) shares.push_back(read(id(x.operands, i)));
    const auto clear = [&] {
      if (!in_stage) std::fill(thread_.begin(), thread_.end(), nothing);
    };
    for (std::int64_t m = 0, size = 0; m < n; m += size) {
      int body = 0;
      size = 1;
      const std::int64_t left = std::min(n - m, rules::leaf - m % rules::leaf);
      for (int k = bodies; k > 0; --k)
        if (left >= stage.members_of_body(k)) body = k, size = stage.members_of_body(k);
      const drx::frozen_region& of = t.regions[x.first_region + body];
      clear();
      tensor number(drx::abstract_value(drx::dtype::int64, {}));
      number.data<std::int64_t>()[0] = m;
      point(id(of.inputs, 0), number);
      for (int i = 0; i < placed; ++i) {
        const auto& members = shares[static_cast<std::size_t>(i)].members;
        tensor share = members[static_cast<std::size_t>(m)];
        if (body > 0) {
          share = tensor(type(id(of.inputs, 1 + i)));
          for (std::int64_t k = 0; k < size; ++k) put_row(share, members[static_cast<std::size_t>(m + k)], k);
        }
        point(id(of.inputs, 1 + i), share);
      }
      region(x.first_region + body, here.member(x.placement, m), true);
      for (int i = 0; i < x.results.count; ++i) {
        auto& list = made[static_cast<std::size_t>(i)];
        const tensor out = read(id(of.outputs, i));
        if (body == 0 || stage.fold_of(i) != fold::collect) {
          list.push_back(out);
        } else {
          for (std::int64_t k = 0; k < size; ++k)
            list.push_back(row_of(out, type(id(t.regions[x.first_region].outputs, i)), k));
        }
      }
    }
    clear();
    tensors results(made.size());
    for (int i = 0; i < x.results.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      results[at] = tensor(type(id(x.results, i)));
      switch (stage.fold_of(i)) {
        case fold::collect: results[at].members = made[at]; break;
        case fold::monoid: {
          const int combine = x.first_region + stage.combine_region(i), parts = t.regions[combine].outputs.count;
          const tensors folded = by_monoid(combine, {made.begin() + i, made.begin() + i + parts}, here);
          std::copy(folded.begin(), folded.end(), results.begin() + i);
          i += parts - 1;
          break;
        }
        default: add_up(stage.fold_of(i), made[at], n, results[at]);
      }
    }
    for (int i = 0; i < x.results.count; ++i) write(id(x.results, i), results[static_cast<std::size_t>(i)]);
  }
  /// Folds by a monoid, whose combine is region `combine` and whose identity is the next one, from each value's results
  /// at all members.
  tensors by_monoid(int combine, const std::vector<tensors>& members, const site& here) {
    const int parts = static_cast<int>(members.size());
    const auto results = [&](int r) {
      tensors all;
      for (int k = 0; k < parts; ++k) all.push_back(read(id(t.regions[r].outputs, k)));
      return all;
    };
    if (members[0].empty()) {
      region(combine + 1, here, true);
      return results(combine + 1);
    }
    tensors r;
    for (const tensors& of : members) r.push_back(of[0]);
    for (std::size_t m = 1; m < members[0].size(); ++m) {
      for (int k = 0; k < parts; ++k) {
        point(id(t.regions[combine].inputs, k), r[static_cast<std::size_t>(k)]);
        point(id(t.regions[combine].inputs, parts + k), members[static_cast<std::size_t>(k)][m]);
      }
      region(combine, here, true);
      r = results(combine);
    }
    return r;
  }
  static void add_up(fold f, const tensors& members, std::int64_t n, tensor& to) {
    if (f != fold::sum && f != fold::mean && f != fold::max && f != fold::min)
      throw plan_fault("members that exchange values");
    drx::visit_dtype(to.type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < to.size(); ++i) {
        T r{};
        for (std::size_t m = 0; m < members.size(); ++m) {
          const T y = members[m].data<T>()[i];
          if (m == 0)
            r = y;
          else if (f == fold::max || f == fold::min)
            r = (f == fold::max ? y > r : y < r) || y != y ? y : r;
          else
            r = static_cast<T>(r + y);
        }
        if constexpr (std::is_floating_point_v<T>)
          if (f == fold::mean && n > 0) r /= static_cast<T>(n);
        to.data<T>()[i] = r;
      }
    });
  }
};

}  // namespace harness
