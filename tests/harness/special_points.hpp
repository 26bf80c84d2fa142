// The tables of docs/special_points.md.
#pragma once

#include "difference.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace harness {

struct special_point {
  std::string function;
  std::vector<double> at;
  double value;
  std::vector<double> derivative;
};

/// The numbers between commas, inf, -inf and NaN included.
inline std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> r;
  std::istringstream in(text);
  for (std::string number; std::getline(in, number, ',');) r.push_back(std::stod(number));
  return r;
}
/// Each table row of four columns whose first one is a name in backquotes.
inline std::vector<special_point> special_points() {
  const char* const root = std::getenv("DRX_SOURCE_DIR");  // set by ctest: compilers may be given relative paths
  const auto path = (root ? std::filesystem::path(root) : std::filesystem::path(__FILE__).parent_path() / "../..") /
                    "docs/special_points.md";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::vector<special_point> r;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    if (cells.size() != 4) throw std::runtime_error("not four columns: " + line);
    r.push_back(
        {cells[0].substr(2, cells[0].rfind('`') - 2), numbers_in(cells[1]), std::stod(cells[2]), numbers_in(cells[3])});
  }
  return r;
}
/// Equal, NaN to NaN, or to 13 digits.
inline bool agrees(double x, double y) { return difference(x, y, std::abs(y), nans::agree) <= 1e-13; }
/// The same, with the sign of a zero.
inline bool agrees_in_sign(double x, double y) {
  return agrees(x, y) && (y != 0 || std::signbit(x) == std::signbit(y));
}

}  // namespace harness
