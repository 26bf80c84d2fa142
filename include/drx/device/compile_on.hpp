// drx/device/compile_on.hpp: programs whose stages a device runs.
// Tested by tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/device/misuse.hpp>
#include <drx/device/stage.hpp>
#include <drx/run/call/compiled.hpp>

#include <memory>
#include <utility>

namespace drx {

/// A program whose stages run on a device of type Device.
template <class Program, class Device>
using compiled_on = compiled<Program, device::code_on<plan::lowered_t<Program>, Device>>;

/// Makes a program ready to run: its stages on `device`, which must outlive it, the rest on this rank's threads.
template <class Program, class Device>
  requires(device::RunsOnDevices<Program>)
compiled_on<Program, Device> compile_on(Device& device, executor& e, communicator& c, compile_options options = {}) {
  constexpr int stages = run::facts_of<Program>::value.stages + 1;
  return {e, c, std::move(options), std::make_shared<device::device_state>(device, stages)};
}

}  // namespace drx
