// drx/plan/staging/lanes.hpp: a body for several members at once, one in each lane: values that differ between members
// get a last axis, along which vectors run. Batching (a new axis 0) suits long members, whose rows fill vectors by
// themselves; for members that are loops over a few numbers, small matrices or images, every operation here works on
// whole vectors, without a shuffle. An entry without a rule below is moved to axis 0, batched, and moved back.
// Tested by tests/unit/run/lanes.cpp and tests/unit/run/lanes_of_images.cpp.
#pragma once

#include <drx/transform/differentiate.hpp>

namespace drx {

namespace prim::rules {
/// z[i, j, l] = sum over k of x[i, k, l] y[k, j, l]: a matrix product in each lane l. An operand that is not in lanes is
/// the same in all.
struct lane_matmul {
  struct view : matmul::view {  // ints: {first is transposed, second is transposed, first is in lanes, second is in lanes}
    bool first_in_lanes, second_in_lanes;
    constexpr view(matmul::view product, bool first, bool second) : matmul::view(product), first_in_lanes(first), second_in_lanes(second) {}
    constexpr explicit view(int_list a) : view(matmul::view(a), a.flag(2), a.flag(3)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposes_first, transposes_second, first_in_lanes, second_in_lanes};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const auto [tx, ty] = matmul::view(t.attrs);
    const bool lx = view(t.attrs).first_in_lanes, ly = view(t.attrs).second_in_lanes;
    const shape x = t.operands[0].shape, y = t.operands[1].shape;
    typing::require(x.rank == 2 + lx && y.rank == 2 + ly && (lx || ly), "lane_matmul: ranks");
    typing::require(x[tx ? 0 : 1] == y[ty ? 1 : 0] && (!lx || !ly || x[2] == y[2]), "lane_matmul: extents");
    return {t.operands[0].with_shape(make_shape(x[tx ? 1 : 0], y[ty ? 0 : 1], lx ? x[2] : y[2]))};
  }
  static std::string print(const attributes& a) {
    return matmul::print(a) + (view(a).first_in_lanes ? "" : "; first the same") + (view(a).second_in_lanes ? "" : "; second the same");
  }
};
/// A convolution in each lane: the relation of prim::convolution between x[n, i, ci, l], w[k, ci, co] or w[k, ci, co, l], and y[n, o, co, l].
struct lane_convolution {
  struct view : convolution::view {  // ints: {the kernel is in lanes, those of the convolution...}
    bool kernels_in_lanes;
    constexpr explicit view(int_list a) : convolution::view(a.from(1)), kernels_in_lanes(a.flag(0)) {}
  };
  static constexpr attributes make(bool kernels_in_lanes, const attributes& single) {
    attributes a;
    a.ints = {kernels_in_lanes};
    a.ints.append(single.ints);
    return a;
  }
  static constexpr attributes single(const attributes& a) {
    attributes r;
    r.ints = int_list(a).from(1);
    return r;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const attributes one = single(t.attrs);
    const std::int64_t n = t.operands[0].shape.last();
    vec<abstract_value> operands;
    for (int i = 0; i < 2; ++i) {
      shape s = t.operands[i].shape;
      if (i == 0 || view(t.attrs).kernels_in_lanes || view(t.attrs).result == convolution_role::w) s = without_axis(s, s.rank - 1);
      operands.push_back(t.operands[i].with_shape(s));
    }
    const abstract_value r = convolution::type({operands, one, t.regions})[0];
    return {r.with_shape(with_last(r.shape, n))};
  }
  static std::string print(const attributes& a) { return convolution::print(single(a)) + (view(a).kernels_in_lanes ? "; kernels in lanes" : ""); }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive lane_matmul{.name = "lane_matmul", .type = rules::lane_matmul::type, .print = rules::lane_matmul::print};
inline constexpr primitive lane_convolution{.name = "lane_convolution", .type = rules::lane_convolution::type, .print = rules::lane_convolution::print};
}  // namespace prim

namespace plan {

/// x with its first axis after all others, and back: as the transpose of a matrix, for which there is a kernel.
constexpr int first_axis_last(builder& b, int x) {
  const shape from = b.shape(x), rest = without_axis(from, 0);
  const int matrix = emit::reshape(b, x, make_shape(from[0], rest.size()));
  return emit::reshape(b, emit::transpose(b, matrix, {1, 0}), with_last(rest, from[0]));
}
constexpr int last_axis_first(builder& b, int x) {
  const shape from = b.shape(x), rest = without_axis(from, from.rank - 1);
  const int matrix = emit::reshape(b, x, make_shape(rest.size(), from.last()));
  return emit::reshape(b, emit::transpose(b, matrix, {1, 0}), with_front(rest, from.last()));
}

/// Writes tapes for n members in lanes.
class lane_writer {
 public:
  builder& b;
  std::int64_t n;

