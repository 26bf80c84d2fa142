// drx/transform/known_values.hpp: facts about a program's values that hold for all finite inputs: whether they are
// finite too, and their signs. Nothing is known of the results of a primitive that is not named here.
#pragma once

#include <drx/primitives/catalogue.hpp>

namespace drx::transform {

/// Facts about all elements of a value. If it may be NaN, the signs say what it is not: `not_negative` means "never
/// less than 0". Sums and products of finite numbers count as finite: infinity comes from singular points, and from
/// functions that grow as exp does.
struct known_value {
  bool finite = false;
  bool not_negative = false, not_positive = false;
  bool not_zero = false;  // nor near it: it is no product of others, which may have become 0

  [[nodiscard]] constexpr bool positive() const { return not_negative && not_zero; }
  [[nodiscard]] constexpr bool negative() const { return not_positive && not_zero; }
  [[nodiscard]] constexpr known_value but_zero() const {  // or 0 itself
    known_value r = *this;
    r.not_zero = false;
    return r;
  }
  friend constexpr bool operator==(const known_value&, const known_value&) = default;
};
/// The facts that hold for both.
constexpr known_value either(const known_value& x, const known_value& y) {
  return {x.finite && y.finite, x.not_negative && y.not_negative, x.not_positive && y.not_positive,
          x.not_zero && y.not_zero};
}
using known_values = vec<known_value>;

namespace detail {
constexpr known_value known_number(double x) { return {drx::detail::is_finite(x), !(x < 0), !(x > 0), x != 0}; }
constexpr known_value any_finite() { return {true, false, false, false}; }
constexpr known_value a_count() { return {true, true, false, false}; }
constexpr known_value negated(const known_value& x) { return {x.finite, x.not_positive, x.not_negative, x.not_zero}; }
constexpr known_value sum_of(const known_value& x, const known_value& y) {
  const bool up = x.not_negative && y.not_negative, down = x.not_positive && y.not_positive;
  return {x.finite && y.finite, up, down, (up || down) && (x.not_zero || y.not_zero)};
}
constexpr known_value product_of(const known_value& x, const known_value& y) {
  const bool same = (x.not_negative && y.not_negative) || (x.not_positive && y.not_positive);
  const bool opposite = (x.not_negative && y.not_positive) || (x.not_positive && y.not_negative);
  return {x.finite && y.finite, same, opposite, false};
}
constexpr known_value quotient_of(const known_value& x, const known_value& y) {
  known_value r = product_of(x, y);
  r.finite = r.finite && y.not_zero;
  return r;
}
constexpr known_value function_of(const primitive* p, const known_value& x) {
  if (p == &prim::neg) return negated(x);
  if (p == &prim::exp || p == &prim::exp2) return {x.finite && x.not_positive, true, false, x.finite && x.not_negative};
  if (p == &prim::expm1) return {x.finite && x.not_positive, x.not_negative, x.not_positive, false};
  if (p == &prim::log) return {x.finite && x.positive(), false, false, false};
  if (p == &prim::log1p) return {x.finite && x.not_negative, x.not_negative, x.not_positive, false};
  if (p == &prim::sqrt) return {x.finite && x.not_negative, true, false, x.not_zero};
  if (p == &prim::rsqrt) return {x.finite && x.positive(), true, false, false};
  if (p == &prim::abs) return {x.finite, true, x.not_negative && x.not_positive, x.not_zero};
  if (p == &prim::relu) return {x.finite, true, x.not_positive, x.positive()};
  if (p == &prim::sigmoid || p == &prim::softplus || p == &prim::erfc) return {x.finite, true, false, false};
  if (p == &prim::tanh || p == &prim::erf || p == &prim::atan || p == &prim::asinh || p == &prim::cbrt ||
      p == &prim::sign || p == &prim::round)
    return x.but_zero();
  if (p == &prim::floor) return {x.finite, x.not_negative, x.not_positive, x.negative()};
  if (p == &prim::ceil) return {x.finite, x.not_negative, x.not_positive, x.positive()};
  return {x.finite && !p->singular, false, false, false};
}
constexpr known_value larger_of(const known_value& x, const known_value& y) {
  return {x.finite && y.finite, x.not_negative || y.not_negative, x.not_positive && y.not_positive,
          x.positive() || y.positive() || (x.negative() && y.negative())};
}
/// Whether the result has the elements of operand 0 and no others.
constexpr bool hands_on(const primitive* p) {
  return p == &prim::broadcast_to || p == &prim::reshape || p == &prim::transpose || p == &prim::flip ||
         p == &prim::slice || p == &prim::dynamic_slice || p == &prim::take || p == &prim::stop_gradient ||
         p == &prim::with_layout || p == &prim::broadcast || p == &prim::distribute || p == &prim::gather ||
         p == &prim::all_gather || p == &prim::all_to_all || p == &prim::pmax || p == &prim::pmin ||
         p == &prim::max_over || p == &prim::min_over || p == &prim::member_transpose;
}
/// Whether the result's elements are sums of elements of operand 0, or 0.
constexpr bool adds_up(const primitive* p) {
  return p == &prim::cumsum || p == &prim::window_sum || p == &prim::window_select || p == &prim::reduce_sum ||
         p == &prim::reduce_mean || p == &prim::reduce_max || p == &prim::reduce_min || p == &prim::psum ||
         p == &prim::ppermute || p == &prim::member_permute || p == &prim::pad || p == &prim::shard_sum ||
         p == &prim::group_gather;
}
/// Whether the result's elements are sums of products of both operands' elements.
constexpr bool multiplies(const primitive* p) {
  return p == &prim::matmul || p == &prim::matmul_in_doubt || p == &prim::convolution || p == &prim::recurrence;
}
constexpr bool is_product(const primitive* p) {
  return p == &prim::mul || p == &prim::azmul || p == &prim::mul_in_doubt;
}

/// A tape's entries by the values that they define.
struct definitions {
  const tape& t;
  vec<int> at;
  constexpr explicit definitions(const tape& of) : t(of), at(of.values.size(), -1) {
    for (int i = 0; i < t.entries.size(); ++i)
      for (int r : t.entries[i].results) at[r] = i;
  }
  [[nodiscard]] constexpr const entry* of(int v) const { return at[v] < 0 ? nullptr : &t.entries[at[v]]; }
  /// The value behind v, through entries of this primitive and stop_gradient.
  [[nodiscard]] constexpr int behind(int v, const primitive& p) const {
    for (const entry* e = of(v); e && (e->prim == &p || e->prim == &prim::stop_gradient); e = of(v)) v = e->operands[0];
    return v;
  }
  [[nodiscard]] constexpr bool same(int v, int w) const {
    return behind(v, prim::stop_gradient) == behind(w, prim::stop_gradient);
  }
  /// The entry that finds the largest (or smallest) of x along some axes, if v is that value, repeated along these
  /// axes, as in x - max(x); else null. (The largest value may first be tested for being finite: log(sum(exp(x))) does
  /// so.)
  [[nodiscard]] constexpr const entry* extremum_of(int v, int x) const {
    v = behind(v, prim::stop_gradient);
    const entry* repeated = of(v);
    const shape kept =
        repeated && repeated->prim == &prim::broadcast_to ? t.values[repeated->operands[0]].shape : t.values[v].shape;
    if (repeated && repeated->prim == &prim::broadcast_to) v = repeated->operands[0];
    const entry* m = of(behind(v, prim::reshape));
    if (m && m->prim == &prim::where && is_test_of_finiteness(*m)) m = of(behind(m->operands[1], prim::reshape));
    if (!m || (m->prim != &prim::max_over && m->prim != &prim::min_over) || !same(m->operands[0], x)) return nullptr;
    shape expected = t.values[x].shape;
    for (auto axis : prim::rules::over_axes::view(*m).axes) expected[static_cast<int>(axis)] = 1;
    return kept == expected || kept.size() == 1 ? m : nullptr;
  }
  /// where(abs(y) <= number, y, ...)
  [[nodiscard]] constexpr bool is_test_of_finiteness(const entry& e) const {
    const entry* c = of(behind(e.operands[0], prim::broadcast_to));
    const entry* y = c && c->prim == &prim::less_equal ? of(c->operands[0]) : nullptr;
    return y && y->prim == &prim::abs && same(y->operands[0], e.operands[1]);
  }
  /// The axes along which e is x minus the largest x, so that it is 0 somewhere along them and never more.
  [[nodiscard]] constexpr std::optional<int_list> below_maximum(const entry& e) const {
    const entry* m = e.prim == &prim::sub ? extremum_of(e.operands[1], e.operands[0]) : nullptr;
    if (m && m->prim == &prim::max_over) return prim::rules::over_axes::view(*m).axes;
    return {};
  }
  /// Whether e is a sum over exp(x - max(x)) along the same axes: at least 1.
  [[nodiscard]] constexpr bool is_softmax_sum(const entry& e) const {
    const entry* x = of(e.operands[0]);
    if (!x || x->prim != &prim::exp) return false;
    const entry* shifted = of(x->operands[0]);
    if (!shifted) return false;
    const auto axes = below_maximum(*shifted);
    return axes && *axes == prim::rules::over_axes::view(e).axes;
  }
  /// Whether e divides ones, where x is its own maximum, and zeros elsewhere, by the number of ones.
  [[nodiscard]] constexpr bool is_share(const entry& e) const {
    const entry *hit = of(e.operands[0]), *n = of(e.operands[1]);
    if (!hit || hit->prim != &prim::cast || !n || n->prim != &prim::broadcast_to) return false;
    const entry *same = of(hit->operands[0]), *sum = of(behind(n->operands[0], prim::reshape));
    return same && same->prim == &prim::equal && sum && sum->prim == &prim::sum && sum->operands[0] == e.operands[0] &&
           extremum_of(same->operands[1], same->operands[0]);
  }
  [[nodiscard]] constexpr double number(int v, double otherwise) const {
    const entry* e = of(behind(v, prim::broadcast_to));
    return e && e->prim == &prim::constant ? e->attrs.number : otherwise;
  }
  /// Whether e is erfinv of uniform numbers strictly between -1 and 1, as in drawing normal numbers.
  [[nodiscard]] constexpr bool is_of_uniform(const entry& e) const {
    const entry* sum = of(e.operands[0]);
    const entry* wide = sum && sum->prim == &prim::add ? of(sum->operands[0]) : nullptr;
    const entry* u = wide && wide->prim == &prim::mul ? of(wide->operands[0]) : nullptr;
    if (!u || u->prim != &prim::unit_interval) return false;
    const double low = number(sum->operands[1], -1), width = number(wide->operands[1], 2);
    return low > -1 && width >= 0 && low + width <= 1;
  }
  /// Whether e multiplies a value with itself: a square, or the inner product of a vector with itself.
  [[nodiscard]] constexpr bool is_square(const entry& e) const {
    if (is_product(e.prim)) return e.operands[0] == e.operands[1];
    if (e.prim != &prim::matmul && e.prim != &prim::matmul_in_doubt) return false;
    const shape s = t.values[e.results[0]].shape;
    return s[s.rank - 1] == 1 && s[s.rank - 2] == 1 &&
           behind(e.operands[0], prim::reshape) == behind(e.operands[1], prim::reshape);
  }
};

constexpr known_values known_outputs(const tape& t, const known_values& inputs);

/// Facts about the inputs of a loop's region: they hold for the carries at the beginning and after any number of steps.
constexpr known_values known_in_loop(const entry& e, const known_values& operands) {
  const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
  known_values inputs{a_count()};
  inputs.append(operands);
  for (bool changed = true; changed;) {  // each time less is known: it ends
    changed = false;
    const known_values after = known_outputs(e.regions[0], inputs);
    for (int i = 0; i < n.carries; ++i) {
      known_value& carry = inputs[1 + n.constants + i];
      const known_value both = either(carry, after[i]);
      changed = changed || !(both == carry);
      carry = both;
    }
  }
  return inputs;
}
/// Facts about the inputs of a monoid's `combine`: members, and what has been combined so far.
constexpr known_values known_in_fold(const entry& e, const known_values& operands) {
  known_values one = known_outputs(e.regions[1], {});
  for (int i = 0; i < one.size(); ++i) one[i] = either(one[i], operands[i]);
  known_values inputs;
  for (bool changed = true; changed;) {
    changed = false;
    inputs = one;
    inputs.append(one);
    const known_values after = known_outputs(e.regions[0], inputs);
    for (int i = 0; i < one.size(); ++i) {
      const known_value both = either(one[i], after[i]);
      changed = changed || !(both == one[i]);
      one[i] = both;
    }
  }
  return inputs;
}
/// Facts about the inputs of region i of an entry. Nothing is known in regions that hold a derivative to come.
constexpr known_values known_in_region(const entry& e, int i, const known_values& operands) {
  if (e.prim == &prim::map || (e.prim->transparent && i == 0)) return operands;
  if (e.prim == &prim::scan) return known_in_loop(e, operands);
  if (e.prim == &prim::reduce_with && i == 0) return known_in_fold(e, operands);
  known_values r;
  for (int k = 0; k < e.regions[i].inputs.size(); ++k)
    r.push_back(e.prim == &prim::cond ? operands[k + 1] : known_value{});
  return r;
}

/// Facts about the result of an elementwise entry.
constexpr known_value known_element(const definitions& of, const entry& e, const known_values& in) {
  const primitive* p = e.prim;
  if (p == &prim::unit_interval) return a_count();
  if (p == &prim::erfinv && of.is_of_uniform(e)) return any_finite();
  if (in.size() == 1) return function_of(p, in[0]);
  if (p == &prim::add) return sum_of(in[0], in[1]);
  if (is_product(p)) {
    known_value r = product_of(in[0], in[1]);
    r.not_negative = r.not_negative || of.is_square(e);
    return r;
  }
  if (p == &prim::sub) {
    known_value r = sum_of(in[0], negated(in[1]));
    r.not_positive = r.not_positive || of.below_maximum(e);
    return r;
  }
  if (p == &prim::where) return either(in[1], in[2]);
  if (p == &prim::div || p == &prim::azdiv) {
    known_value r = quotient_of(in[0], in[1]);
    r.finite = r.finite || (in[0].finite && of.is_share(e));
    return r;
  }
  if (p == &prim::fma) return sum_of(product_of(in[0], in[1]), in[2]);
  if (p == &prim::maximum) return larger_of(in[0], in[1]);
  if (p == &prim::minimum) return negated(larger_of(negated(in[0]), negated(in[1])));
  if (p == &prim::pow)
    return {in[0].finite && in[0].not_negative && in[1].finite && (in[0].not_zero || in[1].positive()),
            in[0].not_negative, false, false};
  known_value r{!p->singular, false, false, false};
  for (const known_value& x : in) r.finite = r.finite && x.finite;
  return r;
}
/// Facts about the results of an entry without regions: the same for all of them.
constexpr known_value known_result(const definitions& of, const entry& e, const known_values& in) {
  const primitive* p = e.prim;
  if (p->elementwise) return known_element(of, e, in);
  if (p == &prim::constant) return known_number(e.attrs.number);
  if (hands_on(p)) return in[0];
  if (p == &prim::cast) return of.t.values[e.operands[0]].type == dtype::boolean ? a_count() : in[0].but_zero();
  if (multiplies(p)) {
    known_value r = product_of(in[0], in[1]);
    r.not_negative = r.not_negative || of.is_square(e);
    return r;
  }
  if (p == &prim::sum) {
    known_value r = in[0];
    const bool some = of.t.values[e.operands[0]].shape.size() > 0;
    r.not_zero = some && ((r.not_zero && (r.not_negative || r.not_positive)) || of.is_softmax_sum(e));
    return r;
  }
  if (adds_up(p)) return in[0].but_zero();
  if (p == &prim::concatenate) {
    known_value all = in[0];
    for (const known_value& x : in) all = either(all, x);
    return all;
  }
  if (p == &prim::data && is_floating(prim::rules::data::view(e).type)) {
    known_value all{true, true, true, true};
    for (auto stored : prim::rules::data::view(e).stored) all = either(all, known_number(prim::rules::data::element<double>(stored)));
    return all;
  }
  if (p == &prim::iota || p == &prim::members || p == &prim::member_index || p == &prim::axis_index) return a_count();
  if (p == &prim::update_slice) return either(in[0], in[1]);
  if (p == &prim::scatter) return in[1].but_zero();
  if (p == &prim::recurrence)
    return {in[0].finite && in[1].finite, in[0].not_negative && in[1].not_negative, false, false};
  if (p == &prim::prod || p == &prim::cumprod) return {in[0].finite, in[0].not_negative, false, false};
  if (p == &prim::minors || p == &prim::cofactors || p == &prim::determinant)
    return {in[0].finite, false, false, false};
  return {};
}
/// Facts about the results of an entry.
constexpr known_values known_results(const definitions& of, const entry& e, const known_values& operands) {
  known_values r;
  const bool has_regions = e.prim == &prim::map || e.prim == &prim::scan || e.prim == &prim::reduce_with ||
                           e.prim == &prim::cond || e.prim->transparent;
  if (has_regions) {
    const known_values in = known_in_region(e, 0, operands);
    r = known_outputs(e.regions[0], in);
    if (e.prim == &prim::cond) {
      const known_values other = known_outputs(e.regions[1], known_in_region(e, 1, operands));
      for (int i = 0; i < r.size(); ++i) r[i] = either(r[i], other[i]);
    }
    if (e.prim == &prim::reduce_with)  // no member may have been combined
      for (int i = 0; i < r.size(); ++i) r[i] = either(r[i], in[i]);
    if (e.prim == &prim::scan) {  // no step may have been done; slices of steps that a guard leaves out are zeros
      const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
      for (int i = 0; i < r.size(); ++i)
        if (i < n.carries) r[i] = in[1 + n.constants + i];
        else if (n.guard) r[i] = r[i].but_zero();
    }
  } else {
    r = known_values(e.results.size(), known_result(of, e, operands));
  }
  for (int i = 0; i < r.size(); ++i) r[i].finite = r[i].finite || !is_floating(of.t.values[e.results[i]].type);
  return r;
}
/// Facts about all values of a tape.
constexpr known_values known_in_tape(const tape& t, const known_values& inputs) {
  const definitions of(t);
  known_values all(t.values.size());
  for (int i = 0; i < t.inputs.size(); ++i) {
    all[t.inputs[i]] = inputs[i];
    if (!is_floating(t.values[t.inputs[i]].type)) all[t.inputs[i]].finite = true;
  }
  for (const entry& e : t.entries) {
    known_values operands;
    for (int o : e.operands) operands.push_back(all[o]);
    const known_values results = known_results(of, e, operands);
    for (int i = 0; i < e.results.size(); ++i) all[e.results[i]] = results[i];
  }
  return all;
}
constexpr known_values known_outputs(const tape& t, const known_values& inputs) {
  const known_values all = known_in_tape(t, inputs);
  known_values r;
  for (int o : t.outputs) r.push_back(all[o]);
  return r;
}
}  // namespace detail

}  // namespace drx::transform
