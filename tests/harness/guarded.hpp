// Memory between pages that may not be read or written: what goes over an end of it stops the test.
#pragma once

#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace harness {

/// Pages between two that may not be read.
class guarded {
 public:
  explicit guarded(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), bytes_((bytes + page_ - 1) / page_ * page_) {
    void* p = mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(p != MAP_FAILED);
    all_ = static_cast<std::byte*>(p);
    REQUIRE(mprotect(all_ + page_, bytes_, PROT_READ | PROT_WRITE) == 0);
  }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  ~guarded() { munmap(all_, bytes_ + 2 * page_); }
  /// n numbers, the first of which is the first that may be read, or the last of which is the last one.
  template <class T>
  T* first() {
    return reinterpret_cast<T*>(all_ + page_);
  }
  template <class T>
  T* last(std::size_t n) {
    return reinterpret_cast<T*>(all_ + page_ + bytes_) - n;
  }

 private:
  std::size_t page_, bytes_;
  std::byte* all_;
};

}  // namespace harness