  /// Writes t's entries, on inputs of which some are in lanes. Returns the outputs, and in `lanes` which of them are.
  constexpr vec<int> write(const tape& t, const vec<int>& inputs, vec<bool>& lanes) {
    vec<bool> in(t.values.size(), false);
    for (int i = 0; i < inputs.size(); ++i) in[t.inputs[i]] = lanes[i];
    rewriter w(b, t, inputs);
    w.write([&](const entry& e) {
      vec<bool> on;
      for (int o : e.operands) on.push_back(in[o]);
      if (on.find(true) < 0) return w.copied(e);
      vec<bool> out(e.results.size(), true);
      const vec<int> results = written(e, w.operands(e), on, out);
      for (int i = 0; i < results.size(); ++i) in[e.results[i]] = out[i];
      return results;
    });
    lanes = vec<bool>{};
    for (int o : t.outputs) lanes.push_back(in[o]);
    return w.outputs();
  }
  /// x in lanes: the same value in each.
  constexpr int spread(int x) {
    const shape s = b.shape(x);
    return emit::broadcast_to(b, emit::reshape(b, x, with_last(s, 1)), with_last(s, n));
  }
  /// The sum of x over the lanes. For a product of factors that each lack one of x's two axes, it is a matrix product.
  constexpr int sum(int x) {
    const shape s = b.shape(x);
    const vec<std::int64_t> last{s.rank - 1};
    if (s.rank == 3 && s[0] > 1 && s[1] > 1 && is_floating(b.type(x).type)) {
      vec<int> all, left, right, both, outside;
      add_factors(all, x);
      for (int f : all) {
        const shape from = b.shape(f);
        if (from.rank != 3) return emit::sum(b, x, last);
        if (from[2] == 1 && from[0] * from[1] > 1) outside.push_back(f);
        else if (from[0] > 1 && from[1] > 1) return emit::sum(b, x, last);
        else (from[0] > 1 ? left : from[1] > 1 ? right : both).push_back(f);
      }
      if (!left.empty() && !right.empty()) {
        (s[0] < s[1] ? left : right).append(both);
        int r = emit::matmul(b, product(left, make_shape(s[0], 1, n)), product(right, make_shape(1, s[1], n)), false, true);
        for (int f : outside) r = emit::mul(b, r, emit::broadcast_to(b, emit::reshape(b, f, make_shape(b.shape(f)[0], b.shape(f)[1])), make_shape(s[0], s[1])));
        return r;
      }
    }
    return emit::sum(b, x, last);
  }

