// Loops whose narrow matrices lie transposed, and what is computed in front of them.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
template <int... E>
using floats = array<double, E...>;

constexpr auto loss = [](auto w, auto v, auto b, auto x, auto y) {
  const auto h = drx::tanh(drx::matmul(x, w));
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(h, v) + b, y));
};
/// Four steps of descent of a network with five classes.
template <drx::loop_options Options>
constexpr auto train_by = [](auto w, auto v, auto b, auto x, auto y) {
  return drx::fori_loop<4>(
      std::tuple{w, v, b},
      [=](auto m) {
        const auto& [p, q, r] = m;
        const auto [dp, dq, dr] = drx::grad<0, 1, 2>(loss)(p, q, r, x, y);
        return std::tuple{p - .5 * dp, q - .5 * dq, r - .5 * dr};
      },
      Options);
};
constexpr auto& train = train_by<drx::keep_carries>;
constexpr auto final_loss = [](auto w, auto v, auto b, auto x, auto y) {
  const auto [p, q, r] = train(w, v, b, x, y);
  return loss(p, q, r, x, y);
};
constexpr auto bent = [](auto w, auto v, auto b, auto x, auto y) { return drx::grad<1, 4>(final_loss)(w, v, b, x, y); };
constexpr auto by_rate = [](auto r, auto w, auto v, auto b, auto x, auto y) {
  return drx::value_and_grad([=](auto rate) {
    return drx::sum(std::get<0>(drx::fori_loop<4>(
        std::tuple{w, v, b},
        [=](auto m) {
          const auto& [p, q, s] = m;
          const auto [dp, dq, ds] = drx::grad<0, 1, 2>(loss)(p, q, s, x, y);
          return std::tuple{p - rate * dp, q - rate * dq, s - rate * ds};
        },
        drx::loop_options{drx::keep_all, drx::carry_products})));
  })(r);
};
/// Narrow slices in and out of each step, a mask, a transpose, and both sums.
constexpr auto sliced = [](auto z, auto v, auto xs) {
  return drx::scan(
      [=](auto c, auto x) {
        const auto y = drx::where(c > x, drx::matmul(z, c), x * 2.);
        return std::pair{
            y + drx::sum<0>(x) - drx::reshape<32, 1>(drx::max<1>(y)) +
                drx::matmul(drx::transpose(drx::matmul(drx::transpose(y), z)), drx::matmul(drx::transpose(v), y)),
            y};
      },
      v, xs);
};
/// What cannot be turned stays as it is.
constexpr auto reshaped = [](auto z, auto v) {
  return drx::fori_loop<3>(
      v, [=](auto c) { return drx::matmul(z, c) * .1 + drx::reshape<32, 3>(drx::reshape<96>(c) * 2.); });
};
/// The sum is the same at each step, and so are the sines, which are more numbers than what they are made of.
constexpr auto step_of = [](auto a, auto c) {
  return c * drx::sum(drx::exp(a)) + drx::sin(drx::matmul(drx::reshape<4, 1>(a), drx::reshape<1, 4>(a)));
};
constexpr auto constants = [](auto a, auto c) {
  return drx::grad<0, 1>(
      [](auto p, auto q) { return drx::sum(drx::fori_loop<3>(q, [=](auto now) { return step_of(p, now); })); })(a, c);
};

template <class P>
int entries_of_loops(const drx::primitive& wanted) {
  int n = 0;
  const drx::tape t = drx::plan::staged_program<P>::tape_constant().thaw();
  for (const drx::entry& e : t.entries)
    if (e.prim == &drx::prim::scan)
      for (const drx::entry& in_loop : e.regions[0].entries) n += in_loop.prim == &wanted;
  return n;
}
}  // namespace

TEST_CASE("a network that is trained in a loop: nothing is transposed in it") {
  using P = program<train, floats<16, 32>, floats<32, 5>, floats<5>, floats<32, 16>, floats<32, 5>>;
  CHECK(entries_of_loops<P>(drx::prim::transpose) == 0);
  const drx::tape t = drx::plan::staged_program<P>::tape_constant().thaw();
  int turned = 0;
  for (const drx::abstract_value& v : t.values) turned += v.shape == drx::make_shape(5, 32);
  CHECK(turned >= 3);  // the weights before and after, the classes
  harness::check_run<P>();
}
TEST_CASE("of fewer rows than columns the loop carries products instead of weights; and the way back does") {
  using P =
      program<train_by<drx::carry_products>, floats<16, 32>, floats<32, 5>, floats<5>, floats<8, 16>, floats<8, 5>>;
  const drx::tape t = drx::plan::staged_program<P>::tape_constant().thaw();
  int squares = 0;
  for (const drx::abstract_value& v : t.values) squares += v.shape == drx::make_shape(8, 8);
  CHECK(squares == 1);
  harness::check_run<P>();
  harness::check_run<program<by_rate, double, floats<16, 32>, floats<32, 5>, floats<5>, floats<8, 16>, floats<8, 5>>>();
}
TEST_CASE("its derivative by weights and classes, whose loops keep the carries") {
  harness::check_run<program<bent, floats<16, 32>, floats<32, 5>, floats<5>, floats<32, 16>, floats<32, 5>>>();
}
TEST_CASE("narrow slices go in and out of each step") {
  using P = program<sliced, floats<32, 32>, floats<32, 3>, floats<4, 32, 3>>;
  CHECK(entries_of_loops<P>(drx::prim::transpose) == 0);
  harness::check_run<P>();
}
TEST_CASE("a loop that needs a matrix as it is stays") {
  using P = program<reshaped, floats<32, 32>, floats<32, 3>>;
  CHECK(entries_of_loops<P>(drx::prim::transpose) == 0);
  harness::check_run<P>();
}
TEST_CASE("what depends on constants alone is computed in front of the loop, unless it is larger than they are") {
  using P = program<constants, floats<4>, floats<4, 4>>;
  harness::check_run<P>();
}
