// Adds a side's rows: its gradients, and its Jacobians of many observations and of hands.
#pragma once

#include "inputs.hpp"

#include <algorithm>

namespace adbench {

/// The rows of gradients: gradient(x, g, f) fills g with the gradient of f at x.
template <class Gradient>
void add_gradients(bench::suite& suite, const inputs& in, const char* name, Gradient gradient) {
  add<inputs::mixture::vector>(suite, mixture_row, name, [&in, gradient](auto& g) {
    gradient(in.theta, g, [&in](const auto& t) { return in.of_points.value(t, in.points); });
  });
  add<inputs::recurrent::vector>(suite, lstm_row, name, [&in, gradient](auto& g) { gradient(in.weights, g, in.text); });
}
/// The row of bundle adjustment: jacobian(f, x, j) fills j with the Jacobian of f at x.
template <class Jacobian>
void add_bundles(bench::suite& suite, const inputs& in, const char* name, Jacobian jacobian) {
  add<jacobians>(suite, bundle_row, name, [&in, jacobian](jacobians& j) {
    for (std::size_t i = 0; i < j.size(); ++i) jacobian(in.view, in.observations[i], j[i]);
  });
}
/// The point at which a hand's Jacobian is taken: the angles, and for the complicated kind two numbers more.
template <class Track>
typename Track::input place_of(const inputs& in) {
  typename Track::input x;
  std::copy_n(in.angles.begin(), x.size(), x.begin());
  return x;
}
/// The rows of hands.
template <class Jacobian>
void add_hands(bench::suite& suite, const inputs& in, const char* name, Jacobian jacobian) {
  const auto one = [&]<class Track>(const char* row, const Track& f) {
    add<typename Track::jacobian>(suite, row, name,
                                  [&f, x = place_of<Track>(in), jacobian](auto& j) { jacobian(f, x, j); });
  };
  one(simple_row, in.simple);
  one(complicated_row, in.complicated);
}
template <class Jacobian>
void add_jacobians(bench::suite& suite, const inputs& in, const char* name, Jacobian jacobian) {
  add_bundles(suite, in, name, jacobian);
  add_hands(suite, in, name, jacobian);
}

}  // namespace adbench
