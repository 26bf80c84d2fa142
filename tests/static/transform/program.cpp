// Programs: types of results, and tapes composed by plain calls.
#include <drx/drx.hpp>

#include <concepts>
#include <tuple>
#include <utility>

namespace {

struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};
using v3 = drx::array<float, 3>;
using scalar = drx::array<float>;

constexpr auto dot = [](auto x, auto y) { return drx::sum(x * y); };
using Dot = drx::program<dot, v3, v3>;
static_assert(drx::Program<Dot> && std::same_as<Dot::result, scalar> && std::same_as<Dot::inputs, std::tuple<v3, v3>>);
static_assert(Dot::tape().sizes.regions == 1 && Dot::tape().sizes.entries == 2);  // mul, sum

// A program is a function: called by another it writes its tape there.
constexpr auto square_norm = [](auto x) { return Dot{}(x, x); };
constexpr auto square_norm_by_hand = [](auto x) { return drx::sum(x * x); };
using Composed = drx::program<square_norm, v3>;
using ByHand = drx::program<square_norm_by_hand, v3>;
static_assert(Composed::tape().sizes.entries == ByHand::tape().sizes.entries && Composed::tape().sizes.regions == 1);
static_assert(Composed::tape().entries[0].prim == ByHand::tape().entries[0].prim &&
              Composed::tape().entries[1].prim == &drx::prim::sum);

// Gradients, structures, nested placements.
constexpr auto step = [](auto m, auto x) {
  auto loss = [](auto model, auto data) { return dot(model.first, data) + model.second; };
  auto [value, g] = drx::value_and_grad(loss)(m, x);
  return std::pair{value, std::pair{m.first - 0.1 * g.first, m.second - 0.1 * g.second}};
};
using model = std::pair<v3, float>;
using Step = drx::program<step, model, v3>;
static_assert(std::same_as<Step::result, std::pair<scalar, std::pair<v3, scalar>>>);
static_assert(Step::tape().sizes.entries > 0);

constexpr auto of_pupils = [](auto x) {
  return drx::reduce_mean(drx::map([](auto pupil) { return drx::reduce_sum(drx::map(square_norm, pupil)); }, x));
};
using Nested = drx::program<of_pupils, drx::placed<drx::placed<v3, pupils>, clients>>;
static_assert(std::same_as<Nested::result, scalar>);
static_assert(Nested::tape().sizes.regions == 3);  // itself, the map over clients, in it the map over pupils

// Refusals can be asked for.
constexpr auto text = [](auto) { return "text"; };
static_assert(!drx::Program<drx::program<text, v3>> && !drx::Program<drx::program<dot, v3>> &&
              !drx::Program<drx::program<dot, v3, char*>>);
static_assert(std::same_as<drx::program<dot, v3>::misuse, drx::error::function_does_not_take_these_arguments>);
template <class P, class... X>
concept takes = requires(P p, X... x) { p(x...); };
static_assert(takes<Dot, v3, v3> && !takes<Dot, v3>);

template <class F>
concept definable = requires(F f) { drx::define<float>(f); };
[[maybe_unused]] auto with_capture(int k) {
  return [k](auto x) { return x * k; };
}
static_assert(definable<decltype(square_norm)> && !definable<decltype(with_capture(1))>);

}  // namespace
