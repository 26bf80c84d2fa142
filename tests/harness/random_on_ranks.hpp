// Random programs with their gradients, compiled: one rank against the plain interpreter, all ranks against one.
#pragma once

#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "compiled_programs.hpp"
#include "ranks.hpp"
#include "run.hpp"

namespace harness {

template <class Program>
void check_on_ranks(sample s) {
  auto& c = harness::session().communicator();
  drx::serial_executor e;
  drx::single_rank alone;
  drx::compiled<Program> p(harness::session().executor(), c), one(e, alone);
  for (std::int64_t n : {5, 0, 33}) {
    CAPTURE(n);
    s.members = n;
    ++s.seed;
    const tensors in = random_inputs<Program>(s), expected = call(one, alone, in);
    check_near(expected, run_plain<Program>(in), 1 + static_cast<double>(n) / 32);
    CHECK_MESSAGE(same_bits(call(p, c, in), own_block(expected, drx::even_blocks(n, c.size()), c.rank())),
                  "other bits than on one rank");
  }
}
template <unsigned First, unsigned Count, int Budget = 4>
void check_seeds_on_ranks() {
  [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
    const auto check = [&]<unsigned Seed>(std::integral_constant<unsigned, Seed>) {
      CAPTURE(Seed);
      check_on_ranks<compiled_random<Seed, Budget>>({.seed = Seed});
    };
    (check(std::integral_constant<unsigned, First + I>{}), ...);
  }(std::make_integer_sequence<unsigned, Count>{});
}

}  // namespace harness
