// bench/logistic_regression/inputs.hpp: the rows that every side reads, some 400 MB of each type, in place: nobody
// copies them. jax_twin.py makes the same numbers.
#pragma once

#include <harness.hpp>

#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace logistic {

inline constexpr int features = 100;

/// Memory on huge pages, as numpy asks for it too.
template <class T>
struct huge_pages {
  using value_type = T;
  T* allocate(std::size_t n) {
    constexpr std::size_t page = std::size_t{1} << 21;
    const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
    void* p = std::aligned_alloc(page, bytes);
    if (p == nullptr) throw std::bad_alloc();
    madvise(p, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { std::free(p); }
  bool operator==(const huge_pages&) const = default;
};
template <class T>
using numbers = std::vector<T, huge_pages<T>>;

/// The first half of a float, rounded to nearest, ties to even.
struct brain_float {
  std::uint16_t bits;
  brain_float() = default;
  explicit brain_float(float x) : bits(rounded(std::bit_cast<std::uint32_t>(x))) {}
  explicit operator double() const { return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16)); }

 private:
  static std::uint16_t rounded(std::uint32_t u) {
    return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
};

/// Rows of type X, computed with in type T.
template <class T, class X = T>
struct inputs {
  std::size_t rows;
  std::vector<T> w = std::vector<T>(features);
  numbers<X> x = numbers<X>(rows * features);  // [rows, features]
  numbers<T> y = numbers<T>(rows);             // 0 or 1
};
template <class T>
struct answer {
  T loss = 0, slope[features] = {};
};

template <class T, class X = T>
inputs<T, X> make_inputs(std::size_t rows) {
  inputs<T, X> in{rows};
  for (std::uint32_t i = 0; i < features; ++i) in.w[i] = T(0.25f * bench::uniform(1, i));
#pragma omp parallel for
  for (std::uint32_t i = 0; i < rows * features; ++i) in.x[i] = X(bench::uniform(2, i));
  for (std::uint32_t i = 0; i < rows; ++i) in.y[i] = bench::uniform(3, i) > 0 ? T(1) : T(0);
  return in;
}

/// The result in plain double loops.
template <class T, class X>
std::vector<double> reference(const inputs<T, X>& in) {
  std::vector<double> total(1 + features);
  for (std::size_t i = 0; i < in.rows; ++i) {
    const X* x = &in.x[i * features];
    double z = 0;
    for (std::size_t j = 0; j < features; ++j) z += static_cast<double>(x[j]) * static_cast<double>(in.w[j]);
    total[0] += std::log1p(std::exp(z)) - static_cast<double>(in.y[i]) * z;
    const double slope = 1 / (1 + std::exp(-z)) - static_cast<double>(in.y[i]);
    for (std::size_t j = 0; j < features; ++j) total[1 + j] += slope * static_cast<double>(x[j]);
  }
  for (double& t : total) t /= static_cast<double>(in.rows);
  return total;
}

}  // namespace logistic
