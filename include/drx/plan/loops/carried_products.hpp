// drx/plan/loops/carried_products.hpp: gradient steps on the same rows. If a loop reads a matrix w only in products
// with its constants, and changes it only by products with its constants, w need not be computed at each step; its
// products are carried instead:
//
//     z = x w,   w' = a w - r x^T d     becomes     z' = a z - r (x x^T) d,   s' = a s - r d,
//
// and after n steps w is a^n w + x^T s. x x^T is the same at each step: 32 rows of 64 columns take half of the work.
// The result is rounded elsewhere, but is as exact:
//
// - The carried z is x times the w that the s so far stand for, up to an error e: the steps are those of plain
//   evaluation with products that are off by e. A step multiplies e by a, of which |a| <= 1 must be known, and adds the
//   rounding error of z', which is no more than the rounding errors of a plain step's products and sums. After
//   `steps_between_restarts` steps w is computed, and e begins anew.
// - Rows of x are divided by powers of two of their magnitude where they are read (row_scales.hpp), so that no product
//   of rows with rows leaves the range of numbers where w and its changes stay in it.
#pragma once

#include <drx/functions/loop_memory.hpp>
#include <drx/plan/loops/loop_writer.hpp>
#include <drx/plan/loops/row_scales.hpp>
#include <drx/plan/machine.hpp>

namespace drx::plan {

/// The number of steps until w is computed from the carried values. Errors of products add up in between: at 16, w is
/// as exact as by plain evaluation over tens of thousands of steps; at 64, the worst of such loops are off by ten times
/// as much. A restart costs as much as a plain step.
inline constexpr std::int64_t steps_between_restarts = 16;

/// Writes a loop that carries products of a matrix in its place.
struct carried_products : loop_writer {
  /// A carried value: a linear image of a carry.
  struct image {
    enum class kind : std::int8_t {
      product,  // of the carry and a constant
      sum,      // of the other factors of a constant's products
      share     // the multiple of the first w in it; it has no constant
    };
    kind what;
    int carry, constant = no_value;  // the constant: a value of the body
    int at = 0;                      // product: the operand that the carry is
    bool tx = false, ty = false;     // product: the operands' flags; sum: the constant's, and the other factor's
    abstract_value type = {};
    std::int64_t saves = 0;  // multiplications at each step
    int products = 0;        // sum: the number of products of the constant in it
    int now = no_value;      // at the start of the step
    vec<int> known = {};     // by value of the body: its image, which may be zero_tangent, or not_yet
    static constexpr int no_value = -1, not_yet = -2;
  };
  using kind = image::kind;
  /// The multiple of a carry that a value contains, beside the carry's changes.
  struct multiple {
    double times = 0;
    bool known = true;
  };
  vec<int> defining,
      made_of;     // by value of the body: its entry; the carry of which it is a linear image, as w - r x^T d is; or -1
  vec<bool> held;  // by carry: its products are carried
  vec<int> axis;   // by carry: its axis that the constants are multiplied with, -1: unknown yet
  vec<int> linear;          // by value: whether it is linear in the current carry; -1: unknown yet
  vec<bool> for_change;     // by value: whether it is used for this carry's change alone
  vec<multiple> multiples;  // by value: the multiple of this carry in it
  vec<image> images;

  using loop_writer::loop_writer;

