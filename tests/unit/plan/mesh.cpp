#include <drx/drx.hpp>
#include <drx/plan/shards/mesh.hpp>

#include <doctest/doctest.h>

namespace {

struct clients : drx::placement<clients> {};
struct shards : drx::placement<shards> {};
struct others : drx::placement<others> {};

using matrix = drx::array<double, 4, 6>;
using column = drx::array<double, 4, 1>;
template <class P, std::int64_t N>
constexpr auto halves = [](auto w) { return drx::with_layout<P, N>(w, drx::split_along<0>); };

constexpr auto whole = [](auto w) { return drx::map([](auto x) { return drx::sum(x * x); }, w); };
constexpr auto split = [](auto w) { return drx::map([](auto x) { return drx::sum(halves<shards, 2>(x)); }, w); };
constexpr auto in_a_loop = [](auto w) {
  return drx::map([](auto x) { return drx::fori_loop<3>(x, [](auto y) { return 2 * halves<shards, 2>(y); }); }, w);
};
constexpr auto of_two_axes = [](auto w) {
  return drx::map([](auto x) { return drx::sum(halves<others, 4>(x)) + drx::sum(halves<shards, 2>(x)); }, w);
};

template <const auto& F>
drx::tape tape_of() {
  return drx::program<F, drx::placed<matrix, clients>>::tape().thaw();
}

}  // namespace

TEST_CASE("a program without layouts has no mesh") {
  const drx::tape t = tape_of<whole>();
  CHECK_FALSE(drx::plan::has_layouts(t));
  CHECK(drx::plan::mesh_of(t).count == 0);
}

TEST_CASE("the mesh is that of the first layout, in a loop too") {
  for (const drx::tape& t : {tape_of<split>(), tape_of<in_a_loop>()}) {
    const drx::mesh_axes mesh = drx::plan::mesh_of(t);
    CHECK(drx::plan::has_layouts(t));
    CHECK(mesh.members == &drx::placement_of<clients>);
    CHECK(mesh.shards == &drx::placement_of<shards>);
    CHECK(mesh.count == 2);
  }
}

TEST_CASE("layouts over another axis are not heeded") {
  const drx::tape t = tape_of<of_two_axes>();
  const drx::mesh_axes mesh = drx::plan::mesh_of(t);
  CHECK(mesh.shards == &drx::placement_of<others>);
  CHECK(mesh.count == 4);
  int heeded = 0, all = 0;
  for (const drx::entry& e : t.entries)
    if (e.prim == &drx::prim::map)
      for (const drx::entry& inner : e.regions[0].entries)
        if (inner.prim == &drx::prim::with_layout) {
          ++all;
          heeded += drx::plan::is_of_mesh(inner, mesh);
        }
  CHECK(all == 2);
  CHECK(heeded == 1);
}

TEST_CASE("without layouts a program is the one that has none") {
  CHECK_FALSE(drx::plan::has_layouts(drx::plan::without_layouts(tape_of<in_a_loop>())));
  CHECK_FALSE(drx::plan::has_layouts(drx::plan::without_layouts(tape_of<of_two_axes>())));
}
