// pmap and collectives over named axes: against vmap with the same axis, and both against what they mean.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::axis;
using drx::none;
using drx::placed;
using drx::program;

namespace {
struct devices : drx::placement<devices> {};
struct clients : drx::placement<clients> {};
constexpr array<double, 2, 1, 1> numbers{0, 1};
constexpr array<double, 4, 1> column{0., 1., 2., 3.};
using vec3 = array<double, 3>;
using m43 = array<double, 4, 3>;

constexpr auto all_collectives = [](auto x) {  // of one member's [3]
  const auto sum = drx::psum<devices>(x);
  const auto i = drx::cast<double>(drx::axis_index<devices>(x));
  const auto n = drx::axis_size<devices>(x);
  const auto everybody = drx::all_gather<devices, 4>(x * i);
  const auto left = drx::ppermute<devices>(x, std::array{3, 0, 1, 2});
  const auto some = drx::ppermute<devices>(x, std::array{1, -1, 0, 0});
  return std::tuple{sum * x,
                    drx::pmean<devices>(x) + i * n,
                    drx::pmax<devices>(x) - drx::pmin<devices>(x),
                    everybody,
                    left * some,
                    drx::all_to_all<devices>(everybody * x),
                    drx::psum_scatter<devices>(everybody * i),
                    drx::pprod<devices, 4>(x + 1),
                    drx::psum<devices>(drx::sin(sum) * x)};
};
constexpr auto with_pmap = [](auto x) { return drx::pmap<devices>(all_collectives)(x); };
constexpr auto with_vmap = [](auto x) { return drx::vmap<devices>(all_collectives)(x); };

constexpr auto loss = [](auto w, auto x, auto y) { return drx::square(drx::dot(w, x) - y); };
constexpr auto train = [](auto w, auto xs, auto ys) {  // data-parallel descent, the loop inside
  const auto device = [](auto start, auto x, auto y) {
    return drx::fori_loop<5>(start, [=](auto v) { return v - 0.1 * drx::pmean<devices>(drx::grad(loss)(v, x, y)); });
  };
  return drx::pmap<devices>(device, std::tuple{none, axis<0>, axis<0>}, none)(w, xs, ys);
};
constexpr auto train_plainly = [](auto w, auto xs, auto ys) {
  const auto mean = [=](auto v) { return drx::mean(drx::vmap([=](auto x, auto y) { return loss(v, x, y); })(xs, ys)); };
  return drx::fori_loop<5>(w, [=](auto v) { return v - 0.1 * drx::grad(mean)(v); });
};
constexpr auto apart = [](auto x) {  // what counts the steps differs, though nothing in it does
  const auto s = drx::psum<devices>(x);
  const auto [y, n] = drx::while_loop<20>(
      [](auto c) { return drx::sum(drx::square(std::get<0>(c))) < 30; },
      [=](auto c) { return std::tuple{std::get<0>(c) * 1.5 + s, std::get<1>(c) + 1}; }, std::tuple{x, 0.0});
  return y * n;
};
constexpr auto together = [](auto x) {
  return drx::while_loop<20>([](auto c) { return drx::sum(drx::square(drx::psum<devices>(c))) < 30; },
                             [](auto c) { return c * 1.5; }, x);
};
}  // namespace

TEST_CASE("collectives in pmap and in vmap, and their derivatives") {
  constexpr auto same = [](auto x) {
    const auto weigh = [](auto t) {
      return std::apply([](auto... part) { return (drx::sum(drx::sin(part)) + ...); }, t);
    };
    const auto p = [=](auto v) { return weigh(with_pmap(v)); };
    const auto v = [=](auto z) { return weigh(with_vmap(z)); };
    return std::tuple{p(x) - v(x), drx::grad(p)(x) - drx::grad(v)(x), drx::hvp(p, x, x) - drx::hvp(v, x, x)};
  };
  harness::check_zero<program<same, m43>>();
  harness::check_program<program<with_pmap, m43>>({.orders = 1});
  harness::check_program<program<with_vmap, m43>>({.orders = 1});
}
TEST_CASE("compiled collectives") { harness::check_run<program<with_pmap, m43>>(); }

