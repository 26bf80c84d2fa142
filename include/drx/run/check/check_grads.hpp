// drx/run/check/check_grads.hpp: compares a program's derivatives with differences, and finds the primitive whose rule
// is wrong.
#pragma once

#include <drx/run/check/interpreter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <ostream>
#include <random>

namespace drx {

/// Options of check_grads.
struct check_grads_options {
  int order = 1;            // of the derivatives
  double tolerance = 1e-6;  // for differences, relative to the largest number among the tangents of a result
  double step = 1e-4;       // for differences; smaller ones are tried where it is too long or crosses a kink
  std::uint64_t seed = 1;   // for the random directions
  interpreter::member_counts members = {};  // for placements that no input has
};

/// A derivative that disagrees, and the innermost entry whose own rule does.
struct grads_disagreement {
  int order = 1;     // of the derivative
  std::string tape;  // the tape that was differentiated: "the program", "its reverse derivative", ...
  std::string what;  // "forward mode and differences", "reverse and forward mode", or the text that a rule threw
  double got = 0, expected = 0;
  std::string primitive;  // empty if each entry by itself agrees
  int entry = -1;         // the number of its first result on its tape, as `show` prints it
  std::vector<abstract_value> operands;
  std::vector<std::string> path;  // the entry's line, and those of the maps and loops around it, from outside in
};

/// The result of check_grads. Printable; true if all derivatives agree.
struct check_grads_report {
  std::optional<grads_disagreement> wrong;
  int checks = 0;    // comparisons made
  int unclear = 0;   // those in which differences did not settle at any step (a kink, a jump, infinity)
  double error = 0;  // the largest relative difference among those that agree

  [[nodiscard]] bool ok() const { return !wrong; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] std::string text() const;
};

namespace interpreter {
namespace detail {

using tensors = std::vector<tensor>;

/// Calls f with each element of x and its partner in y, in double.
template <class F>
void zip(tensor& x, const tensor& y, F f) {
  for (std::size_t m = 0; m < x.members.size(); ++m) zip(x.members[m], y.members.at(m), f);
  if (x.type.depth > 0 || x.type.type != dtype::float64) return;
  for (std::int64_t i = 0; i < x.size(); ++i) f(x.data<double>()[i], y.data<double>()[i]);
}
inline tensor random_like(tensor x, std::mt19937_64& r) {
  std::uniform_real_distribution<double> numbers(-1, 1);
  zip(x, x, [&](double& e, double) { e = numbers(r); });
  return x;
}
inline tensor in_double(const tensor& x) {
  if (!is_floating(x.type.type) || x.type.type == dtype::float64) return x;
  tensor y(x.type.with_type(dtype::float64));
  for (const tensor& m : x.members) y.members.push_back(in_double(m));
  if (x.type.depth > 0) return y;
  visit_element(x.type.type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < x.size(); ++i) y.data<double>()[i] = static_cast<double>(x.data<T>()[i]);
  });
  return y;
}
/// t computed in double where it computes in float or holds numbers of 16 bits, with the same number of values:
/// differences of floats have two digits, and a rule is the same for both.
inline tape in_double(const tape& t) {
  tape r = t;
  for (abstract_value& v : r.values)
    if (is_floating(v.type)) v.type = dtype::float64;
  r.entries = {};
  for (entry e : t.entries) {
    for (tape& region : e.regions) region = in_double(region);
    if (e.prim == &prim::sum_of_halves) e.prim = &prim::reduce_sum;
    if (e.prim == &prim::cast && is_floating(prim::rules::cast::view(e).type))
      e.attrs = prim::rules::cast::view(dtype::float64).make();
    const vec<abstract_value> operands = r.types_of(e.operands);
    const vec<abstract_value> types = e.prim->type({operands, e.attrs, e.regions});
    vec<entry> casts;  // for entries that are float by their attributes, such as constants
    for (int i = 0; i < types.size(); ++i) {
      if (types[i] == r.values[e.results[i]]) continue;
      entry cast;
      cast.prim = &prim::cast;
      cast.attrs = prim::rules::cast::view(dtype::float64).make();
      cast.results = {e.results[i]};
      e.results[i] = r.values.size();
      cast.operands = {e.results[i]};
      r.values.push_back(types[i]);
      casts.push_back(cast);
    }
    r.entries.push_back(e);
    r.entries.append(casts);
  }
  return r;
}

class grads_checker {
 public:
  grads_checker(const check_grads_options& o, check_grads_report& r) : options_(o), report_(r), random_(o.seed) {}

