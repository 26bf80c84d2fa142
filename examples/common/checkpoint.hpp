// common/checkpoint.hpp: a training run on disk, to be continued bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

template <class T>
struct checkpoint_of {
  std::string fingerprint;           ///< of the run that wrote it: lines of name=value
  std::uint64_t round = 0;           ///< rounds done
  std::vector<std::uint64_t> sizes;  ///< of each array of the model
  std::vector<T> parameters;         ///< all arrays, one after the other
  bool operator==(const checkpoint_of&) const = default;
};
using checkpoint = checkpoint_of<float>;

/// Replaces the file in one step; a crash leaves the old checkpoint or the new one.
void save(const std::filesystem::path& path, const checkpoint& state);
void save_doubles(const std::filesystem::path& path, const checkpoint_of<double>& state);

/// Throws file_error with the mismatch: damaged, of another version, of another run, of another model.
[[nodiscard]] checkpoint load(const std::filesystem::path& path, std::string_view fingerprint,
                              const std::vector<std::uint64_t>& sizes);
[[nodiscard]] checkpoint_of<double> load_doubles(const std::filesystem::path& path, std::string_view fingerprint,
                                                 const std::vector<std::uint64_t>& sizes);

}  // namespace examples
