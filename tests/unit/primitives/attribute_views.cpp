// What a primitive's view says of an entry, it also says of the entry frozen; and what it says, make() writes.
#include <doctest/doctest.h>

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/frozen.hpp>

using namespace drx;
namespace rules = drx::prim::rules;

namespace {
struct ring : placement<ring> {};

/// Calls f with the attributes as an entry, and as the entry of a frozen tape.
template <class F>
void on_both(const attributes& a, F f) {
  tape t;
  entry before;
  before.attrs.ints = {77, 78};  // so that the pool of the frozen tape begins with other ints
  entry e;
  e.attrs = a;
  t.entries = {before, e};
  SUBCASE("an entry") { f(int_list(t.entries[1])); }
  SUBCASE("frozen") {
    const auto frozen = frozen_tape<1, 2, 0, 64>::of(t);
    f(frozen.attributes(frozen.entries[1]));
  }
}
/// The attributes of the one entry that `write` writes on inputs of these shapes.
template <class F>
attributes written(F write, std::initializer_list<shape> shapes, dtype type = dtype::float64) {
  builder b;
  vec<int> in;
  for (const shape& s : shapes) in.push_back(b.input(abstract_value(type, s)));
  write(b, in);
  return b.result().entries[b.result().entries.size() - 1].attrs;
}
vec<std::int64_t> list(const int_list& l) { return l; }
using ints = vec<std::int64_t>;
}  // namespace