  void check(const tape& t, const tensors& x, const site& at, int order, const std::string& name) {
    const outcome o = compare(t, x, at);
    ++report_.checks;
    if (o.is == verdict::unclear) ++report_.unclear;
    if (o.is == verdict::agrees) report_.error = std::max(report_.error, o.error);
    if (o.is == verdict::disagrees) {
      report_.wrong.emplace();
      report_.wrong->order = order;
      report_.wrong->tape = name;
      describe(o);
      locate(t, x, at);
      return;
    }
    if (order >= options_.order) return;
    tensors with_cotangents = x, with_directions = x;
    vec<bool> moving, floating;
    for (const tensor& v : x) {
      moving.push_back(is_floating(v.type.type));
      if (moving.back()) with_directions.push_back(random_like(v, random_));
    }
    for (const tensor& y : evaluate(t, x, at)) {
      floating.push_back(is_floating(y.type.type));
      if (floating.back()) with_cotangents.push_back(random_like(y, random_));
    }
    check(transform::pullback(t, moving, floating), with_cotangents, at, order + 1,
          "the reverse derivative of " + name);
    if (!report_.wrong)
      check(tangents_only(t, moving), with_directions, at, order + 1, "the forward derivative of " + name);
  }

 private:
  enum class verdict { agrees, disagrees, unclear };
  struct outcome {
    verdict is = verdict::agrees;
    std::string what;
    double got = 0, expected = 0, error = 0;
  };
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  static constexpr int most_attempts = 4;  // each with a step that is so much shorter
  static constexpr double shorter = 16;
  static constexpr double modes_agree =
      1e-9;  // the relative difference of <w, J v> and <J^T w, v> that rounding explains
  static constexpr double modes_agree_at_zero = 1e-12;
  static constexpr double gathered_errors = 100;  // rounding errors that a value may have
  static constexpr double settled = 1e-3;         // the slopes of two steps differ by less where differences converge
  static constexpr double bend_of_smooth =
      .75;  // with the step the bend of a smooth function halves; at a kink it stays

  static tape tangents_only(const tape& t, const vec<bool>& moving) {
    tape r = transform::jvp(t, moving);
    vec<int> tangents;
    for (int i = t.outputs.size(); i < r.outputs.size(); ++i) tangents.push_back(r.outputs[i]);
    r.outputs = tangents;
    return without_dead_entries(r);
  }

