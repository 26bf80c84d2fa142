// Elementary functions over an array in the first cache, beside libm called in the same loop and Eigen's packet
// functions.
#include <drx/scalar/math.hpp>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include <cmath>

namespace {

constexpr int count = 1024;

template <class T, class Apply>
void measure(benchmark::State& state, Apply apply) {
  alignas(64) static T x[count], y[count];
  for (int i = 0; i < count; ++i) x[i] = static_cast<T>(0.01 + 8.0 * i / count);
  const T *in = x, *out = y;
  benchmark::DoNotOptimize(in);  // the arrays escape, so that the loop has to be run
  benchmark::DoNotOptimize(out);
  for (auto _ : state) {
    apply(x, y);
    benchmark::ClobberMemory();
  }
  state.counters["ns/element"] = benchmark::Counter(1e-9 * count * double(state.iterations()),
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace

#define DRX_COMPARE(name, libm, eigen)                                     \
  template <class T>                                                       \
  void drx_##name(benchmark::State& state) {                               \
    measure<T>(state, [](const T* x, T* y) {                               \
      for (int i = 0; i < count; ++i) y[i] = drx::math::name(x[i]);        \
    });                                                                    \
  }                                                                        \
  template <class T>                                                       \
  void libm_##name(benchmark::State& state) {                              \
    measure<T>(state, [](const T* in, T* y) {                              \
      for (int i = 0; i < count; ++i) {                                    \
        const T x = in[i];                                                 \
        y[i] = libm;                                                       \
      }                                                                    \
    });                                                                    \
  }                                                                        \
  template <class T>                                                       \
  void eigen_##name(benchmark::State& state) {                             \
    measure<T>(state, [](const T* in, T* out) {                            \
      Eigen::Map<const Eigen::Array<T, count, 1>, Eigen::Aligned64> x(in); \
      Eigen::Map<Eigen::Array<T, count, 1>, Eigen::Aligned64> y(out);      \
      y = eigen;                                                           \
    });                                                                    \
  }                                                                        \
  BENCHMARK_TEMPLATE(drx_##name, float);                                   \
  BENCHMARK_TEMPLATE(libm_##name, float);                                  \
  BENCHMARK_TEMPLATE(eigen_##name, float);                                 \
  BENCHMARK_TEMPLATE(drx_##name, double);                                  \
  BENCHMARK_TEMPLATE(libm_##name, double);                                 \
  BENCHMARK_TEMPLATE(eigen_##name, double);

DRX_COMPARE(exp, std::exp(x), x.exp())
DRX_COMPARE(expm1, std::expm1(x), x.expm1())
DRX_COMPARE(log, std::log(x), x.log())
DRX_COMPARE(log1p, std::log1p(x), x.log1p())
DRX_COMPARE(tanh, std::tanh(x), x.tanh())
DRX_COMPARE(sigmoid, 1 / (1 + std::exp(-x)), 1 / (1 + (-x).exp()))
DRX_COMPARE(sin, std::sin(x), x.sin())
DRX_COMPARE(cos, std::cos(x), x.cos())

BENCHMARK_MAIN();
