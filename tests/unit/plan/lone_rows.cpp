// Arrays of zeros with one row at a place known at run time: products, quotients and sums of them are those of the row,
// and members in lanes choose by places. Against the plain interpreter.
#include <drx/drx.hpp>
#include <drx/plan/staging/lone_rows.hpp>
#include <drx/run/check/interpreter.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct rows : drx::placement<rows> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;

// Each member reads the chances of one class, a column of a table that is a softmax along its rows; the sums of
// exponentials divide the cotangents, and their sum along the classes is subtracted.
template <class T>
constexpr auto of_class = drx::value_and_grad([](auto leaves, auto x, auto label) {
  auto error = [](auto w, auto own, auto i) {
    auto weights = drx::softmax(drx::reshape<6>(drx::matmul(drx::ones<array<T, 6, 3>>(), drx::expand_dims<1>(own))));
    return -drx::log(drx::dot(weights, drx::index(drx::transpose(drx::softmax(w)), i)));
  };
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(leaves), x, label));
});
template <class T>
using OfClass =
    drx::program<of_class<T>, array<T, 6, 4>, drx::placed<array<T, 3>, rows>, drx::placed<std::int32_t, rows>>;

// Places count from the end or lie outside: inputs are not negative, so 7 is subtracted from them.
constexpr auto around_zero = [](auto i) { return i - 7; };

// A row of a member's own array, at a place that may lie outside; of the array with another row there a norm is taken.
template <class T, class I>
constexpr auto replaced = [](auto data, auto places) {
  auto of_member = [](auto x, auto place) {
    auto i = around_zero(place);
    auto [value, slopes] = drx::value_and_grad([=](auto own) {
      auto each = drx::softmax(own);
      return drx::sum(drx::square(drx::index(each, i))) + drx::log(drx::sum(drx::sum<1>(drx::exp(own))));
    })(x);
    auto marked = drx::update_slice(x, drx::full<array<T, 1, 3>>(2), i);
    return std::pair{value + drx::sum(drx::sqrt(drx::sum<1>(drx::square(marked)))), slopes};
  };
  return drx::map(of_member, data, places);
};
template <class T, class I>
using Replaced = drx::program<replaced<T, I>, drx::placed<array<T, 5, 3>, rows>, drx::placed<I, rows>>;

// A column, at the second of two places, of which the first has no choice; a number of a vector; a row of integers; and
// a piece of two rows, for which there is no choice by places.
template <class T>
constexpr auto written = [](auto x, auto y, auto place) {
  auto i = around_zero(place);
  auto column = drx::update_slice(x, drx::expand_dims<1>(drx::sqrt(y)), -i, i);
  auto number = drx::update_slice(y, drx::expand_dims<0>(drx::sum(x)), i + 2);
  auto counted = drx::update_slice(drx::full<array<std::int32_t, 4, 3>>(1), drx::full<array<std::int32_t, 1, 3>>(7), i);
  auto two = drx::update_slice(x, drx::square(drx::slice<0, 2>(x)), i);
  auto lengths = drx::sqrt(drx::sum<1>(drx::square(column))) * drx::sum<1>(drx::cast<T>(counted) * two);
  return drx::sum(lengths * number);
};
template <class T>
constexpr auto slopes_of_written = [](auto xs, auto ys, auto places) {
  return drx::map([](auto x, auto y, auto i) { return drx::value_and_grad<0, 1>(written<T>)(x, y, i); }, xs, ys,
                  places);
};
template <class T>
using Written = drx::program<slopes_of_written<T>, drx::placed<array<T, 4, 3>, rows>, drx::placed<array<T, 4>, rows>,
                             drx::placed<std::int32_t, rows>>;
// A loop that carries an array of which each step replaces a row, at a place that depends on the member and the step.
template <class T>
constexpr auto rounds = [](auto xs, auto places) {
  auto of_member = [](auto x, auto place) {
    auto end = drx::fori_loop<6>(x, [=](auto step, auto all) {
      auto i = around_zero(place) + 2 * step;
      return drx::update_slice(all, drx::expand_dims<0>(drx::sin(drx::index(all, 1 - i)) + drx::index<0>(all)), i);
    });
    return drx::sum(drx::square(end));
  };
  return drx::map([=](auto x, auto i) { return drx::value_and_grad(of_member)(x, i); }, xs, places);
};
template <class T>
using Rounds = drx::program<rounds<T>, drx::placed<array<T, 5, 2>, rows>, drx::placed<std::int32_t, rows>>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
/// The largest block of members in a plan.
template <class P>
std::string block_of() {
  const std::string all = plan_of<P>();
  const auto first = all.find("} (", all.find("stage[")), last = all.find("} (", first + 1);
  return all.substr(first, last - first);
}
}  // namespace

