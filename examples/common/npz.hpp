// common/npz.hpp: float arrays in a file that numpy.load opens.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace examples {

struct npz_array {
  std::string name;
  std::vector<std::size_t> shape;
  std::span<const float> values;  ///< row by row
};

/// Replaces the file in one step. Equal arrays give equal bytes.
void write_npz(const std::filesystem::path& path, const std::vector<npz_array>& arrays);

}  // namespace examples
