// common/files.hpp: whole files in and out. Whatever is written is there complete or not at all, even after a crash.
#pragma once

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

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Writes a temporary file beside `path`, forces it to the disk and renames it.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace examples
