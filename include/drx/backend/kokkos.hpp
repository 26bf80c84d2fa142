// drx/backend/kokkos.hpp: tasks on the threads of Kokkos' host execution space.
#pragma once

#include <drx/run/executor.hpp>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <exception>
#include <optional>

namespace drx {

/// Tasks on the threads of Kokkos' default host execution space.
class kokkos_executor final : public executor {
 public:
  using space = Kokkos::DefaultHostExecutionSpace;

  [[nodiscard]] int concurrency() const override {
    if (concurrency_ == 0) concurrency_ = space().concurrency();
    return concurrency_;
  }

  void run(int tasks, void (*task)(void*, int), void* context) override {
    if (tasks <= 1) {
      if (tasks == 1) task(context, 0);
      return;
    }
    failure_ = nullptr;
    failed_ = false;
    if (!policy_ || static_cast<int>(policy_->end()) != tasks) policy_.emplace(0, tasks).set_chunk_size(1);
    Kokkos::parallel_for("drx::stage", *policy_, launch{task, context, this});
    policy_->space().fence("drx::stage");  // (a name that std::string holds without allocating)
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct launch {
    void (*task)(void*, int);
    void* context;
    kokkos_executor* self;
    void operator()(int i) const {  // an exception must not leave a parallel region
      try {
        task(context, i);
      } catch (...) {
        if (!self->failed_.exchange(true)) self->failure_ = std::current_exception();
      }
    }
  };
  mutable int concurrency_ = 0;
  std::optional<Kokkos::RangePolicy<space>> policy_;  // kept: Kokkos 4.5 allocates for each execution space and policy
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
};

}  // namespace drx
