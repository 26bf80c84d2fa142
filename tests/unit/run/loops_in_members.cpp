// Members with loops and branches of their own go in blocks too: values and derivatives against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct runs : drx::placement<runs> {};
using series = drx::array<float, 5>;

// A recurrence over the member's series, with states of three numbers.
constexpr auto recurrence = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    auto step = [=](auto s, auto z) {
      auto next = drx::tanh(s * v + z) - 0.5 * drx::flip<0>(s);
      return std::pair{next, drx::sum(next)};
    };
    auto [last, sums] = drx::scan(step, 0 * v, drx::cast<double>(x));
    return drx::sum(drx::square(last)) + drx::index<1>(sums);
  };
  return drx::value_and_grad(
      [=](auto v) { return drx::reduce_mean(drx::map(of_member, drx::broadcast<runs>(v), data)); })(w);
};
using Recurrence = drx::program<recurrence, drx::array<double, 3>, drx::placed<series, runs>>;

// As many steps as each member needs, of which some go one way and some the other.
constexpr auto root = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    auto go_on = [=](auto y) { return drx::abs(y * y - x - v) > 1e-9; };
    auto step = [=](auto y) {
      return drx::cond(y > 1.5, [=] { return 0.5 * (y + (x + v) / y); }, [=] { return y - 0.3 * (y * y - x - v); });
    };
    return drx::while_loop<60>(go_on, step, 1 + x);
  };
  return drx::value_and_grad(
      [=](auto v) { return drx::reduce_sum(drx::map(of_member, drx::broadcast<runs>(v), data)); })(w);
};
using Root = drx::program<root, drx::scalar<double>, drx::placed<drx::scalar<double>, runs>>;

// Two numbers are halved towards a place of the member's own, until they are near.
constexpr auto near = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    return drx::while_loop<40>([=](auto y) { return drx::norm(y - x) > 1e-6; },
                               [=](auto y) { return 0.5 * (y + x) + 1e-9 * v; }, drx::flip<0>(x * x) - v);
  };
  return drx::value_and_grad([=](auto v) {
    return drx::reduce_sum(
        drx::map([=](auto u, auto x) { return drx::sum(of_member(u, x)); }, drx::broadcast<runs>(v), data));
  })(w);
};
using Near = drx::program<near, drx::array<double, 2>, drx::placed<drx::array<double, 2>, runs>>;

// A loop without a bound in steps, or in a branch, that only members that still go on may take: for others it never
// ends.
constexpr auto endless_inside = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    auto grown = [](auto z, auto by) {
      return drx::while_loop([](auto u) { return drx::sum(u) < 100; }, [=](auto u) { return u * by; }, z);
    };
    auto end = drx::while_loop([](auto y) { return drx::sum(y) > 1.5; },
                               [=](auto y) { return 0.5 * y + 1e-9 * v * grown(y, drx::sum(y)); }, x);
    auto chosen = drx::cond(drx::sum(x) > 3, [=] { return grown(x, drx::sum(x) - 1.5); }, [=] { return x; });
    return drx::sum(end) + drx::sum(chosen);
  };
  return drx::reduce_sum(drx::map(of_member, drx::broadcast<runs>(w), data));
};
using EndlessInside = drx::program<endless_inside, drx::scalar<double>, drx::placed<drx::array<double, 2>, runs>>;

// A walk of each member's own, from its number alone; the ends are returned.
constexpr auto walk = [](auto drift, auto data) {
  auto of_member = [](auto d, auto x) {
    return drx::fori_loop<4>(x,
                             [=](auto i, auto y) { return y + d * drx::cast<float>(i + 1) + 0.25f * drx::square(y); });
  };
  auto ends = drx::map(of_member, drx::broadcast<runs>(drift), data);
  return std::tuple{ends, drx::reduce_max(ends), drx::reduce_min(ends)};
};
using Walk = drx::program<walk, drx::scalar<float>, drx::placed<drx::array<float, 2>, runs>>;

// Of the members' numbers alone: nothing is placed.
constexpr auto by_number = [](auto w, auto) {
  auto of_member = [](auto v, auto i) {
    return drx::fori_loop<3>(v * drx::cast<double>(i), [=](auto y) { return drx::sin(y) + v; });
  };
  return drx::value_and_grad([=](auto v) {
    return drx::reduce_mean(drx::map(of_member, drx::broadcast<runs>(v), drx::partition_index<runs>()));
  })(w);
};
using ByNumber = drx::program<by_number, drx::scalar<double>, drx::placed<drx::scalar<float>, runs>>;

