// drx/core/native_tracing.hpp: whether a function is being traced: in constant evaluation always, and natively where a
// program that plans others says so.
#pragma once

#include <drx/config.hpp>

#include <type_traits>

namespace drx {
namespace detail {
#if defined(DRX_NATIVE_TRACING)
inline thread_local bool traces_natively = false;
constexpr bool is_tracing() { return std::is_constant_evaluated() || traces_natively; }
#else
constexpr bool is_tracing() { return std::is_constant_evaluated(); }
#endif
}  // namespace detail

#if defined(DRX_NATIVE_TRACING)
/// While it lives, operations on this thread are recorded, as in constant evaluation. (Only where all files of an
/// executable are compiled with DRX_NATIVE_TRACING: arrays then say whether they hold elements or a reference to a
/// tape.)
class native_tracing {
 public:
  native_tracing() : before_(detail::traces_natively) { detail::traces_natively = true; }
  ~native_tracing() { detail::traces_natively = before_; }
  native_tracing(const native_tracing&) = delete;
  native_tracing& operator=(const native_tracing&) = delete;

 private:
  bool before_;
};
#endif

}  // namespace drx
