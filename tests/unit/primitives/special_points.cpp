// Every row of docs/special_points.md on the plain interpreter, derivatives in both modes.
#include <drx/drx.hpp>

#include <all_primitives.hpp>

#include "harness/derivatives.hpp"
#include "harness/special_points.hpp"

#include <algorithm>
#include <map>

using drx::array;
using drx::builder;
using drx::dtype;
using drx::tape;
using drx::tensor;
using drx::vec;
namespace prim = drx::prim;

namespace {
struct clients : drx::placement<clients> {};
using v2 = array<double, 2>;

/// An elementwise primitive of n scalar inputs.
tape elementwise(const drx::primitive& p, std::size_t n) {
  builder b;
  vec<int> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(b.input({dtype::float64, {}}));
  b.output(b.add1(p, x));
  return b.result();
}
template <auto F, class X = v2>
tape traced() {
  return drx::program<F, X>::tape().thaw();
}

constexpr auto logsumexp = [](auto x) { return drx::logsumexp(x); };
constexpr auto softmax = [](auto x) { return drx::index<0>(drx::softmax(x)); };
constexpr auto log_softmax = [](auto x) { return drx::index<0>(drx::log_softmax(x)); };
constexpr auto largest = [](auto x) { return drx::max(x); };
constexpr auto smallest = [](auto x) { return drx::min(x); };
constexpr auto total = [](auto x) { return drx::sum(x); };
constexpr auto norm = [](auto x) { return drx::norm(x); };
constexpr auto stddev = [](auto x) { return drx::stddev(x); };
constexpr auto largest_member = [](auto x) { return drx::reduce_max(x); };
constexpr auto smallest_member = [](auto x) { return drx::reduce_min(x); };

tape tape_of(const std::string& name, std::size_t numbers) {
  static const std::map<std::string, const drx::primitive*> rows = [] {
    std::map<std::string, const drx::primitive*> r;
    for (const auto* p : harness::all_primitives)
      if (p->elementwise) r[p->name] = p;
    return r;
  }();
  if (const auto p = rows.find(name); p != rows.end()) return elementwise(*p->second, numbers);
  if (name == "logsumexp") return traced<logsumexp>();
  if (name == "softmax") return traced<softmax>();
  if (name == "log_softmax") return traced<log_softmax>();
  if (name == "max_over") return traced<largest>();
  if (name == "min_over") return traced<smallest>();
  if (name == "sum") return traced<total>();
  if (name == "norm") return traced<norm>();
  if (name == "stddev") return traced<stddev>();
  if (name == "reduce_max") return traced<largest_member, drx::placed<double, clients>>();
  if (name == "reduce_min") return traced<smallest_member, drx::placed<double, clients>>();
  throw std::invalid_argument("a row of no function known: " + name);
}

/// The numbers dealt out over the inputs of t: one to each scalar, all to a vector or to members.
harness::tensors inputs_of(const tape& t, const std::vector<double>& x) {
  harness::tensors in;
  for (int i : t.inputs) {
    tensor one(t.values[i]);
    if (t.inputs.size() == static_cast<int>(x.size())) {
      one.data<double>()[0] = x[in.size()];
    } else if (one.type.depth > 0) {
      for (double v : x) {
        one.members.emplace_back(one.type.of_member());
        one.members.back().data<double>()[0] = v;
      }
    } else {
      for (std::size_t k = 0; k < x.size(); ++k) one.data<double>()[k] = x[k];
    }
    in.push_back(one);
  }
  return in;
}
void flatten(const tensor& x, std::vector<double>& out) {
  for (const tensor& m : x.members) flatten(m, out);
  if (x.type.depth == 0) out.insert(out.end(), x.data<double>(), x.data<double>() + x.size());
}
std::vector<double> flat(const harness::tensors& all) {
  std::vector<double> r;
  for (const tensor& x : all) flatten(x, r);
  return r;
}

}  // namespace

TEST_CASE("each function of one number has special points") {
  const auto points = harness::special_points();
  for (const auto* p : harness::all_primitives) {
    const vec<drx::abstract_value> operand(1, drx::abstract_value(dtype::float64, {}));
    if (!p->elementwise || p == &prim::neg) continue;
    try {
      if (p->type({operand, {}, {}})[0].type != dtype::float64) continue;
    } catch (const char*) {  // of more numbers, or of bools
      continue;
    }
    const bool any =
        std::any_of(points.begin(), points.end(), [&](const auto& row) { return row.function == p->name; });
    CHECK_MESSAGE(any, std::string(p->name), " has no row in docs/special_points.md");
  }
}

TEST_CASE("the tables of special points") {
  const auto points = harness::special_points();
  CHECK(points.size() > 100);
  for (const auto& p : points) {
    CAPTURE(p.function);
    CAPTURE(p.at[0]);
    CAPTURE(p.at.back());
    const tape t = tape_of(p.function, p.at.size());
    const harness::tensors x = inputs_of(t, p.at);
    const double value = flat(drx::interpreter::run(t, x))[0];
    CAPTURE(value);
    CHECK(harness::agrees_in_sign(value, p.value));

    const vec<bool> moving(t.inputs.size(), true);
    harness::tensors with_one = x;
    with_one.push_back(inputs_of(elementwise(prim::exp, 1), {1.})[0]);
    const auto gradient = flat(drx::interpreter::run(drx::transform::pullback(t, moving, {true}), with_one));
    REQUIRE(gradient.size() == p.derivative.size());
    const tape forward = drx::transform::jvp(t, moving);
    for (std::size_t k = 0; k < p.at.size(); ++k) {
      CAPTURE(k);
      CAPTURE(gradient[k]);
      CHECK(harness::agrees(gradient[k], p.derivative[k]));
      std::vector<double> direction(p.at.size(), 0.);
      direction[k] = 1;
      harness::tensors moved = x;
      for (const tensor& d : inputs_of(t, direction)) moved.push_back(d);
      const double slope = flat(drx::interpreter::run(forward, moved))[1];
      CAPTURE(slope);
      CHECK(harness::agrees(slope, p.derivative[k]));
    }
  }
}
