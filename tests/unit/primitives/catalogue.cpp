// Every primitive there is: which rules it must have, and whether what it says of its results is so.
#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <all_primitives.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <string>

using drx::builder;
using drx::dtype;
using drx::known_value;
using drx::primitive;
using drx::tape;
using drx::tensor;
using drx::vec;

namespace {
/// Whether programs have it, and not only plans, which are written after derivatives.
bool is_of_programs(const primitive& p) { return p.batch != nullptr; }
/// Whether it computes with arrays, of one member: no loop, branch or map, and nothing between members.
bool is_of_arrays(const primitive& p) {
  const bool has_regions = p.known_inside || p.transparent;
  return is_of_programs(p) && !has_regions && p.fold == drx::fold::none && !p.share && !p.along_axis;
}

/// An entry of p on scalar doubles (the condition of a choice is a bool), or no entry, where p takes no such ones.
tape on_numbers(const primitive& p, int n) {
  for (const dtype first : {dtype::float64, dtype::boolean}) try {
      builder b;
      vec<int> x;
      for (int i = 0; i < n; ++i) x.push_back(b.input({i == 0 ? first : dtype::float64, {}}));
      (void)p.type({b.result().types_of(x), {}, {}});  // first, since simplify relies on the number of operands
      b.output(b.add1(p, x));
      return b.result();
    } catch (const char*) {  // the typing rule's sentence
    }
  return {};
}
struct sample {
  known_value known;
  std::vector<double> numbers;
};
/// Numbers of each kind of which something is known. (Powers of large numbers overflow, and count as finite.)
std::vector<sample> samples(int operands) {
  const double large = operands == 1 ? 1000 : 30, small = 1 / large;
  return {{{true, false, false, false}, {-large, -2, -1, -0.5, -small, 0, small, 0.5, 1, 2, large}},
          {{true, true, false, false}, {0, small, 0.5, 1, 2, large}},
          {{true, false, true, false}, {-large, -2, -1, -0.5, -small, 0}},
          {{true, true, false, true}, {small, 0.5, 1, 2, large}},
          {{true, false, true, true}, {-large, -2, -1, -0.5, -small}}};
}
/// What is wrong with what p says of its result at numbers of these kinds; empty if nothing.
std::string fault(const tape& t, const std::vector<const sample*>& kinds) {
  drx::known_values operands;
  for (const sample* k : kinds) operands.push_back(k->known);
  const drx::entry& e = t.entries[0];
  const drx::definitions definition(t);
  const known_value known = e.prim->known({definition, e, operands, nullptr})[0];
  std::vector<std::size_t> at(kinds.size(), 0);
  for (;;) {
    std::vector<tensor> in;
    std::string where;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const double x = kinds[i]->numbers[at[i]];
      where += (i ? ", " : "") + std::to_string(x);
      in.emplace_back(t.values[t.inputs[static_cast<int>(i)]]);
      if (in.back().type.type == dtype::boolean)
        in.back().data<bool>()[0] = x > 0;
      else
        in.back().data<double>()[0] = x;
    }
    const tensor out = drx::interpreter::run(t, in)[0];
    if (out.type.type == dtype::float64) {
      const double y = out.data<double>()[0];
      const char* wrong = nullptr;
      if (!std::isfinite(y))
        wrong = known.finite ? "finite" : nullptr;
      else if (y < 0 && known.not_negative)
        wrong = "not negative";
      else if (y > 0 && known.not_positive)
        wrong = "not positive";
      else if (y == 0 && known.not_zero)
        wrong = "not zero";
      if (wrong)
        return std::string(e.prim->name) + "(" + where + ") = " + std::to_string(y) + " is said to be " + wrong;
    }
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == kinds[i]->numbers.size()) at[i++] = 0;
    if (i == at.size()) return {};
  }
}
}  // namespace

TEST_CASE("every primitive has the rules that it must have") {
  for (const primitive* p : harness::all_primitives) {
    const auto must_have = [&](bool has, const char* missing) { CHECK_MESSAGE(has, std::string(p->name), missing); };
    must_have(p->type, " has no rule type");
    must_have(p->evaluate, " has no rule evaluate: nothing says what it means");
    if (!is_of_programs(*p)) continue;
    must_have(p->jvp && p->vjp, " has no derivative: rules::constant says that it is 0");
    must_have(p->known,
              " has no rule known: products of derivatives with it would be guarded; rules::known::nothing says so");
    if (is_of_arrays(*p))
      must_have(p->split,
                " has no rule split: its operands would be gathered from all shards; rules::split::whole says so");
    if (p->pointwise) must_have(p->lanes, " has no rule lanes: it would be batched between two transposes");
  }
}

TEST_CASE("what is known of elementwise functions is so") {
  int checked = 0;
  for (const primitive* p : harness::all_primitives) {
    if (!p->elementwise) continue;
    for (int n = 1; n <= 3; ++n) {
      const tape t = on_numbers(*p, n);
      if (t.entries.empty() || t.entries[0].prim != p) continue;
      ++checked;
      const std::vector<sample> all = samples(n);
      std::vector<std::size_t> kind(static_cast<std::size_t>(n), 0);
      for (;;) {
        std::vector<const sample*> kinds;
        for (std::size_t k : kind) kinds.push_back(&all[k]);
        const std::string wrong = fault(t, kinds);
        CHECK_MESSAGE(wrong.empty(), wrong);
        std::size_t i = 0;
        while (i < kind.size() && ++kind[i] == all.size()) kind[i++] = 0;
        if (i == kind.size()) break;
      }
    }
  }
  CHECK(checked > 40);
}
