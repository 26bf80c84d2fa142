// common/shape.hpp: the size of a classifier.
#pragma once

namespace examples {

struct shape {
  int features, hidden, classes;
};

inline constexpr shape digits_shape{.features = 64, .hidden = 32, .classes = 10};

}  // namespace examples
