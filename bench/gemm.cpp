// The product of constant size beside Eigen's, fixed-size and through Map<dynamic>, and the product of large matrices;
// items are multiply-adds.
#include <drx/run/data/buffer.hpp>
#include <drx/run/gemm/blocked.hpp>
#include <drx/run/gemm/gemm.hpp>

#include <Eigen/Dense>
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

namespace {

template <class T>
std::vector<T, Eigen::aligned_allocator<T>> draw(int n) {
  std::mt19937 random(1);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T, Eigen::aligned_allocator<T>> x(static_cast<std::size_t>(n));
  for (T& v : x) v = uniform(random);
  return x;
}

template <class T, int M, int N, int K, class Multiply>
void measure(benchmark::State& state, Multiply multiply) {
  const auto a = draw<T>(M * K), b = draw<T>(K * N);
  std::vector<T, Eigen::aligned_allocator<T>> c(static_cast<std::size_t>(M * N));
  for (auto _ : state) {
    multiply(a.data(), b.data(), c.data());
    benchmark::ClobberMemory();
  }
  state.counters["GFMA/s"] =
      benchmark::Counter(double(M) * N * K * double(state.iterations()) * 1e-9, benchmark::Counter::kIsRate);
}

template <class T, int M, int N, int K, bool TransA, bool TransB>
void drx_gemm(benchmark::State& state) {
  measure<T, M, N, K>(state, [](const T* a, const T* b, T* c) {
    drx::run::gemm<T, M, N, K, TransA, TransB>(a, b, drx::run::store_to<N>(c));
  });
}

template <class T, int M, int N, int K, bool TransA, bool TransB>
void drx_blocked(benchmark::State& state) {
  const drx::buffer work(static_cast<std::size_t>(drx::run::blocked_work(M, N, K)) * sizeof(T));
  measure<T, M, N, K>(state, [&](const T* a, const T* b, T* c) {
    drx::run::blocked_product<T>({a, TransA ? 1 : K, TransA ? M : 1}, {b, TransB ? 1 : N, TransB ? K : 1}, c, N, M, N,
                                 K, reinterpret_cast<T*>(work.data()));
  });
}

template <class T, int Rows, int Cols>
using fixed = Eigen::Matrix<T, Rows, Cols, Cols == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
template <class T>
using dynamic = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <bool TransA, bool TransB, class C, class A, class B>
void eigen_multiply(C& c, const A& a, const B& b) {
  if constexpr (TransA && TransB)
    c.noalias() = a.transpose() * b.transpose();
  else if constexpr (TransA)
    c.noalias() = a.transpose() * b;
  else if constexpr (TransB)
    c.noalias() = a * b.transpose();
  else
    c.noalias() = a * b;
}

template <class T, int M, int N, int K, bool TransA, bool TransB>
void eigen_fixed(benchmark::State& state) {
  measure<T, M, N, K>(state, [](const T* a, const T* b, T* c) {
    Eigen::Map<const fixed<T, TransA ? K : M, TransA ? M : K>, Eigen::Aligned16> left(a);
    Eigen::Map<const fixed<T, TransB ? N : K, TransB ? K : N>, Eigen::Aligned16> right(b);
    Eigen::Map<fixed<T, M, N>, Eigen::Aligned16> result(c);
    eigen_multiply<TransA, TransB>(result, left, right);
  });
}

template <class T, int M, int N, int K, bool TransA, bool TransB>
void eigen_dynamic(benchmark::State& state) {
  measure<T, M, N, K>(state, [](const T* a, const T* b, T* c) {
    Eigen::Map<const dynamic<T>> left(a, TransA ? K : M, TransA ? M : K), right(b, TransB ? N : K, TransB ? K : N);
    Eigen::Map<dynamic<T>> result(c, M, N);
    eigen_multiply<TransA, TransB>(result, left, right);
  });
}

}  // namespace

#define DRX_SHAPE(...)                          \
  BENCHMARK_TEMPLATE(drx_gemm, __VA_ARGS__);    \
  BENCHMARK_TEMPLATE(eigen_fixed, __VA_ARGS__); \
  BENCHMARK_TEMPLATE(eigen_dynamic, __VA_ARGS__)

#define DRX_LARGE(...)                          \
  BENCHMARK_TEMPLATE(drx_blocked, __VA_ARGS__); \
  BENCHMARK_TEMPLATE(eigen_dynamic, __VA_ARGS__)

DRX_SHAPE(float, 32, 128, 64, false, false);
DRX_SHAPE(float, 32, 10, 128, false, false);
DRX_SHAPE(float, 128, 10, 32, true, false);
DRX_SHAPE(float, 32, 128, 10, false, true);
DRX_SHAPE(float, 64, 128, 32, true, false);
DRX_SHAPE(double, 256, 128, 64, false, false);
DRX_SHAPE(double, 256, 128, 64, true, false);
DRX_SHAPE(float, 64, 64, 64, false, false);
DRX_SHAPE(float, 64, 1, 64, false, false);
DRX_SHAPE(float, 1, 64, 64, false, false);
DRX_SHAPE(float, 5, 7, 6, false, false);

DRX_LARGE(float, 512, 512, 512, false, false);
DRX_LARGE(float, 512, 512, 512, true, false);
DRX_LARGE(float, 512, 512, 512, false, true);
DRX_LARGE(float, 300, 700, 500, false, false);
DRX_LARGE(float, 2048, 64, 2048, false, false);
DRX_LARGE(float, 64, 2048, 2048, false, false);
DRX_LARGE(double, 512, 512, 512, false, false);
DRX_LARGE(double, 1024, 1024, 1024, false, false);

BENCHMARK_MAIN();