  /// Compares the first derivatives of t at x along a random direction.
  outcome compare(const tape& t, const tensors& x, const site& at) {
    try {
      return compare_or_throw(t, x, at);
    } catch (const char* sentence) {
      return {verdict::disagrees, sentence, 0, 0, HUGE_VAL};
    }
  }
  outcome compare_or_throw(const tape& t, const tensors& x, const site& at) {
    vec<bool> moving, floating;
    tensors directions, cotangents;
    for (const tensor& v : x) {
      moving.push_back(is_floating(v.type.type));
      if (moving.back()) directions.push_back(random_like(v, random_));
    }
    const tensors y = evaluate(t, x, at);
    for (const tensor& v : y) {
      floating.push_back(is_floating(v.type.type));
      if (floating.back()) cotangents.push_back(random_like(v, random_));
    }
    if (directions.empty() || cotangents.empty()) return {};
    tensors with_directions = x;
    with_directions.insert(with_directions.end(), directions.begin(), directions.end());
    tensors tangents = evaluate(tangents_only(t, moving), with_directions, at);

    outcome forward;
    double step = options_.step;
    for (int attempt = 0; attempt < most_attempts;
         ++attempt, step /= shorter) {  // a limit: one step that agrees is enough
      const outcome o = compare_slopes(t, x, directions, moving, floating, at, tangents, step);
      if (attempt == 0 || forward.is == verdict::unclear || o.is == verdict::agrees) forward = o;
      if (forward.is == verdict::agrees) break;
    }
    if (forward.is == verdict::disagrees) return forward;

    tensors with_cotangents = x;
    with_cotangents.insert(with_cotangents.end(), cotangents.begin(), cotangents.end());
    tensors gradients = evaluate(transform::pullback(t, moving, floating), with_cotangents, at);
    double pushed = 0, pulled = 0, size = 0;
    for (std::size_t i = 0; i < tangents.size(); ++i)
      zip(tangents[i], cotangents[i], [&](double a, double b) { pushed += a * b, size += std::abs(a * b); });
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!(gradients[i].type == directions[i].type))
        return {verdict::disagrees, "reverse mode gives a cotangent of another type", 0, 0, HUGE_VAL};
      zip(gradients[i], directions[i], [&](double a, double b) { pulled += a * b, size += std::abs(a * b); });
    }
    if (!std::isfinite(size) && forward.is == verdict::unclear) return forward;
    if (!(std::isfinite(size) && std::abs(pulled - pushed) <= modes_agree * size + modes_agree_at_zero))
      return {verdict::disagrees, "reverse and forward mode", pulled, pushed, std::abs(pulled - pushed) / size};
    return forward;
  }
  /// The floating outputs of t at x + h directions, each as a list of numbers.
  std::vector<std::vector<double>> moved(const tape& t, tensors x, const tensors& directions, const vec<bool>& moving,
                                         const vec<bool>& floating, const site& at, double h) {
    std::size_t next = 0;
    for (int i = 0; i < moving.size(); ++i)
      if (moving[i]) zip(x[static_cast<std::size_t>(i)], directions[next++], [&](double& a, double b) { a += h * b; });
    return numbers(evaluate(t, std::move(x), at), floating);
  }
  static std::vector<std::vector<double>> numbers(tensors y, const vec<bool>& floating) {
    std::vector<std::vector<double>> r;
    for (int i = 0; i < floating.size(); ++i) {
      if (!floating[i]) continue;
      tensor& x = y[static_cast<std::size_t>(i)];
      zip(x, x, [&, &list = r.emplace_back()](double e, double) { list.push_back(e); });
    }
    return r;
  }
  /// Compares the tangents with differences. Where a function is smooth, slopes settle as the step halves, and the
  /// difference of the one-sided slopes halves with it; at a kink that difference stays, and differences decide
  /// nothing.
  outcome compare_slopes(const tape& t, const tensors& x, const tensors& directions, const vec<bool>& moving,
                         const vec<bool>& floating, const site& at, const tensors& tangents, double h) {
    const auto there = [&](double by) { return moved(t, x, directions, moving, floating, at, by); };
    const auto f = there(0), above = there(h), below = there(-h), just_above = there(h / 2), just_below = there(-h / 2);
    const auto expected = numbers(tangents, vec<bool>(static_cast<int>(tangents.size()), true));
    outcome worst;
    bool unclear = false;
    for (std::size_t o = 0; o < f.size(); ++o) {
      double scale = 0, size = 1;
      for (std::size_t i = 0; i < f[o].size(); ++i) {
        for (double e : {expected[o][i], (above[o][i] - below[o][i]) / (2 * h)})
          if (std::isfinite(e)) scale = std::max(scale, std::abs(e));
        if (std::isfinite(f[o][i])) size = std::max(size, std::abs(f[o][i]));
      }
      const double allowed = options_.tolerance * scale + gathered_errors * epsilon * size / h;
      for (std::size_t i = 0; i < f[o].size(); ++i) {
        const double slope = (above[o][i] - below[o][i]) / (2 * h), finer = (just_above[o][i] - just_below[o][i]) / h;
        const double bend = std::abs(above[o][i] - 2 * f[o][i] + below[o][i]) / h;
        const double less_bend = 2 * std::abs(just_above[o][i] - 2 * f[o][i] + just_below[o][i]) / h;
        const double limit = (4 * finer - slope) / 3, error = std::abs(expected[o][i] - limit);
        if (error <= allowed) {
          if (worst.is != verdict::disagrees && scale > 0) worst.error = std::max(worst.error, error / scale);
        } else if (!std::isfinite(limit) || std::abs(finer - slope) > std::max(allowed, settled * scale) ||
                   less_bend > bend_of_smooth * bend + allowed) {
          unclear = true;
        } else if (worst.is != verdict::disagrees || error / scale > worst.error) {
          worst = {verdict::disagrees, "forward mode and differences", expected[o][i], limit, error / scale};
        }
      }
    }
    if (unclear && worst.is != verdict::disagrees) worst.is = verdict::unclear;
    return worst;
  }

  // ---- finding the entry ----

  /// Goes through t at x, each entry as a tape of its own at the operands that occur, up to the first that disagrees.
  bool locate(const tape& t, tensors x, const site& at) {
    std::vector<tensor> values(static_cast<std::size_t>(t.values.size()));
    for (int i = 0; i < t.inputs.size(); ++i)
      values[static_cast<std::size_t>(t.inputs[i])] = std::move(x[static_cast<std::size_t>(i)]);
    for (const entry& e : t.entries) {
      tape single;
      tensors operands;
      entry same = e;
      same.operands = same.results = {};
      for (int o : e.operands) {
        same.operands.push_back(single.values.size());
        single.inputs.push_back(single.values.size());
        single.values.push_back(t.values[o]);
        operands.push_back(values[static_cast<std::size_t>(o)]);
      }
      for (int r : e.results) {
        same.results.push_back(single.values.size());
        single.outputs.push_back(single.values.size());
        single.values.push_back(t.values[r]);
      }
      single.entries.push_back(same);
      const outcome o = compare(single, operands, at);
      if (o.is == verdict::disagrees) {
        report_.wrong->path.push_back(drx::detail::show_entry(t, e));
        if (within(e, operands, t, at)) return true;
        describe(o);
        report_.wrong->primitive = e.prim->name;
        report_.wrong->entry = e.results.empty() ? -1 : e.results[0];
        for (const tensor& v : operands) report_.wrong->operands.push_back(v.type);
        return true;
      }
      tensors results = evaluate(single, std::move(operands), at);
      for (int i = 0; i < e.results.size(); ++i)
        values[static_cast<std::size_t>(e.results[i])] = std::move(results[static_cast<std::size_t>(i)]);
    }
    return false;
  }
  /// Evaluates an entry, and goes through its regions each time they run.
  struct descent final : evaluation {
    grads_checker& checker;
    const site& at;
    bool found = false;
    descent(const entry& of, grads_checker& c, const site& s) : evaluation(of), checker(c), at(s) {}
    tensors run(const tape& region, tensors inputs) override {
      if (!found) found = checker.locate(region, inputs, at);
      return evaluate(region, std::move(inputs), at);
    }
    tensors run_member(const tape& region, tensors inputs, std::int64_t index) override {
      const site member = at.member(e.attrs.placement, index);
      if (!found) found = checker.locate(region, inputs, member);
      return evaluate(region, std::move(inputs), member);
    }
    std::int64_t members(const placement_info* p) override { return at.members(p); }
  };
  bool within(const entry& e, const tensors& operands, const tape& t, const site& at) {
    if (e.regions.empty()) return false;
    descent d(e, *this, at);
    for (const tensor& x : operands) d.in.push_back(&x);
    for (int r : e.results) d.out.emplace_back(t.values[r]);
    e.prim->evaluate(d);
    return d.found;
  }
  void describe(const outcome& o) {
    report_.wrong->what = o.what;
    report_.wrong->got = o.got;
    report_.wrong->expected = o.expected;
  }

  const check_grads_options& options_;
  check_grads_report& report_;
  std::mt19937_64 random_;
};

}  // namespace detail

