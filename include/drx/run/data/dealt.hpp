// drx/run/data/dealt.hpp: work that is dealt out to a rank's threads, where no other thread of the program is at work.
// Tested by tests/unit/run/dealt_threads.cpp.
#pragma once

#include <drx/run/data/frame.hpp>
#include <drx/run/data/runtime.hpp>

#include <algorithm>

namespace drx::run {

/// Calls work(begin, end) for even shares of [0, count), which may be in any order, one for each thread that has
/// nothing to do.
template <class Work>
void deal(const frame& f, std::int64_t count, const Work& work) {
  if (!f.alone) return work(0, count);
  const runtime& rt = *static_cast<const runtime*>(f.runtime);
  struct job {
    const Work& work;
    std::int64_t count, tasks;
    static void run(void* context, int task) {
      const job& j = *static_cast<const job*>(context);
      j.work(j.count * task / j.tasks, j.count * (task + 1) / j.tasks);
    }
  } j{work, count, std::min<std::int64_t>(count, rt.executor->concurrency())};
  if (j.tasks < 2) return work(0, count);
  rt.run(static_cast<int>(j.tasks), job::run, &j);
}

}  // namespace drx::run
