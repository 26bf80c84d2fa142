// drx/backend/kokkos.hpp: tasks on the threads of Kokkos' host execution space.
#pragma once

#include <drx/run/executor.hpp>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <exception>

namespace drx {

class kokkos_executor final : public executor {
 public:
  using space = Kokkos::DefaultHostExecutionSpace;

  [[nodiscard]] int concurrency() const override { return space().concurrency(); }

  void run(int tasks, void (*task)(void*, int), void* context) override {
    if (tasks <= 1) {
      if (tasks == 1) task(context, 0);
      return;
    }
    failure_ = nullptr;
    failed_ = false;
    Kokkos::parallel_for("drx::stage", Kokkos::RangePolicy<space>(0, tasks).set_chunk_size(1), launch{task, context, this});
    space().fence();
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
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
};

}  // namespace drx
