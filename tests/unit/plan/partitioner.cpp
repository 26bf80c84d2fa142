// Programs of shards compute what the programs with whole members do, and split what they are to.
#include <drx/drx.hpp>
#include <drx/plan/pipeline.hpp>
#include <drx/run/check/interpreter.hpp>

#include "harness/difference.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>

using drx::array;
using drx::placed;
using drx::program;
using drx::replicated;
using drx::split_along;
using drx::tape;
using drx::tensor;
using harness::largest_difference;

namespace {
struct clients : drx::placement<clients> {};
struct model : drx::placement<model> {};
using tensors = std::vector<tensor>;

// ---- members and their shards ----

int split_axis(const drx::shape& all, const drx::shape& part) {
  for (int k = 0; k < all.rank; ++k)
    if (all[k] != part[k]) return k;
  return -1;
}
/// Part s of n of x along axis k.
tensor part_of(const tensor& x, const drx::abstract_value& type, int k, std::int64_t s) {
  if (k < 0) return x;
  tensor r(type);
  const auto width = static_cast<std::size_t>(drx::byte_size(type.type));
  std::size_t i = 0;
  drx::for_each_index(type.shape, [&](const std::int64_t* at) {
    std::int64_t from[drx::shape::max_rank] = {};
    for (int a = 0; a < type.shape.rank; ++a) from[a] = at[a] + (a == k ? s * type.shape[k] : 0);
    std::memcpy(&r.bytes[width * i++], &x.bytes[width * static_cast<std::size_t>(drx::flat_index(x.type.shape, from))],
                width);
  });
  return r;
}
tensor shards_of(const tensor& x, const drx::abstract_value& type, std::int64_t n) {
  if (x.type.depth == 0) return x;
  tensor r(type);
  const int k = split_axis(x.type.shape, type.shape);
  for (const tensor& m : x.members)
    for (std::int64_t s = 0; s < n; ++s) r.members.push_back(part_of(m, type.of_member(), k, s));
  return r;
}

struct counts {
  int gathers = 0, sums_of_parts = 0, split_inputs = 0, split_outputs = 0;
};
/// Runs the program and that of its shards on the same numbers.
template <class P>
counts check(std::int64_t members = 3) {
  const tape t = P::tape().thaw(), shards = drx::plan::partitioned(t);
  drx::check(shards);
  const auto mesh = drx::plan::mesh_of(t);
  REQUIRE(mesh.count > 0);
  counts c;
  std::mt19937_64 random(7);
  tensors in, parts;
  for (int i = 0; i < t.inputs.size(); ++i) {
    tensor x(t.values[t.inputs[i]]);
    const auto fill = [&](tensor& y) {
      drx::visit_dtype(y.type.type, [&]<class T>(T) {
        for (std::int64_t k = 0; k < y.size(); ++k)
          y.data<T>()[k] = std::is_floating_point_v<T>
                               ? static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(random))
                               : static_cast<T>(random() % 2);
      });
    };
    if (x.type.depth == 0) {
      fill(x);
    } else {
      for (std::int64_t m = 0; m < members; ++m) {
        x.members.emplace_back(x.type.of_member());
        fill(x.members.back());
      }
    }
    c.split_inputs += !(shards.values[shards.inputs[i]].shape == x.type.shape);
    parts.push_back(shards_of(x, shards.values[shards.inputs[i]], mesh.count));
    in.push_back(std::move(x));
  }
  const auto expected = drx::interpreter::run(t, in), found = drx::interpreter::run(shards, parts);
  REQUIRE(expected.size() == found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    c.split_outputs += !(found[i].type.shape == expected[i].type.shape);
    CHECK(largest_difference(found[i], shards_of(expected[i], found[i].type, mesh.count)) < 1e-12);
  }
  (void)drx::any_entry(shards, [&](const drx::entry& e) {
    c.gathers += e.prim == &drx::prim::shard_gather;
    c.sums_of_parts += e.prim == &drx::prim::shard_sum;
    CHECK(e.prim != &drx::prim::with_layout);
    CHECK(!drx::prim::is_collective(e.prim));
    return false;
  });
  const auto staged = drx::interpreter::run(drx::plan::staged(shards), parts);
  CHECK(largest_difference(staged, found) < 1e-13);
  return c;
}

// ---- programs ----

using network = std::tuple<array<double, 3, 4>, array<double, 4>, array<double, 4, 2>, array<double, 2>>;
using rows = array<double, 5, 3>;
using labels = array<double, 5, 2>;

/// A network whose hidden layer is split.
constexpr auto predict = [](auto p, auto x) {
  const auto w1 = drx::with_layout<model, 2>(std::get<0>(p), split_along<1>);
  const auto w2 = drx::with_layout<model, 2>(std::get<2>(p), split_along<0>);
  return drx::matmul(drx::tanh(drx::matmul(x, w1) + std::get<1>(p)), w2) + std::get<3>(p);
};
constexpr auto loss = [](auto p, auto x, auto y) { return drx::mean(drx::square(predict(p, x) - y)); };

