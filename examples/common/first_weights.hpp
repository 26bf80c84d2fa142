// common/first_weights.hpp: a model before training.
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <cmath>

#include "random.hpp"

namespace examples {

/// Weights normally distributed by the number of units that feed a unit; biases zero.
template <class Model>
Model first_weights(std::uint64_t seed) {
  random_stream random(seed, purpose::weights);
  Model m;
  boost::hana::for_each(boost::hana::accessors<Model>(), [&](auto member) {
    auto& array = boost::hana::second(member)(m);
    using A = std::remove_cvref_t<decltype(array)>;
    const double scale = A::rank < 2 ? 0 : 1 / std::sqrt(static_cast<double>(A::shape[0]));
    for (float& v : array) v = static_cast<float>(scale * random.normal());
  });
  return m;
}

}  // namespace examples
