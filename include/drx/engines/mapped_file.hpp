// drx/engines/mapped_file.hpp: members' values in files, .npy or raw, mapped into memory: a worker reads what it
// computes on, and no more.
#pragma once

#include <drx/core/abstract_value.hpp>
#include <drx/core/sentence.hpp>
#include <drx/tape/print.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace drx::engines {

/// A file in memory, to read.
class mapped_file {
 public:
  /// Throws std::runtime_error where it cannot be read.
  explicit mapped_file(std::string path) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail(std::strerror(errno));
    struct stat s = {};
    const bool known = ::fstat(descriptor, &s) == 0 && S_ISREG(s.st_mode);
    size_ = known ? static_cast<std::size_t>(s.st_size) : 0;
    if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
    if (!known) fail("it is no regular file");
    if (data_ == MAP_FAILED) fail("it cannot be mapped into memory");
  }
  mapped_file(mapped_file&& other) noexcept
      : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  mapped_file& operator=(mapped_file&&) = delete;
  ~mapped_file() {
    if (data_ && data_ != MAP_FAILED) ::munmap(data_, size_);
  }

  /// All its bytes.
  [[nodiscard]] std::span<const std::byte> all() const { return {static_cast<const std::byte*>(data_), size_}; }
  /// The values of `count` members from number `first` of the file on, each of type `one`. A .npy file (by its first
  /// bytes) must hold such members along axis 0, in C order and this machine's byte order.
  [[nodiscard]] std::span<const std::byte> members(const abstract_value& one, std::int64_t first,
                                                   std::int64_t count) const {
    const std::span<const std::byte> data = is_npy() ? npy_data(one) : all();
    const std::int64_t size = one.shape.size() * byte_size(one.type);
    if (size == 0) return {};
    const std::int64_t there = static_cast<std::int64_t>(data.size()) / size;
    if (first < 0 || count < 0 || first > there || count > there - first)
      fail(error::sentence(
          {"it has ", there, " members of ", show(one), "; asked for are ", count, " from ", first, " on"}));
    return data.subspan(static_cast<std::size_t>(first * size), static_cast<std::size_t>(count * size));
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw std::runtime_error("drx: " + path_ + ": " + why); }
  [[nodiscard]] bool is_npy() const {
    constexpr std::string_view magic = "\x93NUMPY";
    return size_ > magic.size() && std::memcmp(data_, magic.data(), magic.size()) == 0;
  }
  /// What follows the header of a .npy file (NumPy's format, versions 1 to 3).
  [[nodiscard]] std::span<const std::byte> npy_data(const abstract_value& one) const {
    constexpr std::size_t version_at = 6, length_at = 8;
    const auto* text = static_cast<const char*>(data_);
    if (size_ < length_at + 4) fail("its .npy header is cut off");
    const std::size_t width = text[version_at] == 1 ? 2 : 4, begin = length_at + width;
    std::uint32_t length = 0;
    std::memcpy(&length, text + length_at, width);
    if (length > size_ - begin) fail("its .npy header is cut off");
    const std::string_view header(text + begin, length);
    if (value_of(header, "descr").find(descr(one.type)) == std::string_view::npos)
      fail("its elements are " + std::string(value_of(header, "descr")) + "; the program takes " + descr(one.type));
    if (value_of(header, "fortran_order").find("False") == std::string_view::npos) fail("it is in Fortran order");
    std::string expected;
    for (int i = 0; i < one.shape.rank; ++i) expected += std::to_string(one.shape[i]) + ",";
    std::string shape;
    for (const char c : value_of(header, "shape"))
      if ((c >= '0' && c <= '9') || c == ',') shape += c;
    if (!shape.empty() && shape.back() != ',') shape += ',';
    const auto comma = shape.find(',');
    if (comma == std::string::npos || shape.substr(comma + 1) != expected)
      fail("its shape is (" + shape + "); the program takes members of " + show(one) + " along axis 0");
    return all().subspan(begin + length);
  }
  /// The text of a key's value in the header, which is a dict of Python with the keys descr, fortran_order and shape.
  static std::string_view value_of(std::string_view header, std::string_view key) {
    auto at = header.find("'" + std::string(key) + "'");
    if (at == std::string_view::npos) return {};
    at = header.find(':', at);
    if (at == std::string_view::npos) return {};
    const auto text = header.substr(at + 1);
    const auto open = text.find_first_not_of(' ');
    if (open == std::string_view::npos) return {};
    const auto end = text[open] == '(' ? text.find(')') : text.find_first_of(",}", open);
    return text.substr(open, end == std::string_view::npos ? end : end - open);
  }
  static std::string descr(dtype t) {
    switch (t) {
      case dtype::boolean: return "|b1";
      case dtype::int32: return "<i4";
      case dtype::int64: return "<i8";
      case dtype::float32: return "<f4";
      case dtype::f16: return "<f2";
      case dtype::bf16: return "<u2";  // (NumPy has none: their bits)
      default: return "<f8";
    }
  }

  std::string path_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace drx::engines