/// Checks the derivatives of a tape's floating outputs with respect to its floating inputs, along random directions, at
/// `inputs`: forward mode against central differences, reverse mode against forward mode (<w, J v> = <J^T w, v>), then
/// both derivatives in the same way, up to options.order. It uses the plain interpreter, and double where the tape has
/// float. Where derivatives disagree, each entry is checked by itself, in maps and loops too, and the first and
/// innermost whose rule is wrong is named.
inline check_grads_report check_grads(const tape& t, const std::vector<tensor>& inputs,
                                      const check_grads_options& options = {}) {
  run(t, inputs, options.members);  // refuses inputs that are not the tape's
  detail::scope top;
  std::vector<tensor> x;
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    detail::note(top, inputs[i], static_cast<int>(i));
    x.push_back(detail::in_double(inputs[i]));
    any = any || is_floating(inputs[i].type.type);
  }
  if (!any) throw std::invalid_argument("drx::check_grads: no input is floating");
  check_grads_report report;
  member_counts counts = options.members;
  detail::add_static_counts(t, counts);
  const detail::site at{&top, nullptr, counts};
  detail::grads_checker(options, report).check(detail::in_double(t), x, at, 1, "the program");
  return report;
}

}  // namespace interpreter

inline std::string check_grads_report::text() const {
  const auto number = [](double x) {
    char s[32];
    std::snprintf(s, sizeof s, "%.9g", x);
    return std::string(s);
  };
  if (!wrong)
    return std::to_string(checks) + " comparisons agree" +
           (unclear ? ", but for " + std::to_string(unclear) + " where differences do not settle" : "") +
           "; largest difference " + number(error) + "\n";
  std::string s =
      "derivatives of order " + std::to_string(wrong->order) + " disagree (of " + wrong->tape + "): " + wrong->what +
      (wrong->got == wrong->expected ? "" : ": " + number(wrong->got) + " and " + number(wrong->expected)) + "\n";
  if (wrong->primitive.empty()) return s + "each entry by itself agrees\n";
  s += "the rule of " + wrong->primitive + ", entry %" + std::to_string(wrong->entry) + ", is wrong for operands (";
  for (std::size_t i = 0; i < wrong->operands.size(); ++i) s += (i ? ", " : "") + show(wrong->operands[i]);
  s += "):\n";
  std::string indent = "  ";
  for (const std::string& line : wrong->path) {
    s += indent + line + "\n";
    indent += "  ";
  }
  return s;
}
inline std::ostream& operator<<(std::ostream& out, const check_grads_report& r) { return out << r.text(); }

