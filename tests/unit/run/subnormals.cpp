// processors: aarch64
// Numbers below the smallest normal one: kept, or 0 in the whole call and nowhere else.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cfenv>
#include <thread>
#include <tuple>
#include <vector>

namespace {
struct rows : drx::placement<rows> {};
using row = drx::array<float, 40>;

constexpr auto tiny = [](auto scale, auto data) {  // in members, behind them, and unplaced
  const auto of_row = [](auto s, auto x) { return drx::sum(x * s * s * 1e20f); };
  const auto sum = drx::reduce_sum(drx::map(of_row, drx::broadcast<rows>(scale), data));
  return std::tuple{sum, scale * 1e-3f, drx::reduce_min(drx::map([](auto x) { return drx::min(x * 1e20f); }, data))};
};
using Tiny = drx::program<tiny, float, drx::placed<row, rows>>;

/// Two tasks at once, of which the second runs on a thread that stands by: from the beginning, or from the first call
/// on. A new thread has the mode of the one that makes it.
class standing_thread final : public drx::executor {
 public:
  explicit standing_thread(bool at_once) {
    if (at_once) start();
  }
  ~standing_thread() override {
    turn_ = -1;
    turn_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  int calls = 0;  // of two tasks
  [[nodiscard]] int concurrency() const override { return 2; }
  void run(int tasks, void (*task)(void*, int), void* context) override {
    task_ = task, context_ = context;
    if (tasks > 1) {
      ++calls;
      if (!thread_.joinable()) start();
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
  void start() {
    thread_ = std::thread([this] {
      for (turn_.wait(0); turn_ >= 0; turn_.wait(0)) {
        task_(context_, 1);
        turn_ = 0;
        turn_.notify_all();
      }
    });
  }
  std::thread thread_;
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
  std::feclearexcept(FE_ALL_EXCEPT);
  const auto [d, e, f] = flushed(scale, data);  // first: a thread that is made now must not flush later on
  CHECK(std::fetestexcept(FE_INEXACT) != 0);    // what the call raised is still there
  CHECK(d == 0);
  CHECK(e == 1e-3f * scale);
  CHECK(f == 0);
  const auto [a, b, c] = kept(scale, data);
  CHECK(a > 1.1e-20f);  // 300 rows of 40 times 1e-24, of which a subnormal factor has few digits
  CHECK(a < 1.3e-20f);
  CHECK(b == e);
  CHECK(c > 0);
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
  for (const bool at_once : {true, false}) {
    standing_thread two(at_once);
    check_both(two);
    CHECK(two.calls >= 4);
  }
}
TEST_CASE("what ranks compare names the option") {
  CHECK(drx::show({.subnormals = drx::subnormals::flushed}) == "reduction_order::tree, subnormals::flushed");
  CHECK(drx::show(drx::compile_options{}) == "reduction_order::tree");
}
