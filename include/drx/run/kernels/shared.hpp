// drx/run/kernels/shared.hpp: kernels that work for several steps, of plans that an executable made
// (drx/generate/shared_steps.hpp). Their values lie in slots, which are told to them.
// Tested by tests/native/programs.cpp and tests/native/derivatives.cpp.
#pragma once

#include <drx/run/kernels/all.hpp>

namespace drx::run {

/// Runs a step on these slots.
inline void run_on_slots(frame& f, std::byte** slots, void (*kernel)(frame&)) {
  const struct restored {
    frame& f;
    std::byte** slots;
    ~restored() { f.slots = slots; }
  } own{f, f.slots};
  f.slots = slots;
  kernel(f);
}
/// The one step of C.
template <class C>
DRX_INLINE void run_only_step(frame& f) {
  step_code<C, 0>(f);
}

}  // namespace drx::run
