// Random programs of products, folds and functions of rows, with numbers of members around those at which blocks begin.
// One thread of one rank is compared with the plain interpreter, and all ranks and threads with that, bit for bit.
#pragma once

#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "ranks.hpp"
#include "run.hpp"

namespace harness {

struct many : drx::placement<many> {};

/// One of ten operations on a vector of eight, with a matrix of weights.
template <unsigned Choice>
constexpr auto operation(const auto& w, const auto& v) {
  constexpr unsigned n = Choice % 10;
  if constexpr (n == 0) return drx::tanh(drx::matmul(v, w));
  if constexpr (n == 1) return drx::softmax(v);
  if constexpr (n == 2) return v * (drx::dot(v, drx::index<3>(w)) / 8);
  if constexpr (n == 3) return drx::log_softmax(v) / 4;
  if constexpr (n == 4) return drx::cumsum<0>(v) / 8;
  if constexpr (n == 5) return drx::max(v, drx::mean(v)) + drx::min(v) * v;
  if constexpr (n == 6) return drx::sort(v) * v;
  if constexpr (n == 7) return drx::sigmoid(drx::matmul(w, v)) + v;
  if constexpr (n == 8) return v / drx::sqrt(1 + drx::dot(v, v));
  if constexpr (n == 9) return v * drx::exp(-drx::square(v)) + drx::prod(v);
}
template <unsigned Seed, int Left>
constexpr auto operations(const auto& w, const auto& v) {
  if constexpr (Left == 0) {
    return v;
  } else {
    constexpr unsigned next = Seed * 1664525u + 1013904223u;
    return operations<next, Left - 1>(w, operation<(next >> 16)>(w, v));
  }
}
template <unsigned Seed>
constexpr auto of_many = [](auto w, auto x) {
  const auto of_one = [](auto u, auto v) { return operations<Seed, 4>(u, v); };
  const auto loss = [=](auto u) {
    return drx::reduce_mean(
        drx::map([=](auto p, auto v) { return drx::sum(drx::square(of_one(p, v))); }, drx::broadcast<many>(u), x));
  };
  const auto y = drx::map(of_one, drx::broadcast<many>(w), x);
  constexpr auto last = drx::monoid{[](auto a, auto b) { return drx::where(b != 0, b, a); }, 0};
  return std::tuple{drx::value_and_grad(loss)(w), drx::reduce_sum(y),        drx::reduce_max(y),
                    drx::reduce_min(x),           drx::reduce_with(last, y), y};
};

template <unsigned Seed, class T>
void check_many() {
  using P = drx::program<of_many<Seed>, drx::array<T, 8, 8>, drx::placed<drx::array<T, 8>, many>>;
  auto& c = harness::session().communicator();
  drx::serial_executor e;
  drx::single_rank alone;
  drx::compiled<P> p(harness::session().executor(), c), one(e, alone);
  for (std::int64_t n : {1, 31, 33, 63, 64, 100, 255, 256, 300, 1023, 1024, 1100}) {
    CAPTURE(Seed);
    CAPTURE(n);
    const tensors in = random_inputs<P>({.members = n, .seed = Seed});
    const tensors expected = call(one, alone, in);
    check_near(expected, run_plain<P>(in), 1 + static_cast<double>(n) / 32);
    CHECK_MESSAGE(same_bits(call(p, c, in), own_block(expected, drx::even_blocks(n, c.size()), c.rank())),
                  "other bits than on one rank");
  }
}
template <unsigned First, unsigned Count>
void check_seeds_of_many() {
  [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
    (check_many<First + I, std::conditional_t<I % 2 == 0, double, float>>(), ...);
  }(std::make_integer_sequence<unsigned, Count>{});
}

}  // namespace harness
