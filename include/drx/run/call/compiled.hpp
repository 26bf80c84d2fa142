// drx/run/call/compiled.hpp: a program made ready to run: its workspaces are laid out, and calls allocate nothing.
#pragma once

#include <drx/core/errors.hpp>
#include <drx/plan/fingerprint.hpp>
#include <drx/run/call/agreement.hpp>
#include <drx/run/call/gate.hpp>
#include <drx/run/call/results.hpp>
#include <drx/run/stage/stage.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx {

/// A program on an executor and a communicator. Call it like the function that it was made from, with host values:
/// numbers, arrays, structures, drx::partitions. Unplaced arguments must be the same on every rank. Placed results lie
/// in this object and are valid until the next call. Calls exclude each other: a call from another thread while one is
/// under way throws std::logic_error.
template <class Program>
class compiled : run::call_results<run::code<Program>> {
  using C = run::code<Program>;
  using base = run::call_results<C>;
  using inputs = typename Program::inputs;
  static constexpr std::int64_t print = plan::fingerprint(C::tape);

 public:
  using result = host_t<typename Program::result>;

  /// All ranks make the same programs in the same order, with the same options.
  compiled(executor& e, communicator& c, compile_options options = {}) : agreement_(print) {
    this->options_ = std::move(options);
    this->runtime_.executor = &e;
    this->runtime_.communicator = &c;
    this->runtime_.order = this->options_.order;
    for (const member_count& m : this->options_.members)
      if (m.count < 0) throw std::invalid_argument("drx: compile_options::members: " + std::to_string(m.count) + " of " + std::string(m.placement->name));
    if (c.size() > 1) c.require_same("drx::compile: the program " + std::to_string(print) + " with " + show(this->options_));
    constexpr auto stages = static_cast<std::size_t>(C::tape.sizes.entries) + 1;
    this->runtime_.gathered.resize(stages);
    this->runtime_.bytes.resize(static_cast<std::size_t>(c.size()));
    this->runtime_.offsets.resize(static_cast<std::size_t>(c.size()));
    this->runtime_.threads.resize(static_cast<std::size_t>(e.concurrency()));
    for (auto& t : this->runtime_.threads) {
      constexpr std::size_t frames = run::frames_of_thread<C>;
      t.workspace.grow(static_cast<std::size_t>(thread_bytes()));
      t.slots.resize(frames * static_cast<std::size_t>(C::plan.slots) + 1);
      t.at.resize(frames * static_cast<std::size_t>(C::placements.count) + 1);
      t.nodes.resize(stages);
      t.collected.resize(static_cast<std::size_t>(C::tape.sizes.values) + 1);
    }
    server_.grow(static_cast<std::size_t>(C::plan.server_bytes) + 1);
    this->slots_.resize(static_cast<std::size_t>(C::plan.slots) + 1);
    at_.resize(static_cast<std::size_t>(C::placements.count) + 1);
    this->members_.resize(static_cast<std::size_t>(C::placements.count) + 1);
    this->runtime_.collected.resize(static_cast<std::size_t>(C::tape.sizes.values) + 1);
  }
  compiled(compiled&&) noexcept = default;
  compiled& operator=(compiled&&) noexcept = default;

  /// Bytes of workspace: for the unplaced values, and for each thread. Neither depends on the number of members.
  static constexpr std::int64_t server_bytes() { return C::plan.server_bytes; }
  static constexpr std::int64_t thread_bytes() { return run::frames_of_thread<C> * C::plan.thread_bytes; }

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
    std::fill(this->members_.begin(), this->members_.end(), run::membership{});
    int slot = 0;
    this->arguments_.clear();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (this->template bind<std::tuple_element_t<I, inputs>>(arguments, slot, static_cast<int>(I)), ...);
    }(std::make_index_sequence<sizeof...(A)>{});
    this->known_counts();
    using given = run::given_to_all_ranks<Program>;
    agreement_.require(*this->runtime_.communicator, {given::placements.of, given::placements.count}, this->members_,
                       {given::leaves.of, given::leaves.count}, this->slots_);
    this->prepare_shards();
    run::frame f;
    f.server = server_.data();
    f.slots = this->slots_.data();
    f.members = this->members_.data();
    f.at = at_.data();
    f.runtime = &this->runtime_;
    f.thread = this->runtime_.threads[0].workspace.data();
    provide_collected(f);
    int out = 0;
    if constexpr (base::direct_slots.any || base::passed_on.any) this->bind_results(r, out);
    run::run_region<C, 0>(f);
    if constexpr (base::passed_on.any) this->keep_inputs();
    out = 0;
    this->extract(r, f, out);
    this->replaced_.clear();
  }

 private:
  /// Provides memory for placed values that are held whole: those of every stage over a placement at the top, in loops
  /// too.
  static void provide_collected(const run::frame& f) {
    run::for_each_stage<C>([&]<int E>(std::integral_constant<int, E>) {
      if constexpr (C::placements.parent[C::placements.index(C::tape.entries[E].placement)] < 0)
        run::unroll<C::tape.entries[E].results.count>([&]<int I>(std::integral_constant<int, I>) {
          constexpr int v = C::result(E, I);
          if constexpr (C::tape.values[v].depth > 0) f.slots[C::plan.where[v].offset] = run::placed_buffer<C, v>(f);
        });
    });
  }

  run::call_gate gate_;
  run::call_agreement agreement_;
  buffer server_;
  std::vector<std::int64_t> at_;
};

}  // namespace drx
