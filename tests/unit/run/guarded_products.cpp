// Sums over members of products in which a zero wins: they are matrix products, whose infinite and undefined elements
// are added up again.
#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

#include "harness/run.hpp"

#include <cmath>
#include <limits>

namespace {
using drx::array;
struct members : drx::placement<members> {};

// Derivatives by w are products of x and a cotangent that may be infinite.
constexpr auto guarded = [](auto w, auto x) {
  auto h = drx::relu(drx::matmul(x, w));
  return drx::sum(drx::exp(h)) + drx::dot(h, h);
};
constexpr auto slope = [](auto w, auto x) {
  return drx::grad<0>([](auto v, auto y) { return drx::reduce_sum(drx::map(guarded, drx::broadcast<members>(v), y)); })(
      w, x);
};
template <class T, int K, int N>
using Slope = drx::program<slope, array<T, K, N>, drx::placed<array<T, K>, members>>;

// One number for each member: a row of sums.
constexpr auto of_vector = [](auto w, auto x) {
  return drx::grad<0>([](auto v, auto y) {
    return drx::reduce_mean(
        drx::map([](auto u, auto m) { return drx::exp(drx::dot(u, m)); }, drx::broadcast<members>(v), y));
  })(w, x);
};
template <class T, int K>
using OfVector = drx::program<of_vector, array<T, K>, drx::placed<array<T, K>, members>>;

/// Members of which every eleventh, from `first` on, has an infinite exponential, and else zeros.
template <class Program, class T>
harness::tensors with_infinities(std::int64_t members, std::int64_t first) {
  harness::sample s;
  s.members = members;
  harness::tensors in = harness::random_inputs<Program>(s);
  for (std::int64_t i = 0; i < in[0].size(); ++i) in[0].data<T>()[i] = T(1) + T(i % 3);
  for (std::int64_t m = first; m < members; m += 11) {
    harness::tensor& x = in[1].members[static_cast<std::size_t>(m)];
    for (std::int64_t i = 0; i < x.size(); ++i) x.data<T>()[i] = i == 2 ? T(1e4) : T(0);
  }
  return in;
}
/// Row 2 of the derivative is infinite, and the others are not.
template <class Program, class T>
void check_infinities(std::int64_t members, std::int64_t first) {
  CAPTURE(members);
  const harness::tensors in = with_infinities<Program, T>(members, first), got = harness::run_serial<Program>(in);
  harness::check_near(got, harness::run_plain<Program>(in), 20);
  const std::int64_t rows = in[1].members[0].size(), columns = got[0].size() / rows;
  for (std::int64_t i = 0; i < got[0].size(); ++i) {
    const T x = got[0].data<T>()[i];
    CHECK((i / columns == 2 ? x == std::numeric_limits<T>::infinity() : std::isfinite(x)));
  }
}
}  // namespace

TEST_CASE("sums over members are guarded matrix products") {
  CHECK(drx::plan::show<Slope<float, 16, 8>, "stages">().find("f32[16,8] = azmatmul[T,N]") != std::string::npos);
  CHECK(drx::plan::show<OfVector<float, 8>, "stages">().find("f32[1,8] = azmatmul[T,N]") != std::string::npos);
}
TEST_CASE("they are what members give one by one") {
  harness::check_run<Slope<float, 16, 8>>({}, {1, 5, 45, 300});
  harness::check_run<Slope<double, 5, 9>>({}, {1, 45, 300});
  harness::check_run<OfVector<float, 8>>({}, {1, 5, 45, 300});
  harness::check_run<OfVector<double, 70>>({}, {1, 45, 300});
}
TEST_CASE("a zero stops an infinite cotangent in them") {
  for (const std::int64_t members : {1, 8, 45, 300}) {
    check_infinities<Slope<float, 16, 8>, float>(members, 0);
    check_infinities<Slope<double, 5, 9>, double>(members, members / 2);
    check_infinities<OfVector<float, 8>, float>(members, 0);
    check_infinities<OfVector<double, 70>, double>(members, members - 1);
  }
}