TEST_CASE("training: a loop with a collective, a result that is the same for all") {
  constexpr auto same = [](auto w, auto x, auto y) { return train(w, x, y) - train_plainly(w, x, y); };
  harness::check_zero<program<same, vec3, m43, array<double, 4>>>();
  harness::check_run<program<train, vec3, m43, array<double, 4>>>();
  constexpr auto slope = [](auto w, auto x, auto y) {
    const auto after = [](auto f) { return [=](auto a, auto b, auto c) { return drx::sum(drx::sin(f(a, b, c))); }; };
    return drx::grad<1>(after(train))(w, x, y) - drx::grad<1>(after(train_plainly))(w, x, y);
  };
  harness::check_zero<program<slope, vec3, m43, array<double, 4>>>();
}

TEST_CASE("a derivative inside is that of all members' results; the sum of a sum") {
  constexpr auto f = [](auto x) {  // x: [4]
    const auto inside =
        drx::pmap<devices>([](auto v) { return drx::grad([](auto z) { return drx::psum<devices>(z * z); })(v); })(x);
    const auto twice = drx::pmap<devices>([](auto v) { return drx::psum<devices>(drx::psum<devices>(v)); })(x);
    const auto outside = drx::grad([](auto z) {
      return drx::pmap<devices>([](auto v) { return drx::psum<devices>(v * v); }, axis<0>, none)(z);
    })(x);
    return std::tuple{inside - 8 * x, twice - 4 * drx::sum(x), outside - 2 * x};
  };
  harness::check_zero<program<f, array<double, 4>>>();
}

TEST_CASE("collectives in the body of a map") {
  constexpr auto f = [](auto x) {
    const auto centred = drx::map([](auto v) { return v - drx::pmean<devices>(v); }, x);
    return std::pair{drx::reduce_sum(centred), drx::reduce_mean(x * x) - drx::reduce_mean(x) * drx::reduce_mean(x) -
                                                   drx::reduce_mean(centred * centred)};
  };
  harness::check_zero<program<f, placed<vec3, devices>>>();
  constexpr auto g = [](auto x) {
    return drx::map([](auto v) { return drx::tanh(v * drx::pmax<devices>(v)) / drx::psum<devices>(v); }, x);
  };
  harness::check_program<program<g, placed<vec3, devices>>>({.low = .5, .orders = 1});
}

TEST_CASE("loops that stop: each member by itself, and all together") {
  constexpr auto same = [](auto x) {
    return std::tuple{drx::pmap<devices>(apart)(x) - drx::vmap<devices>(apart)(x),
                      drx::pmap<devices>(together)(x) - drx::vmap<devices>(together)(x)};
  };
  harness::check_zero<program<same, m43>>();
}

TEST_CASE("the member's number in a loop and in a branch; a collective of what comes from around the function") {
  constexpr auto same = [](auto x, auto w) {
    const auto in_loop = [](auto v) {
      return drx::fori_loop<3>(v, [](auto c) { return c * drx::cast<double>(drx::axis_index<devices>(c)) + 1; });
    };
    const auto in_branch = [=](auto v) {
      const auto number = [&] {
        return v + drx::cast<double>(drx::axis_index<devices>(v)) / drx::axis_size<devices>(v);
      };
      return drx::cond(drx::sum(v) > 0, number, [&] { return v; });
    };
    const auto around = [=](auto v) {
      return v * drx::psum<devices>(w) + drx::cast<double>(drx::axis_index<devices>(w));
    };
    const auto apart_from = [&](auto f) { return drx::pmap<devices>(f)(x) - drx::vmap<devices>(f)(x); };
    return std::tuple{apart_from(in_loop), apart_from(in_branch), apart_from(around),
                      drx::pmap<devices>(around)(x) - (4 * x * w + drx::constant(column))};
  };
  harness::check_zero<program<same, m43, vec3>>();
}

