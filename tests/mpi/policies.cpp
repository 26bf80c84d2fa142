// ranks: 1 2 3
// Reductions with a policy on any number of ranks: the same bits as on one.
#include <drx/algorithms.hpp>
#include <drx/backend/session.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using model = std::pair<array<float, 33>, array<float, 2, 3>>;
using models = placed<model, clients>;

constexpr auto all = [](auto x, auto kept, auto seed) {
  const auto key = drx::random_key(seed);
  return std::tuple{drx::reduce_mean_quantised(x, kept).first, drx::reduce_mean_top<4>(x, kept).first,
                    drx::reduce_sum_private(x, key, 2., 0.5), drx::reduce_sum_masked<2>(x, key, 1024.)};
};
using All = program<all, models, models, std::int64_t>;
constexpr auto slope = drx::grad<0>([](auto x, auto kept, auto seed) {
  const auto [mean, top, noisy, masked] = all(x, kept, seed);
  return drx::sum(drx::square(mean.first)) + drx::sum(drx::square(top.first)) + drx::sum(drx::square(noisy.first)) +
         drx::sum(masked.first);
});
using Slope = program<slope, models, models, std::int64_t>;
}  // namespace

TEST_CASE_TEMPLATE("reductions with a policy", P, All, Slope) {
  const auto in = harness::random_inputs<P>({});
  const auto one = harness::run_serial<P>(in);
  drx::compiled<P> run(harness::session().executor(), harness::session().communicator());
  const auto blocks = drx::even_blocks(static_cast<std::int64_t>(in[0].members.size()), harness::size());
  CHECK(harness::same_bits(harness::call(run, harness::session().communicator(), in),
                           harness::own_block(one, blocks, harness::rank())));
  harness::check_near(one, harness::run_plain<P>(in));
}
