// tests/counts/kernels.cpp: programs whose costs tests/counts.py holds. With a kernel's name as argument, and a number
// of members, it runs that one; without, all of them. Each prints what its second call allocates and copies, its memory
// and what one of two ranks says to the other. (Linked with --wrap of the functions that copy and fill memory.)
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <tuple>

#include <malloc.h>

namespace {
std::int64_t allocations = 0, held_bytes = 0, moved_bytes = 0;
void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!p) throw std::bad_alloc();
  held_bytes += static_cast<std::int64_t>(malloc_usable_size(p));
  return p;
}
void release(void* p) {
  held_bytes -= static_cast<std::int64_t>(malloc_usable_size(p));
  std::free(p);
}
}  // namespace
void* operator new(std::size_t n) { return allocate(n, alignof(std::max_align_t)); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }

/// Where memory is copied and filled, but for the few bytes for which the compiler writes instructions.
extern "C" {
void* __real_memcpy(void*, const void*, std::size_t);
void* __real_memmove(void*, const void*, std::size_t);
void* __real_memset(void*, int, std::size_t);
void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
  moved_bytes += static_cast<std::int64_t>(n);
  return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, std::size_t n) {
  moved_bytes += static_cast<std::int64_t>(n);
  return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, std::size_t n) {
  moved_bytes += static_cast<std::int64_t>(n);
  return __real_memset(to, value, n);
}
}

/// callgrind collects in here.
extern "C" [[gnu::noinline]] void counted(void (*call)(void*), void* context) { call(context); }

namespace {
using drx::array;
using drx::placed;

/// One of two ranks, of which the other says the same.
class one_of_two final : public drx::communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void all_gather(std::byte* data, std::span<const std::int64_t> bytes, std::span<const std::int64_t> offset) override {
    sent(bytes[0]);
    std::memcpy(data + offset[1], data + offset[0], static_cast<std::size_t>(std::min(bytes[0], bytes[1])));
  }
  void all_sum(float*, std::int64_t n) override { sent(4 * n); }
  void all_sum(double*, std::int64_t n) override { sent(8 * n); }
  void exchange(std::span<const drx::message> out, std::span<const drx::message> in) override {
    std::int64_t bytes = 0;
    for (const auto& m : out) bytes += m.bytes;
    for (const auto& m : in) std::memset(m.data, 0, static_cast<std::size_t>(m.bytes));
    sent(bytes);
  }
  void require_equal(std::int64_t, const char*) override {}
  [[nodiscard]] std::unique_ptr<drx::communicator> split(int) override { return std::make_unique<drx::single_rank>(); }
  [[nodiscard]] std::int64_t bytes_sent() const override { return bytes_; }
  [[nodiscard]] std::int64_t collectives() const override { return collectives_; }

 private:
  void sent(std::int64_t bytes) {
    ++collectives_;
    bytes_ += bytes;
  }
  std::int64_t bytes_ = 0, collectives_ = 0;
};

struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};

/// Not too regular, in [-1, 1).
float number(std::int64_t i) { return static_cast<float>(i * 2654435761 % 1024) / 512 - 1; }
template <class A>
A numbers(std::int64_t from) {
  A a;
  for (std::int64_t i = 0; i < A::size; ++i) a[i] = number(from + i);
  return a;
}

constexpr auto classified = [](auto w, auto x, auto y) {
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(x, w), y));
};
constexpr auto fedavg = [](auto w, auto x, auto y) {
  auto local = [](auto m, auto a, auto b) {
    return drx::fori_loop<4>(m, [=](auto now) { return now - .1f * drx::grad(classified)(now, a, b); });
  };
  return drx::reduce_mean(drx::map(local, drx::broadcast<clients>(w), x, y));
};

constexpr auto of_point = [](auto means, auto weights, auto x) {
  auto away = means - x;
  return -drx::logsumexp(weights - .5 * drx::sum<1>(away * away));
};
constexpr auto mixture = [](auto means, auto weights, auto data) {
  return drx::reduce_sum(drx::map(of_point, drx::broadcast<rows>(means), drx::broadcast<rows>(weights), data));
};

constexpr auto of_row = [](auto w, auto x, auto y) { return drx::log1p(drx::exp(-y * drx::sum(w * x))); };
constexpr auto logistic = [](auto w, auto x, auto y) {
  return drx::reduce_mean(drx::map(of_row, drx::broadcast<rows>(w), x, y));
};

constexpr auto chain = [](auto x) {
  return drx::reduce_sum(
      drx::map([](auto v) { return drx::tanh(v * v + 1) * drx::exp(-v) + drx::sin(v) / (v * v + 2); }, x));
};

/// A loop of messages: at each step neighbours exchange a number, a force is read and the state stacked. With its
/// derivative.
constexpr auto relaxed = [](auto u, auto forces) {
  const auto history = drx::scan(
                           [](auto v, auto force) {
                             const auto next = .5 * v + force * drx::ppermute<clients>(v, std::array{-1, 0, 1, 2});
                             return std::pair{next, next};
                           },
                           u, forces)
                           .second;
  return drx::sum(history * history);
};
constexpr auto halo = [](auto u, auto forces) {
  const auto [a, b] =
      drx::grad<0, 1>([](auto v, auto w) { return drx::reduce_sum(drx::map(relaxed, v, w)); })(u, forces);
  return drx::reduce_sum(drx::map([](auto x, auto y) { return drx::sum(x * x) + drx::sum(y * y); }, a, b));
};

