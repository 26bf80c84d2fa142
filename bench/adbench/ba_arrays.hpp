// Bundle adjustment (ba.hpp) as programs of arrays: observations are placed, and each has its own block of the
// Jacobian.
#pragma once

#include "ba.hpp"
#include "rotation_arrays.hpp"

#include <tuple>

namespace adbench {

struct observations : drx::placement<observations> {};
/// The camera and the point of an observation, its weight, and its place in the picture.
using observation = std::tuple<std::int32_t, std::int32_t, double, drx::array<double, 2>>;

/// The weighted error of one observation; `in` is a camera, a point and the weight, as in bundle.
inline constexpr auto reprojection = [](auto in, auto feature) {
  auto centre = drx::slice<3, 6>(in), position = drx::slice<11, 14>(in);
  auto y = drx::matmul(rotation(drx::slice<0, 3>(in)), position - centre);
  auto p = drx::slice<0, 2>(y) / drx::index<2>(y);
  auto square = drx::dot(p, p);
  auto scale = drx::index<6>(in) * (1 + drx::index<9>(in) * square + drx::index<10>(in) * square * square);
  return drx::index<14>(in) * (p * scale + drx::slice<7, 9>(in) - feature);
};
/// The same by the scalar code.
struct bundle_of_feature {
  template <class S>
  std::array<S, 2> operator()(const std::array<S, 15>& in, const std::array<S, 2>& feature) const {
    const auto seen = bundle{{0, 0}}(in);
    return {seen[0] - in[14] * feature[0], seen[1] - in[14] * feature[1]};
  }
};
inline constexpr auto reprojection_called = [](auto in, auto feature) {
  return drx::call<drx::ad::forward>(bundle_of_feature{}, in, feature);
};

/// For each observation its error and the Jacobian, 2 x 15, with respect to its camera, its point and its weight.
template <auto Error>
inline constexpr auto bundle_jacobians = [](auto cameras, auto positions, auto seen) {
  return drx::map(
      [=](auto o) {
        auto [camera, point, weight, feature] = o;
        auto in = drx::concatenate(drx::index(cameras, camera), drx::index(positions, point), drx::reshape<1>(weight));
        return std::tuple{Error(in, feature), drx::jacrev(Error)(in, feature)};
      },
      seen);
};
template <auto Error, std::int64_t Cameras, std::int64_t Points>
using bundle_program = drx::program<bundle_jacobians<Error>, drx::array<double, Cameras, 11>,
                                    drx::array<double, Points, 3>, drx::placed<observation, observations>>;

}  // namespace adbench
