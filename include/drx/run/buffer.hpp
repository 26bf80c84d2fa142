// drx/run/buffer.hpp: aligned memory that grows and never moves while it is large enough.
#pragma once

#include <drx/config.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace drx {

/// Bytes aligned to 64. Growing loses the contents.
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
    data_ = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}));
    size_ = bytes;
  }

 private:
  void release() {
    if (data_) ::operator delete(data_, std::align_val_t{64});
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