struct counts {
  std::int64_t allocations, messages, bytes, memory, moved;
};

/// Each argument is a function of the communicator.
template <class P, class... A>
void measure(const char* name, const A&... arguments) {
  const auto run = [&](drx::communicator& c) {
    const auto held = std::tuple(arguments(c)...);
    const std::int64_t before = held_bytes;
    drx::serial_executor thread;
    drx::compiled<P> p(thread, c);
    static typename drx::compiled<P>::result result;
    const auto call = [&] { std::apply([&](const auto&... a) { p.call(result, a...); }, held); };
    call();
    const std::int64_t memory = held_bytes - before;
    const std::int64_t made = allocations, bytes = c.bytes_sent(), messages = c.collectives(), moved = moved_bytes;
    counted([](void* context) { (*static_cast<decltype(call)*>(context))(); },
            const_cast<void*>(static_cast<const void*>(&call)));
    return counts{allocations - made, c.collectives() - messages, c.bytes_sent() - bytes, memory, moved_bytes - moved};
  };
  drx::single_rank alone;
  const auto here = run(alone);
  if (std::getenv("DRX_COUNT_INSTRUCTIONS")) return;
  one_of_two other;
  const auto there = run(other);
  std::printf(
      "{\"kernel\": \"%s\", \"allocations\": %lld, \"workspace bytes\": %lld, \"memory bytes\": %lld, \"messages\": %lld, \"bytes sent\": %lld, \"bytes moved\": %lld}\n",
      name, static_cast<long long>(here.allocations + there.allocations),
      static_cast<long long>(drx::compiled<P>::server_bytes() + drx::compiled<P>::thread_bytes()),
      static_cast<long long>(here.memory), static_cast<long long>(there.messages), static_cast<long long>(there.bytes),
      static_cast<long long>(there.moved));
}

template <int Steps>
void measure_halo(const char* name) {
  using row = array<double, 64>;
  using steps = array<double, Steps, 64>;
  measure<drx::program<halo, placed<row, clients>, placed<steps, clients>>>(
      name,
      [](drx::communicator& c) { return drx::place<clients>(c, 4, [](std::int64_t i) { return numbers<row>(i); }); },
      [](drx::communicator& c) { return drx::place<clients>(c, 4, [](std::int64_t i) { return numbers<steps>(i); }); });
}
}  // namespace

int main(int argc, char** argv) {
  const auto wanted = [&](const char* name) { return argc < 2 || std::string_view(argv[1]) == name; };
  const auto members = [&](std::int64_t usual) { return argc < 3 ? usual : std::stoll(argv[2]); };
  const auto same = [](auto value) { return [=](drx::communicator&) { return value; }; };
  if (wanted("fedavg")) {
    using model = array<float, 16, 4>;
    using x = array<float, 8, 16>;
    using y = array<float, 8, 4>;
    measure<drx::program<fedavg, model, placed<x, clients>, placed<y, clients>>>(
        "fedavg", same(numbers<model>(0)),
        [&](drx::communicator& c) {
          return drx::place<clients>(c, members(64), [](std::int64_t i) { return numbers<x>(i); });
        },
        [&](drx::communicator& c) {
          return drx::place<clients>(c, members(64), [](std::int64_t i) {
            y of;
            for (std::int64_t r = 0; r < 8; ++r) of(r, (i + r) % 4) = 1;
            return of;
          });
        });
  }
  if (wanted("mixture")) {
    using means = array<double, 8, 4>;
    using weights = array<double, 8>;
    measure<drx::program<drx::value_and_grad<0, 1>(mixture), means, weights, placed<array<double, 4>, rows>>>(
        "mixture", same(numbers<means>(0)), same(numbers<weights>(7)), [&](drx::communicator& c) {
          return drx::place<rows>(c, members(2048), [](std::int64_t i) { return numbers<array<double, 4>>(3 * i); });
        });
  }
  if (wanted("logistic")) {
    using w = array<double, 16>;
    measure<drx::program<drx::grad(logistic), w, placed<w, rows>, placed<double, rows>>>(
        "logistic", same(numbers<w>(0)),
        [&](drx::communicator& c) {
          return drx::place<rows>(c, members(2048), [](std::int64_t i) { return numbers<w>(5 * i); });
        },
        [&](drx::communicator& c) {
          return drx::place<rows>(c, members(2048), [](std::int64_t i) { return i % 3 == 0 ? 1. : -1.; });
        });
  }
  if (wanted("chain")) {
    using v = array<float, 256>;
    measure<drx::program<chain, placed<v, rows>>>("chain", [&](drx::communicator& c) {
      return drx::place<rows>(c, members(64), [](std::int64_t i) { return numbers<v>(i); });
    });
  }
  if (wanted("halo of 64 steps")) measure_halo<64>("halo of 64 steps");
  if (wanted("halo of 512 steps")) measure_halo<512>("halo of 512 steps");
}
