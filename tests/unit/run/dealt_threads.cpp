// Large elementwise loops on std::threads, of a member that has all threads or of none: the same bits as on one thread.
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/thread_executor.hpp"

#include <atomic>

namespace {
struct clients : drx::placement<clients> {};
constexpr int odd = (1 << 16) + 4099;  // whole pieces, and a rest
using numbers = drx::array<float, odd>;
using matrix = drx::array<double, 300, 257>;

// Plain arithmetic, functions that run in two halves or are exact in a range only, results over their operands.
constexpr auto flat = [](auto x, auto y) {
  auto moment = 0.9f * x + 0.1f * y * y;
  auto steps = drx::fori_loop<3>(x, [=](auto v) { return v - 0.1f * moment / (drx::sqrt(drx::abs(v)) + 1e-3f); });
  return std::tuple{moment, steps, drx::exp(x) * drx::sin(y), drx::tanh(x), drx::cast<drx::bfloat16>(moment)};
};
constexpr auto in_rows = [](auto x, auto row, auto column) {
  auto z = x * row + column;
  return std::tuple{z, drx::tanh(x + row), drx::cast<double>(drx::iota<drx::array<std::int32_t, 300, 257>, 1>()) * x,
                    drx::concatenate<1>(z, x) + 1, drx::slice<1, 300>(x) - drx::slice<0, 299>(x)};
};
constexpr auto of_members = [](auto x) { return drx::map([](auto v) { return drx::tanh(v) * 2 + drx::exp(-v); }, x); };
// Sums and extrema of a long row, of several, of columns; the carry's norm goes into the next step.
constexpr auto folded = [](auto x, auto m, auto wide) {
  auto last = drx::fori_loop<3>(x, [](auto v) { return v / drx::sqrt(drx::sum(v * v)); });
  return std::tuple{last,           drx::sum(x),    drx::sum(drx::exp(x)), drx::max(x),       drx::min(x * x),
                    drx::sum<1>(m), drx::max<1>(m), drx::sum<0>(wide),     drx::max<0>(wide), drx::sum<0>(m)};
};
using long_row = drx::array<float, 2 * (1 << 17) + 77>;
using Folded = drx::program<folded, long_row, matrix, drx::array<float, 300, 256>>;
using Flat = drx::program<flat, numbers, numbers>;
using InRows = drx::program<in_rows, matrix, drx::array<double, 257>, drx::array<double, 300, 1>>;
using OfMembers = drx::program<of_members, drx::placed<numbers, clients>>;

/// Counts what is dealt out.
class counted_threads final : public drx::executor {
 public:
  explicit counted_threads(int threads) : threads_(threads) {}
  [[nodiscard]] int concurrency() const override { return threads_.concurrency(); }
  void run(int tasks, void (*task)(void*, int), void* context) override {
    most = std::max(most, tasks);
    threads_.run(tasks, task, context);
  }
  int most = 0;

 private:
  harness::thread_executor threads_;
};
}  // namespace

TEST_CASE_TEMPLATE("large loops on any number of threads", P, Flat, InRows, OfMembers, Folded) {
  const auto in = harness::random_inputs<P>({.members = 1, .seed = 5});
  const auto expected = harness::run_serial<P>(in);
  for (int threads : {2, 3, 7}) {
    counted_threads e(threads);
    drx::single_rank c;
    drx::compiled<P> p(e, c);
    CHECK(harness::same_bits(harness::call(p, c, in), expected));
    CHECK(harness::same_bits(harness::call(p, c, in), expected));
    CHECK(e.most == threads);
  }
}
