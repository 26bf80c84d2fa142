// Random programs with their gradients, compiled, against the plain interpreter. (tests/mpi has more of them.)
#include <drx/drx.hpp>

#include "harness/compiled_programs.hpp"
#include "harness/run.hpp"

// How many of them: each takes the compiler seconds, so that the default is few; -DDRX_RANDOM_PROGRAMS=40 looks
// further.
#ifndef DRX_RANDOM_PROGRAMS
#define DRX_RANDOM_PROGRAMS 5
#endif
TEST_CASE("random programs with their gradients") {
  [&]<unsigned... Seed>(std::integer_sequence<unsigned, Seed...>) {
    const auto check = [&]<unsigned S>(std::integral_constant<unsigned, S>) {
      CAPTURE(S);
      harness::check_run<harness::compiled_random<S, 4>>({.seed = S}, {5, 0, 33});
    };
    (check(std::integral_constant<unsigned, Seed>{}), ...);
  }(std::make_integer_sequence<unsigned, DRX_RANDOM_PROGRAMS>{});
}
