#include "files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
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

constexpr std::string_view ending = ".part";
constexpr std::size_t digits = 16;  // of a temporary file's name

/// .NAME.0123456789abcdef.part: nobody can guess it, and put a link there.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  std::random_device draw;
  const auto number = std::uint64_t{draw()} << 32 | draw();
  return path.parent_path() / fmt::format(".{}.{:0{}x}{}", path.filename().string(), number, digits, ending);
}

bool is_temporary(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  const auto dot = name.rfind('.');
  const auto number = name.substr(dot + 1);
  return dot > 1 && number.size() == digits && number.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

file_error::file_error(const std::filesystem::path& path, std::string_view what)
    : std::runtime_error(fmt::format("{}: {}", path.string(), what)) {}

file_error::file_error(const std::filesystem::path& path, std::size_t line, std::string_view what)
    : std::runtime_error(fmt::format("{}:{}: {}", path.string(), line, what)) {}

std::string read_file(const std::filesystem::path& path, std::uintmax_t limit) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // opening a pipe may block for ever
  if (file.fd < 0) throw file_error(path, "cannot be read: " + reason(errno));
  struct stat about{};
  if (::fstat(file.fd, &about) != 0) throw file_error(path, "cannot be read: " + reason(errno));
  if (S_ISDIR(about.st_mode)) throw file_error(path, "is a folder, not a file");
  if (!S_ISREG(about.st_mode)) throw file_error(path, "is a device or a pipe: only a regular file is read");
  const auto too_large = [&](std::uintmax_t size) {
    return file_error(path, fmt::format("has {} bytes, more than the {} that are read", size, limit));
  };
  const auto expected = static_cast<std::uintmax_t>(about.st_size);
  if (expected > limit) throw too_large(expected);
  std::string content;
  constexpr std::size_t block = 1 << 20;
  content.reserve(expected + block);
  for (std::size_t size = 0;;) {  // it may grow meanwhile
    content.resize(size + block);
    const ssize_t got = ::read(file.fd, content.data() + size, block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error(path, "cannot be read: " + reason(errno));
    size += static_cast<std::size_t>(got);
    if (size > limit) throw too_large(size);
    if (got == 0) {
      content.resize(size);
      return content;
    }
  }
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const auto cannot = [&] { return file_error(path, "cannot be written: " + reason(errno)); };
  const auto temporary = temporary_beside(path);
  const descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.fd < 0) throw cannot();
  try {
    write_all(file.fd, bytes, path);
    if (::fsync(file.fd) != 0) throw cannot();
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw cannot();
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(path);
}

void remove_temporaries(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (is_temporary(entry.path().filename().string())) std::filesystem::remove(entry.path());
}

}  // namespace examples
