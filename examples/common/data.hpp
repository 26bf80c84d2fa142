// common/data.hpp: a labelled table in memory: read from a CSV file, split into training and test rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace examples {

struct dataset {
  std::vector<float> x;                   ///< rows() x features, row by row
  std::vector<int> y;                     ///< the label of each row, 0 .. classes - 1
  std::vector<int> client;                ///< the owner of each row, an index into client_names; empty: no owners known
  std::vector<std::string> client_names;  ///< in order of first appearance
  std::vector<std::string> feature_names;
  std::size_t features = 0;
  int classes = 0;

  [[nodiscard]] std::size_t rows() const { return y.size(); }
  [[nodiscard]] std::span<const float> row(std::size_t i) const { return std::span(x).subspan(i * features, features); }
};

/// The sizes that the model needs the data to have; 0 accepts any.
struct schema {
  std::size_t features = 0;
  int classes = 0;
};

/// Reads a CSV file: a header line that names a column `label` (whole numbers from 0), optionally one `client` (any
/// text), and features in all others (finite numbers); at most 10,000 columns. Throws file_error with file, line and
/// reason.
[[nodiscard]] dataset read_csv(const std::filesystem::path& path, schema expected = {});

/// The rows with these numbers, in that order; classes and names stay as they are.
[[nodiscard]] dataset take(const dataset& data, std::span<const std::size_t> rows);

struct train_and_test {
  dataset train, test;
};

/// Puts each row aside for testing with the given probability, decided by a hash of the row's own values and the
/// seed: the same on any number of ranks and for any order of rows, and equal rows stay together.
[[nodiscard]] train_and_test split(const dataset& data, double test_fraction, std::uint64_t seed);

/// CRC-32 of all rows: two data sets with the same checksum are taken to be the same.
[[nodiscard]] std::uint32_t checksum(const dataset& data);

}  // namespace examples
