#include "files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace examples {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

struct descriptor {
  int fd;
  explicit descriptor(int opened) : fd(opened) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

void write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error(path, "cannot be written: " + reason(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The rename itself is on the disk only after the folder is.
void sync_folder(const std::filesystem::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (opened.fd >= 0) ::fsync(opened.fd);
}

}  // namespace

file_error::file_error(const std::filesystem::path& path, std::string_view what)
    : std::runtime_error(fmt::format("{}: {}", path.string(), what)) {}

file_error::file_error(const std::filesystem::path& path, std::size_t line, std::string_view what)
    : std::runtime_error(fmt::format("{}:{}: {}", path.string(), line, what)) {}

std::string read_file(const std::filesystem::path& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY));
  if (file.fd < 0) throw file_error(path, "cannot be read: " + reason(errno));
  std::string content;
  std::error_code unknown;
  const auto expected = std::filesystem::file_size(path, unknown);  // a hint: a pipe has no size
  content.reserve(unknown ? 0 : expected);
  constexpr std::size_t block = 1 << 20;
  for (std::size_t size = 0;;) {
    content.resize(size + block);
    const ssize_t got = ::read(file.fd, content.data() + size, block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error(path, "cannot be read: " + reason(errno));
    size += static_cast<std::size_t>(got);
    if (got == 0) {
      content.resize(size);
      return content;
    }
  }
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  auto temporary = path;
  temporary += ".part";
  try {
    const descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666));
    if (file.fd < 0) throw file_error(path, "cannot be written: " + reason(errno));
    write_all(file.fd, bytes, path);
    if (::fsync(file.fd) != 0) throw file_error(path, "cannot be written: " + reason(errno));
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw file_error(path, "cannot be written: " + reason(errno));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(path);
}

}  // namespace examples