// So many steps are kept that blocks of 32 would not stay in a cache, and of 8 neither.
template <int Steps>
constexpr auto long_recurrence = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    return drx::fori_loop<Steps>(x, [=](auto y) { return y + 0.001 * drx::sin(drx::sum(v) * y); });
  };
  return drx::value_and_grad(
      [=](auto v) { return drx::reduce_sum(drx::map(of_member, drx::broadcast<runs>(v), data)); })(w);
};
template <int Steps, int Numbers = 2>
using LongRecurrence =
    drx::program<long_recurrence<Steps>, drx::array<double, Numbers>, drx::placed<drx::scalar<double>, runs>>;

// A product larger than blocks take otherwise, beside a chain of short steps; and its derivative by what all share.
constexpr auto chain = [](auto weights, auto data) {
  auto of_member = [](auto w, auto x) {
    auto scores = drx::matmul(x, w);
    auto step = [=](auto a, auto own) {
      return std::pair{drx::logsumexp<0>(drx::expand_dims<1>(a) + drx::slice<0, 6>(w)) + own, std::tuple{}};
    };
    return drx::logsumexp(std::get<0>(drx::scan(step, drx::index<0>(scores), drx::slice<1, 24>(scores))));
  };
  return drx::value_and_grad(
      [=](auto w) { return drx::reduce_mean(drx::map(of_member, drx::broadcast<runs>(w), data)); })(weights);
};
using Chain = drx::program<chain, drx::array<double, 20, 6>, drx::placed<drx::array<double, 24, 20>, runs>>;

// Pairs fill the vectors in each member, and blocks would keep the steps of many.
constexpr auto pairs = [](auto pull, auto data) {
  auto of_member = [](auto p, auto start) {
    return drx::fori_loop<100>(start, [=](auto x) {
      return x + 0.01 * drx::sum<1>(p * drx::sin(drx::expand_dims<0>(x) - drx::expand_dims<1>(x)));
    });
  };
  return drx::value_and_grad([=](auto p) {
    return drx::reduce_sum(drx::map([=](auto q, auto x) { return drx::sum(drx::square(of_member(q, x))); },
                                    drx::broadcast<runs>(p), data));
  })(pull);
};
using Pairs = drx::program<pairs, drx::array<double, 48>, drx::placed<drx::array<double, 48>, runs>>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
}  // namespace

TEST_CASE("a recurrence in each member") {
  harness::check_run<Recurrence>({}, {0, 1, 127, 128, 203, 255, 256, 300, 1024, 1063});
}
TEST_CASE("loops that stop, with branches, in each member") {
  harness::check_run<Root>({.low = 0.5, .high = 4}, {3, 260, 1063});
}
TEST_CASE("loops of two numbers that stop are loops of lanes") {
  harness::check_run<Near>({.low = 0.5, .high = 2}, {3, 260, 1063});
  const std::string plan = plan_of<Near>(), there = plan.substr(plan.find(": bool[32]"));
  CHECK(there.substr(0, there.find(" = scan")).find("f64[2,32]") != std::string::npos);
  CHECK(plan.find(": bool = max_over") != std::string::npos);  // whether any goes on
}
TEST_CASE("loops without a bound inside of what ends, or is chosen, for each member by itself") {
  harness::check_run<EndlessInside>({.low = 0.2, .high = 4}, {1, 40, 300});
}
TEST_CASE("loops whose results are kept") { harness::check_run<Walk>({}, {7, 271, 1063}); }
TEST_CASE("a chain of short steps beside a larger product") {
  harness::check_run<Chain>({}, {1, 70, 300});
  CHECK(plan_of<Chain>().find("blocks of") != std::string::npos);
}
TEST_CASE("loops that begin with the member's number") {
  harness::check_run<ByNumber>({}, {5, 300});
  CHECK(plan_of<ByNumber>().find("blocks of 32") != std::string::npos);
}
TEST_CASE("blocks of members are as large as what their loops keep of the steps allows") {
  CHECK(plan_of<Recurrence>().find("blocks of 32, 16; groups of 8]") != std::string::npos);
  CHECK(plan_of<LongRecurrence<1000>>().find("blocks of 32") != std::string::npos);
  CHECK(plan_of<LongRecurrence<3000>>().find("blocks of 16; groups of 8]") != std::string::npos);
  CHECK(plan_of<LongRecurrence<5000>>().find("blocks of 8; groups of 8]") != std::string::npos);
  CHECK(plan_of<LongRecurrence<10000>>().find("blocks") == std::string::npos);
  CHECK(plan_of<LongRecurrence<10000, 1>>().find("blocks of 32") != std::string::npos);  // forward mode keeps nothing
}
TEST_CASE("a member that fills the vectors stays alone, so that the steps of one are kept") {
  harness::check_run<Pairs>({}, {1, 33});
  CHECK(plan_of<Pairs>().find("blocks") == std::string::npos);
}