namespace detail {
template <bool Throws, class Program, class Inputs = typename Program::inputs>
struct grads_check;
template <bool Throws, class Program, class... X>
struct grads_check<Throws, Program, std::tuple<X...>> {
  check_grads_report operator()(const interpreter::held_t<X>&... x, const check_grads_options& options = {}) const {
    std::vector<tensor> inputs;
    const auto append = [&](std::vector<tensor> leaves) {
      for (tensor& leaf : leaves) inputs.push_back(std::move(leaf));
    };
    (append(interpreter::to_tensors<X>(x)), ...);
    check_grads_report report = interpreter::check_grads(Program::tape().thaw(), inputs, options);
    if (Throws && !report) throw std::runtime_error("drx::require_grads: " + report.text());
    return report;
  }
};
}  // namespace detail

/// Checks a program's derivatives against differences at the given inputs: structures as they are, placed ones as
/// std::vectors.
///     auto report = drx::check_grads<Loss>(model, batches, {.order = 2});
///     if (!report) std::cerr << report;      // names the primitive whose rule is wrong
template <class Program>
inline constexpr detail::grads_check<false, Program> check_grads{};
/// check_grads, which throws std::runtime_error with the report where derivatives disagree.
template <class Program>
inline constexpr detail::grads_check<true, Program> require_grads{};

}  // namespace drx