TEST_CASE("the gradient of a class's chances divides and adds up one row") {
  harness::check_run<OfClass<double>>({.low = -1, .high = 3, .below = 4}, {0, 5, 256, 300});
  harness::check_run<OfClass<float>>({.low = -1, .high = 1, .below = 4}, {300});
  const std::string block = block_of<OfClass<float>>();
  CHECK(block.find("azdiv") != std::string::npos);
  CHECK(block.find("f32[6,4,32] = azdiv") == std::string::npos);
  CHECK(block.find("update_slice") == std::string::npos);
}
TEST_CASE("rows at places of a member's own, which may count from the end or lie outside") {
  harness::check_run<Replaced<float, std::int32_t>>({.low = -9, .high = 9, .below = 14}, {0, 5, 256, 300});
  harness::check_run<Replaced<double, std::int64_t>>({.low = -9, .high = 9, .below = 14}, {300});
  const std::string block = block_of<Replaced<double, std::int64_t>>();
  CHECK(block.find("f64[5,3,128] = where") != std::string::npos);
  CHECK(block.find("f64[128,5,3] = update_slice") == std::string::npos);
}
TEST_CASE("columns, numbers and integers at places of a member's own, and their derivatives") {
  harness::check_run<Written<double>>({.low = 0.5, .high = 2, .below = 14}, {0, 5, 256, 300});
  harness::check_run<Written<float>>({.low = 0.5, .high = 2, .below = 14}, {300});
  harness::check_run<Written<drx::float16>>({.low = 0.5, .high = 2, .below = 14}, {300});
  const std::string block = block_of<Written<double>>();
  CHECK(block.find("f64[4,3,32] = where") != std::string::npos);
  CHECK(block.find("f64[4,32] = where") != std::string::npos);
  CHECK(block.find("i32[4,3,32] = where") != std::string::npos);
  CHECK(block.find("f64[32,4,3] = update_slice") != std::string::npos);  // the piece of two rows
}
TEST_CASE("derivatives of what is written at places are those that differences show") {
  using P = Written<double>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  const harness::sample at{.low = 0.5, .high = 2, .members = 256, .below = 14};
  harness::tensors in = harness::random_inputs<P>(at), along = harness::random_inputs<P>({.members = 256, .seed = 2});
  const harness::tensors slopes = harness::call(p, c, in);
  const double h = 1e-5;
  const auto moved_by = [&](double t) {
    harness::tensors x = in;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t m = 0; m < 256; ++m)
        for (std::int64_t k = 0; k < x[i].members[m].size(); ++k)
          x[i].members[m].data<double>()[k] += t * along[i].members[m].data<double>()[k];
    return harness::call(p, c, x)[0];
  };
  const drx::tensor after = moved_by(h), before = moved_by(-h);
  for (std::size_t m = 0; m < 256; ++m) {
    double slope = 0;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::int64_t k = 0; k < in[i].members[m].size(); ++k)
        slope += slopes[1 + i].members[m].data<double>()[k] * along[i].members[m].data<double>()[k];
    const double difference = (after.members[m].data<double>()[0] - before.members[m].data<double>()[0]) / (2 * h);
    CHECK(slope == doctest::Approx(difference).epsilon(1e-6));
  }
}
TEST_CASE("a loop that replaces a row at each step") {
  harness::check_run<Rounds<double>>({.below = 14}, {0, 5, 256, 300});
  harness::check_run<Rounds<float>>({.below = 14}, {300});
}
namespace {
using drx::builder;
namespace emit = drx::emit;
/// Zeros with a row at a place, turned, times w and over w: the sum of each along the axis of places, and the arrays.
drx::tape turned(bool changes) {
  builder b;
  const int row = b.input({drx::dtype::float64, drx::make_shape(1, 3)}),
            w = b.input({drx::dtype::float64, drx::make_shape(3, 1)});
  const int at = b.input({drx::dtype::int32, drx::make_shape(1)});
  const int zeros = emit::constant(b, {drx::dtype::float64, drx::make_shape(4, 3)}, 0);
  const int x = emit::transpose(b, emit::update_slice(b, zeros, row, at, 0), {1, 0});
  const int all = emit::broadcast_to(b, w, drx::make_shape(3, 4));
  if (!changes) {
    b.output(x);
    return b.take();
  }
  const int product = emit::azmul(b, all, x), quotient = emit::azdiv(b, product, all);
  b.output(product);
  b.output(emit::neg(b, quotient));
  b.output(emit::sum(b, quotient, {1}));
  b.output(emit::sum(b, product, {0}));
  return b.take();
}
}  // namespace
TEST_CASE("what is guarded stays 0 beside infinities and zeros, at each place") {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const bool changes : {false, true}) {
    const drx::tape t = turned(changes), made = drx::plan::with_lone_rows(t);
    drx::check(made);
    for (std::int32_t place : {-7, -4, -1, 0, 2, 3, 4, 100}) {
      std::vector<drx::tensor> in;
      for (int i : t.inputs) in.emplace_back(t.values[i]);
      in[0].data<double>()[0] = 0;
      in[0].data<double>()[1] = 2;
      in[0].data<double>()[2] = 5;
      in[1].data<double>()[0] = infinite;
      in[1].data<double>()[1] = 0;
      in[1].data<double>()[2] = 3;
      in[2].data<std::int32_t>()[0] = place;
      const auto expected = drx::interpreter::run(t, in), found = drx::interpreter::run(made, in);
      for (std::size_t i = 0; i < expected.size(); ++i)
        for (std::int64_t k = 0; k < expected[i].size(); ++k)
          CHECK(found[i].data<double>()[k] == expected[i].data<double>()[k]);
    }
    int smaller = 0;
    for (const drx::entry& e : made.entries)
      if (e.prim == &drx::prim::azdiv) smaller += static_cast<int>(made.values[e.results[0]].shape.size());
    CHECK(smaller == (changes ? 3 : 0));
  }
}
