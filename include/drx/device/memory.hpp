// drx/device/memory.hpp: the memory of a device, and what a compiled program keeps there from call to call.
// Tested by tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace drx {

/// A device's memory. Kernels read and write nothing else; the host does not touch it but by these functions. (A device
/// has also `launch`, a template: backend/device.hpp.)
class device_memory {
 public:
  device_memory() = default;
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  virtual ~device_memory() = default;
  /// Bytes of the device, aligned to a cache line; std::bad_alloc where there are no more.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* p, std::size_t bytes) = 0;
  /// Copies from the host, after the work that was launched before.
  virtual void copy_in(std::byte* device, const std::byte* host, std::size_t bytes) = 0;
  /// Copies to the host, after the work that was launched before, and waits for the copy.
  virtual void copy_out(std::byte* host, const std::byte* device, std::size_t bytes) = 0;
  /// The number of teams that compute at once.
  [[nodiscard]] virtual int teams() const = 0;

  /// The device's copy of members whose shares lie in host memory from `host` on, if the device keeps them; else null.
  [[nodiscard]] std::byte* kept(const std::byte* host) const {
    for (const auto& [of, copy] : kept_)
      if (of == host) return copy;
    return nullptr;
  }
  /// Copies `bytes` bytes and keeps them until `forget`.
  void keep(const std::byte* host, std::size_t bytes) {
    std::byte* const copy = allocate(bytes);
    copy_in(copy, host, bytes);
    kept_.emplace_back(host, copy);
  }
  void forget(const std::byte* host, std::size_t bytes) {
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i].first == host) {
        release(kept_[i].second, bytes);
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
  }

 private:
  std::vector<std::pair<const std::byte*, std::byte*>> kept_;
};

namespace device {

/// Memory of a device that grows and loses its contents when it does.
class device_buffer {
 public:
  explicit device_buffer(device_memory& of) : of_(&of) {}
  device_buffer(device_buffer&& other) noexcept
      : of_(other.of_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  device_buffer& operator=(device_buffer&&) = delete;
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;
  ~device_buffer() { clear(); }
  [[nodiscard]] std::byte* data() const { return data_; }
  void clear() {
    if (data_) of_->release(std::exchange(data_, nullptr), std::exchange(size_, 0));
  }
  std::byte* grow(std::size_t bytes) {
    if (bytes > size_) {
      clear();
      data_ = of_->allocate(bytes);
      size_ = bytes;
    }
    return data_;
  }

 private:
  device_memory* of_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Two nodes, of which the left one becomes their sum.
struct fold_pair {
  std::byte* left;
  const std::byte* right;
};
/// The memory of one stage.
struct stage_memory {
  device_buffer inputs, tasks, folds;
  std::vector<device_buffer> placed, results;  // by operand, by result
  std::vector<std::byte> block;                // of the host, before it is copied to `inputs`
  std::vector<fold_pair> pairs;                // the same, before they are copied to `folds`
  int most_tasks = 0;                          // teams for which there is memory; 0: not tried yet
  explicit stage_memory(device_memory& of) : inputs(of), tasks(of), folds(of) {}
};

/// What a compiled program keeps on a device.
struct device_state {
  device_memory* memory = nullptr;
  std::vector<stage_memory> stages;

  device_state(device_memory& of, int count) : memory(&of) {
    stages.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) stages.emplace_back(of);
  }
};

}  // namespace device
}  // namespace drx
