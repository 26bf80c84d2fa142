// Stages on a device beside the host's executor: a round of federated averaging, the hypergradient of it by the rate,
// and a gradient over many short rows, whose bound is the memory. Counters: floating operations or bytes a second. Each
// result is compared with the host's before it is timed.
#include <drx/device.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
using device = drx::kokkos_device<>;

constexpr int batch = 32, features = 64, hidden = 128, classes = 10, steps = 8;
using model = std::tuple<drx::array<float, features, hidden>, drx::array<float, hidden>,
                         drx::array<float, hidden, classes>, drx::array<float, classes>>;
using data = std::pair<drx::array<float, batch, features>, drx::array<float, batch, classes>>;

constexpr auto loss = [](auto m, auto d) {
  auto [w1, b1, w2, b2] = m;
  auto h = drx::tanh(drx::matmul(d.first, w1) + b1);
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(h, w2) + b2, d.second));
};
constexpr auto train = [](auto m, auto rate, auto d) {
  return drx::fori_loop<steps>(m, [=](auto w) { return w - rate * drx::grad(loss)(w, d); });
};
constexpr auto one_round = [](auto m, auto rate, auto d) {
  return drx::reduce_mean(drx::map(train, drx::broadcast<clients>(m), drx::broadcast<clients>(rate), d));
};
constexpr auto loss_after = [](auto rate, auto m, auto d) {
  return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(one_round(m, rate, d)), d));
};
using Round = drx::program<one_round, model, float, drx::placed<data, clients>>;
using Hypergradient = drx::program<drx::value_and_grad(loss_after), float, model, drx::placed<data, clients>>;

constexpr int width = 100;
using row = std::pair<drx::array<float, width>, float>;
constexpr auto logistic = [](auto w, auto all) {
  auto each = drx::map([](auto v, auto r) { return drx::softplus(-r.second * drx::dot(v, r.first)); },
                       drx::broadcast<rows>(w), all);
  return drx::reduce_mean(each);
};
using Gradient = drx::program<drx::grad(logistic), drx::array<float, width>, drx::placed<row, rows>>;

/// Floating operations of a client's round: three products of each layer's size, two each for a multiply-add.
constexpr double operations = 2.0 * steps * batch * (2.0 * features * hidden + 3.0 * hidden * classes);

drx::session* session = nullptr;

float number(std::int64_t i) { return static_cast<float>(std::sin(0.37 * static_cast<double>(i))); }
template <class A>
void fill(A& a, std::int64_t from, float scale) {
  for (int i = 0; i < A::size; ++i) a.data()[i] = scale * number(from + i);
}
model first_model() {
  model m{};
  fill(std::get<0>(m), 1, 0.1f), fill(std::get<2>(m), 2, 0.1f);
  return m;
}
auto place_clients(std::int64_t n) {
  return session->place<clients>(n, [](std::int64_t c) {
    data d{};
    fill(d.first, 7 * c, 1);
    for (int i = 0; i < batch; ++i) d.second.data()[i * classes + (c + i) % classes] = 1;
    return d;
  });
}
auto place_rows(std::int64_t n) {
  return session->place<rows>(n, [](std::int64_t i) {
    row r{};
    fill(r.first, 11 * i, 1);
    r.second = i % 3 == 0 ? 1.0f : -1.0f;
    return r;
  });
}

/// All numbers of a result, one leaf after the other.
template <class R>
std::vector<float> numbers(const R& result) {
  std::vector<float> all;
  drx::structure<R>::visit(result,
                           [&](const float* p, const drx::shape& of) { all.insert(all.end(), p, p + of.size()); });
  return all;
}
/// Ends the process if a number of the device is not near the host's; NaN is not.
void require_near(const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0;
  for (const float x : b) most = std::max(most, std::abs(x));
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-3f * (1e-3f + most))) {
      std::fprintf(stderr, "bench_device: number %zu is %g on the device, %g on the host\n", i,
                   static_cast<double>(a[i]), static_cast<double>(b[i]));
      std::exit(1);
    }
}
/// Compares a program on the device, which keeps the members, with the host's, then times one of them.
template <class P, bool OnDevice, class Members, class... A>
void measure(benchmark::State& state, const Members& members, const A&... arguments) {
  auto host = session->compile<P>();
  device gpu;
  const auto kept = gpu.keep(members);
  auto there = drx::compile_on<P>(gpu, *session);
  require_near(numbers(there(arguments..., members)), numbers(host(arguments..., members)));
  for (auto _ : state) {
    if constexpr (OnDevice)
      benchmark::DoNotOptimize(there(arguments..., members));
    else
      benchmark::DoNotOptimize(host(arguments..., members));
  }
}

template <bool OnDevice>
void round_of_clients(benchmark::State& state) {
  measure<Round, OnDevice>(state, place_clients(state.range(0)), first_model(), 0.1f);
  const double all = operations * static_cast<double>(state.range(0)) * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * all, benchmark::Counter::kIsRate);
}
template <bool OnDevice>
void hypergradient(benchmark::State& state) {
  measure<Hypergradient, OnDevice>(state, place_clients(state.range(0)), 0.1f, first_model());
}
template <bool OnDevice>
void gradient_of_rows(benchmark::State& state) {
  drx::array<float, width> w{};
  fill(w, 3, 0.1f);
  measure<Gradient, OnDevice>(state, place_rows(state.range(0)), w);
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(sizeof(float)) * (width + 1));
}
/// A copy in the device's memory: the bound of what reads memory once. (Bytes read and written are counted.)
void copy_on_device(benchmark::State& state) {
  using space = Kokkos::DefaultExecutionSpace;
  const auto n = static_cast<std::size_t>(state.range(0));
  Kokkos::View<float*, space::memory_space> from("from", n), to("to", n);
  Kokkos::deep_copy(from, 1.0f);
  for (auto _ : state) {
    Kokkos::deep_copy(to, from);
    Kokkos::fence();
  }
  state.SetBytesProcessed(2 * state.iterations() * state.range(0) * static_cast<std::int64_t>(sizeof(float)));
}

}  // namespace

BENCHMARK(round_of_clients<true>)->Name("round/device")->Arg(64)->Arg(1024)->Arg(16384)->UseRealTime();
BENCHMARK(round_of_clients<false>)->Name("round/host")->Arg(64)->Arg(1024)->UseRealTime();
BENCHMARK(hypergradient<true>)->Name("hypergradient/device")->Arg(64)->Arg(1024)->UseRealTime();
BENCHMARK(hypergradient<false>)->Name("hypergradient/host")->Arg(64)->UseRealTime();
BENCHMARK(gradient_of_rows<true>)->Name("gradient/device")->Arg(10000)->Arg(1000000)->UseRealTime();
BENCHMARK(gradient_of_rows<false>)->Name("gradient/host")->Arg(10000)->Arg(1000000)->UseRealTime();
BENCHMARK(copy_on_device)->Name("copy/device")->Arg(1 << 26)->UseRealTime();

int main(int argc, char** argv) {
  drx::session own(argc, argv);
  session = &own;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  std::printf("device: %s, teams of %d lanes, %d at once\n", device::name().c_str(), device().lanes(),
              device().teams());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
