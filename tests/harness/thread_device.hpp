// A device for tests: teams of threads, and memory that cannot be read or written between launches.
#pragma once

#include <drx/device/memory.hpp>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include <sys/mman.h>

namespace harness {

class thread_device final : public drx::device_memory {
 public:
  explicit thread_device(int teams = 3, int lanes = 2) : teams_(teams), lanes_(lanes) {}

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
    if (this->bytes() + bytes > most_bytes) throw std::bad_alloc();
    void* const p = mmap(nullptr, pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    blocks_.push_back({static_cast<std::byte*>(p), pages(bytes)});
    fill_with_noise(blocks_.back());
    return blocks_.back().data;
  }
  void release(std::byte* p, std::size_t) override {
    const auto is_p = [p](const block& b) { return b.data == p; };
    const auto it = std::find_if(blocks_.begin(), blocks_.end(), is_p);
    munmap(it->data, it->bytes);
    blocks_.erase(it);
  }
  void copy_in(std::byte* device, const std::byte* host, std::size_t bytes) override {
    const opened memory(*this);
    std::memcpy(device, host, bytes);
    ++copies;
  }
  void copy_out(std::byte* host, const std::byte* device, std::size_t bytes) override {
    const opened memory(*this);
    std::memcpy(host, device, bytes);
    ++copies;
  }
  [[nodiscard]] int teams() const override { return teams_; }

  /// Runs the teams one after the other, each on as many threads as it has lanes.
  template <class Work>
  void launch(const Work& work, int tasks, std::int64_t workspace) {
    const opened memory(*this);
    ++launches;
    for (int task = 0; task < tasks; ++task) {
      std::vector<std::byte> scratch(task % 2 == 0 ? static_cast<std::size_t>(workspace) + 64 : 0);
      std::byte* const own = scratch.empty() ? nullptr : aligned(scratch.data());
      std::barrier<> together(lanes_);
      const auto run = [&](int lane) { work(team{lane, lanes_, &together}, task, tasks, own); };
      std::vector<std::thread> others;
      for (int lane = 1; lane < lanes_; ++lane) others.emplace_back(run, lane);
      run(0);
      for (std::thread& t : others) t.join();
    }
  }

  /// Of all blocks.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = 0;
    for (const block& b : blocks_) all += b.bytes;
    return all;
  }
  int launches = 0, copies = 0;
  std::size_t most_bytes = std::size_t{1} << 40;

 private:
  struct team {
    int number, count;
    std::barrier<>* together;
    [[nodiscard]] int lane() const { return number; }
    [[nodiscard]] int lanes() const { return count; }
    void barrier() const { together->arrive_and_wait(); }
  };
  struct block {
    std::byte* data;
    std::size_t bytes;
  };
  struct opened {
    thread_device& of;
    explicit opened(thread_device& d) : of(d) { of.protect(PROT_READ | PROT_WRITE); }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
    ~opened() { of.protect(PROT_NONE); }
  };
  void protect(int how) {
    for (const block& b : blocks_) mprotect(b.data, b.bytes, how);
  }
  static std::size_t pages(std::size_t bytes) { return (bytes + 4096) / 4096 * 4096; }
  static std::byte* aligned(std::byte* p) {
    return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64);
  }
  void fill_with_noise(const block& b) {  // so that nothing is read that was not written
    mprotect(b.data, b.bytes, PROT_READ | PROT_WRITE);
    std::memset(b.data, 0xff, b.bytes);
    mprotect(b.data, b.bytes, PROT_NONE);
  }
  int teams_, lanes_;
  std::vector<block> blocks_;
};

}  // namespace harness
