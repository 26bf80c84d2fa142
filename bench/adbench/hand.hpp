// Hand tracking (ADBench; Taylor et al. 2014), with a hand of any number of fingers: the distance of a measured point
// from a point on the skin of a posed hand, as ordinary C++.
#pragma once

#include "ba.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace adbench {

/// The bones: a forearm, a palm, then joint by joint one bone of each finger; there are four joints, the last of which
/// does not bend.
template <std::size_t Fingers>
struct hand {
  static constexpr std::size_t joints = 4, bones = 2 + joints * Fingers;
  // inputs: rotation 3, translation 3, for each finger {bend, spread, bend, bend}; then two coordinates in the triangle
  static constexpr std::size_t rotation = 0, translation = 3, fingers = 6, parameters = fingers + 4 * Fingers,
                               within = parameters, inputs = parameters + 2;
  using input = std::array<double, inputs>;
  template <class S>
  using pose = std::array<std::array<S, 4>, 3>;  // the last row is 0, 0, 0, 1

  std::array<pose<double>, bones> base;     ///< of each bone, seen from its parent
  std::array<pose<double>, bones> inverse;  ///< from the hand at rest to each bone
  std::array<std::array<double, 3>, 3> corners;
  std::array<std::array<double, bones>, 3> weights;  ///< of the bones at each corner
  std::array<double, 3> measured;

  /// c = a b; c must not alias a or b, since elements would be overwritten before they are read.
  template <class A, class B, class C>
  static void multiply(const pose<A>& a, const pose<B>& b, pose<C>& c) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
      c[i][3] = a[i][0] * b[0][3] + a[i][1] * b[1][3] + a[i][2] * b[2][3] + a[i][3];
    }
  }
  template <class A, class B>
  static auto product(const pose<A>& a, const pose<B>& b) {
    pose<std::conditional_t<std::is_same_v<A, double>, B, A>> c;
    multiply(a, b, c);
    return c;
  }
  template <class S>
  static pose<S> turned(const S& bend, const S& spread) {
    using std::cos, std::sin;
    const S cx = cos(bend), sx = sin(bend), cz = cos(spread), sz = sin(spread), o = 0;
    return {{{cz, -sz * cx, sz * sx, o}, {sz, cz * cx, -cz * sx, o}, {o, sx, cx, o}}};
  }
  /// Calls each(b, the map that brings bone b from the hand at rest to the bent hand, moved as a whole).
  template <class S, class Each>
  void each_bone(const S* in, const pose<S>& whole, Each each) const {
    pose<S> forearm, palm, chain[2], own, moved;
    const auto reached = [&](std::size_t b, const pose<S>& absolute) {
      multiply(absolute, inverse[b], moved);
      each(b, moved);
    };
    multiply(whole, base[0], forearm);
    reached(0, forearm);
    multiply(forearm, base[1], palm);
    reached(1, palm);
    for (std::size_t f = 0; f < Fingers; ++f) {
      const S* angles = &in[fingers + 4 * f];
      const pose<S>* parent = &palm;
      for (std::size_t k = 0; k < joints; ++k) {
        const std::size_t b = 2 + k * Fingers + f;
        pose<S>& here = chain[k % 2];
        if (k + 1 < joints) {
          multiply(base[b], turned(angles[k == 0 ? 0 : k + 1], k == 0 ? angles[1] : S(0)), own);
          multiply(*parent, own, here);
        } else {
          multiply(*parent, base[b], here);
        }
        reached(b, here);
        parent = &here;
      }
    }
  }
  template <class S>
  std::array<pose<S>, bones> poses(const S* in, const pose<S>& whole) const {
    std::array<pose<S>, bones> all;
    each_bone(in, whole, [&](std::size_t b, const pose<S>& p) { all[b] = p; });
    return all;
  }
  template <class S>
  static pose<S> still() {
    pose<S> p;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) p[i][j] = i == j ? 1 : 0;
    return p;
  }
  template <class S>
  std::array<S, 3> operator()(const std::array<S, inputs>& in) const {
    const auto all = poses(in.data(), still<S>());
    const S u[3] = {in[within], in[within + 1], 1 - in[within] - in[within + 1]};
    std::array<S, 3> skin{S(0), S(0), S(0)};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t b = 0; b < bones; ++b)
        for (std::size_t i = 0; i < 3; ++i) {
          const S seen =
              all[b][i][0] * corners[c][0] + all[b][i][1] * corners[c][1] + all[b][i][2] * corners[c][2] + all[b][i][3];
          skin[i] += u[c] * weights[c][b] * seen;
        }
    const auto there = bundle::rotated(&in[rotation], skin);
    return {measured[0] - there[0] - in[translation], measured[1] - there[1] - in[translation + 1],
            measured[2] - there[2] - in[translation + 2]};
  }
};

}  // namespace adbench
