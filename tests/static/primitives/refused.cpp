// A misuse does not compile, and code can ask whether it would: `requires { drx::map(f, x); }`.
#include <drx/drx.hpp>

#include <tuple>

namespace {

struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};

using v3 = drx::array<float, 3>;
using v4 = drx::array<float, 4>;
using d3 = drx::array<double, 3>;
using i3 = drx::array<std::int32_t, 3>;
using m34 = drx::array<float, 3, 4>;
using placed_v3 = drx::placed<v3, clients>;
using others_v3 = drx::placed<v3, pupils>;
using nested = drx::placed<others_v3, clients>;

constexpr auto twice = [](const auto& x) { return x + x; };
constexpr auto sum_of_two = [](const auto& x, const auto& y) { return x + y; };
constexpr auto nothing = [](const auto&) { return "no value of drx"; };

template <auto F, class... X>
concept maps = requires(X... x) { drx::map(F, x...); };
static_assert(maps<twice, placed_v3>);
static_assert(maps<sum_of_two, placed_v3, placed_v3>);
static_assert(!maps<twice, v3>);
static_assert(!maps<sum_of_two, placed_v3, v3>);
static_assert(!maps<sum_of_two, placed_v3, others_v3>);
static_assert(!maps<sum_of_two, placed_v3>);
static_assert(!maps<nothing, placed_v3>);

template <class X>
concept reduces = requires(X x) { drx::reduce_sum(x); } && requires(X x) { drx::reduce_mean(x); } &&
                  requires(X x) { drx::reduce_max(x); } && requires(X x) { drx::reduce_min(x); };
static_assert(reduces<placed_v3>);
static_assert(reduces<drx::placed<std::tuple<v3, float>, clients>>);
static_assert(!reduces<v3>);
static_assert(!reduces<std::tuple<v3, float>>);
static_assert(!reduces<nested>);
static_assert(!reduces<drx::placed<bool, clients>>);

template <class X>
concept broadcasts = requires(X x) { drx::broadcast<clients>(x); };
static_assert(broadcasts<v3> && broadcasts<std::tuple<v3, v4>>);
static_assert(!broadcasts<placed_v3> && !broadcasts<others_v3>);

template <class X, class Y>
concept adds = requires(X x, Y y) { x + y; };
template <class X, class Y>
concept compares = requires(X x, Y y) { x < y; };
static_assert(adds<v3, v3> && adds<v3, int> && adds<double, v3> && adds<placed_v3, placed_v3> && adds<placed_v3, int>);
static_assert(!adds<v3, d3> && !adds<v3, v4> && !adds<i3, double> && !adds<v3, const char*>);
static_assert(!adds<placed_v3, v3> && !adds<v3, placed_v3> && !adds<placed_v3, others_v3>);
static_assert(compares<v3, v3> && !compares<v3, d3> && !compares<placed_v3, placed_v3>);

template <class X, class Y>
concept multiplies = requires(X x, Y y) { drx::matmul(x, y); };
static_assert(multiplies<m34, v4> && multiplies<v3, m34>);
static_assert(!multiplies<m34, m34> && !multiplies<m34, float> && !multiplies<drx::array<double, 5, 3>, m34> &&
              !multiplies<placed_v3, placed_v3>);

template <class X, int Axis>
concept sums = requires(X x) { drx::sum<Axis>(x); };
static_assert(sums<m34, 1> && sums<m34, -2> && !sums<m34, 2> && !sums<m34, -3> && !sums<placed_v3, 0>);

template <class X, std::int64_t... Extents>
concept reshapes = requires(X x) { drx::reshape<Extents...>(x); };
static_assert(reshapes<m34, 12> && reshapes<m34, 2, 3, 2> && !reshapes<m34, 5> && !reshapes<placed_v3, 3>);

template <class X, int... P>
concept transposes = requires(X x) { drx::transpose<P...>(x); };
static_assert(transposes<m34> && transposes<m34, 1, 0> && !transposes<m34, 0, 0> && !transposes<m34, 0> &&
              !transposes<m34, 0, 2>);

template <class X, std::int64_t... Extents>
concept repeats = requires(X x) { drx::broadcast_to<Extents...>(x); };
static_assert(repeats<v3, 2, 3> && !repeats<v3, 4> && !repeats<m34, 4> && !repeats<placed_v3, 2, 3>);

template <class Y, class X>
concept turns = requires(Y y, X x) { drx::atan2(y, x); };
static_assert(turns<v3, v3> && turns<v3, float> && turns<int, v3>);
static_assert(!turns<i3, i3> && !turns<v3, d3> && !turns<v3, v4> && !turns<placed_v3, placed_v3>);

template <class X, class Y, class Z>
concept fuses = requires(X x, Y y, Z z) { drx::fma(x, y, z); };
static_assert(fuses<v3, v3, v3> && fuses<v3, float, int>);
static_assert(!fuses<i3, i3, i3> && !fuses<v3, d3, v3> && !fuses<v3, v3, v4> &&
              !fuses<placed_v3, placed_v3, placed_v3>);

template <class X>
concept has_special = requires(X x) { drx::erf(x); } && requires(X x) { drx::lgamma(x); } && requires(X x) {
  drx::polygamma<1>(x);
} && requires(X x) { drx::gelu(x); } && requires(X x) { drx::asinh(x); } && requires(X x) { drx::cbrt(x); };
static_assert(has_special<v3> && has_special<d3> && !has_special<i3> && !has_special<placed_v3>);

template <class C, class X>
concept selects = requires(C c, X x) { drx::where(c, x, x); };
static_assert(selects<drx::array<bool, 3>, v3> && !selects<v3, v3> && !selects<drx::array<bool, 4>, v3>);

template <class X, auto Body>
concept loops = requires(X x) { drx::fori_loop<2>(x, Body); };
constexpr auto total = [](const auto& x) { return drx::sum(x); };
static_assert(loops<v3, twice> && !loops<v3, total>);

template <class X, auto F>
concept differentiates = requires(X x) { drx::grad(F)(x); };
static_assert(differentiates<v3, total> && !differentiates<v3, twice> && !differentiates<i3, total>);
static_assert(!differentiates<v3, sum_of_two>);

// A traced value is no condition, and a placed one no array.
static_assert(!std::is_constructible_v<bool, drx::array<bool>>);
static_assert(!std::is_convertible_v<placed_v3, v3>);

// Whatever was complained about goes on in silence.
using reported = drx::error::map_needs_placed_arguments;
static_assert(maps<twice, reported> && reduces<reported> && broadcasts<reported> && adds<reported, v3> &&
              adds<placed_v3, reported>);
static_assert(multiplies<m34, reported> && sums<reported, 1> && reshapes<reported, 2> && selects<reported, v3>);
static_assert(adds<std::tuple<reported, v3>, v3>);

}  // namespace
