#include "folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "files.hpp"

namespace examples {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

/// The text that the holder wrote: its process and host.
std::string holder(int file) {
  char text[300];
  const ssize_t got = ::pread(file, text, sizeof text, 0);
  std::string_view line(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  line = line.substr(0, line.find('\n'));
  return line.empty() ? "another run" : std::string(line);
}

/// Takes the lock of an opened file, or throws.
void take(int file, const std::filesystem::path& folder) {
  struct stat about{};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    throw file_error(folder / ".lock", "is not a regular file");
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK)
      throw file_error(folder, fmt::format("is in use by {}: wait for its end, or take another folder", holder(file)));
    throw file_error(folder, "cannot be locked: " + reason(errno));
  }
  char host[256]{};
  static_cast<void>(::gethostname(host, sizeof host - 1));
  const std::string line = fmt::format("process {} on {}\n", ::getpid(), host);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()))
    throw file_error(folder / ".lock", "cannot be written: " + reason(errno));
}

}  // namespace

folder_lock::folder_lock(const std::filesystem::path& folder) {
  if (folder.empty()) throw file_error("''", "names no folder");
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw file_error(folder, "is no folder and cannot be made one: " + problem.message());
  file_ = ::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (file_ < 0) throw file_error(folder / ".lock", "cannot be written: " + reason(errno));
  try {
    take(file_, folder);
    remove_temporaries(folder);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

folder_lock::~folder_lock() { ::close(file_); }

}  // namespace examples