TEST_CASE("a loop") {
  rules::scan::view loop(7, 2, 3);
  loop.backwards = true;
  loop.guard = 4;
  loop.keeps_residuals = true;
  loop.products = loop_products::computed;
  on_both(loop.make(), [](int_list a) {
    const rules::scan::view n(a);
    CHECK(n.length == 7);
    CHECK(n.backwards);
    CHECK(n.constants == 2);
    CHECK(n.carries == 3);
    CHECK(n.guard == 4);
    CHECK(n.guarding_carry() == 1);
    CHECK(n.keeps_residuals);
    CHECK(n.products == loop_products::computed);
    CHECK(n.is_constant(1));
    CHECK(!n.is_constant(2));
    CHECK(!n.is_constant(-1));
    CHECK(n.is_carry(2));
    CHECK(n.is_carry(4));
    CHECK(!n.is_carry(5));
    CHECK(n.first_x() == 5);
    CHECK(n.make().ints == int_list(a));
  });
}
TEST_CASE("a loop without an end, a guard and a count are none, not numbers") {
  on_both(rules::scan::view({}, 1, 1).make(), [](int_list a) {
    const rules::scan::view n(a);
    CHECK(!n.length);
    CHECK(!n.guard);
    CHECK(!n.guarding_carry());
    CHECK(n.products == loop_products::by_program);
    CHECK(rules::scan::print(n.make()) == "endless, 1 constants, 1 carries");
  });
  CHECK(rules::scan::view(0, 0, 0).length == 0);
  rules::scan::view of_a_constant(3, 2, 1);
  of_a_constant.guard = 2;
  CHECK(!of_a_constant.guarding_carry());
  CHECK(rules::scan::print(of_a_constant.make()) == "3, 2 constants, 1 carries, while input 2");
}
TEST_CASE("products and solutions") {
  on_both(rules::matmul::view(false, true).make(), [](int_list a) {
    const rules::matmul::view product(a);
    CHECK(!product.transposes_first);
    CHECK(product.transposes_second);
    CHECK(!product.transposes(0));
    CHECK(product.transposes(1));
  });
  on_both(rules::triangular_solve::view(true, false, true, false).make(), [](int_list a) {
    const rules::triangular_solve::view form(a);
    CHECK(form.right);
    CHECK(!form.lower);
    CHECK(form.transposed);
    CHECK(!form.unit);
  });
  CHECK(rules::lu_solve::view(rules::lu_solve::view(true).make()).transposed);
  CHECK(rules::minors::view(rules::minors::view(false, true).make()).with_sign);
}
TEST_CASE("ranges") {
  const attributes part =
      written([](builder& b, const vec<int>& x) { emit::slice(b, x[0], {1, 2}, {4, 5}, {2, 3}); }, {make_shape(5, 6)});
  on_both(part, [](int_list a) {
    const rules::slice::view range(a);
    CHECK(range.rank() == 2);
    CHECK(range.start(1) == 2);
    CHECK(range.stop(0) == 4);
    CHECK(range.stride(1) == 3);
    CHECK(list(range.stops) == ints{4, 5});
  });
  const attributes padded =
      written([](builder& b, const vec<int>& x) { emit::pad(b, x[0], {1, 2}, {3, 4}, {0, 5}); }, {make_shape(5, 6)});
  on_both(padded, [](int_list a) {
    const rules::pad::view zeros(a);
    CHECK(zeros.rank() == 2);
    CHECK(zeros.low(1) == 2);
    CHECK(zeros.high(0) == 3);
    CHECK(zeros.interior(1) == 5);
  });
}
TEST_CASE("axes") {
  const attributes sum = written([](builder& b, const vec<int>& x) { emit::sum(b, x[0], {1}); }, {make_shape(2, 3)});
  on_both(sum, [](int_list a) {
    CHECK(rules::over_axes::view(a).is_only(1));
    CHECK(!rules::over_axes::view(a).is_only(0));
    CHECK(rules::over_axes::view(a).axes.contains(1));
  });
  const attributes turned =
      written([](builder& b, const vec<int>& x) { emit::transpose(b, x[0], {2, 0, 1}); }, {make_shape(2, 3, 4)});
  on_both(turned, [](int_list a) { CHECK(list(rules::transpose::view(a).permutation) == ints{2, 0, 1}); });
  const attributes joined =
      written([](builder& b, const vec<int>& x) { emit::concatenate(b, x, 1); }, {make_shape(2, 3), make_shape(2, 4)});
  on_both(joined, [](int_list a) { CHECK(rules::concatenate::view(a).axis == 1); });
  on_both(rules::along_axis::view(2, true).make(), [](int_list a) {
    CHECK(rules::along_axis::view(a).axis == 2);
    CHECK(rules::along_axis::view(a).backwards);
  });
}
TEST_CASE("indices") {
  on_both(rules::take::view(2, 1).make(), [](int_list a) {
    CHECK(rules::take::view(a).axis == 2);
    CHECK(rules::take::view(a).batch == 1);
  });
  on_both(rules::scatter::view(2, 1, 9).make(), [](int_list a) {
    CHECK(rules::scatter::view(a).axis == 2);
    CHECK(rules::scatter::view(a).batch == 1);
    CHECK(rules::scatter::view(a).extent == 9);
  });
}
TEST_CASE("convolutions and windows") {
  attributes a;
  a.ints = {2, static_cast<std::int64_t>(rules::convolution_role::w), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  on_both(a, [](int_list all) {
    const rules::convolution::view c(all);
    CHECK(c.axes == 2);
    CHECK(c.result == rules::convolution_role::w);
    CHECK(c.stride(1) == 2);
    CHECK(c.low(0) == 3);
    CHECK(c.input_dilation(1) == 6);
    CHECK(c.kernel_dilation(0) == 7);
    CHECK(c.extent(1) == 10);
  });
  a.ints = {2, 1, 1, 2, 3, 4, 5, 6, 7, 8};
  on_both(a, [](int_list all) {
    const rules::pooling::view w(all);
    CHECK(w.axes == 2);
    CHECK(w.transposed);
    CHECK(w.window(1) == 2);
    CHECK(w.stride(0) == 3);
    CHECK(w.low(1) == 6);
    CHECK(w.extent(0) == 7);
  });
}
TEST_CASE("values from nowhere") {
  const double numbers[] = {1.5, -2, 3};
  const attributes stored = written(
      [&](builder& b, const vec<int>&) { emit::data(b, abstract_value(dtype::float64, make_shape(3)), numbers); }, {});
  on_both(stored, [](int_list a) {
    const rules::data::view d(a);
    CHECK(d.type == dtype::float64);
    CHECK(list(d.extents) == ints{3});
    CHECK(d.stored.size() == 3);
    CHECK(d.element<double>(1) == -2);
  });
  const attributes counted = written(
      [](builder& b, const vec<int>&) { emit::iota(b, abstract_value(dtype::int32, make_shape(3, 4)), 1); }, {});
  on_both(counted, [](int_list a) { CHECK(rules::iota::view(a).axis == 1); });
  CHECK(rules::cast::view(rules::cast::view(dtype::int64).make()).type == dtype::int64);
}
TEST_CASE("members and layouts") {
  attributes a;
  a.ints = {2, rules::permute::nobody, 0};
  on_both(a, [](int_list all) {
    CHECK(rules::member_permute::view(all).members() == 3);
    CHECK(rules::ppermute::view(all).sources[1] == rules::permute::nobody);
  });
  CHECK(rules::member_transpose::view(rules::member_transpose::view(5).make(&placement_of<ring>)).members == 5);
  const attributes split = rules::with_layout::view(4, 1).make(&placement_of<ring>),
                   whole = rules::with_layout::view(4, {}).make(&placement_of<ring>);
  CHECK(rules::with_layout::view(split).axis == 1);
  CHECK(rules::with_layout::view(split).shards == 4);
  CHECK(!rules::with_layout::view(whole).axis);
  CHECK(rules::with_layout::print(split) == "ring: split along 1 in 4");
  CHECK(rules::with_layout::print(whole) == "ring: replicated");
}
