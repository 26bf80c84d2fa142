// ADBench's functions: gradients and Jacobians by hand, and by the library from ordinary C++; other sides are in files
// of their own.
#include "rows.hpp"

namespace ad = drx::ad;
using adbench::add, adbench::inputs;

namespace {

void mixture(bench::suite& suite, const inputs& in, const ad::arena& memory) {
  using vector = inputs::mixture::vector;
  const auto row = adbench::mixture_row;
  const auto sample = [&](std::size_t i) -> const auto& { return in.points[i]; };
  add<vector>(suite, row, "by hand", [&](vector& g) { in.of_points.by_hand(in.theta, in.points, g); });
  add<vector>(suite, row, "drx", [&, sample](vector& g) {
    ad::sum_over_into<10>(g, in.of_points, in.theta, in.points.size(), sample, memory);
  });
  add<vector>(suite, row, "drx, tape of single numbers", [&, sample](vector& g) {
    ad::sum_over_into<10, 1>(g, in.of_points, in.theta, in.points.size(), sample, memory);
  });
}

void bundles(bench::suite& suite, const inputs& in) {
  adbench::add_bundles(suite, in, "by hand", [](const auto& f, const auto& x, auto& j) { j = f.by_hand(x); });
  adbench::add_bundles(suite, in, "drx, duals",
                       [](const auto& f, const auto& x, auto& j) { j = ad::jacobian<ad::forward>(f, x); });
  adbench::add_bundles(suite, in, "drx, tape",
                       [](const auto& f, const auto& x, auto& j) { j = ad::jacobian<ad::reverse>(f, x); });
  // Eight observations at once: packs as numbers.
  add<adbench::jacobians>(suite, adbench::bundle_row, "drx", [&](adbench::jacobians& j) {
    using pack = ad::pack<double, 8>;
    const auto f = [&](const auto& v) { return in.view.lanes(v); };
    for (std::size_t i = 0; i < j.size(); i += 8) {
      std::array<pack, 15> x;
      for (std::size_t k = 0; k < 15; ++k)
        for (int l = 0; l < 8; ++l) x[k].set(l, in.observations[i + static_cast<std::size_t>(l)][k]);
      const auto at_once = ad::jacobian<ad::forward>(f, x);
      for (std::size_t o = 0; o < 2; ++o)
        for (std::size_t k = 0; k < 15; ++k)
          for (int l = 0; l < 8; ++l) j[i + static_cast<std::size_t>(l)][o][k] = at_once[o][k][l];
    }
  });
}

void recurrent(bench::suite& suite, const inputs& in, const ad::arena& memory) {
  using vector = inputs::recurrent::vector;
  const auto row = adbench::lstm_row;
  add<vector>(suite, row, "by hand", [&](vector& g) { in.text.by_hand(in.weights, g); });
  add<vector>(suite, row, "drx, tape of single numbers",
              [&](vector& g) { ad::value_and_gradient_into(g, in.text, in.weights, memory); });
  // Eight units at once.
  const auto lanes = std::make_shared<decltype(in.text.in_lanes<8>())>(in.text.in_lanes<8>());
  add<vector>(suite, row, "drx", [&, lanes](vector& g) {
    const auto w = ad::pack_rows<8, inputs::recurrent::units>(in.weights);
    std::remove_const_t<decltype(w)> packs;
    ad::value_and_gradient_into(packs, *lanes, w, memory);
    ad::unpack_rows<inputs::recurrent::units>(g, packs);
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const auto in = std::make_unique<inputs>();
  const ad::arena memory(std::size_t{1} << 27);
  mixture(suite, *in, memory);
  bundles(suite, *in);
  recurrent(suite, *in, memory);
  adbench::add_hands(suite, *in, "by hand", [](const auto& f, const auto& x, auto& j) { f.by_hand(x, j); });
  adbench::add_hands(suite, *in, "drx", [](const auto& f, const auto& x, auto& j) {
    ad::value_and_jacobian_into<ad::forward, 32>(j, f, x);
  });
#ifdef DRX_BENCH_DRX
  adbench::add_arrays(suite, *in);
#endif
#ifdef DRX_BENCH_ADOLC
  adbench::add_adolc(suite, *in);
#endif
#ifdef DRX_BENCH_SACADO
  adbench::add_sacado(suite, *in);
#endif
#ifdef DRX_BENCH_EIGEN
  adbench::add_eigen(suite, *in);
#endif
#ifdef DRX_BENCH_BOOST
  adbench::add_boost(suite, *in);
#endif
#ifdef DRX_BENCH_STAN
  adbench::add_stan(suite, *in);
#endif
  return suite.run();
}
