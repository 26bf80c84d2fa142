// processors: aarch64
// Numbers below the smallest normal one: kept, or 0 in the whole call and nowhere else.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <tuple>
#include <vector>

namespace {
struct rows : drx::placement<rows> {};
using row = drx::array<float, 40>;

constexpr auto tiny = [](auto scale, auto data) {  // in members, behind them, and unplaced
  const auto of_row = [](auto s, auto x) { return drx::sum(x * s * s * 1e20f); };
  const auto sum = drx::reduce_sum(drx::map(of_row, drx::broadcast<rows>(scale), data));
  return std::tuple{sum, scale * 1e-3f, drx::reduce_max(drx::map([](auto x) { return drx::max(x); }, data))};
};
using Tiny = drx::program<tiny, float, drx::placed<row, rows>>;

/// Two tasks at once, of which the second runs on a thread that is there before any program: new ones have the mode of
/// the thread that makes them.
class standing_thread final : public drx::executor {
 public:
  ~standing_thread() override {
    turn_ = -1;
    turn_.notify_all();
    thread_.join();
  }
  [[nodiscard]] int concurrency() const override { return 2; }
  void run(int tasks, void (*task)(void*, int), void* context) override {
    task_ = task, context_ = context;
    if (tasks > 1) {
      turn_ = 1;
      turn_.notify_all();
    }
    task(context, 0);
    turn_.wait(1);
  }

 private:
  void (*task_)(void*, int) = nullptr;
  void* context_ = nullptr;
  std::atomic<int> turn_ = 0;
  std::thread thread_{[this] {
    for (turn_.wait(0); turn_ >= 0; turn_.wait(0)) {
      task_(context_, 1);
      turn_ = 0;
      turn_.notify_all();
    }
  }};
};

volatile float small = 1e-30f;  // its square is subnormal

template <class Executor>
void check_both(Executor& threads) {
  drx::single_rank rank;
  std::vector<float> numbers(300 * 40, 1e-10f);
  numbers[77] = 1e-39f;
  const auto data = drx::place_memory<rows, row>(rank, {0, 300}, numbers);
  drx::compiled<Tiny> kept(threads, rank), flushed(threads, rank, {.subnormals = drx::subnormals::flushed});
  const float scale = 1e-17f;
  const auto [a, b, c] = kept(scale, data);
  CHECK(a > 0);
  CHECK(b == 1e-3f * scale);
  const auto [d, e, f] = flushed(scale, data);
  CHECK(d == 0);
  CHECK(e == b);
  CHECK(f == c);
  const auto [g, h, i] = flushed(1e-37f, data);
  CHECK(h == 0);
  const float square = small * 1e-9f;  // the caller's own numbers stay
  CHECK(square > 0);
  const auto [j, k, l] = kept(scale, data);
  CHECK(j == a);
}
}  // namespace

TEST_CASE("subnormal numbers on one thread and on two") {
  drx::serial_executor alone;
  check_both(alone);
  standing_thread two;
  check_both(two);
}
TEST_CASE("what ranks compare names the option") {
  CHECK(drx::show({.subnormals = drx::subnormals::flushed}) == "reduction_order::tree, subnormals::flushed");
  CHECK(drx::show(drx::compile_options{}) == "reduction_order::tree");
}