  [[nodiscard]] constexpr const entry* definition(int v) const {
    return defining[v] < 0 ? nullptr : &body.entries[defining[v]];
  }
  [[nodiscard]] constexpr bool is_constant_value(int v) const { return is_constant(body.inputs.find(v)); }
  /// The operand on `outside` for an input of the body.
  [[nodiscard]] constexpr int outer(int v) const { return operands[body.inputs.find(v) - 1]; }
  [[nodiscard]] constexpr int input_of(int carry) const { return body.inputs[1 + n.constants + carry]; }
  /// Whether all elements of a value are one number.
  [[nodiscard]] constexpr bool is_uniform(int v) const {
    const entry* e = definition(v);
    return e && (e->prim == &prim::constant ||
                 (e->prim == &prim::broadcast_to && body.values[e->operands[0]].shape.size() == 1));
  }
  [[nodiscard]] constexpr bool is_plain_product(const entry& e) const {
    return e.prim == &prim::matmul && body.values[e.results[0]].shape.rank == 2 && body.values[e.results[0]].depth == 0;
  }
  /// The operand of e of which e's result is a multiple (its negative, or it times or divided by one number); or -1.
  [[nodiscard]] constexpr int scaled_operand(const entry& e) const {
    if (e.prim == &prim::neg) return 0;
    if ((e.prim == &prim::mul || e.prim == &prim::div) && is_uniform(e.operands[1])) return 0;
    return e.prim == &prim::mul && is_uniform(e.operands[0]) ? 1 : -1;
  }
  [[nodiscard]] static constexpr bool is_sum(const entry& e) { return e.prim == &prim::add || e.prim == &prim::sub; }

  /// The position of the factor that is a constant, if e is a product that changes the carry; else -1.
  [[nodiscard]] constexpr int constant_factor(const entry& e, int carry) const {
    const int at = axis[carry];
    if (!is_plain_product(e) || !is_constant_value(e.operands[at]) || made_of[e.operands[1 - at]] >= 0) return -1;
    return at;
  }
  /// Whether v is linear in the carry and in products that change it; records these products.
  constexpr bool is_linear(int v, int carry) {
    if (linear[v] < 0) linear[v] = finds_linear(v, carry);
    return linear[v] != 0;
  }
  constexpr bool finds_linear(int v, int carry) {
    if (v == input_of(carry)) return true;
    const entry* e = definition(v);
    if (!e) return false;
    if (is_sum(*e)) return is_linear(e->operands[0], carry) && is_linear(e->operands[1], carry);
    if (const int s = scaled_operand(*e); s >= 0) return is_linear(e->operands[s], carry);
    const int c = constant_factor(*e, carry);
    if (c < 0) return false;
    const abstract_value& other = body.values[e->operands[1 - c]];
    const std::int64_t work = body.values[input_of(carry)].shape[axis[carry]] * other.shape.size();
    const prim::rules::matmul::view product(*e);
    take_down({kind::sum, carry, e->operands[c], 0, product.transposes(c), product.transposes(1 - c), other,
               for_change[v] ? work : 0, 1});
    return true;
  }
  /// By value: whether it is used for the carry's change alone.
  [[nodiscard]] constexpr vec<bool> made_for_change(int carry) const {
    vec<bool> r(body.values.size(), true);
    for (int o : body.outputs) r[o] = false;
    for (int i = body.entries.size() - 1; i >= 0; --i) {
      const entry& e = body.entries[i];
      const int result = e.results[0];
      if (made_of[result] != carry && ((!is_sum(e) && scaled_operand(e) < 0) || !r[result]))
        for (int o : e.operands) r[o] = false;
    }
    return r;
  }
  /// A known number, unless it is so large that a carry multiplied by it is not held, or might overflow.
  [[nodiscard]] static constexpr multiple known(double times) {
    constexpr double large = 1e9;
    return times <= large && times >= -large ? multiple{times, true} : multiple{0, false};
  }
  /// The number that all elements of v are equal to.
  [[nodiscard]] constexpr multiple number_of(int v) const {
    for (const entry* e = definition(v); e; e = definition(v)) {
      if (e->prim == &prim::constant) return known(e->attrs.number);
      if (e->prim != &prim::broadcast_to && e->prim != &prim::reshape) break;
      v = e->operands[0];
    }
    return {0, false};
  }
  [[nodiscard]] constexpr multiple multiple_by(const entry& e) const {
    constexpr double small = 1e-9;  // smaller divisors are refused
    if (is_sum(e)) {
      const multiple &x = multiples[e.operands[0]], &y = multiples[e.operands[1]];
      if (!x.known || !y.known) return {0, false};
      return known(e.prim == &prim::add ? x.times + y.times : x.times - y.times);
    }
    const int s = scaled_operand(e);
    if (s < 0) return {};
    const multiple& x = multiples[e.operands[s]];
    if (e.prim == &prim::neg) return {-x.times, x.known};
    if (x.known && x.times == 0) return x;
    const multiple factor = number_of(e.operands[1 - s]);
    if (!x.known || !factor.known) return {0, false};
    if (e.prim == &prim::mul) return known(x.times * factor.times);
    const bool divides = factor.times >= small || factor.times <= -small;
    return divides ? known(x.times / factor.times) : multiple{0, false};
  }
  constexpr void find_multiples(int carry) {
    multiples = vec<multiple>(body.values.size());
    multiples[input_of(carry)] = {1, true};
    for (const entry& e : body.entries)
      if (made_of[e.results[0]] == carry) multiples[e.results[0]] = multiple_by(e);
  }
  constexpr void take_down(const image& i) {
    for (image& k : images)
      if (k.what == i.what && k.carry == i.carry && k.constant == i.constant && k.at == i.at && k.tx == i.tx &&
          k.ty == i.ty) {
        k.saves += i.saves;
        k.products += i.products;
        return;
      }
    images.push_back(i);
  }

