// Large values that are computed some rows at a time.
#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

#include <cmath>

#include "harness/run.hpp"

namespace {
using drx::array;

/// Whether the pass of this name changes the program's plan.
template <class P>
bool changed() {
  return drx::plan::show<P, "row chunks">() != drx::plan::show<P, "short axes">();
}
/// Whether a value of the plan, or one that a loop of it computes, has this type.
template <class P>
bool has(const char* type) {
  std::string typed = ": ";  // (of a sum of strings g++ 12 may warn for nothing)
  typed.append(type).append(" = ");
  return drx::plan::show<P, "row chunks">().find(typed) != std::string::npos;
}

// Pairs of atoms: sums over both of a pair, a condition on their numbers, and a sum of all.
constexpr auto energy = [](auto x) {
  using pairs = array<std::int32_t, 192, 192>;
  auto other = drx::iota<pairs, 0>() != drx::iota<pairs, 1>();
  auto r2 = drx::sum<2>(drx::square(drx::reshape<192, 1, 3>(x) - x));
  auto s = drx::where(other, 1.0 / drx::where(other, r2 + 0.5, 1.0), 0.0);
  return drx::sum(s * s * s - s * s);
};
constexpr auto forces = [](auto x) { return drx::value_and_grad(energy)(x); };
using Forces = drx::program<forces, array<double, 192, 3>>;

// Distances to centres: means over centres at each point, and over points at each centre; an extremum over the points,
// which is no sum, and what follows it.
constexpr auto distances = [](auto x, auto c, auto w) {
  auto d = drx::sum<2>(drx::square(drx::reshape<96, 1, 8>(x) - c));  // [96, 512]
  auto near = drx::exp(-d) * w;
  auto most = drx::max<0>(near);
  return std::tuple{drx::sum<1>(near),     drx::sum<0>(near), drx::min<1>(d), most,
                    drx::sum(near - most), drx::sum<0, 1>(d)};
};
using Distances = drx::program<distances, array<float, 96, 8>, array<float, 512, 8>, array<float, 512>>;

// A row to a step: arrays of four axes, and a transpose of the inner ones.
constexpr auto by_rows = [](auto x, auto y) {
  auto z = drx::sin(drx::reshape<16, 1, 64, 24>(x) * drx::reshape<1, 20, 1, 24>(y));
  auto turned = drx::transpose<0, 1, 3, 2>(z);
  return std::tuple{drx::sum<3>(turned * 2.0f), drx::sum<0>(z), drx::sum<0, 2>(z), drx::sum<1>(drx::max<3>(z))};
};
using ByRows = drx::program<by_rows, array<float, 16, 64, 24>, array<float, 20, 24>>;

// Integers, whose sums wrap; rows are numbers.
constexpr auto counted = [](auto x) {
  using large = array<std::int64_t, 65536>;
  auto y = x * drx::iota<large, 0>() + x;
  return drx::sum(drx::where(y > 5, y, -y));
};
using Counted = drx::program<counted, array<std::int64_t, 65536>>;

// In a loop, and at members.
struct systems : drx::placement<systems> {};
constexpr auto relaxed = [](auto x) {
  return drx::fori_loop<2>(x, [](auto y) { return y - 0.01 * drx::grad(energy)(y); });
};
constexpr auto relaxed_systems = [](auto x) { return drx::reduce_mean(drx::map(relaxed, x)); };
using RelaxedSystems = drx::program<relaxed_systems, drx::placed<array<double, 192, 3>, systems>>;

// Read behind, as a result; after a product; small: these stay as they are.
constexpr auto kept = [](auto x, auto y) {
  auto z = drx::reshape<256, 1>(x) * y;
  return std::pair{z, drx::sum<1>(z)};
};
using Kept = drx::program<kept, array<double, 256>, array<double, 256>>;
constexpr auto after_product = [](auto x, auto y) { return drx::sum<1>(drx::exp(drx::matmul(x, y))); };
using AfterProduct = drx::program<after_product, array<double, 256, 8>, array<double, 8, 256>>;
constexpr auto small = [](auto x) { return drx::sum<1>(drx::exp(drx::reshape<64, 1>(x) - x)); };
using Small = drx::program<small, array<double, 64>>;
}  // namespace

TEST_CASE("values that outgrow the caches are computed some rows at a time") {
  CHECK(changed<Forces>());
  CHECK(has<Forces>("f64[3,3,192]"));
  CHECK_FALSE(has<Forces>("f64[192,3,192]"));
  CHECK_FALSE(has<Forces>("f64[192,192]"));
  CHECK(changed<Distances>());
  CHECK(changed<ByRows>());
  CHECK(has<ByRows>("f32[20,64,24]"));
  CHECK(changed<Counted>());
  CHECK(changed<RelaxedSystems>());
  CHECK_FALSE(changed<Kept>());
  CHECK_FALSE(changed<AfterProduct>());
  CHECK_FALSE(changed<Small>());
}
TEST_CASE("what is computed some rows at a time is what the interpreter computes") {
  harness::check_run<Forces>({}, {1});
  harness::check_run<Distances>({}, {1});
  harness::check_run<ByRows>({}, {1});
  harness::check_run<Counted>({}, {1});
  harness::check_run<RelaxedSystems>({}, {1, 3});
  harness::check_run<Kept>({}, {1});
  harness::check_run<AfterProduct>({}, {1});
}
TEST_CASE("a sum of chunks is as exact as a sum of all") {
  // Numbers of all magnitudes and both signs: the sum of squares of their distances, in float, and by hand in double.
  constexpr auto spread = [](auto x, auto y) { return drx::sum(drx::square(drx::reshape<256, 1>(x) - y)); };
  constexpr auto at_once = [](auto z) { return drx::sum(z); };
  using Chunks = drx::program<spread, array<float, 256>, array<float, 256>>;
  using AtOnce = drx::program<at_once, array<float, 256, 256>>;
  CHECK(changed<Chunks>());
  CHECK_FALSE(changed<AtOnce>());
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<Chunks> chunks(e, c);
  drx::compiled<AtOnce> whole(e, c);
  std::mt19937_64 random(7);
  double of_chunks = 0, of_all = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    array<float, 256> x, y;
    array<float, 256, 256> z;
    const double range = draw % 12;
    for (int i = 0; i < 256; ++i) {
      x[i] = static_cast<float>(std::exp(range * (std::uniform_real_distribution<>()(random) - 0.5)));
      y[i] = -static_cast<float>(std::exp(range * (std::uniform_real_distribution<>()(random) - 0.5)));
    }
    double exact = 0;
    for (int i = 0; i < 256; ++i)
      for (int j = 0; j < 256; ++j) {
        const float d = x[i] - y[j], square = d * d;
        z.data()[256 * i + j] = square;
        exact += static_cast<double>(square);
      }
    const float got = chunks(x, y), plain = whole(z);
    of_chunks += std::abs(static_cast<double>(got) - exact) / exact;
    of_all += std::abs(static_cast<double>(plain) - exact) / exact;
  }
  CAPTURE(of_chunks);
  CAPTURE(of_all);
  CHECK(of_chunks <= 1.05 * of_all);
}
