// Members in lanes: what small members compute, for many at once, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct runs : drx::placement<runs> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;

// A filter of states of four numbers: products of small matrices that are a member's own, or the same for all, on
// either side.
template <class T>
constexpr auto filter = [](auto w, auto data) {
  auto of_member = [](auto v, auto ys) {
    auto move = std::get<0>(v);
    auto see = std::get<1>(v);
    auto step = [=](auto s, auto y) {
      auto [x, p] = s;
      auto ahead =
          drx::matmul(drx::matmul(move, p), drx::transpose(move)) + drx::broadcast_to<4, 4>(drx::sum(drx::square(see)));
      auto outer = [](auto a) { return drx::matmul(drx::reshape<2, 1>(a), drx::reshape<1, 2>(a)); };
      auto hp = drx::matmul(see, ahead);
      auto spread = drx::matmul(hp, drx::transpose(see)) + outer(y) +
                    drx::one_hot<T, 2>(drx::iota<array<std::int32_t, 2>>() + drx::cast<std::int32_t>(0 * y));
      auto error = y - drx::matmul(see, x);
      auto gain = drx::transpose(drx::solve(spread, hp));
      auto next = drx::matmul(move, x) + drx::matmul(gain, error);
      return std::pair{std::tuple{next, ahead - drx::matmul(gain, hp)},
                       drx::dot(error, drx::solve(spread, error)) + drx::logdet(spread)};
    };
    auto begin = drx::concatenate(drx::index<0>(ys), drx::index<1>(ys));
    auto start = drx::matmul(drx::reshape<4, 1>(begin), drx::reshape<1, 4>(begin));
    auto [last, errors] = drx::scan(
        step, std::tuple{drx::zeros<array<T, 4>>(), start + 2 * drx::matmul(drx::transpose(start), start)}, ys);
    return drx::sum(errors) + drx::sum(std::get<0>(last));
  };
  return drx::value_and_grad(
      [=](auto v) { return drx::reduce_mean(drx::map(of_member, drx::broadcast<runs>(v), data)); })(w);
};
template <class T>
using Filter = drx::program<filter<T>, std::tuple<array<T, 4, 4>, array<T, 2, 4>>, drx::placed<array<T, 3, 2>, runs>>;

// Powers of matrices of integers; a carry that is the same for all members.
constexpr auto powers = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    return drx::fori_loop<3>(std::tuple{x, v}, [=](auto s) {
      auto [y, z] = s;
      return std::tuple{drx::matmul(y, z) - drx::matmul(z, drx::transpose(y)), drx::matmul(z, z)};
    });
  };
  auto of_all = drx::map(
      [=](auto v, auto x) {
        auto [y, z] = of_member(v, x);
        return y + z;
      },
      drx::broadcast<runs>(w), data);
  return std::tuple{drx::reduce_sum(of_all), drx::reduce_max(of_all), of_all};
};
using Powers = drx::program<powers, array<std::int64_t, 3, 3>, drx::placed<array<std::int64_t, 3, 3>, runs>>;

// Rows of 40 numbers move by each member's own places, or by the same for all of them.
template <bool Own>
constexpr auto shifted = [](auto data, auto places) {
  auto of_member = [](auto x, auto own) {
    auto step = [](auto c, auto place) {
      auto [row, same] = c;
      auto before = drx::dynamic_slice<40>(drx::concatenate(0 * row, row), 40 - (Own ? place : same));
      return std::pair{std::tuple{0.5 * row + before, same + 1}, drx::sum(before)};
    };
    auto [last, sums] = drx::scan(step, std::tuple{x, drx::ones<drx::scalar<std::int32_t>>()}, own);
    return drx::dot(std::get<0>(last), std::get<0>(last)) + drx::sum(sums);
  };
  return drx::map(drx::value_and_grad(of_member), data, places);
};
template <bool Own>
using Shifted =
    drx::program<shifted<Own>, drx::placed<array<double, 40>, runs>, drx::placed<array<std::int32_t, 3>, runs>>;

// Members that read a row of a table at a place of their own, and what they have seen so far by two heads.
constexpr auto remembered = [](auto table, auto firsts) {
  auto of_member = [](auto rows, auto first) {
    auto step = [=](auto i, auto c) {
      auto [place, cache, sum] = c;
      auto row = drx::reshape<2, 10>(drx::index(rows, place));
      auto all = drx::update_slice(cache, drx::expand_dims<0>(row), i);
      auto fits = drx::softmax(drx::einsum<"jhd,hd->hj">(all, row));
      auto seen = drx::einsum<"hj,jhd->hd">(fits, all);
      return std::tuple{(place + 2 * first + 1) % 5, all, sum + drx::matmul(rows, drx::reshape<20>(seen))};
    };
    auto start = std::tuple{first, drx::zeros<array<double, 4, 2, 10>>(), drx::zeros<array<double, 5>>()};
    return std::get<2>(drx::fori_loop<4>(start, step));
  };
  return drx::map(of_member, drx::broadcast<runs>(table), firsts);
};
using Remembered = drx::program<remembered, array<double, 5, 20>, drx::placed<drx::scalar<std::int32_t>, runs>>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
}  // namespace

TEST_CASE("products of small matrices in lanes") {
  harness::check_run<Filter<double>>({.low = 0.2, .high = 0.8}, {0, 5, 256, 300});
  CHECK(plan_of<Filter<double>>().find("lane_matmul") != std::string::npos);
}
TEST_CASE("integers in lanes") { harness::check_run<Powers>({.below = 3}, {7, 300}); }
TEST_CASE("members that move long rows to places of their own keep them as rows") {
  harness::check_run<Shifted<true>>({.below = 7}, {0, 9, 300});
  CHECK(plan_of<Shifted<true>>().find("f64[8,80]") != std::string::npos);
  CHECK(plan_of<Shifted<false>>().find("f64[80,8]") != std::string::npos);
}
TEST_CASE("members with several products of vectors side by side share one product with a common matrix") {
  harness::check_run<Remembered>({.below = 5}, {0, 9, 300});
  CHECK(plan_of<Remembered>().find("f64[8,5] = matmul") != std::string::npos);
}