  /// Follows the images of carries through the body, and finds the carries of which only products are read.
  constexpr void find() {
    defining = made_of = vec<int>(body.values.size(), -1);
    held = vec<bool>(n.carries, false);
    axis = vec<int>(n.carries, -1);
    for (int k = 0; k < n.carries; ++k) {
      const abstract_value& w = body.values[input_of(k)];
      held[k] = w.shape.rank == 2 && w.depth == 0 && is_floating(w.type) && k != n.guarding_carry();
      if (held[k]) made_of[input_of(k)] = k;
    }
    for (int at = 0; at < body.entries.size(); ++at) {
      const entry& e = body.entries[at];
      for (int r : e.results) defining[r] = at;
      follow(e);
    }
    for (int i = 0; i < body.outputs.size(); ++i) {
      const int k = made_of[body.outputs[i]];
      if (k >= 0 && k != i) held[k] = false;
      if (i < n.carries && k != i) held[i] = false;
    }
    for (int k = 0; k < n.carries; ++k) {
      linear = vec<int>(body.values.size(), -1);
      for_change = made_for_change(k);
      if (!held[k]) continue;
      find_multiples(k);
      const multiple left = multiples[body.outputs[k]];
      const bool does_not_grow = left.known && left.times <= 1 && left.times >= -1;
      held[k] = does_not_grow && axis[k] >= 0 && is_linear(body.outputs[k], k) && all_read_are_linear(k) && pays(k);
      if (held[k] && left.times != 1)
        take_down({.what = kind::share, .carry = k, .type = {body.values[input_of(k)].type, {}}});
    }
  }
  constexpr void follow(const entry& e) {
    int k = -1;
    for (int o : e.operands) {
      if (k >= 0 && made_of[o] >= 0 && made_of[o] != k) held[k] = held[made_of[o]] = false;
      k = made_of[o] >= 0 ? made_of[o] : k;
    }
    if (k < 0) return;
    const int scaled = scaled_operand(e);
    if (is_sum(e) || (scaled >= 0 && made_of[e.operands[scaled]] == k &&
                      (e.operands.size() == 1 || made_of[e.operands[1 - scaled]] < 0))) {
      made_of[e.results[0]] = k;
      return;
    }
    const int at = is_plain_product(e) && made_of[e.operands[1]] == k ? 1 : 0;
    if (!is_plain_product(e) || !is_constant_value(e.operands[1 - at])) {
      held[k] = false;
      return;
    }
    const prim::rules::matmul::view product(e);
    const int along = product.transposes(at) == (at == 1) ? 1 : 0;  // the axis over which the product sums
    if (axis[k] >= 0 && axis[k] != along) held[k] = false;
    axis[k] = along;
    const abstract_value& type = body.values[e.results[0]];
    take_down({kind::product, k, e.operands[1 - at], at, product.transposes_first, product.transposes_second, type,
               type.shape.size() * body.values[input_of(k)].shape[along]});
  }
  constexpr bool all_read_are_linear(int carry) {
    for (const entry& e : body.entries)
      for (int o : e.operands)
        if (e.prim == &prim::matmul && made_of[o] == carry && !is_linear(o, carry)) return false;
    return true;
  }
  /// Whether it saves a quarter of the multiplications in all steps.
  [[nodiscard]] constexpr bool pays(int carry) const {
    const shape w = body.values[input_of(carry)].shape;
    const std::int64_t along = w[axis[carry]], across = w[1 - axis[carry]];
    if (w.size() == 0) return false;
    std::int64_t each_before = 0, each_after = 0, once = 0;
    for (const image& p : images) {
      if (p.carry != carry) continue;
      each_before += p.saves;
      once += along * p.type.shape.size();
      if (p.what != kind::product) continue;
      const std::int64_t scaled = p.type.shape.size() / across;  // rows, each scaled by a power of two of its own
      once += scaled * (machine::of_scaled_element * along + machine::of_scale);
      each_after += machine::of_scaled_result * p.type.shape.size();
      for (const image& s : images)
        if (s.carry == carry && s.what == kind::sum) {
          const std::int64_t rows = s.type.shape.size() / across;
          each_after += p.type.shape.size() * rows * s.products;
          once += p.type.shape.size() / across * along * rows;
        }
    }
    const std::int64_t spared = 3 * each_before - 4 * each_after;  // four times the multiplications, less a quarter
    return n.length > 1 && spared > 0 && n.length >= (4 * once + spared - 1) / spared;
  }

