// What the programs of examples/fedavg cost is what is counted when they run.
#include <examples/fedavg/model.hpp>
#include <examples/fedavg/shapes.hpp>

#include "harness/counted_calls.hpp"

namespace {
template <examples::shape S>
void compare() {
  using P = fedavg::programs<S>;
  harness::compare_cost<typename P::template round<1>>();
  harness::compare_cost<typename P::template round<8>>();
  harness::compare_cost<typename P::evaluation>();
}
}  // namespace

TEST_CASE("fedavg") {
  compare<examples::digits_shape>();
  compare<fedavg::flights_shape>();
}
