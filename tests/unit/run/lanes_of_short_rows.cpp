// Members in lanes for their short rows: distances to centres, which are sums of few numbers, for many members at once,
// against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct points : drx::placement<points> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;

// A mixture of diagonal Gaussians, and the derivatives by all of its parameters.
template <class T>
constexpr auto mixture = drx::value_and_grad([](auto model, auto data) {
  auto of_point = [](auto m, auto x) {
    auto [logits, means, log_scales] = m;
    auto z = (x - means) * drx::exp(-log_scales);
    return drx::logsumexp(drx::log_softmax(logits) - drx::sum<1>(0.5 * drx::square(z) + log_scales));
  };
  return drx::reduce_mean(drx::map(of_point, drx::broadcast<points>(model), data));
});
template <class T>
using Mixture =
    drx::program<mixture<T>, std::tuple<array<T, 5>, array<T, 5, 3>, array<T, 5, 3>>, drx::placed<array<T, 3>, points>>;

// Extrema of short rows, by member and over all members, and a result of each member.
constexpr auto extrema = [](auto centres, auto data) {
  auto of_point = [](auto c, auto x) {
    auto apart = drx::abs(c - x);
    auto least = drx::min<1>(apart), most = drx::max<1>(apart);
    return std::tuple{drx::argmin(least), drx::outer(least, x), drx::sum(most)};
  };
  auto [nearest, sums, spread] = drx::map(of_point, drx::broadcast<points>(centres), data);
  return std::tuple{nearest, drx::reduce_sum(sums), drx::reduce_max(spread), drx::reduce_min(spread)};
};
using Extrema = drx::program<extrema, array<double, 6, 4>, drx::placed<array<double, 4>, points>>;

// Rows of which a block would fill the second cache.
constexpr auto of_many_rows = [](auto all, auto data) {
  return drx::reduce_sum(drx::map([](auto a, auto x) { return drx::sum(drx::sqrt(drx::sum<1>(drx::square(a - x)))); },
                                  drx::broadcast<points>(all), data));
};
template <std::int64_t Rows>
using OfRows = drx::program<of_many_rows, array<double, Rows, 4>, drx::placed<array<double, 4>, points>>;

// One row for each member, from which numbers come that are repeated along it.
template <class T>
constexpr auto weighted = drx::value_and_grad([](auto weights, auto data) {
  auto of_point = [](auto w, auto x) { return drx::log(drx::sum(w * drx::exp(x)) + drx::max(x)); };
  return drx::reduce_mean(drx::map(of_point, drx::broadcast<points>(weights), data));
});
template <class T, std::int64_t N>
using Weighted = drx::program<weighted<T>, array<T, N>, drx::placed<array<T, N>, points>>;

// Such a row beside rows of a table, at a member's own places.
constexpr auto chosen = drx::value_and_grad([](auto table, auto data, auto places) {
  auto of_point = [](auto t, auto x, auto i) { return drx::sum(x * drx::index(t, i)); };
  return drx::reduce_mean(drx::map(of_point, drx::broadcast<points>(table), data, places));
});
using Chosen =
    drx::program<chosen, array<float, 7, 5>, drx::placed<array<float, 5>, points>, drx::placed<std::int32_t, points>>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
}  // namespace

TEST_CASE("a mixture's short rows in lanes") {
  harness::check_run<Mixture<double>>({.low = -0.8, .high = 0.8}, {0, 5, 256, 300});
  harness::check_run<Mixture<float>>({.low = -0.8, .high = 0.8}, {300});
  CHECK(plan_of<Mixture<double>>().find("f64[5,3,32]") != std::string::npos);
}
TEST_CASE("extrema of short rows in lanes") {
  harness::check_run<Extrema>({.low = -1, .high = 1}, {7, 300});
  CHECK(plan_of<Extrema>().find("f64[6,4,32]") != std::string::npos);
}
TEST_CASE("one short row at each member in lanes") {
  harness::check_run<Weighted<float, 5>>({.low = 0.2, .high = 2}, {0, 5, 256, 300});
  harness::check_run<Weighted<double, 7>>({.low = 0.2, .high = 2}, {300});
  CHECK(plan_of<Weighted<float, 5>>().find("f32[5,128]") != std::string::npos);
  CHECK(plan_of<Weighted<float, 15>>().find("f32[15,32]") != std::string::npos);
}
TEST_CASE("one row at each member that fills a vector is not in lanes") {
  CHECK(plan_of<Weighted<float, 16>>().find("f32[16,32]") == std::string::npos);
  CHECK(plan_of<Weighted<double, 8>>().find("f64[8,32]") == std::string::npos);
}
TEST_CASE("one short row beside rows at places of a member's own is not in lanes") {
  harness::check_run<Chosen>({}, {7, 300});
  CHECK(plan_of<Chosen>().find("f32[5,32]") == std::string::npos);
}
TEST_CASE("members whose values would leave the cache are not in lanes") {
  CHECK(plan_of<OfRows<8>>().find("f64[8,4,32]") != std::string::npos);
  CHECK(plan_of<OfRows<512>>().find("f64[512,4,32]") == std::string::npos);
  harness::check_run<OfRows<512>>({.low = -1, .high = 1}, {260});
}