  /// One number, spread to all elements of this type.
  constexpr int spread(int v, const abstract_value& type) {
    const entry& e = *definition(v);
    if (e.prim == &prim::constant) return emit::constant(inside, type, e.attrs.number);
    return emit::broadcast_to(inside, emit::reshape(inside, inner.names[e.operands[0]], {}), type.shape);
  }
  constexpr int image_of(int v, int i) {
    if (images[i].known.empty()) images[i].known = vec<int>(body.values.size(), image::not_yet);
    if (images[i].known[v] == image::not_yet) {
      const int known = v == input_of(images[i].carry) ? images[i].now : image_by(*definition(v), i);
      images[i].known[v] = known;
    }
    return images[i].known[v];
  }
  constexpr int image_by(const entry& e, int i) {
    if (is_sum(e)) {
      const bool changes_only = made_of[e.results[0]] != images[i].carry;
      const auto image_in = [&](int v) { return changes_only ? image_of(v, i) : whole_image_of(v, i); };
      const int x = image_in(e.operands[0]), y = image_in(e.operands[1]);
      if (e.prim == &prim::add) return emit::accumulate(inside, x, y);
      return y == zero_tangent ? x : x == zero_tangent ? emit::neg(inside, y) : emit::sub(inside, x, y);
    }
    if (const int s = scaled_operand(e); s >= 0) {
      const int x = image_of(e.operands[s], i);
      if (x == zero_tangent) return zero_tangent;
      if (e.prim == &prim::neg) return emit::neg(inside, x);
      const int number = spread(e.operands[1 - s], inside.type(x));
      return e.prim == &prim::div ? emit::div(inside, x, number)
                                  : emit::mul(inside, s == 0 ? x : number, s == 0 ? number : x);
    }
    return image_of_change(e, images[i]);
  }
  /// The axis of an image's constant that its rows run along.
  [[nodiscard]] static constexpr int along_rows(const image& i) { return i.at == 1 ? (i.tx ? 0 : 1) : (i.ty ? 1 : 0); }
  constexpr scaled_rows rows_of(const image& i) { return with_scaled_rows(outside, outer(i.constant), along_rows(i)); }
  /// The image of v. If the carry itself is not in v, v is a change: its image is in the range of scaled rows, and is
  /// scaled back.
  constexpr int whole_image_of(int v, int i) {
    const int now = image_of(v, i);
    const image& m = images[i];
    if (now == zero_tangent || m.what != kind::product || made_of[v] == m.carry) return now;
    const int scales = rows_of(m).scales;
    const std::int64_t rows = outside.shape(scales).size();
    const int in_place = emit::reshape(outside, scales, m.at == 1 ? make_shape(rows, 1) : make_shape(1, rows));
    return emit::mul(inside, now, emit::broadcast_to(inside, constant(in_place), m.type.shape));
  }
  /// The image of a product x d or d x that changes the carry.
  constexpr int image_of_change(const entry& e, const image& i) {
    const int c = axis[i.carry], x = e.operands[c], d = inner.names[e.operands[1 - c]];
    const bool tx = prim::rules::matmul::view(e).transposes(c), td = prim::rules::matmul::view(e).transposes(1 - c);
    if (i.what != kind::product) return x == i.constant && tx == i.tx && td == i.ty ? d : zero_tangent;
    // (p x) d. If p is on the other side of the matrix, or the matrix is transposed in the product, x and d change
    // sides, or d x is transposed.
    const int p = rows_of(i).matrix, of_x = outer(x);
    const bool turned = i.at == 1 ? i.ty : i.tx;
    if (i.at == 1) {
      const int square = emit::matmul(outside, p, of_x, i.tx, tx != turned);
      return emit::matmul(inside, constant(square), d, false, td != turned);
    }
    const int square = emit::matmul(outside, of_x, p, tx != turned, i.ty);
    return emit::matmul(inside, d, constant(square), td != turned, false);
  }

