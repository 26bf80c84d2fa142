// Hand tracking (hand.hpp) with all measured points at once, as in ADBench: the pose is computed once. "Simple": a
// point corresponds to a vertex of the skin; "complicated": to a place in a triangle, whose two coordinates are unknown
// too. Other than in ADBench, only vertices that points use are computed.
#pragma once

#include "hand.hpp"

#include <drx/scalar/wide.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace adbench {

template <std::size_t Fingers, std::size_t Points, bool Complicated>
struct tracking {
  using skeleton = hand<Fingers>;
  static constexpr std::size_t bones = skeleton::bones, parameters = skeleton::parameters,
                               inputs = parameters + (Complicated ? 2 : 0), outputs = 3 * Points;
  static constexpr std::size_t corners = Complicated ? 3 : 1;
  /// The inputs: the parameters of the hand; for the complicated kind then a displacement of all places in triangles.
  /// Each error depends on its own place only, so that two columns hold the derivatives by all of them.
  using input = std::array<double, inputs>;
  using jacobian = std::array<input, outputs>;
  template <class S>
  using pose = typename skeleton::template pose<S>;

  struct measurement {
    std::array<double, 3> measured;
    std::array<double, 2> within;
  };
  skeleton model;  ///< of it base and inverse only
  std::array<measurement, Points> points;
  /// For each point each corner, homogeneous, times each bone's weight; the weights add up to 1.
  std::array<std::array<std::array<std::array<double, 4>, bones>, corners>, Points> weighted;

  template <class S>
  static pose<S> rotation(const S* r) {  // ADBench's: without a branch for the rotation by no angle
    using std::cos, std::sin, std::sqrt;
    const S square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + 1e-300, angle = sqrt(square), s = sin(angle) / angle,
            c = cos(angle), d = (1 - c) / square;
    const S x = r[0] * s, y = r[1] * s, z = r[2] * s, xy = r[0] * r[1] * d, xz = r[0] * r[2] * d, yz = r[1] * r[2] * d;
    return {{{c + r[0] * r[0] * d, xy - z, xz + y, r[3]},
             {xy + z, c + r[1] * r[1] * d, yz - x, r[4]},
             {xz - y, yz + x, c + r[2] * r[2] * d, r[5]}}};
  }

