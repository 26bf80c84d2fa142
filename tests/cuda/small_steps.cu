// registers: 96, stack: 320
// Many kinds of steps in one member: linear algebra, sorting, random numbers, branches, loops that end by a condition,
// members of members, a monoid.
#include "stage_kernel.cuh"

namespace {
struct schools : drx::placement<schools> {};
struct pupils : drx::placement<pupils> {};
using m4 = drx::array<float, 4, 4>;
constexpr auto product = drx::monoid{[](auto a, auto b) { return a * b; }, 1};
constexpr auto work = [](auto a, auto x, auto key, auto own) {
  auto s = drx::matmul(a, drx::transpose<1, 0>(a)) + drx::identity<m4>();
  auto y = drx::triangular_solve(drx::cholesky(s), x);
  auto z = drx::solve(s, y) + drx::inverse(s) + drx::logdet(s);
  auto c = drx::cumsum<0>(z) + drx::sort(z) + drx::cummax<0>(x) + drx::cumprod<1>(x) +
           drx::take<0>(z, drx::argmax<1>(x) + drx::argmin<0>(x) - drx::argmin<0>(x)) +
           drx::grad([](auto v) { return drx::sum(drx::cummin<1>(v) * v); })(x);
  auto w = drx::where(drx::uniform<float, 4, 4>(key) < 0.5f, z, c);
  auto root = drx::while_loop([](auto v) { return drx::sum(v) > 1; }, [](auto v) { return v * 0.5f; }, w);
  auto mean = drx::reduce_mean(drx::map([](auto p) { return drx::sin(p); }, own));
  return drx::cond(
      drx::sum(root) > mean, [](auto v) { return drx::sum(v * v); }, [](auto v) { return drx::max(v); }, root);
};
constexpr auto all_of_members = [](auto a, auto x, auto key, auto own) {
  auto each = drx::map(work, a, x, key, own);
  return std::tuple{drx::reduce_sum(each), drx::reduce_with(product, each), each};
};
}  // namespace
KERNELS_OF(drx::program<all_of_members, drx::placed<m4, schools>, drx::placed<m4, schools>,
                        drx::placed<drx::prng_key, schools>, drx::placed<drx::placed<float, pupils>, schools>>)