  constexpr bool carries_any() {
    find();
    for (bool h : held)
      if (h) return true;
    return false;
  }
  /// The results, on `outside`; none if the loop stays as it is.
  constexpr vec<int> run() {
    if (!carries_any()) return {};
    vec<int> inputs, outputs, first_result(n.carries, 0), at_begin;
    for (int i = 0; i < body.inputs.size(); ++i) {
      const int k = i - 1 - n.constants;
      if (k >= 0 && k < n.carries && held[k]) {
        for (image& m : images)
          if (m.carry == k) {
            inputs.push_back(m.now = inside.input(m.type));
            at_begin.push_back(begin_of(m));
          }
        continue;
      }
      inputs.push_back(inner.names[body.inputs[i]] = inside.input(body.values[body.inputs[i]]));
      if (i > 0) at_begin.push_back(operands[i - 1]);
      if (i == n.guard) changed.guard = at_begin.size();
    }
    inner.write([this](const entry& e) { return written(e); });
    for (int k = 0; k < body.outputs.size(); ++k) {
      if (k < n.carries) first_result[k] = outputs.size();
      if (k >= n.carries || !held[k])
        outputs.push_back(inner.names[body.outputs[k]]);
      else
        for (int i = 0; i < images.size(); ++i)
          if (images[i].carry == k) outputs.push_back(whole_image_of(body.outputs[k], i));
    }
    changed.carries = outputs.size() - n.ys;
    const vec<int> before = operands;
    operands = at_begin;
    const vec<int> all = write(inputs, outputs);
    operands = before;
    vec<int> results;
    for (int k = 0; k < n.carries; ++k)
      results.push_back(held[k] ? end_of(k, all, first_result[k]) : all[first_result[k]]);
    for (int i = 0; i < n.ys; ++i) results.push_back(all[all.size() - n.ys + i]);
    return results;
  }
  /// The results of an entry of the body inside; none where it is made of a matrix that is not carried.
  constexpr vec<int> written(const entry& e) {
    for (int o : e.operands) {
      const int k = made_of[o];
      if (k < 0 || !held[k]) continue;
      if (made_of[e.results[0]] < 0)
        for (int i = 0; i < images.size(); ++i)
          if (images[i].what == kind::product && images[i].carry == k &&
              images[i].constant == e.operands[1 - images[i].at] && o == e.operands[images[i].at] &&
              images[i].tx == prim::rules::matmul::view(e).transposes_first &&
              images[i].ty == prim::rules::matmul::view(e).transposes_second)
            return {image_of(o, i)};
      return {};
    }
    return inner.copied(e);
  }
  constexpr int begin_of(const image& m) {
    if (m.what != kind::product) return emit::constant(outside, m.type, m.what == kind::share ? 1 : 0);
    const int w = outer(input_of(m.carry)), x = outer(m.constant);
    return m.at == 1 ? emit::matmul(outside, x, w, m.tx, m.ty) : emit::matmul(outside, w, x, m.tx, m.ty);
  }
  /// The carry after the loop, from its images, which are results from `at` on. It is computed in double: where rows
  /// repeat, or nearly so, parts of s grow that cancel in x^T s, whose rounding errors would be those of all steps at
  /// once.
  constexpr int end_of(int carry, const vec<int>& all, int at) {
    const int begin = outer(input_of(carry));
    int w = wide(begin), change = zero_tangent;
    for (const image& m : images) {
      if (m.carry != carry) continue;
      const int last = wide(all[at++]);
      if (m.what == kind::share) w = emit::mul(outside, emit::broadcast_to(outside, last, outside.shape(w)), w);
      if (m.what != kind::sum) continue;
      const int x = wide(outer(m.constant));
      change = emit::accumulate(
          outside, change,
          axis[carry] == 0 ? emit::matmul(outside, x, last, m.tx, m.ty) : emit::matmul(outside, last, x, m.ty, m.tx));
    }
    return emit::cast(outside, emit::accumulate(outside, w, change), outside.type(begin).type);
  }
  /// x, in double if it is a float.
  constexpr int wide(int x) {
    return outside.type(x).type == dtype::float32 ? emit::cast(outside, x, dtype::float64) : x;
  }
};

/// Whether products may be carried in a loop: its option says so; or neither it nor the program forbids it, and no
/// matrix of double is carried, whose updates would have to be added up in more digits than there are.
constexpr bool may_carry_products(const entry& e) {
  const prim::rules::scan::view loop(e);
  if (loop.products != loop_products::by_program) return loop.products == loop_products::carried;
  const tape& body = e.regions[0];
  for (int i = 0; i < loop.carries; ++i) {
    const abstract_value& carry = body.values[body.inputs[1 + loop.constants + i]];
    if (carry.type == dtype::float64 && carry.shape.rank >= 2) return false;
  }
  return true;
}
/// Whether a loop's body multiplies one of its constants with anything.
constexpr bool multiplies_constants(const entry& loop) {
  const tape& body = loop.regions[0];
  for (const entry& e : body.entries)
    if (e.prim == &prim::matmul)
      for (int o : e.operands) {
        if (prim::rules::scan::view(loop).is_constant(body.inputs.find(o) - 1)) return true;
      }
  return false;
}

/// A long loop that would carry products, as loops of few steps inside a loop that carries its matrices; no results if
/// it would not.
constexpr vec<int> with_restarts(builder& b, const entry& e, const tape& body, const vec<int>& operands) {
  carried_products loop(b, e, body, operands);
  const prim::rules::scan::parts n = loop.n;
  std::int64_t steps = steps_between_restarts;
  for (std::int64_t k = steps; 2 * k > steps; --k)
    if (*n.length % k == 0) {  // so that no steps are left over
      steps = k;
      break;
    }
  loop.n.length = steps;
  if (!loop.carries_any()) return {};
  drx::detail::nested_loop::values v{};
  v.offset = emit::constant(b, abstract_value(dtype::int32, {}), 0);
  for (int i = 0; i < operands.size(); ++i)
    (i < n.constants ? v.constants : n.is_carry(i) ? v.carries : v.xs).push_back(operands[i]);
  return drx::detail::nested_loop{body, n}.every(b, v, *n.length, steps);
}

/// t with loops that carry products in place of matrices, in regions too.
constexpr tape with_carried_products(tape t) {
  const auto suits = [](const entry& e) { return may_carry_products(e) && multiplies_constants(e); };
  const auto is_long = [&](const entry& e) {
    return prim::rules::scan::view(e).length > steps_between_restarts && suits(e);
  };
  const auto is_short = [&](const entry& e) {
    return prim::rules::scan::view(e).length <= steps_between_restarts && suits(e);
  };
  t = with_loops(std::move(t), is_long, with_restarts);
  return with_loops(std::move(t), is_short, [](builder& b, const entry& e, const tape& body, const vec<int>& operands) {
    return carried_products(b, e, body, operands).run();
  });
}

}  // namespace drx::plan