  template <class S>
  std::array<S, outputs> operator()(const std::array<S, inputs>& in) const {
    std::array<S, 12 * bones> columns;  // of all bones' matrices, one after the other
    model.each_bone(in.data(), rotation(&in[skeleton::rotation]), [&](std::size_t b, const pose<S>& p) {
      for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t i = 0; i < 3; ++i) columns[12 * b + 3 * j + i] = p[i][j];
    });
    std::array<S, 3 * corners * Points> skin;
    const std::span<const double> weights(weighted[0][0][0].data(), sizeof(weighted) / sizeof(double));
    if constexpr (drx::ad::Number<S>) {
      drx::ad::matmul<corners * Points, 4 * bones, 3>(weights, columns, skin);
    } else {  // a peer's scalar
      for (std::size_t n = 0; n < corners * Points; ++n) {
        S x = 0, y = 0, z = 0;
        for (std::size_t k = 0; k < 4 * bones; ++k) {
          const double w = weights[4 * bones * n + k];
          x += w * columns[3 * k];
          y += w * columns[3 * k + 1];
          z += w * columns[3 * k + 2];
        }
        skin[3 * n] = x;
        skin[3 * n + 1] = y;
        skin[3 * n + 2] = z;
      }
    }
    std::array<S, outputs> error;
    for (std::size_t n = 0; n < Points; ++n) {
      const measurement& m = points[n];
      const S* corner = &skin[3 * corners * n];
      for (std::size_t i = 0; i < 3; ++i) {
        if constexpr (Complicated) {
          const S u = in[parameters] + m.within[0], v = in[parameters + 1] + m.within[1];
          error[3 * n + i] = m.measured[i] - (u * corner[i] + v * corner[3 + i] + (1 - u - v) * corner[6 + i]);
        } else {
          error[3 * n + i] = m.measured[i] - corner[i];
        }
      }
    }
    return error;
  }

  /// The Jacobian, derived and written by hand: an angle moves the bones of its finger from its joint on.
  void by_hand(const input& in, jacobian& j) const {
    constexpr std::size_t last = skeleton::joints - 1;
    const double* r = &in[skeleton::rotation];
    const auto whole = rotation(r);
    const auto seen = model.poses(in.data(), whole);
    // For each angle, the derivatives of the bones that it moves.
    pose<double> moved[Fingers][4][skeleton::joints];
    const auto palm = skeleton::product(skeleton::product(whole, model.base[0]), model.base[1]);
    for (std::size_t f = 0; f < Fingers; ++f) {
      const double* angles = &in[skeleton::fingers + 4 * f];
      pose<double> parent = palm, own[skeleton::joints], parents[skeleton::joints];
      for (std::size_t k = 0; k <= last; ++k) {
        const auto& base = model.base[2 + k * Fingers + f];
        own[k] = k == last
                     ? base
                     : skeleton::product(base, skeleton::turned(angles[k == 0 ? 0 : k + 1], k == 0 ? angles[1] : 0));
        parents[k] = parent;
        parent = skeleton::product(parent, own[k]);
      }
      for (std::size_t a = 0; a < 4; ++a) {
        const std::size_t k = a < 2 ? 0 : a - 1;
        const double bend = angles[a < 2 ? 0 : a], spread = a < 2 ? angles[1] : 0;
        const double cx = std::cos(bend), sx = std::sin(bend), cz = std::cos(spread), sz = std::sin(spread);
        const pose<double> slope =
            a == 1 ? pose<double>{{{-sz, -cz * cx, cz * sx, 0}, {cz, -sz * cx, sz * sx, 0}, {0, 0, 0, 0}}}
                   : pose<double>{{{0, sz * sx, sz * cx, 0}, {0, -cz * sx, -cz * cx, 0}, {0, cx, -sx, 0}}};
        auto d = linear(skeleton::product(parents[k], model.base[2 + k * Fingers + f]), slope);
        for (std::size_t l = k; l <= last; ++l) {
          if (l > k) d = skeleton::product(d, own[l]);
          moved[f][a][l] = skeleton::product(d, model.inverse[2 + l * Fingers + f]);
        }
      }
    }
    // d (R x) / d r = -[R x] R (r r^T + (R^T - 1) [r]) / |r|^2 (Gallego and Yezzi 2015)
    const double n = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const double skew[3][3] = {{0, -r[2], r[1]}, {r[2], 0, -r[0]}, {-r[1], r[0], 0}};
    double inner[3][3], turn[3][3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        inner[i][k] = r[i] * r[k];
        for (std::size_t l = 0; l < 3; ++l) inner[i][k] += (whole[l][i] - (l == i ? 1 : 0)) * skew[l][k];
      }
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        turn[i][k] = (whole[i][0] * inner[0][k] + whole[i][1] * inner[1][k] + whole[i][2] * inner[2][k]) / n;
    for (std::size_t p = 0; p < Points; ++p) {
      const measurement& m = points[p];
      std::array<std::array<double, 4>, bones> place;  // the point on the skin, as each bone moves it
      double share[3] = {1, 0, 0};
      if constexpr (Complicated) {
        share[0] = in[parameters] + m.within[0];
        share[1] = in[parameters + 1] + m.within[1];
        share[2] = 1 - share[0] - share[1];
      }
      for (std::size_t b = 0; b < bones; ++b)
        for (std::size_t k = 0; k < 4; ++k) {
          place[b][k] = 0;
          for (std::size_t c = 0; c < corners; ++c) place[b][k] += share[c] * weighted[p][c][b][k];
        }
      double x[3] = {-whole[0][3], -whole[1][3], -whole[2][3]};
      for (std::size_t b = 0; b < bones; ++b)
        for (std::size_t i = 0; i < 3; ++i) x[i] += applied(seen[b], place[b], i);
      for (std::size_t k = 0; k < 3; ++k) {
        j[3 * p][k] = -(x[2] * turn[1][k] - x[1] * turn[2][k]);
        j[3 * p + 1][k] = -(x[0] * turn[2][k] - x[2] * turn[0][k]);
        j[3 * p + 2][k] = -(x[1] * turn[0][k] - x[0] * turn[1][k]);
        for (std::size_t i = 0; i < 3; ++i) j[3 * p + i][3 + k] = i == k ? -1 : 0;
      }
      for (std::size_t f = 0; f < Fingers; ++f)
        for (std::size_t a = 0; a < 4; ++a)
          for (std::size_t i = 0; i < 3; ++i) {
            double sum = 0;
            for (std::size_t l = a < 2 ? 0 : a - 1; l <= last; ++l)
              sum += applied(moved[f][a][l], place[2 + l * Fingers + f], i);
            j[3 * p + i][skeleton::fingers + 4 * f + a] = -sum;
          }
      if constexpr (Complicated)
        for (std::size_t c = 0; c < 2; ++c)
          for (std::size_t i = 0; i < 3; ++i) {
            double sum = 0;
            for (std::size_t b = 0; b < bones; ++b)
              for (std::size_t k = 0; k < 4; ++k) sum += seen[b][i][k] * (weighted[p][c][b][k] - weighted[p][2][b][k]);
            j[3 * p + i][parameters + c] = -sum;
          }
    }
  }

 private:
  static double applied(const pose<double>& t, const std::array<double, 4>& x, std::size_t i) {
    return t[i][0] * x[0] + t[i][1] * x[1] + t[i][2] * x[2] + t[i][3] * x[3];
  }
  /// a b, where b is a derivative: its last row is zero.
  static pose<double> linear(const pose<double>& a, const pose<double>& b) {
    pose<double> c;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 4; ++k) c[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
    return c;
  }
};

}  // namespace adbench
