// Bundle adjustment (ADBench): the weighted error of one observation of a point by a camera with radial distortion, as
// ordinary C++, and its Jacobian by hand.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace adbench {

struct bundle {
  // inputs: camera {rotation 3, centre 3, focal length, principal point 2, distortion 2}, point 3, weight
  static constexpr std::size_t rotation = 0, centre = 3, focal = 6, principal = 7, distortion = 9, position = 11,
                               weight = 14, inputs = 15;
  using input = std::array<double, inputs>;
  std::array<double, 2> feature;

  template <class S>
  static std::array<S, 3> cross(const S* a, const std::array<S, 3>& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }
  template <bool Branches = true, class S>
  static std::array<S, 3> rotated(const S* r, const std::array<S, 3>& x) {
    using std::cos, std::sin, std::sqrt;
    const S square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if constexpr (Branches) {
      if (square == 0) {
        const auto v = cross(r, x);
        return {x[0] + v[0], x[1] + v[1], x[2] + v[2]};
      }
    }
    const S angle = sqrt(square), c = cos(angle), s = sin(angle);
    const S axis[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
    const auto v = cross(axis, x);
    const S along = (axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2]) * (1 - c);
    return {x[0] * c + v[0] * s + axis[0] * along, x[1] * c + v[1] * s + axis[1] * along,
            x[2] * c + v[2] * s + axis[2] * along};
  }
  template <class S>
  std::array<S, 2> operator()(const std::array<S, inputs>& in) const {
    return error<true>(in);
  }
  /// The same for rotations that are not zero, without branches, so that packs can run it.
  template <class S>
  std::array<S, 2> lanes(const std::array<S, inputs>& in) const {
    return error<false>(in);
  }
  template <bool Branches, class S>
  std::array<S, 2> error(const std::array<S, inputs>& in) const {
    std::array<S, 3> x;
    for (std::size_t i = 0; i < 3; ++i) x[i] = in[position + i] - in[centre + i];
    const auto y = rotated<Branches>(&in[rotation], x);
    const S u = y[0] / y[2], v = y[1] / y[2], square = u * u + v * v;
    const S scale = in[focal] * (1 + in[distortion] * square + in[distortion + 1] * square * square);
    return {in[weight] * (u * scale + in[principal] - feature[0]),
            in[weight] * (v * scale + in[principal + 1] - feature[1])};
  }

  /// The Jacobian, 2 x 15, derived and written by hand. (The derivative of a rotation by its vector: Gallego and Yezzi
  /// 2015.)
  [[nodiscard]] std::array<input, 2> by_hand(const input& in) const {
    const double* r = &in[rotation];
    std::array<double, 3> x;
    for (std::size_t i = 0; i < 3; ++i) x[i] = in[position + i] - in[centre + i];
    double rot[3][3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto column = rotated(r, std::array<double, 3>{double(k == 0), double(k == 1), double(k == 2)});
      for (std::size_t i = 0; i < 3; ++i) rot[i][k] = column[i];
    }
    double y[3];
    for (std::size_t i = 0; i < 3; ++i) y[i] = rot[i][0] * x[0] + rot[i][1] * x[1] + rot[i][2] * x[2];
    const double p[2] = {y[0] / y[2], y[1] / y[2]}, square = p[0] * p[0] + p[1] * p[1], w = in[weight], f = in[focal];
    const double bend = 1 + in[distortion] * square + in[distortion + 1] * square * square;
    const double slope =
        2 * (in[distortion] + 2 * in[distortion + 1] * square);  // the derivative of bend by p is slope * p
    // d y / d rotation = -R [x] (r r^T + (R^T - 1) [r]) / |r|^2
    const double n = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const double skew_x[3][3] = {{0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};
    const double skew_r[3][3] = {{0, -r[2], r[1]}, {r[2], 0, -r[0]}, {-r[1], r[0], 0}};
    double inner[3][3], by_rotation[3][3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        inner[i][k] = r[i] * r[k];
        for (std::size_t l = 0; l < 3; ++l) inner[i][k] += (rot[l][i] - (l == i ? 1 : 0)) * skew_r[l][k];
        inner[i][k] = n == 0 ? (i == k ? 1 : 0) : inner[i][k] / n;
      }
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        by_rotation[i][k] = 0;
        for (std::size_t l = 0; l < 3; ++l)
          for (std::size_t h = 0; h < 3; ++h) by_rotation[i][k] -= rot[i][l] * skew_x[l][h] * inner[h][k];
      }
    std::array<input, 2> j{};
    for (std::size_t o = 0; o < 2; ++o) {
      double by_p[2];
      for (std::size_t i = 0; i < 2; ++i) by_p[i] = w * f * (p[o] * slope * p[i] + (i == o ? bend : 0));
      const double by_y[3] = {by_p[0] / y[2], by_p[1] / y[2], -(by_p[0] * p[0] + by_p[1] * p[1]) / y[2]};
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t i = 0; i < 3; ++i) {
          j[o][rotation + k] += by_y[i] * by_rotation[i][k];
          j[o][position + k] += by_y[i] * rot[i][k];
        }
      for (std::size_t k = 0; k < 3; ++k) j[o][centre + k] = -j[o][position + k];
      j[o][focal] = w * p[o] * bend;
      j[o][principal + o] = w;
      j[o][distortion] = w * f * p[o] * square;
      j[o][distortion + 1] = w * f * p[o] * square * square;
      j[o][weight] = f * p[o] * bend + in[principal + o] - feature[o];
    }
    return j;
  }
};

}  // namespace adbench
