// common/files.hpp: reads and writes whole files. A written file is there completely or not at all, even after a crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace examples {

/// A file that cannot be used. The text names the file first, then what is wrong with it.
struct file_error : std::runtime_error {
  file_error(const std::filesystem::path& path, std::string_view what);
  file_error(const std::filesystem::path& path, std::size_t line, std::string_view what);
};

/// The largest file that read_file accepts: several times the largest of the examples' data.
inline constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;

/// The content of a regular file, not of a device, a pipe or a folder. Throws file_error, also for a file larger than
/// `limit` bytes, which is not read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uintmax_t limit = largest_file);

/// Writes a new temporary file beside `path`, forces it to the disk and renames it: a link at `path` is replaced, not
/// followed. Throws file_error, and then leaves the old file as it was.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Removes the temporary files in the folder of processes that were killed in write_atomically.
void remove_temporaries(const std::filesystem::path& folder);

}  // namespace examples
