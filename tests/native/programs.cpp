// Runs the programs and prints their results, all bits of them. It is built twice, with plans of constant evaluation
// and with those of an executable (DRX_TEST_PLANNED), and must print the same.
#include <drx/run/call/compiled.hpp>

#include "programs.hpp"

#include <cstdio>
#include <type_traits>
#include <vector>

namespace {
using namespace native_programs;

#if defined(DRX_TEST_PLANNED)
static_assert(std::is_same_v<drx::plan::lowered_t<Slope>, drx_plans::native_programs_Slope>,
              "the plan that an executable made is found");
#endif

void print(double x) { std::printf(" %a", x); }
void print(float x) { std::printf(" %a", static_cast<double>(x)); }
template <class I>
  requires std::is_integral_v<I>
void print(I x) {
  std::printf(" %lld", static_cast<long long>(x));
}
template <class T, std::int64_t... E>
void print(const array<T, E...>& x) {
  for (const T& e : x) print(e);
}
template <class S, class P>
void print(const drx::partitions<S, P>& x) {
  for (std::int64_t i = 0; i < x.elements(); ++i) print(x[i]);
}
template <class X, class Y>
void print(const std::pair<X, Y>& x) {
  print(x.first);
  print(x.second);
}
template <class... X>
void print(const std::tuple<X...>& x) {
  std::apply([](const auto&... part) { (print(part), ...); }, x);
}
double number(std::int64_t i) { return static_cast<double>((i * 7919) % 1000) / 500 - 1; }
template <class A>
A filled(std::int64_t from) {
  A a;
  for (std::int64_t i = 0; i < A::size; ++i) a[i] = static_cast<typename A::value_type>(number(from + i));
  return a;
}
drx::serial_executor executor;
drx::single_rank rank;

template <class P, class... X>
void run(const char* name, const X&... x) {
  drx::compiled<P> program(executor, rank);
  std::printf("%s:", name);
  print(program(x...));
  std::printf("\n");
}
template <class A>
auto members(std::int64_t n) {
  return drx::place<clients>(rank, n, [](std::int64_t m) { return filled<A>(31 * m); });
}
}  // namespace

int main() {
  for (const std::int64_t n : {0, 1, 5, 37, 300}) {
    const auto x = members<array<double, 5, 3>>(n);
    const auto y = members<array<double, 5>>(n);
    const auto w = filled<weights>(3);
    run<Round>("round", w, 0.01, x, y);
    run<Slope>("slope", w, 0.01, x, y);
    if (n > 0) run<Call>("call", members<array<double, 3>>(n), 1.5);
    const auto rows_of = drx::place_nested<clients, rows>(rank, n, [](std::int64_t m) {
      return std::vector<array<float, 6>>(static_cast<std::size_t>(m % 4), filled<array<float, 6>>(m));
    });
    run<Nested>("nested", rows_of, filled<array<float, 6>>(9));
  }
  run<Branches>("branches", filled<array<double, 4>>(1), 0.5);
}
