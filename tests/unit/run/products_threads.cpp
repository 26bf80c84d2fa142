// Large products on std::threads, in members that have all threads: the same bits as on one thread.
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/thread_executor.hpp"

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
using matrix = drx::array<float, 270, 260>;

constexpr auto of_clients = [](auto w, auto x, auto nested) {
  return drx::map(
      [=](auto v, auto r) {
        auto y = drx::matmul(v, drx::transpose(w));
        return y * drx::reduce_sum(drx::map([](auto z) { return drx::tanh(z); }, r));
      },
      x, nested);
};
using Program = drx::program<of_clients, matrix, drx::placed<matrix, clients>,
                             drx::placed<drx::placed<drx::array<float>, rows>, clients>>;
constexpr auto of_server = [](auto a, auto b) { return drx::matmul(a, drx::transpose(b)); };
using Unplaced = drx::program<of_server, matrix, matrix>;
}  // namespace

TEST_CASE_TEMPLATE("a large product of a member, or of no member, on any number of threads", P, Program, Unplaced) {
  const auto in = harness::random_inputs<P>({.members = 2, .seed = 5});
  const auto expected = harness::run_serial<P>(in);
  for (int threads : {2, 3, 7}) {
    harness::thread_executor e(threads);
    drx::single_rank c;
    drx::compiled<P> p(e, c);
    CHECK(harness::same_bits(harness::call(p, c, in), expected));
    CHECK(harness::same_bits(harness::call(p, c, in), expected));
  }
}