constexpr auto forward = [](auto p, auto x) { return drx::map(predict, drx::broadcast<clients>(p), x); };
constexpr auto held = [](auto w1, auto w2, auto x) {
  return drx::map(
      [](auto u, auto v, auto a) {
        return drx::matmul(drx::tanh(drx::matmul(a, drx::with_layout<model, 2>(u, split_along<1>))),
                           drx::with_layout<model, 2>(v, split_along<0>));
      },
      w1, w2, x);
};
constexpr auto step = [](auto p, auto x, auto y) {
  return drx::tree_map([](auto w, auto g) { return w - 0.1 * g; }, p, drx::grad(loss)(p, x, y));
};
constexpr auto train = [](auto p, auto x, auto y) {  // rounds of local steps
  const auto local = [](auto start, auto a, auto b) {
    return drx::fori_loop<3>(start, [=](auto q) { return step(q, a, b); });
  };
  return drx::fori_loop<2>(p,
                           [=](auto q) { return drx::reduce_mean(drx::map(local, drx::broadcast<clients>(q), x, y)); });
};
constexpr auto total = [](auto p, auto x, auto y) {
  return drx::reduce_sum(drx::map(loss, drx::broadcast<clients>(p), x, y));
};
constexpr auto slopes = [](auto p, auto x, auto y) { return drx::value_and_grad(total)(p, x, y); };
constexpr auto curvature = [](auto p, auto x, auto y) {
  return drx::grad([=](auto q) { return drx::sum(drx::square(std::get<0>(drx::grad(total)(q, x, y)))); })(p);
};
constexpr auto through_steps = [](auto p, auto x, auto y) {
  return drx::grad([=](auto q) {
    return drx::reduce_mean(drx::map(
        [](auto s, auto a, auto b) { return loss(drx::fori_loop<3>(s, [=](auto r) { return step(r, a, b); }), a, b); },
        drx::broadcast<clients>(q), x, y));
  })(p);
};
constexpr auto all_rules = [](auto x) {
  return drx::map(
      [](auto a) {
        const auto s = drx::with_layout<model, 2>(a, split_along<0>);
        const auto t = drx::transpose(s);
        const auto r = drx::reshape<2, 2, 3>(s);
        return std::tuple{drx::sum(s),
                          drx::max<0>(s),
                          drx::min<1>(s),
                          t * 2.0,
                          r,
                          drx::sum<1>(r),
                          drx::matmul(s, t),
                          drx::matmul(t, s),
                          drx::cumsum<0>(s),
                          drx::with_layout<model, 2>(s * s, replicated),
                          drx::broadcast_to<2, 4, 3>(s),
                          drx::concatenate<1>(s, a)};
      },
      x);
};
constexpr auto reductions = [](auto x) {
  const auto s = drx::map([](auto a) { return drx::with_layout<model, 2>(drx::sin(a), split_along<0>); }, x);
  const auto c = drx::map([](auto a) { return drx::sum(a); }, x);
  return std::tuple{
      drx::reduce_sum(s),
      drx::reduce_mean(s),
      drx::reduce_max(s),
      drx::reduce_min(c),
      drx::reduce_sum(c),
      drx::reduce_mean(c),
      drx::gather<3>(s),
      drx::gather<3>(c),
      drx::reduce_with(drx::monoid{[](auto a, auto b) { return a * b; }, [] { return drx::ones<array<double>>(); }}, c),
      s,
      drx::count<double>(c)};
};
constexpr auto scanned = [](auto x) {  // slices of what is split, and stacks of them
  return drx::map(
      [](auto a) {
        const auto s = drx::with_layout<model, 2>(a, split_along<1>);
        return drx::scan([](auto carry, auto row) { return std::pair{carry + drx::sum(row) * row, drx::square(row)}; },
                         drx::zeros<array<double, 6>>(), s);
      },
      x);
};
constexpr auto of_all = [](auto x) {
  return drx::map([](auto a) { return drx::with_layout<model, 2>(a, split_along<0>) / drx::axis_size<clients>(a); }, x);
};
constexpr auto by_two_and_three = [](auto x, auto y) {
  return drx::map(
      [](auto a, auto b) {
        return drx::sum(drx::with_layout<model, 2>(a, split_along<0>)) +
               drx::sum(drx::with_layout<model, 3>(b, split_along<0>));
      },
      x, y);
};
constexpr auto by_members = [](auto x) {
  return drx::map([](auto a) { return drx::with_layout<clients, 2>(a, split_along<0>); }, x);
};
constexpr auto sine = [](auto a) { return drx::sin(drx::with_layout<model, 2>(a, split_along<0>)); };
constexpr auto custom = [](auto x) {
  return drx::map([](auto a) { return drx::custom_jvp(sine, [](auto v, auto t) { return drx::cos(v) * t; })(a); }, x);
};
constexpr auto below = [](auto x, auto w) {  // carries of numbers and of bools
  return drx::fori_loop<2>(std::pair{w, w < 0.0}, [=](auto carried) {
    const auto s = drx::reduce_sum(drx::map([](auto a) { return drx::with_layout<model, 2>(a, split_along<0>); }, x));
    return std::pair{carried.first + s, s < carried.first};
  });
};
constexpr array<double, 5, 5> eye{1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
/// Of an axis in an axis each pair is a member of its own; collectives are over either.
constexpr auto pair = [](auto v) {
  const auto s = drx::psum<model>(v), c = drx::psum<clients>(v);
  return std::tuple{v * s + drx::pmean<clients>(s), drx::sin(c) * drx::pmax<model>(v), drx::all_gather<model, 4>(v),
                    drx::cumsum<0>(v) + drx::cast<double>(drx::axis_index<model>(v)),
                    drx::logdet(drx::matmul(drx::reshape<5, 1>(v), drx::reshape<1, 5>(v)) + drx::constant(eye))};
};
constexpr auto axes = [](auto x) { return drx::pmap<clients>([](auto a) { return drx::pmap<model>(pair)(a); })(x); };
constexpr auto arrays = [](auto x) { return drx::vmap<clients>([](auto a) { return drx::vmap<model>(pair)(a); })(x); };
template <auto f>
constexpr auto total_of =
    [](auto x) { return std::apply([](auto... part) { return (drx::sum(drx::sin(part)) + ...); }, f(x)); };
constexpr auto slope_of_axes = [](auto x) { return drx::grad(total_of<axes>)(x); };
constexpr auto slope_of_arrays = [](auto x) { return drx::grad(total_of<arrays>)(x); };
}  // namespace

