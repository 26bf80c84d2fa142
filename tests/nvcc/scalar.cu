// Derivatives in device code: duals, and a local tape of each thread.
#include <drx/scalar/sum_over.hpp>

namespace ad = drx::ad;

struct model {
  template <class S>
  DRX_FN S operator()(const S& x, const S& y) const {
    S z = x;
    for (int i = 0; i < 4; ++i) {
      if (z > 2)
        z = z / 2 - y;
      else
        z = z * y + tanh(x) * exp(-y * y) + max(x, y);
    }
    return z;
  }
};

__global__ void gradients(int n, const double* x, const double* y, double* forward, double* reverse) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  using D = ad::dual<double, 2>;
  const D f = model{}(D::variable(x[i], 0), D::variable(y[i], 1));
  forward[2 * i] = f.tangent[0];
  forward[2 * i + 1] = f.tangent[1];
  ad::local_tape<double, 64> tape;
  const auto a = variable(tape, x[i]), b = variable(tape, y[i]);
  const auto r = model{}(a, b);
  tape.require_complete();
  tape.clear();
  add_cotangent(r, 1.0);
  tape.sweep();
  reverse[2 * i] = cotangent(a);
  reverse[2 * i + 1] = cotangent(b);
}

int main() {
  constexpr int n = 1000;
  double* data = nullptr;
  if (cudaMallocManaged(&data, sizeof(double) * 6 * n) != cudaSuccess) return 77;  // no device
  double *x = data, *y = x + n, *forward = y + n, *reverse = forward + 2 * n;
  for (int i = 0; i < n; ++i) x[i] = 0.01 * i - 3, y[i] = 2 - 0.003 * i;
  gradients<<<(n + 127) / 128, 128>>>(n, x, y, forward, reverse);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < n; ++i) {
    const auto host =
        ad::gradient<ad::reverse>([](const auto& v) { return model{}(v[0], v[1]); }, std::array{x[i], y[i]});
    for (int k = 0; k < 2; ++k) {
      const double scale = 1 + std::fabs(host[static_cast<std::size_t>(k)]);
      if (std::fabs(forward[2 * i + k] - host[static_cast<std::size_t>(k)]) > 1e-12 * scale) return 2;
      if (std::fabs(reverse[2 * i + k] - host[static_cast<std::size_t>(k)]) > 1e-12 * scale) return 3;
    }
  }
  return 0;
}
