// Elementary and special functions on a device: the device's own, or plain loops.
#include <drx/scalar/cbrt.hpp>
#include <drx/scalar/erf.hpp>
#include <drx/scalar/gamma.hpp>
#include <drx/scalar/hyperbolic.hpp>
#include <drx/scalar/inverse_trigonometric.hpp>

template <class T>
__global__ void functions(int n, const T* x, T* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  namespace m = drx::math;
  const T v = x[i];
  T sum = m::exp2(v) + m::cbrt(v) + m::erf(v) + m::erfc(v) + m::sinh(v) + m::cosh(v) + m::asinh(v) + m::acosh(v) +
          m::atanh(v);
  sum +=
      m::asin(v) + m::acos(v) + m::atan(v) + m::atan2(v, T(2)) + m::lgamma(v) + m::digamma(v) + m::polygamma(T(3), v);
  sum += m::sin_near(v) + m::cos_near(v) + m::tan_near(v) + m::sin(v) + m::round(v) + m::fma(v, v, v);
  y[i] = m::azmul(sum, v) + m::azdiv(sum, v);
}
template __global__ void functions(int, const float*, float*);
template __global__ void functions(int, const double*, double*);
