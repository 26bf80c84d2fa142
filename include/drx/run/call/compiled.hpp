// drx/run/call/compiled.hpp: a program made ready to run: its workspaces are laid out, and calls allocate nothing.
// Tested by tests/unit/run/executor.cpp and tests/unit/run/executor_threads.cpp.
#pragma once

#include <drx/core/errors.hpp>
#include <drx/plan/fingerprint.hpp>
#include <drx/run/call/agreement.hpp>
#include <drx/run/call/gate.hpp>
#include <drx/run/call/results.hpp>
#include <drx/run/stage/stage.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace drx {

/// A program on an executor and a communicator. Call it like the function that it was made from, with host values:
/// numbers, arrays, structures, drx::partitions. Unplaced arguments must be the same on every rank. Placed results lie
/// in this object and are valid until the next call. Calls exclude each other: a call from another thread while one is
/// under way throws std::logic_error.
///
/// `Code` is the compile-time side of the program: run::code_of where this rank's threads run all of it,
/// drx::device::code_on where a device runs its stages (drx/device/compile_on.hpp).
template <class Program, class Code = run::code_of<Program>>
class compiled {
  using C = Code;
  using inputs = typename Program::inputs;
  static constexpr std::int64_t fingerprint = plan::fingerprint(C::tape);
  static constexpr const run::call_facts& facts = run::facts_of<Program>::value;

 public:
  using result = host_t<typename Program::result>;

  /// All ranks make the same programs in the same order, with the same options. `device` is what the program keeps on
  /// a device.
  compiled(executor& e, communicator& c, compile_options options = {}, std::shared_ptr<void> device = nullptr)
      : agreement_(fingerprint) {
    run::require_options(options, fingerprint, c);
    run::lay_out(state_, facts, e, c, std::move(options));
    state_.runtime.device = std::move(device);
  }
  compiled(compiled&&) noexcept = default;
  compiled& operator=(compiled&&) noexcept = default;

  /// Bytes of workspace: for the unplaced values, and for each thread. Neither depends on the number of members.
  static constexpr std::int64_t server_bytes() { return C::plan.server_bytes; }
  static constexpr std::int64_t thread_bytes() { return facts.frames.of_thread * C::plan.thread_bytes; }

  /// Runs the program on host values and returns its results; std::invalid_argument where an argument does not fit.
  template <class... A>
    requires run::CallArguments<inputs, A...>
  result operator()(const A&... arguments) & {
    result r{};
    call(r, arguments...);
    return r;
  }
  template <class... A>
    requires(run::CallArguments<inputs, A...> && !detail::is_view<result>)
  result operator()(const A&... arguments) && {
    return (*this)(arguments...);
  }
  template <class... A, class Why = run::call_misuse_t<inputs, A...>>
    requires(!run::CallArguments<inputs, A...>)
  result operator()(const A&... arguments) const& = delete;  // drx: one argument for each input of the program: placed members of its own type (session.place), a value of its own structure, or contiguous memory of its element type
  template <class... A, class Why = error::placed_results_would_outlive_their_program>
    requires(run::CallArguments<inputs, A...> && detail::is_view<result>)
  result operator()(const A&... arguments) && = delete;  // drx: placed results are views of the program's memory: auto p = session.compile<P>(); auto r = p(x);
  /// Runs the program and writes its results into `result`, which the caller holds. Arguments may lie in it.
  template <class... A, class Why = run::call_misuse_t<inputs, A...>>
    requires(!run::CallArguments<inputs, A...>)
  void call(result& r, const A&... arguments) const& = delete;  // drx: one argument for each input of the program: placed members of its own type (session.place), a value of its own structure, or contiguous memory of its element type
  template <class... A, class Why = error::placed_results_would_outlive_their_program>
    requires(run::CallArguments<inputs, A...> && detail::is_view<result>)
  void call(result& r, const A&... arguments) && = delete;  // drx: placed results are views of the program's memory: auto p = session.compile<P>(); p.call(r, x);
  template <class... A>
    requires(run::CallArguments<inputs, A...> && !detail::is_view<result>)
  void call(result& r, const A&... arguments) && {
    call(r, arguments...);
  }
  template <class... A>
    requires run::CallArguments<inputs, A...>
  void call(result& r, const A&... arguments) & {
    const auto under_way = gate_.enter(agreement_.name());
    const run::flush_scope mode(true, state_.options.subnormals == subnormals::flushed);
    state_.runtime.caller_flushes = mode.flushed_before();
    run::bind_arguments(std::type_identity<inputs>{}, facts, state_, arguments...);
    const run::call_members members{facts, state_};
    members.complete();
    agreement_.require(facts, state_);
    if constexpr (facts.sharded >= 0) members.prepare_shards();
    run::frame f = run::frame_of_call(facts, state_);
    if constexpr (facts.writes_directly || facts.passes_on) run::bind_results(facts, state_, r);
    run::run_region<C, 0>(f);
    run::give_results(facts, state_, f, r);
  }

 private:
  run::call_gate gate_;
  run::call_agreement agreement_;
  run::call_state state_;
};

}  // namespace drx
