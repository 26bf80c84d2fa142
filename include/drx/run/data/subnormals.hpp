// drx/run/data/subnormals.hpp: what becomes of numbers that are less than the smallest normal one.
// Tested by tests/unit/run/subnormals.cpp.
#pragma once

#include <drx/config.hpp>

#include <cstdint>

namespace drx {

/// What the host's threads make, in a call of a program, of results and operands that are not 0 but less in magnitude
/// than the smallest normal number (1.2e-38 of `float`, 2.2e-308 of `double`): they keep them, as IEEE 754 has it
/// (unless the threads flushed them before), or take them for 0, as JAX does on CPUs. Intel's processors take some
/// hundred cycles for each vector with one.
enum class subnormals : std::int8_t { kept, flushed };

namespace run {

#if defined(__SSE2__)
inline constexpr bool can_flush_subnormals = true;
using float_mode = unsigned;
inline float_mode current_float_mode() { return __builtin_ia32_stmxcsr(); }
inline void set_float_mode(float_mode m) { __builtin_ia32_ldmxcsr(m); }
inline constexpr float_mode flushing = 0x8040;  // results, operands
#elif defined(__aarch64__)
inline constexpr bool can_flush_subnormals = true;
using float_mode = std::uint64_t;
inline float_mode current_float_mode() {
  float_mode m = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(m));
  return m;
}
inline void set_float_mode(float_mode m) { __asm__ volatile("msr fpcr, %0" : : "r"(m)); }
inline constexpr float_mode flushing = float_mode{1} << 24;
#else
inline constexpr bool can_flush_subnormals = false;
using float_mode = unsigned;
inline float_mode current_float_mode() { return 0; }
inline void set_float_mode(float_mode) {}
inline constexpr float_mode flushing = 0;
#endif

/// As long as it lives the calling thread flushes subnormal numbers, or does not; then it does what it did before. One
/// that is not wanted changes nothing.
class flush_scope {
 public:
  [[gnu::noinline]] explicit flush_scope(bool flushes, bool wanted = true)
      : wanted_(wanted), before_(current_float_mode()) {
    if (wanted_) set(flushes ? flushing : 0);
  }
  [[gnu::noinline]] ~flush_scope() {
    if (wanted_) set(before_);
  }
  flush_scope(const flush_scope&) = delete;
  flush_scope& operator=(const flush_scope&) = delete;

  [[nodiscard]] bool flushed_before() const { return (before_ & flushing) == flushing; }

 private:
  static void set(float_mode m) { set_float_mode((current_float_mode() & ~flushing) | (m & flushing)); }
  bool wanted_;
  float_mode before_;
};

}  // namespace run
}  // namespace drx
