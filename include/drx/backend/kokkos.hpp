// drx/backend/kokkos.hpp: runs tasks on the threads of Kokkos' host execution space.
#pragma once

#include <drx/run/data/executor.hpp>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

namespace drx {

/// Runs tasks on the threads of Kokkos' default host execution space. Several threads may call it: they take turns,
/// since an execution space runs one loop at a time.
class kokkos_executor final : public executor {
 public:
  using space = Kokkos::DefaultHostExecutionSpace;

  [[nodiscard]] int concurrency() const override { return concurrency_; }

  void run(int tasks, void (*task)(void*, int), void* context) override {
    if (tasks <= 1) {
      if (tasks == 1) task(context, 0);
      return;
    }
    failure first;
    {
      const std::lock_guard turn(turns_);
      std::optional<policy>& of_tasks = policies_[static_cast<std::size_t>(tasks) % policies_.size()];
      if (!of_tasks || static_cast<int>(of_tasks->end()) != tasks) of_tasks.emplace(0, tasks).set_chunk_size(1);
      Kokkos::parallel_for("drx::stage", *of_tasks, launch{task, context, &first});
      of_tasks->space().fence("drx::stage");  // (a name that std::string holds without allocating)
    }
    if (first.exception) std::rethrow_exception(first.exception);
  }

 private:
  /// The exception of the first task that throws.
  struct failure {
    std::atomic<bool> there = false;
    std::exception_ptr exception;
  };
  struct launch {
    void (*task)(void*, int);
    void* context;
    failure* first;
    void operator()(int i) const {  // an exception must not leave a parallel region
      try {
        task(context, i);
      } catch (...) {
        if (!first->there.exchange(true)) first->exception = std::current_exception();
      }
    }
  };
  using policy = Kokkos::RangePolicy<space>;
  int concurrency_ = space().concurrency();
  std::mutex turns_;
  // By number of tasks, which is at most the concurrency. Kept: Kokkos 4.5 allocates for each execution space and
  // policy.
  std::vector<std::optional<policy>> policies_{static_cast<std::size_t>(concurrency_) + 1};
};

}  // namespace drx
