// bench/scaling/main.cpp: the cost of a FedAvg round on each of several ranks, and of messages; bench/scale runs it by
// mpirun and reads its lines of JSON.
#include <cstdio>

#if defined(DRX_BENCH_DRX) && defined(DRX_HAS_MPI)
#include "../fedavg_round/drx_side.hpp"
#include "products.hpp"
#include "timed.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace {

using scaling::largest, scaling::report, scaling::timed;
using namespace fedavg;
using program::clients;
using program::model;

template <class X>
struct sum_of {
  static constexpr auto sum = [](auto x) { return drx::reduce_mean(x); };
  using type = drx::program<sum, drx::placed<X, clients>>;
};
constexpr auto locally = [](auto m, auto r, auto data) {
  return drx::map(program::local_sgd, drx::broadcast<clients>(m), drx::broadcast<clients>(r), data);
};
using Locally = drx::program<locally, model, float, drx::placed<program::rows, clients>>;

/// Times the round: streamed; with all members' models held and then reduced; and the latter leaf by leaf.
void rounds(drx::session& s, std::int64_t each, int reps, bool baselines) {
  timed c(s.communicator());
  const std::int64_t n = each * s.ranks();
  const inputs in = make_inputs(static_cast<std::size_t>(n));
  const auto data = place(s, in, n);
  static model out;
  const model& m = as_model(in.model);
  {
    drx::compiled<program::Round> round(s.executor(), c);
    report(
        s, c, "streamed", each, reps, [&] { round.call(out, m, rate, data); },
        round.server_bytes() + round.thread_bytes());
  }
  if (!baselines) return;
  drx::compiled<Locally> local(s.executor(), c);
  const std::int64_t held = each * static_cast<std::int64_t>(sizeof(model));
  drx::compiled<sum_of<model>::type> mean(s.executor(), c);
  report(
      s, c, "materialised", each, reps, [&] { mean.call(out, local(m, rate, data)); },
      local.server_bytes() + local.thread_bytes() + held);
  drx::compiled<sum_of<decltype(model::w1)>::type> of_w1(s.executor(), c);
  drx::compiled<sum_of<decltype(model::b1)>::type> of_b1(s.executor(), c);
  drx::compiled<sum_of<decltype(model::w2)>::type> of_w2(s.executor(), c);
  drx::compiled<sum_of<decltype(model::b2)>::type> of_b2(s.executor(), c);
  const auto leaf = [&]<class X>(X*, const auto& x, int i) {
    return drx::partitions<X, clients>(x.boundaries(), s.rank(), {}, {x.leaf(i)}, nullptr);
  };
  report(
      s, c, "leaf by leaf", each, reps,
      [&] {
        const auto x = local(m, rate, data);
        of_w1.call(out.w1, leaf(&out.w1, x, 0));
        of_b1.call(out.b1, leaf(&out.b1, x, 1));
        of_w2.call(out.w2, leaf(&out.w2, x, 2));
        of_b2.call(out.b2, leaf(&out.b2, x, 3));
      },
      local.server_bytes() + local.thread_bytes() + held);
}

/// Measures the microseconds until a message arrives: half of a round trip.
void latency(drx::session& s) {
  std::byte byte{};
  const drx::message m{1 - s.rank(), &byte, 1};
  const std::span<const drx::message> one(&m, 1), none;
  double least = 1e30;
  for (int k = 0; k < 100; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < 20; ++i) {
      s.communicator().exchange(s.root() ? one : none, s.root() ? none : one);
      s.communicator().exchange(s.root() ? none : one, s.root() ? one : none);
    }
    least = std::min(least, largest(MPI_Wtime() - start) / 40);
  }
  if (s.root()) std::printf("{\"what\": \"latency\", \"us\": %.3f}\n", 1e6 * least);
}
/// Measures the time of adding numbers in the cache, per byte.
void additions(drx::session& s) {
  std::vector<float> a(4096), b(4096, 1.f);
  double least = 1e30;
  for (int k = 0; k < 100; ++k) {
    const double start = MPI_Wtime();
    for (int i = 0; i < 100; ++i) {
      for (std::size_t j = 0; j < a.size(); ++j) a[j] += b[j];
      asm volatile("" : : "r"(a.data()) : "memory");
    }
    least = std::min(least, (MPI_Wtime() - start) / 100);
  }
  if (s.root()) std::printf("{\"what\": \"addition\", \"us_per_byte\": %.4g}\n", 1e6 * least / (4 * 4096));
}
/// Measures one way of each of `count` messages of that many bytes between two ranks, in microseconds.
void messages(drx::session& s, std::int64_t bytes, int count) {
  std::vector<std::byte> out(static_cast<std::size_t>(bytes * count)), in(out.size());
  std::vector<drx::message> sent, received;
  for (int k = 0; k < count; ++k) {
    sent.push_back({1 - s.rank(), out.data() + k * bytes, bytes});
    received.push_back({1 - s.rank(), in.data() + k * bytes, bytes});
  }
  double least = 1e30;
  for (int k = 0; k < (bytes > 1'000'000 ? 20 : 300); ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < 4; ++i) s.communicator().exchange(sent, received);
    least = std::min(least, largest(MPI_Wtime() - start) / 4);
  }
  if (s.root())
    std::printf("{\"what\": \"message\", \"bytes\": %lld, \"count\": %d, \"us\": %.3f}\n",
                static_cast<long long>(bytes), count, 1e6 * least);
}

/// Times a sum of one member of N floats per rank.
template <std::int64_t N>
void sums(drx::session& s) {
  using X = drx::array<float, N>;
  static constexpr auto sum = [](auto x) { return drx::reduce_sum(x); };
  timed c(s.communicator());
  std::vector<float> data(static_cast<std::size_t>(N), 1.f);
  const auto x = drx::place_memory<clients, X>(c, drx::even_blocks(s.ranks(), s.ranks()), data);
  for (auto order : {drx::reduction_order::tree, drx::reduction_order::fast}) {
    drx::compiled<drx::program<sum, drx::placed<X, clients>>> p(s.executor(), c, {.order = order});
    static X out;
    report(s, c, order == drx::reduction_order::tree ? "sum" : "sum, fast", 4 * N, 100, [&] { p.call(out, x); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  drx::session s(argc, argv);
  const bool baselines = argc > 1 && std::string_view(argv[1]) == "--baselines";
  if (baselines) {
    for (std::int64_t each : {16, 64, 256}) rounds(s, each, 5, true);
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "--products") {
    scaling::products(s);
    return 0;
  }
  for (std::int64_t each : {16, 64, 100, 256}) rounds(s, each, 5, false);
  sums<256>(s);
  sums<10'000>(s);
  sums<250'000>(s);
  if (s.ranks() == 2) {
    for (std::int64_t bytes = 8; bytes <= 1 << 24; bytes *= 4) messages(s, bytes, 1);
    messages(s, 64, 64);
    latency(s);
    additions(s);
  }
}

#else
int main() { std::puts("bench_scaling needs drx::run with MPI"); }
#endif
