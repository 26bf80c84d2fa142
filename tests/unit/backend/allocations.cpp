// A call allocates nothing after the first, on any executor. And inputs are read where they lie.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>
#if __has_include(<Eigen/Core>)
#include <drx/ext/eigen.hpp>
#endif

#include "harness/ranks.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <span>

using drx::array;
using drx::placed;
using drx::program;

namespace {
std::atomic<long> allocations = 0;
void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment + alignment);
  if (!p) throw std::bad_alloc();
  return p;
}
}  // namespace
// (Inlined, g++ 12 takes each pair of them for a mismatch.)
[[gnu::noinline]] void* operator new(std::size_t n) { return allocate(n, 16); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  return allocate(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
using v3 = array<double, 3>;
using m34 = array<float, 3, 4>;
using v4 = array<float, 4>;

constexpr auto squared = [](auto w, auto x) {
  auto d = drx::tanh(w * x) - x;
  return drx::sum(d * d);
};
constexpr auto round_ = [](auto w, auto data) {
  auto local = [](auto p, auto rs) {
    return drx::fori_loop<2>(p, [=](auto q) {
      return q - drx::grad([](auto z, auto v) {
               return drx::reduce_mean(drx::map(squared, drx::broadcast<rows>(z), v));
             })(q, rs);
    });
  };
  auto models = drx::map(local, drx::broadcast<clients>(w), data);
  return std::tuple{drx::reduce_mean(models), drx::reduce_max(models), models};
};
constexpr auto unplaced_round = [](auto w, auto data) { return std::get<0>(round_(w, data)); };
using Round = program<unplaced_round, v3, placed<placed<v3, rows>, clients>>;

constexpr auto array_code = [](auto w, auto x) {
  auto y = drx::slice<1, 3>(drx::matmul(w, x));
  return drx::sum(drx::concatenate<0>(drx::exp(y), drx::pad<1>(y))) + drx::sum(drx::transpose(w)) + drx::max(w) +
         drx::sum(drx::fori_loop<3>(x, [](auto c) { return c * 2; })) +
         drx::max(drx::sum<0, 2>(drx::reshape<2, 3, 2>(w)));
};
using ArrayCode = program<array_code, m34, v4>;
constexpr auto at_positions = [](auto x, auto w, auto i) {
  auto slope = drx::grad([=](auto y) {
    return drx::sum(drx::take(y, w)) * drx::prod(drx::dynamic_slice<2, 2>(y, i, i)) +
           drx::sum(drx::cumprod(drx::sort(y)) * drx::cummax<0>(y));
  });
  return drx::update_slice(drx::flip(slope(x)), drx::reshape<1, 4>(drx::cumsum(drx::index(x, i))), i);
};
using AtPositions = program<at_positions, m34, array<int, 5>, int>;

constexpr auto product = [](auto w, auto x) { return drx::matmul(w, x); };
using Product = program<product, m34, v4>;

template <class P, class... A>
long allocations_of_second_call(drx::compiled<P>& p, const A&... a) {
  typename drx::compiled<P>::result r{};
  p.call(r, a...);
  const long before = allocations;
  p.call(r, a...);
  return allocations - before;
}
}  // namespace

TEST_CASE("a second call allocates nothing, on one thread and on Kokkos' threads") {
  auto& s = harness::session();
  const auto data = drx::place_nested<clients, rows>(s.communicator(), 40, [](std::int64_t i) {
    return std::vector<v3>(static_cast<std::size_t>(i * 7 % 11), v3{.1, .2, .3});
  });
  drx::serial_executor one;
  drx::compiled<Round> serial(one, s.communicator());
  CHECK(allocations_of_second_call(serial, v3{1., 2., 3.}, data) == 0);
  auto threads = s.compile<Round>();
  CHECK(allocations_of_second_call(threads, v3{1., 2., 3.}, data) == 0);
  drx::compiled<ArrayCode> arrays(one, s.communicator());
  CHECK(allocations_of_second_call(arrays, m34{}, v4{}) == 0);
  drx::compiled<AtPositions> positions(one, s.communicator());
  CHECK(allocations_of_second_call(positions, m34{}, array<int, 5>{1, 2, 0, 5, -1}, 1) == 0);
}

TEST_CASE("large products allocate nothing at a second call, nor tasks in turns of several numbers") {
  auto& s = harness::session();
  static constexpr auto f = [](auto w) { return drx::sum(drx::matmul(w, drx::transpose(w))); };
  static const auto w = drx::array<float, 260, 260>{};
  auto p = s.compile<program<f, array<float, 260, 260>>>();
  CHECK(allocations_of_second_call(p, w) == 0);
  std::atomic<int> done = 0;
  const auto count = [](void* context, int) { ++*static_cast<std::atomic<int>*>(context); };
  const auto turns = [&] {
    for (int tasks : {2, 3, 2, 3}) s.executor().run(tasks, count, &done);
  };
  turns();
  const long before = allocations;
  turns();
  CHECK(allocations == before);
  CHECK(done == 20);
}

TEST_CASE("workspaces know nothing of the number of members") {
  auto& s = harness::session();
  static constexpr auto mean = [](auto w, auto x) {
    return drx::reduce_mean(drx::map(squared, drx::broadcast<clients>(w), x));
  };
  using P = program<mean, v3, placed<v3, clients>>;
  static_assert(drx::compiled<P>::thread_bytes() < 32 * 1024);
  auto p = s.compile<P>();
  for (std::int64_t n : {1 << 4, 1 << 16}) {
    const auto x = s.place<clients>(n, [](std::int64_t) { return v3{.1, .2, .3}; });
    CHECK(allocations_of_second_call(p, v3{}, x) == 0);
  }
}

TEST_CASE("std::span, std::vector, Kokkos::View and Eigen's matrices are inputs where they lie") {
  auto& s = harness::session();
  auto p = s.compile<Product>();
  const std::vector<float> w{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<float> x{1, 0, -1, 2};
  const auto right = [](const array<float, 3>& y) { return y[0] == 6 && y[1] == 14 && y[2] == 22; };
  CHECK(right(p(w, x)));
  CHECK(right(p(std::span<const float>(w), std::span<float>(x))));
  CHECK(right(p(std::span<const float, 12>(w), std::span<float, 4>(x))));
  const Kokkos::View<float*, Kokkos::HostSpace> view("x", 4);
  for (std::size_t i = 0; i < 4; ++i) view(i) = x[i];
  const Kokkos::View<const float[3][4], Kokkos::LayoutRight, Kokkos::HostSpace> matrix(w.data());
  CHECK(right(p(matrix, view)));
  CHECK_THROWS_WITH_AS(p(w, w), "drx: argument 1 has 12 elements; the program takes f32[4]", std::invalid_argument);
  CHECK_THROWS_WITH_AS(p(x, x), "drx: argument 0 has 4 elements; the program takes f32[3,4]", std::invalid_argument);
#if __has_include(<Eigen/Core>)
  Eigen::Matrix<float, 3, 4, Eigen::RowMajor> m;
  m << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  CHECK(right(p(m, Eigen::Vector4f(1, 0, -1, 2))));
  CHECK(right(p(Eigen::Map<const Eigen::Matrix<float, 3, 4, Eigen::RowMajor>>(w.data()), x)));
#endif
}
