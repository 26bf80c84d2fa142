// An executor on std::threads, one for each task.
#pragma once

#include <drx/run/data/executor.hpp>

#include <thread>
#include <vector>

namespace harness {

class thread_executor final : public drx::executor {
 public:
  explicit thread_executor(int threads) : threads_(threads) {}
  [[nodiscard]] int concurrency() const override { return threads_; }
  void run(int tasks, void (*task)(void*, int), void* context) override {
    std::vector<std::thread> running;
    for (int i = 0; i < tasks; ++i) running.emplace_back(task, context, i);
    for (std::thread& t : running) t.join();
  }

 private:
  int threads_;
};

}  // namespace harness
