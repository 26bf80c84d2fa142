// Random numbers of compiled programs.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
struct clients : drx::placement<clients> {};
using key = drx::prng_key;

constexpr auto drawn = [](auto k) {
  const auto keys = drx::split<3>(k);
  return std::tuple{keys,
                    drx::random_bits<std::int64_t, 5>(k),
                    drx::uniform<float, 3, 4>(drx::index<0>(keys), -1, 2),
                    drx::normal<double, 40>(drx::index<1>(keys)),
                    drx::bernoulli<7>(drx::fold_in(k, 3), 0.5f),
                    drx::permutation<20>(k)};
};
constexpr auto noise = [](auto k, auto x) {  // (small members: done in blocks too)
  return drx::reduce_sum(
      drx::map([=](auto i, auto y) { return drx::dot(y, drx::normal<double, 3>(drx::fold_in(k, i))); },
               drx::partition_index<clients>(), x));
};
}  // namespace

TEST_CASE("random numbers") { harness::check_run<drx::program<drawn, key>>({}, {1}); }

TEST_CASE("random numbers of members") {
  harness::check_run<drx::program<noise, key, drx::placed<drx::array<double, 3>, clients>>>({},
                                                                                            {0, 1, 7, 33, 70, 1100});
}
