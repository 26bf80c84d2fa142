// Values that stages of several levels need: those that cost much are computed once, and kept.
#include <drx/drx.hpp>
#include <drx/plan/pipeline.hpp>

#include "harness/run.hpp"

#include <array>

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct strips : drx::placement<strips> {};
using row = array<double, 6>;

/// Where a member's value goes in a ring of four.
constexpr std::array<int, 4> to_next{1, 2, 3, 0};
constexpr int sines = 8;
constexpr auto much_work = [](auto x) {
  for (int i = 0; i < sines; ++i) x = drx::sin(x) * 0.9 + 0.1;
  return x;
};
constexpr auto little_work = [](auto x) { return drx::sin(x) + 0.1; };
/// A step that needs the value of the member before.
constexpr auto exchange_of = [](auto work) {
  return [=](auto x) { return work(x + 0.5 * drx::ppermute<strips>(x, to_next)); };
};
constexpr auto three_exchanges = [](auto work, auto x) {
  return drx::map([=](auto v) { return exchange_of(work)(exchange_of(work)(exchange_of(work)(v))); }, x);
};
constexpr auto much = [](auto x) { return three_exchanges(much_work, x); };
constexpr auto little = [](auto x) { return three_exchanges(little_work, x); };
constexpr auto slope = [](auto x) {
  return drx::grad([](auto v) { return drx::reduce_sum(drx::map([](auto y) { return drx::sum(y * y); }, much(v))); })(
      x);
};
/// What only arguments are needed for is computed by both stages: a member's value is never stored.
constexpr auto deviation = [](auto x) {
  auto y = drx::map(much_work, x);
  auto mean = drx::reduce_mean(y);
  return drx::reduce_sum(
      drx::map([](auto v, auto c) { return drx::sum((v - c) * (v - c)); }, y, drx::broadcast<strips>(mean)));
};
/// The same of what a loop carries for each member.
constexpr auto centred = [](auto x) {
  return drx::fori_loop<3>(x, [](auto at) {
    auto y = drx::map(much_work, at);
    auto mean = drx::reduce_mean(y);
    return drx::map([](auto v, auto c) { return v - 0.5 * c; }, y, drx::broadcast<strips>(mean));
  });
};
/// Values that take more memory than what they are computed from.
constexpr auto widened = [](auto x) {
  return drx::fori_loop<3>(x, [](auto at) {
    auto y = drx::map([](auto v) { return much_work(drx::linspace<row>(0, 1) * v); }, at);
    auto mean = drx::reduce_mean(y);
    return drx::map([](auto v, auto c) { return drx::sum(v - 0.5 * c); }, y, drx::broadcast<strips>(mean));
  });
};

int sines_in(const drx::tape& t) {
  int n = 0;
  for (const drx::entry& e : t.entries) {
    n += e.prim == &drx::prim::sin;
    const int bodies = e.prim == &drx::prim::stage ? 1 : e.regions.size();  // (not those for blocks)
    for (int k = 0; k < bodies; ++k) n += sines_in(e.regions[k]);
  }
  return n;
}
template <class P>
int sines_of() {
  return sines_in(drx::plan::staged_program<P>::tape_constant().thaw());
}
using data = placed<row, strips>;
}  // namespace

TEST_CASE("what members exchange is computed once where that is much work") {
  CHECK(sines_of<program<much, data>>() == 3 * sines);
  CHECK(sines_of<program<little, data>>() == 3 + 2 + 1);
}
TEST_CASE("values of arguments alone are never stored; those of what a loop carries are kept") {
  CHECK(sines_of<program<deviation, data>>() == 2 * sines);
  CHECK(sines_of<program<centred, data>>() == sines);
}
TEST_CASE("what takes more memory than that from which it is computed is computed again") {
  CHECK(sines_of<program<widened, placed<double, strips>>>() == 2 * sines);
}
TEST_CASE("kept values are those of plain evaluation") {
  harness::check_run<program<much, data>>({}, {4});
  harness::check_run<program<slope, data>>({}, {4});
  harness::check_run<program<centred, data>>();
  harness::check_run<program<centred, data>>({}, {70});
}
