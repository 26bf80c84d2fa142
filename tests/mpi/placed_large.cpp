// Large values of members that exchange some of them: kept, computed where they belong, and carried from step to step.
// Blocks of 8, 16 and 32 members. The same bits on any number of ranks.
// ranks: 1 2 3 5
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

#include <array>

namespace {
struct strips : drx::placement<strips> {};
template <class G>
using data = drx::placed<G, strips>;
using large = drx::array<double, 9001>;
using row = drx::array<double, 6>;

constexpr auto mean = [](auto x) { return drx::reduce_mean(drx::map([](auto v) { return drx::mean(v); }, x)); };
constexpr auto settled = [](auto at) {
  auto step = [](auto v, auto c) { return 0.5 * (drx::sin(v) + c); };
  return drx::map(step, at, drx::broadcast<strips>(mean(at)));
};
template <int Steps>
constexpr auto carried = [](auto x) { return drx::fori_loop<Steps>(x, settled); };

constexpr std::array<int, 4> to_next{1, 2, 3, 0};
constexpr auto much_work = [](auto x) {
  for (int i = 0; i < 20; ++i) x = drx::sin(x) * 0.9 + 0.1;
  return x;
};
/// Two carries that change places with what stages make, and one that is another's old value.
constexpr auto ring = [](auto x, auto y) {
  return drx::fori_loop<3>(std::tuple{x, y, x}, [](auto carry) {
    auto [a, b, old] = carry;
    auto p = drx::map([](auto v) { return much_work(v + 0.5 * drx::ppermute<strips>(v, to_next)); }, a);
    auto add = [](auto v, auto w, auto k) { return v * 0.5 + 0.25 * drx::ppermute<strips>(w, to_next) + k; };
    auto q = drx::map(add, p, b, drx::broadcast<strips>(mean(p)));
    return std::tuple{q, p, b};
  });
};
constexpr auto ring_slope = [](auto x, auto y) {
  auto loss = [](auto u, auto v) {
    auto [a, b, c] = ring(u, v);
    return drx::reduce_sum(drx::map([](auto p, auto q, auto r) { return drx::sum(p * p + q * r); }, a, b, c));
  };
  return drx::grad<0, 1>(loss)(x, y);
};
/// Members with loops, which go in blocks of 16 from 128 on.
constexpr auto chains = [](auto w, auto x) {
  auto chain = [](auto p, auto v) {
    return drx::fori_loop<5>(v, [=](auto s) { return drx::tanh(s * p + drx::sum(s)); });
  };
  return drx::reduce_sum(drx::map(chain, drx::broadcast<strips>(w), x));
};
constexpr auto chain_slope = drx::grad<0, 1>([](auto w, auto x) { return drx::sum(chains(w, x)); });
constexpr auto moments = [](auto x) { return drx::reduce_sum(drx::map([](auto v) { return drx::outer(v, v); }, x)); };

template <class P>
void check_bits(std::initializer_list<std::int64_t> members) {
  auto& ranks = harness::session().communicator();
  drx::compiled<P> run(harness::session().executor(), ranks);
  for (const std::int64_t n : members) {
    CAPTURE(n);
    const auto in = harness::random_inputs<P>({.members = n});
    const auto alone = harness::run_serial<P>(in);
    harness::check_near(alone, harness::run_plain<P>(in), 100);
    for (int turn = 0; turn < 3; ++turn)
      CHECK(harness::same_bits(harness::call(run, ranks, in),
                               harness::own_block(alone, drx::even_blocks(n, ranks.size()), ranks.rank())));
  }
}
}  // namespace

TEST_CASE("large carries, after even and odd numbers of steps") {
  check_bits<drx::program<carried<3>, data<large>>>({7, 2, 0, 1});
  check_bits<drx::program<carried<2>, data<large>>>({7, 2});
}
TEST_CASE("exchanges in a loop, and their derivatives") {
  check_bits<drx::program<ring, data<large>, data<large>>>({4});
  check_bits<drx::program<ring, data<row>, data<row>>>({4});
  check_bits<drx::program<ring_slope, data<row>, data<row>>>({4});
}
TEST_CASE("members with loops and without, in blocks") {
  check_bits<drx::program<chains, row, data<row>>>({64, 100, 127, 128, 130, 200, 255, 256, 300});
  check_bits<drx::program<chain_slope, row, data<row>>>({100, 128, 200, 300});
  check_bits<drx::program<moments, data<row>>>({100, 128, 130, 200, 255, 300});
}
