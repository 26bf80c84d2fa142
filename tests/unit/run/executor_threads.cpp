// Stages on std::threads: the same bits as on one thread. Under the thread sanitizer this shows that stages do not
// race; (of OpenMP's threads it raises false alarms).
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/thread_executor.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
struct words : drx::placement<words> {};
using v3 = array<float, 3>;

constexpr auto product = drx::monoid{[](auto a, auto b) { return a * b; }, 1};
constexpr auto squared = [](auto w, auto x) {
  auto d = drx::tanh(w * x) - x;
  return drx::sum(d * d);
};
constexpr auto flat = [](auto w, auto x) {
  auto y = drx::map([](auto p, auto v) { return drx::tanh(p * v) + v; }, drx::broadcast<clients>(w), x);
  auto m = drx::reduce_mean(y);
  auto z = drx::map([](auto v, auto c) { return (v - c) * (v - c); }, y, drx::broadcast<clients>(m));
  return std::tuple{drx::reduce_sum(z), drx::reduce_max(y), drx::reduce_with(product, y), z,
                    drx::grad([](auto p, auto v) {
                      return drx::reduce_sum(drx::map(squared, drx::broadcast<clients>(p), v));
                    })(w, x)};
};
constexpr auto ragged = [](auto w, auto x) {
  auto of_client = [](auto p, auto r) {
    return drx::fori_loop<2>(
        p, [=](auto q) { return q - drx::reduce_mean(drx::map(drx::grad(squared), drx::broadcast<rows>(q), r)); });
  };
  auto models = drx::map(of_client, drx::broadcast<clients>(w), x);
  return std::tuple{drx::reduce_mean(models), models};
};
constexpr auto of_words = [](auto w, auto x) {  // what is nested twice is held whole in each client
  return drx::map(
      [=](auto client) {
        return drx::fori_loop<2>(client, [=](auto rows_of) {
          auto mean = drx::reduce_mean(drx::map([](auto row) { return drx::reduce_sum(row); }, rows_of));
          return drx::map([=](auto row) { return drx::map([=](auto v) { return drx::tanh(v * mean) + w; }, row); },
                          rows_of);
        });
      },
      x);
};
constexpr auto slope_of_words = [](auto w, auto x) {
  return drx::grad<0, 1>([](auto p, auto y) {
    auto sum = [](auto row) { return drx::reduce_sum(row); };
    return drx::sum(
        drx::reduce_sum(drx::map([=](auto client) { return drx::reduce_sum(drx::map(sum, client)); }, of_words(p, y))));
  })(w, x);
};
constexpr auto flat_and_ragged = [](auto w, auto x,
                                    auto nested) {  // clients in blocks, in a program that has rows in them too
  auto m = drx::reduce_mean(drx::map([=](auto v) { return drx::tanh(drx::dot(v, w)) * v; }, x));
  auto of_client = [=](auto r) { return drx::reduce_sum(drx::map([=](auto v) { return drx::tanh(v * m); }, r)); };
  return std::tuple{m, drx::reduce_mean(drx::map(of_client, nested))};
};

template <class P>
void check(int threads, std::vector<std::int64_t> members) {
  harness::thread_executor e(threads);
  drx::single_rank c;
  drx::compiled<P> p(e, c);
  for (std::int64_t n : members) {
    CAPTURE(n);
    const auto in = harness::random_inputs<P>({.members = n, .seed = static_cast<std::uint64_t>(n)});
    CHECK(harness::same_bits(harness::call(p, c, in), harness::run_serial<P>(in)));
  }
}
}  // namespace

TEST_CASE("the same bits on any number of threads") {
  for (int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    check<program<flat, v3, placed<v3, clients>>>(threads, {0, 1, 2, 3, 5, 7, 64, 100, 1500});
    check<program<ragged, v3, placed<placed<v3, rows>, clients>>>(threads, {0, 1, 2, 3, 7, 64});
    check<program<slope_of_words, v3, placed<placed<placed<v3, words>, rows>, clients>>>(threads, {1, 2, 5});
    check<program<flat_and_ragged, v3, placed<v3, clients>, placed<placed<v3, rows>, clients>>>(
        threads, {7, 255, 256, 300, 301});
  }
}

TEST_CASE("clients in blocks, and rows in them") {
  harness::check_run<program<flat_and_ragged, v3, placed<v3, clients>, placed<placed<v3, rows>, clients>>>(
      {}, {7, 255, 256, 300, 301});
}

namespace {
constexpr auto scaled = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto p, auto v) { return p * v; }, drx::broadcast<clients>(w), x));
};
using Scaled = program<scaled, v3, placed<v3, clients>>;
}  // namespace

TEST_CASE("two threads in one program: each result is right, or the call is refused") {
  harness::thread_executor e(2);
  drx::single_rank c;
  const auto x =
      drx::place<clients>(c, std::int64_t{50}, [](std::int64_t i) { return v3{static_cast<float>(i), 1.f, 2.f}; });
  drx::compiled<Scaled> p(e, c);
  std::atomic<int> wrong = 0, right = 0, refused = 0;
  const auto work = [&](float w) {
    for (int k = 0; k < 300; ++k) {
      try {
        const v3 r = p(v3{w, w, w}, x);
        ++(r[0] == 1225 * w && r[1] == 50 * w && r[2] == 100 * w ? right : wrong);
      } catch (const std::logic_error&) {
        ++refused;
      }
    }
  };
  std::thread other(work, 2.f);
  work(1.f);
  other.join();
  CHECK(wrong == 0);
  CHECK(right > 0);
  CHECK(right + refused == 600);
}

TEST_CASE("two threads, each with a program of its own") {
  harness::thread_executor e(2);
  drx::single_rank c;
  const auto x =
      drx::place<clients>(c, std::int64_t{50}, [](std::int64_t i) { return v3{static_cast<float>(i), 1.f, 2.f}; });
  std::atomic<int> wrong = 0;
  const auto work = [&](float w) {
    drx::compiled<Scaled> p(e, c);
    for (int k = 0; k < 300; ++k) wrong += p(v3{w, w, w}, x)[0] != 1225 * w;
  };
  std::thread other(work, 2.f);
  work(1.f);
  other.join();
  CHECK(wrong == 0);
}
