// fedavg/shapes.hpp: the sizes that are compiled in. Another number of hidden units is a change of one line here
// (digits: in ../common/shape.hpp). Data of another shape need a line here, an entry in make_trainer (main.cpp) and a
// copy of digits.cpp.
#pragma once

#include <array>

#include "../common/shape.hpp"

namespace fedavg {

using namespace examples;

inline constexpr shape flights_shape{.features = 34, .hidden = 32, .classes = 2};
inline constexpr std::array shapes{digits_shape, flights_shape};

/// The numbers of local steps to choose from: each is a program of its own, which takes time to compile.
inline constexpr std::array compiled_steps{1, 8};

}  // namespace fedavg