TEST_CASE("a branch that all members take together") {
  constexpr auto same = [](auto x) {
    const auto f = [](auto v) {
      return drx::cond(
          drx::sum(drx::psum<devices>(v)) > 8, [](auto z) { return z - drx::pmean<devices>(z * z); },
          [](auto z) { return drx::pmax<devices>(z) + 0 * z; }, v);
    };
    const auto p = [=](auto z) { return drx::sum(drx::sin(drx::pmap<devices>(f)(z))); };
    const auto v = [=](auto z) { return drx::sum(drx::sin(drx::vmap<devices>(f)(z))); };
    return std::tuple{p(x) - v(x), p(x / 4) - v(x / 4), drx::grad(p)(x) - drx::grad(v)(x),
                      drx::grad(p)(x / 4) - drx::grad(v)(x / 4)};
  };
  harness::check_zero<program<same, m43>>();
  harness::check_run<program<same, m43>>({.low = .5, .high = 1.5});
}

namespace {
constexpr auto less_sum = [](auto x) {
  return drx::pmap<devices>([](auto v) { return v - drx::psum<devices>(v); })(x);
};
}  // namespace

TEST_CASE("an axis of no members, by itself and in a map") {
  constexpr auto alone = [](auto x, auto w) {
    const auto f = [=](auto y, auto u) {
      return drx::sum(drx::pmap<devices>([=](auto v) { return v * u * drx::psum<devices>(v); })(y)) + drx::sum(u * u);
    };
    const auto moved =
        drx::pmap<devices>([](auto v) { return drx::all_to_all<devices>(drx::all_gather<devices, 0>(v)); })(x);
    return std::tuple{less_sum(x), drx::sum(less_sum(x)), drx::grad<0, 1>(f)(x, w), moved};
  };
  harness::check_run<program<alone, array<double, 0, 3>, vec3>>();
  constexpr auto in_members = [](auto x) {
    return std::pair{drx::reduce_sum(drx::map([](auto v) { return drx::sum(less_sum(v)) + 1; }, x)),
                     drx::map(less_sum, x)};
  };
  harness::check_run<program<in_members, placed<array<double, 0, 3>, clients>>>({}, {3, 0, 5});
}

TEST_CASE("two axes at once") {
  // x: [2, 4, 3], over clients and devices
  constexpr auto f = [](auto x) {
    const auto one = [](auto v) {
      const auto both = drx::psum<clients>(drx::psum<devices>(v));
      return v * drx::pmean<clients>(v) +
             drx::psum<devices>(drx::sin(v)) * drx::cast<double>(drx::axis_index<clients>(v)) + both;
    };
    const auto inner = [=](auto row) { return drx::pmap<devices>(one)(row); };
    const auto mesh = drx::pmap<clients>(inner)(x);
    const auto across = [](auto y) { return drx::broadcast_to<2, 4, 3>(drx::reshape<1, 4, 3>(y)); };
    const auto along = [](auto y) { return drx::broadcast_to<2, 4, 3>(drx::reshape<2, 1, 3>(y)); };
    return mesh - (x * across(drx::mean<0>(x)) + along(drx::sum<1>(drx::sin(x))) * drx::constant(numbers) +
                   drx::broadcast_to<2, 4, 3>(drx::sum<0, 1>(x)));
  };
  harness::check_zero<program<f, array<double, 2, 4, 3>>>();
  constexpr auto nested = [](auto x) {  // each axis by itself: a placement in a placement
    const auto mesh = drx::pmap<clients>(
        [](auto row) { return drx::pmap<devices>([](auto v) { return v - drx::pmean<devices>(v); })(row); })(x);
    return mesh - (x - drx::broadcast_to<2, 4, 3>(drx::reshape<2, 1, 3>(drx::mean<1>(x))));
  };
  constexpr auto in_members = [](auto x) {  // messages among the members of a member
    return drx::map(
        [](auto a) {
          const auto v = drx::distribute<devices>(a);
          const auto moved = drx::map(
              [](auto w) { return drx::ppermute<devices>(w, std::array{1, 1, -1}) + drx::all_to_all<devices>(w * w); },
              v);
          return drx::gather<3>(moved);
        },
        x);
  };
  harness::check_run<program<in_members, drx::placed<array<double, 3, 3>, clients>>>();
  harness::check_zero<program<nested, array<double, 2, 4, 3>>>();
  harness::check_run<program<nested, array<double, 2, 4, 3>>>();
}
