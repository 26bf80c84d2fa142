// Programs on several threads of the host, on one session: each its own, and one for two.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

namespace {
struct clients : drx::placement<clients> {};
using v3 = drx::array<double, 3>;
constexpr auto scaled = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto p, auto v) { return p * v; }, drx::broadcast<clients>(w), x));
};
using Scaled = drx::program<scaled, v3, drx::placed<v3, clients>>;

v3 value(std::int64_t i) { return {static_cast<double>(i), 1., 2.}; }
}  // namespace

TEST_CASE("two threads, each with a program of its own") {
  auto& s = harness::session();
  std::atomic<int> wrong = 0;
  const auto work = [&](double w, std::int64_t n) {  // with other numbers of members, and of tasks
    const auto x = s.place<clients>(n, value);
    auto p = s.compile<Scaled>();
    const double expected = w * static_cast<double>(n * (n - 1) / 2);
    for (int k = 0; k < 3000; ++k) wrong += p(v3{w, w, w}, x)[0] != expected;
  };
  std::thread other(work, 2., 50);
  work(1., 3);
  other.join();
  CHECK(wrong == 0);
}

TEST_CASE("two threads in one program: each result is right, or the call is refused") {
  auto& s = harness::session();
  const auto x = s.place<clients>(50, value);
  auto p = s.compile<Scaled>();
  std::atomic<int> wrong = 0, right = 0, refused = 0;
  const auto work = [&](double w) {
    for (int k = 0; k < 3000; ++k) {
      try {
        ++(p(v3{w, w, w}, x)[0] == 1225 * w ? right : wrong);
      } catch (const std::logic_error&) {
        ++refused;
      }
    }
  };
  std::thread other(work, 2.);
  work(1.);
  other.join();
  CHECK(wrong == 0);
  CHECK(right > 0);
  CHECK(right + refused == 6000);
}

TEST_CASE("tasks that throw on two threads: each call has its own exception") {
  auto& e = harness::session().executor();
  std::atomic<int> wrong = 0;
  const auto work = [&](const char* text) {
    for (int k = 0; k < 1000; ++k) {
      try {
        e.run(
            4, [](void* context, int) { throw std::runtime_error(static_cast<const char*>(context)); },
            const_cast<char*>(text));
        ++wrong;
      } catch (const std::runtime_error& x) {
        wrong += std::string(x.what()) != text;
      }
    }
  };
  std::thread other(work, "this thread's");
  work("that thread's");
  other.join();
  CHECK(wrong == 0);
}
