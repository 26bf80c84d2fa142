// Regression problems on a few rows, with matrices of many spectra, for tests of the accuracy of gradient steps.
#pragma once

#include <drx/drx.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace regression {

/// Sanitizers, under which steps take a hundred times as long, see a few problems; digits are measured without them.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

inline constexpr int rows = 32, columns = 64, outputs = 10;
using generator = std::mt19937_64;
enum loss {
  squares,
  entropy,
  units
};  // of x w against y: least squares; softmax regression; least squares of tanh(x w)

/// A problem whose numbers are floats.
struct problem {
  std::string name;
  std::vector<double> x, y, w;
  double rate = 0;
  loss of = squares;
};

inline double normal(generator& r) { return std::normal_distribution<double>()(r); }
/// Makes each row orthogonal to those before it, with length 1.
inline void orthogonalise(std::vector<double>& m, int n, int length) {
  const auto at = [&](int i, int k) -> double& { return m[static_cast<std::size_t>(i * length + k)]; };
  for (int i = 0; i < n; ++i)
    for (int pass = 0; pass < 2; ++pass) {
      for (int j = 0; j < i; ++j) {
        double dot = 0;
        for (int k = 0; k < length; ++k) dot += at(i, k) * at(j, k);
        for (int k = 0; k < length; ++k) at(i, k) -= dot * at(j, k);
      }
      double norm = 0;
      for (int k = 0; k < length; ++k) norm += at(i, k) * at(i, k);
      for (int k = 0; k < length; ++k) at(i, k) /= std::sqrt(norm);
    }
}
inline std::vector<double> normals(std::size_t n, generator& r, double mean = 0) {
  std::vector<double> v(n);
  for (double& x : v) x = mean + normal(r);
  return v;
}
inline std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int n, int m, int k) {
  std::vector<double> c(static_cast<std::size_t>(n * k));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int l = 0; l < k; ++l)
        c[static_cast<std::size_t>(i * k + l)] +=
            a[static_cast<std::size_t>(i * m + j)] * b[static_cast<std::size_t>(j * k + l)];
  return c;
}

inline const std::vector<std::string> spectra{
    "gaussian", "drawn with replacement", "orthogonal",    "around 5",      "rank 8",
    "clipped",  "of few lengths",         "condition 1e2", "condition 1e4", "condition 1e8"};
inline std::vector<double> matrix_of(const std::string& spectrum, generator& r) {
  std::vector<double> x = normals(rows * columns, r, spectrum == "around 5" ? 5 : 0);
  const auto row = [](std::vector<double>& m, std::uint64_t i) {
    return m.begin() + static_cast<std::ptrdiff_t>(i * columns);
  };
  if (spectrum == "drawn with replacement") {
    std::vector<double> pool = normals((rows + 8) * columns, r);
    for (std::uint64_t i = 0; i < rows; ++i) std::copy_n(row(pool, r() % (rows + 8)), columns, row(x, i));
  } else if (spectrum == "rank 8") {
    x = product(normals(rows * 8, r), normals(8 * columns, r), rows, 8, columns);
  } else if (spectrum == "clipped") {
    for (double& v : x) v = std::clamp(v, 0.0, 1.0);
  } else if (spectrum == "of few lengths") {
    for (std::uint64_t i = 0; i < rows; ++i)
      std::for_each_n(row(x, i), columns, [&](double& v) { v *= std::pow(10.0, -static_cast<double>(i % 4)); });
  } else if (spectrum == "orthogonal") {
    orthogonalise(x, rows, columns);
  } else if (spectrum.starts_with("condition")) {
    std::vector<double> left = normals(rows * rows, r);
    orthogonalise(left, rows, rows);
    orthogonalise(x, rows, columns);
    const double condition = std::stod(spectrum.substr(10));
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < rows; ++j)
        left[static_cast<std::size_t>(i * rows + j)] *= std::pow(condition, -j / (rows - 1.0));
    x = product(left, x, rows, rows, columns);
  }
  return x;
}
inline double largest_eigenvalue(const std::vector<double>& x) {  // of x^T x, approximately
  std::vector<double> v(columns, 1.0);
  v[0] = 2;
  double length = 1;
  for (int i = 0; i < 200; ++i) {
    const std::vector<double> z = product(x, v, rows, columns, 1);
    v = product(z, x, 1, rows, columns);
    length = 0;
    for (double a : v) length += a * a;
    length = std::sqrt(length);
    for (double& a : v) a /= length;
  }
  return length;
}
/// A problem whose rate times the largest eigenvalue is `speed`; least squares diverge from 2 on.
inline problem make(const std::string& spectrum, loss of, double speed, generator& r) {
  problem p;
  p.name = spectrum + ", loss " + std::to_string(of) + ", speed " + std::to_string(speed);
  p.of = of;
  p.x = matrix_of(spectrum, r);
  p.y = normals(rows * outputs, r);
  if (of == units)
    for (double& v : p.y) v = std::tanh(v);
  if (of == entropy)
    for (std::size_t i = 0; i < rows; ++i) {
      std::fill_n(p.y.begin() + static_cast<std::ptrdiff_t>(i * outputs), outputs, 0.0);
      p.y[i * outputs + r() % outputs] = 1;
    }
  p.w = normals(columns * outputs, r);
  for (double& v : p.w) v *= .1;
  p.rate = static_cast<float>(speed / largest_eigenvalue(p.x));
  for (auto* m : {&p.x, &p.y, &p.w})
    for (double& v : *m) v = static_cast<float>(v);
  return p;
}

/// The update of a product x w: the chosen loss has weight 1, the others 0.
inline constexpr auto change = [](auto z, auto y, auto chosen) {
  const auto h = drx::tanh(z);
  return drx::index(chosen, 0) * (z - y) + drx::index(chosen, 1) * (drx::softmax(z) - y) +
         drx::index(chosen, 2) * ((h - y) * (1 - h * h));
};

template <class Array, class T>
Array filled(const std::vector<T>& v) {
  Array a;
  std::copy(v.begin(), v.end(), a.data());
  return a;
}
/// The largest difference, relative to the largest number; infinity if anything is not finite.
inline double error_of(const std::vector<double>& got, const std::vector<double>& expected) {
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(got[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return most / scale;
}
template <class T>
constexpr double floor_of_errors =
    4 * std::numeric_limits<T>::epsilon();  // the error that either way may have after a single step

}  // namespace regression
