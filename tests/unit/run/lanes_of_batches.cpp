// Members that compute several products of small matrices side by side, in lanes, against the plain interpreter and
// against central differences.
#include <drx/drx.hpp>
#include <drx/run/check/check_grads.hpp>

#include "harness/run.hpp"

#include <string>
#include <vector>

namespace {
struct sites : drx::placement<sites> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;

// Matrices that are the same for all members times vectors of each, whose results are multiplied in pairs: the
// derivative by the matrices is added up over members from parts, each with zeros around it.
template <std::int64_t N>
constexpr auto tree = [](auto moves, auto leaves) {
  auto pairs = [](auto m, auto x) {
    constexpr auto nodes = decltype(x)::shape[0] / 2;
    return drx::prod<1>(drx::reshape<nodes, 2, N>(drx::einsum<"bij,bj->bi">(m, x)));
  };
  auto two = pairs(drx::slice<0, 4>(moves), leaves);
  auto last = pairs(drx::slice<4, 6>(moves), two);
  return drx::log(2 + drx::mean(last));
};
// Matrices of each member's own, on either side and turned round, beside ones that are the same for all of them.
template <std::int64_t N>
constexpr auto own = [](auto w, auto x) {
  auto first = drx::slice<0, 3>(w), second = drx::slice<3, 6>(w);  // [3, N, N]
  auto y = drx::matmul(first, x);                                  // [3, N, 4]
  auto z = drx::einsum<"bij,bik->bjk">(y, y);                      // own by own: [3, 4, 4]
  auto u = drx::einsum<"bij,bkj->bik">(x, y);                      // [3, N, N]
  auto v = drx::einsum<"bi,bij->bj">(drx::sum<2>(y), second);      // rows times matrices of all
  auto t = drx::einsum<"bji,bkj->bik">(x, second);                 // turned round: [3, 4, N]
  return drx::sum(drx::tanh(z)) + drx::dot(drx::reshape<3 * N>(v), drx::reshape<3 * N>(drx::sum<1>(t))) +
         drx::sum(drx::sin(drx::matmul(u, second)));
};
// Products over short axes, and over two at once, of numbers some of which are 0; their derivatives are infinite there.
template <std::int64_t N>
constexpr auto roots = [](auto w, auto x) {
  auto y = drx::einsum<"bij,bj->bi">(drx::abs(w), drx::relu(x));  // [6, N]
  auto p = drx::prod<0>(drx::reshape<3, 2, N>(y));
  auto q = drx::prod<0, 1>(drx::reshape<2, 3, N>(y));
  return drx::sum(drx::sqrt(p)) + drx::sum(q);
};

// Two products by the same matrices, which nearly cancel in each member, though not where they are added up apart.
constexpr auto cancelled = [](auto w, auto x) {
  auto scaled = [](auto matrices, auto a, auto c) { return drx::sum(drx::einsum<"bij,bj->bi">(matrices, a) * c); };
  return scaled(w, drx::slice<0, 2>(x), drx::slice<2, 4>(x)) - scaled(w, drx::slice<4, 6>(x), drx::slice<6, 8>(x));
};
// Products of whole numbers, which wrap.
constexpr auto wrapped = [](auto w, auto x) {
  auto y = drx::matmul(w, x);  // [3, 4, 4]
  return drx::sum<0>(drx::matmul(drx::transpose<0, 2, 1>(y), y));
};
constexpr auto total_of = [](auto w, auto data) {
  return drx::reduce_sum(drx::map(wrapped, drx::broadcast<sites>(w), data));
};
// A loop whose steps multiply matrices of 105 numbers.
constexpr auto fitted = [](auto w, auto x) {
  auto step = [=](auto p) {
    auto slopes = drx::sin(drx::matmul(drx::reshape<5, 1>(p), drx::reshape<1, 21>(x)));
    return p - drx::sum<1>(drx::matmul(slopes, drx::transpose(slopes))) / 100;
  };
  return drx::sum(drx::fori_loop<3>(w, step));
};
// As many axes as there may be, so that a block of members has no axis.
constexpr auto deep = [](auto w, auto x) { return drx::sum(drx::tanh(drx::matmul(drx::matmul(w, x), x))); };

template <const auto& F>
constexpr auto mean_of =
    [](auto w, auto data) { return drx::reduce_mean(drx::map(F, drx::broadcast<sites>(w), data)); };
template <const auto& F>
constexpr auto derived = drx::value_and_grad<0>(mean_of<F>);
template <const auto& F, class W, class X>
using Value = drx::program<mean_of<F>, W, drx::placed<X, sites>>;
template <const auto& F, class W, class X>
using Derived = drx::program<derived<F>, W, drx::placed<X, sites>>;

template <const auto& F, class W, class X>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<Derived<F, W, X>>::tape_constant().thaw());
}
/// Compares values and derivatives with the interpreter's for several numbers of members, some of them no whole blocks.
template <const auto& F, class W, class X>
void check(double low, std::vector<std::int64_t> members = {0, 5, 256, 300}) {
  harness::check_run<Derived<F, W, X>>({.low = low, .high = 0.9}, members);
}
/// Compares the derivative with central differences.
template <const auto& F, std::int64_t N, class X>
void check_differences(double low) {
  array<double, 6, N, N> w;
  for (int i = 0; i < w.size; ++i) w.data()[i] = low + 0.8 * static_cast<double>(i * 7 % 11) / 11;
  std::vector<X> x(3);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int j = 0; j < X::size; ++j)
      x[i].data()[j] = low + 0.7 * static_cast<double>((5 * static_cast<int>(i) + 3 * j) % 13) / 13;
  const auto report = drx::check_grads<Value<F, array<double, 6, N, N>, X>>(w, x);
  CHECK_MESSAGE(report.ok(), report.text());
}
}  // namespace

