// drx/run/call/gate.hpp: calls of one program exclude each other, since they share its workspaces.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace drx::run {

/// Refuses a call while another is under way, and calls of a program that was moved from. It moves with its program.
class call_gate {
 public:
  call_gate() = default;
  call_gate(call_gate&& other) noexcept : state_(other.state_.exchange(state::moved_from)) {}
  call_gate& operator=(call_gate&& other) noexcept {
    state_ = other.state_.exchange(state::moved_from);
    return *this;
  }
  ~call_gate() = default;

  /// Opens a call, which lasts as long as the returned object. `call` is its name, for the message.
  [[nodiscard]] auto enter(const std::string& call) {
    state before = state::open;
    if (state_.compare_exchange_strong(before, state::taken, std::memory_order_acquire)) return passage(&state_);
    if (before == state::moved_from) throw std::logic_error("drx: a call of a compiled program that was moved from");
    throw std::logic_error("drx: " + call +
                           " while another thread is in one: compile a program for each thread, or let "
                           "them take turns");
  }

 private:
  enum class state { open, taken, moved_from };
  class passage {
   public:
    explicit passage(std::atomic<state>* gate) : gate_(gate) {}
    passage(const passage&) = delete;
    passage& operator=(const passage&) = delete;
    ~passage() { gate_->store(state::open, std::memory_order_release); }

   private:
    std::atomic<state>* gate_;
  };

  std::atomic<state> state_ = state::open;
};

}  // namespace drx::run