TEST_CASE("a product over a split axis is one exchange; what follows is split") {
  const counts c = check<program<forward, network, placed<rows, clients>>>();
  CHECK(c.gathers == 1);
  CHECK(c.split_outputs == 0);
}
TEST_CASE("arguments that have one layout only are held split") {
  const counts c = check<program<held, placed<array<double, 3, 4>, clients>, placed<array<double, 4, 2>, clients>,
                                 placed<rows, clients>>>();
  CHECK(c.split_inputs == 2);
  CHECK(c.gathers == 1);
}
TEST_CASE("training: local steps, rounds, gradients of gradients, gradients through steps") {
  using placed_rows = placed<rows, clients>;
  using placed_labels = placed<labels, clients>;
  CHECK(check<program<slopes, network, placed_rows, placed_labels>>().gathers == 1);
  const counts rounds = check<program<train, network, placed_rows, placed_labels>>();
  CHECK(rounds.gathers == 1);
  CHECK(rounds.sums_of_parts == 3);  // between rounds, all that is split stays so
  check<program<curvature, network, placed_rows, placed_labels>>();
  check<program<through_steps, network, placed_rows, placed_labels>>();
}
TEST_CASE("each operation's rule") {
  CHECK(check<program<all_rules, placed<array<double, 4, 3>, clients>>>().split_outputs >= 6);
}
TEST_CASE("reductions over members in shards") {
  CHECK(check<program<reductions, placed<array<double, 4, 3>, clients>>>().split_outputs == 1);
}
TEST_CASE("scans over what is split") {
  CHECK(check<program<scanned, placed<array<double, 5, 6>, clients>>>().split_outputs == 2);
}
TEST_CASE("the number of members is not that of their shards") {
  check<program<of_all, placed<array<double, 4>, clients>>>();
}
TEST_CASE("layouts in another number of shards are not heeded") {
  CHECK(check<program<by_two_and_three, placed<array<double, 6>, clients>, placed<array<double, 3>, clients>>>()
            .split_inputs == 1);
}
TEST_CASE("bools that all members share are in parts, too") {
  check<program<below, placed<array<double, 4>, clients>, array<double, 4>>>();
}
TEST_CASE("members are not split over themselves") {
  CHECK(drx::plan::staged_program<program<by_members, placed<array<double, 4>, clients>>>::mesh.count == 0);
}
TEST_CASE("layouts in a function with a derivative of its own") {
  CHECK(drx::plan::staged_program<program<custom, placed<array<double, 4>, clients>>>::mesh.count == 2);
}
TEST_CASE("two axes are a mesh") {
  using X = array<double, 3, 4, 5>;
  using values = program<axes, X>;
  using slope = program<slope_of_axes, X>;
  tensor x(drx::abstract_value(drx::dtype::float64, X::shape));
  for (std::int64_t i = 0; i < x.size(); ++i) x.data<double>()[i] = std::sin(1.7 * static_cast<double>(i));
  const auto check_mesh = [&](const tape& t, const tape& plain) {
    const auto mesh = drx::plan::mesh_of(t);
    CHECK(mesh.members == &drx::placement_of<clients>);
    CHECK(mesh.shards == &drx::placement_of<model>);
    CHECK(mesh.count == 4);
    const auto found = drx::interpreter::run(drx::plan::partitioned(t), {x}),
               expected = drx::interpreter::run(plain, {x});
    CHECK(largest_difference(found, expected) < 1e-12);
  };
  check_mesh(values::tape().thaw(), program<arrays, X>::tape().thaw());
  check_mesh(slope::tape().thaw(), program<slope_of_arrays, X>::tape().thaw());
}
