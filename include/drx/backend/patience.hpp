// drx/backend/patience.hpp: how a rank waits for others.
#pragma once

#include <chrono>
#include <thread>

namespace drx {

/// Between polls a waiting rank does nothing at first, so that short messages are fast; then it yields its core to
/// others, which may be those that it waits for; and after a long time it sleeps.
class patience {
 public:
  /// Call it after each poll in vain. Returns for how many seconds the wait has lasted.
  double pause() {
    if (looks_ < looks_at_once) {
      ++looks_;
      return 0;
    }
    const auto now = clock::now();
    if (looks_ == looks_at_once) {
      ++looks_;
      start_ = now;
    }
    const auto waited = now - start_;
    if (waited < yields_for) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
    }
    return std::chrono::duration<double>(waited).count();
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr int looks_at_once = 100;  // some 20 microseconds
  // With the 50 microseconds that Linux adds to a nap, it lengthens a wait that is so long already by a twentieth at
  // most.
  static constexpr auto yields_for = std::chrono::milliseconds(2);
  static constexpr auto nap = std::chrono::microseconds(50);
  int looks_ = 0;
  clock::time_point start_{};
};

}  // namespace drx