TEST_CASE("several matrices times vectors in lanes") {
  check<tree<4>, array<double, 6, 4, 4>, array<double, 4, 4>>(0.1);
  check<tree<3>, array<float, 6, 3, 3>, array<float, 4, 3>>(0.1, {300});
  check_differences<tree<4>, 4, array<double, 4, 4>>(0.1);
  const std::string plan = plan_of<tree<4>, array<double, 6, 4, 4>, array<double, 4, 4>>();
  CHECK(plan.find("f64[4,4,32] = matmul") != std::string::npos);   // the matrices times a block's vectors
  CHECK(plan.find("f64[4,4,4] = azmatmul") != std::string::npos);  // their derivative, added up over the block
  CHECK(plan.find("f64[4,4,4,32]") == std::string::npos);
}
TEST_CASE("several products of members' own matrices in lanes") {
  check<own<5>, array<double, 6, 5, 5>, array<double, 3, 5, 4>>(-0.8, {41, 264});
  check_differences<own<5>, 5, array<double, 3, 5, 4>>(-0.4);
  CHECK(plan_of<own<5>, array<double, 6, 5, 5>, array<double, 3, 5, 4>>().find("f64[3,4,4,32] = lane_matmul") !=
        std::string::npos);
}
TEST_CASE("products over short axes in lanes, with infinite derivatives") {
  check<roots<7>, array<float, 6, 7, 7>, array<float, 6, 7>>(-0.9, {300});
  check<roots<3>, array<double, 6, 3, 3>, array<double, 6, 3>>(-0.9);
  check_differences<roots<3>, 3, array<double, 6, 3>>(0.1);
}
TEST_CASE("what cancels in each member cancels in the sum over them") {
  using W = array<float, 2, 3, 3>;
  using X = array<float, 8, 3>;
  X x;  // 4095 * 3001 - 2 * 6144547 = 1; both products are exact in float
  const float rows[] = {4095, 4095, 3001, 3001, 2, 2, 6144547, 6144547};
  for (int i = 0; i < x.size; ++i) x.data()[i] = rows[i / 3];
  drx::serial_executor threads;
  drx::single_rank ranks;
  drx::compiled<Derived<cancelled, W, X>> program(threads, ranks);
  const auto [value, slope] = program(W{}, drx::place<sites>(ranks, 4096, [&](std::int64_t) { return x; }));
  for (int i = 0; i < slope.size; ++i) CHECK(slope.data()[i] == 1);
}
TEST_CASE("products of integers in lanes wrap") {
  using W = array<std::int32_t, 3, 4, 5>;
  using X = array<std::int32_t, 3, 5, 4>;
  harness::check_run<drx::program<total_of, W, drx::placed<X, sites>>>({.low = -2e9, .high = 2e9}, {256});
}
TEST_CASE("members with as many axes as there may be go in no blocks") {
  using matrices = array<double, 1, 1, 1, 1, 2, 1, 3, 3>;
  check<deep, matrices, matrices>(-0.5, {5, 256});
}
TEST_CASE("steps of loops multiply matrices of up to 128 numbers in lanes") {
  check<fitted, array<double, 5>, array<double, 21>>(-0.9, {5, 300});
  CHECK(plan_of<fitted, array<double, 5>, array<double, 21>>().find("f64[5,5,32] = lane_matmul") != std::string::npos);
}