 private:
  /// x as a product: the factors of its multiplications, before broadcasts. There is a limit, since each square doubles
  /// their number.
  constexpr void add_factors(vec<int>& to, int x) {
    const entry* e = b.definition(x);
    if (e && e->prim == &prim::mul && to.size() < 16) {
      add_factors(to, e->operands[0]);
      add_factors(to, e->operands[1]);
    } else {
      to.push_back(e && e->prim == &prim::broadcast_to ? e->operands[0] : x);
    }
  }
  /// The product of factors that are broadcast to [A, 1, n] or [1, B, n], as a matrix.
  constexpr int product(const vec<int>& f, const shape& s) {
    int r = -1;
    for (int i : f) {
      const int x = emit::broadcast_to(b, i, s);
      r = r < 0 ? x : emit::mul(b, r, x);
    }
    return emit::reshape(b, r, make_shape(s[0] * s[1], n));
  }
  constexpr vec<int> written(const entry& e, vec<int> o, const vec<bool>& on, vec<bool>& out) {
    const primitive* p = e.prim;
    if (p->elementwise || p == &prim::concatenate) return {b.add1(*p, all_in_lanes(o, on), e.attrs)};
    if (p == &prim::cast || p == &prim::sum || p == &prim::max_over || p == &prim::min_over || p == &prim::prod) return {b.add1(*p, o, e.attrs)};
    if (p == &prim::cumsum || p == &prim::cumprod || p == &prim::recurrence) return {b.add1(*p, all_in_lanes(o, on), e.attrs)};
    if (p == &prim::reshape) return {emit::reshape(b, o[0], with_last(prim::rules::broadcast_to::target(e.attrs), n))};
    if (p == &prim::flip) return {b.add1(*p, o, e.attrs)};
    if (p == &prim::broadcast_to) return {broadcast(o[0], prim::rules::broadcast_to::target(e.attrs))};
    if (p == &prim::transpose) {
      vec<std::int64_t> order = prim::rules::transpose::view(e).permutation;
      order.push_back(order.size());
      return {emit::transpose(b, o[0], order)};
    }
    if (p == &prim::slice) {
      const prim::rules::slice::view range(e);
      return {emit::slice(b, o[0], and_last(range.starts, 0), and_last(range.stops, n), and_last(range.strides, 1))};
    }
    if (p == &prim::pad) {
      const prim::rules::pad::view zeros(e);
      return {emit::pad(b, o[0], and_last(zeros.lows, 0), and_last(zeros.highs, 0), and_last(zeros.interiors, 0))};
    }
    if ((p == &prim::take || p == &prim::dynamic_slice) && !on[1]) return {b.add1(*p, o, e.attrs)};
    if (p == &prim::update_slice && !on[2]) return {b.add1(*p, {in_lanes(o[0], on[0]), in_lanes(o[1], on[1]), o[2]}, e.attrs)};
    if (p == &prim::matmul && b.shape(o[0]).rank == 2 + on[0]) return {matmul(o, on, prim::rules::matmul::view(e))};
    if (p == &prim::convolution)
      if (const int axes = prim::rules::convolution::view(e).axes; axes <= 2 && b.shape(o[0]).rank == axes + 2 + on[0]) return {convolution(o, on, e.attrs)};
    if ((p == &prim::window_sum || p == &prim::window_max) && o.size() == 1) return {pooling(e, o[0])};
    if (p == &prim::scan) {
      vec<int> r = scan(e, o, on, out);
      if (!r.empty()) return r;
    }
    if (p == &prim::cond) return cond(e, o, on, out);
    out = vec<bool>(e.results.size(), true);
    for (int i = 0; i < o.size(); ++i)
      if (on[i]) o[i] = last_axis_first(b, o[i]);
    vec<int> r = p->batch({b, e, o, {}, transform::drivers}, on, n);
    for (int& x : r) x = first_axis_last(b, x);
    return r;
  }
  constexpr int in_lanes(int x, bool already) { return already ? x : spread(x); }
  constexpr vec<int> all_in_lanes(const vec<int>& o, const vec<bool>& on) {
    vec<int> r;
    for (int i = 0; i < o.size(); ++i) r.push_back(in_lanes(o[i], on[i]));
    return r;
  }
  /// A number for each axis, and one for the lanes.
  static constexpr vec<std::int64_t> and_last(int_list of_axes, std::int64_t of_lanes) {
    vec<std::int64_t> r = of_axes;
    r.push_back(of_lanes);
    return r;
  }
  constexpr int broadcast(int x, const shape& to) {
    const shape from = b.shape(x);
    shape aligned;  // new axes are in front
    for (int i = 0; i < to.rank - (from.rank - 1); ++i) aligned.push_back(1);
    for (int i = 0; i < from.rank; ++i) aligned.push_back(from[i]);
    return emit::broadcast_to(b, emit::reshape(b, x, aligned), with_last(to, n));
  }
  constexpr int matmul(const vec<int>& o, const vec<bool>& on, const prim::rules::matmul::view& of) {
    const bool tx = of.transposes_first, ty = of.transposes_second;
    const shape x = b.shape(o[0]), y = b.shape(o[1]);
    const std::int64_t rows = x[tx ? 1 : 0], inner = x[tx ? 0 : 1], columns = y[ty ? 0 : 1];
    if (on[0] && !on[1] && rows == 1) {  // a vector in each lane: columns of one matrix
      const int product = emit::matmul(b, o[1], emit::reshape(b, o[0], make_shape(inner, n)), !ty, false);
      return emit::reshape(b, product, make_shape(1, columns, n));
    }
    if (!on[0] && on[1] && (columns == 1 || !ty)) {
      const int product = emit::matmul(b, o[0], emit::reshape(b, o[1], make_shape(inner, columns * n)), tx, false);
      return emit::reshape(b, product, make_shape(rows, columns, n));
    }
    if (inner == 1) {  // an outer product
      const int left = emit::broadcast_to(b, emit::reshape(b, in_lanes(o[0], on[0]), make_shape(rows, 1, n)), make_shape(rows, columns, n));
      const int right = emit::broadcast_to(b, emit::reshape(b, in_lanes(o[1], on[1]), make_shape(1, columns, n)), make_shape(rows, columns, n));
      return emit::mul(b, left, right);
    }
    return b.add1(prim::lane_matmul, o, prim::rules::lane_matmul::view(of, on[0], on[1]).make());
  }
  constexpr int convolution(const vec<int>& o, const vec<bool>& on, const attributes& single) {
    const bool of_kernel = prim::rules::convolution::view(single).result == prim::rules::convolution_role::w;
    const attributes a = prim::rules::lane_convolution::make(on[1] && !of_kernel, single);
    return b.add1(prim::lane_convolution, {in_lanes(o[0], on[0]), of_kernel ? in_lanes(o[1], on[1]) : o[1]}, a);
  }
  /// Windows go channel by channel: lanes are more channels.
  constexpr int pooling(const entry& e, int x) {
    shape s = b.shape(x);
    s = without_axis(s, s.rank - 1);
    s[s.rank - 1] *= n;
    const int all = b.add1(*e.prim, {emit::reshape(b, x, s)}, e.attrs);
    shape to = b.shape(all);
    to[to.rank - 1] /= n;
    return emit::reshape(b, all, with_last(to, n));
  }
  /// A region's tape, of whose inputs some are in lanes; outputs that must be in lanes are spread. `lanes` tells which
  /// outputs are.
  constexpr tape region(const tape& t, const vec<bool>& in, const vec<bool>& must, vec<bool>& lanes) {
    builder r(&b);
    lane_writer w{r, n};
    vec<int> inputs;
    for (int i = 0; i < t.inputs.size(); ++i) {
      const abstract_value v = t.values[t.inputs[i]];
      inputs.push_back(r.input(in[i] ? v.with_shape(with_last(v.shape, n)) : v));
    }
    lanes = in;
    const vec<int> out = w.write(t, inputs, lanes);
    for (int i = 0; i < out.size(); ++i) {
      r.output(must[i] && !lanes[i] ? w.spread(out[i]) : out[i]);
      lanes[i] = lanes[i] || must[i];
    }
    return r.result();
  }
  /// Carries that are the same for all members stay so. If each member has a guard of its own, nothing is written.
  constexpr vec<int> scan(const entry& e, const vec<int>& o, const vec<bool>& on, vec<bool>& out) {
    const tape& body = e.regions[0];
    const prim::rules::scan::parts p(e.attrs, o.size(), body.outputs.size());
    vec<bool> in{false}, must(body.outputs.size(), false);
    in.append(on);
    tape step;
    for (bool grown = true; grown;) {
      grown = false;
      for (int i = 0; i < p.carries; ++i) must[i] = in[1 + p.constants + i];
      step = region(body, in, must, out);
      for (int i = 0; i < p.carries; ++i)
        if (out[i] && !in[1 + p.constants + i]) in[1 + p.constants + i] = grown = true;
    }
    if (p.guard && in[*p.guard]) return {};
    vec<int> operands;
    for (int i = 0; i < o.size(); ++i) operands.push_back(in[1 + i] && !on[i] ? spread(o[i]) : o[i]);
    return b.add(*e.prim, operands, e.attrs, vec<tape>{step});
  }
  /// If each member has a condition of its own, both branches run.
  constexpr vec<int> cond(const entry& e, const vec<int>& o, const vec<bool>& on, vec<bool>& out) {
    vec<int> inputs;
    vec<bool> in;
    for (int i = 1; i < o.size(); ++i) {
      inputs.push_back(o[i]);
      in.push_back(on[i]);
    }
    if (!on[0]) {
      vec<bool> must(e.results.size(), true), lanes;
      vec<tape> branches;
      for (const tape& branch : e.regions) branches.push_back(region(branch, in, must, lanes));
      return b.add(*e.prim, o, e.attrs, branches);
    }
    vec<bool> first = in, second = in;
    const vec<int> x = write(e.regions[0], inputs, first), y = write(e.regions[1], inputs, second);
    vec<int> r;
    for (int i = 0; i < x.size(); ++i) {
      const int yes = in_lanes(x[i], first[i]), no = in_lanes(y[i], second[i]);
      r.push_back(emit::where(b, emit::broadcast_to(b, o[0], b.shape(yes)), yes, no));
    }
    out = vec<bool>(r.size(), true);
    return r;
  }
};

}  // namespace plan
}  // namespace drx
