// What the programs of examples/language_model cost is what is counted when they run.
#include <examples/language_model/language_model.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("language_model") {
  harness::compare_cost<language_model::fedavg>();
  harness::compare_cost<language_model::diloco>();
  harness::compare_cost<language_model::central>();
  harness::compare_cost<language_model::scores>();
  harness::compare_cost<language_model::next_letter>();
}
