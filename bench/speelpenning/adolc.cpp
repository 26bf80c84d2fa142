// ADOL-C: with the tape made anew for each call, and with one that is replayed.
#include "inputs.hpp"

#include <adolc/adolc.h>

namespace speelpenning {

namespace {

void record(short tag, const vector& x) {
  trace_on(tag, 1);
  std::array<adouble, count> in;
  for (std::size_t i = 0; i < count; ++i) in[i] <<= x[i];
  adouble y = in[0];
  for (std::size_t i = 1; i < count; ++i) y *= in[i];
  double ignored;
  y >>= ignored;
  trace_off();
}

}  // namespace

void add_adolc(bench::suite& suite, const vector& x) {
  record(2, x);
  add(suite, "ADOL-C, replayed", [&](vector& g) { gradient(2, static_cast<int>(count), x.data(), g.data()); });
  add(suite, "ADOL-C, taped anew", [&](vector& g) {
    record(1, x);
    gradient(1, static_cast<int>(count), x.data(), g.data());
  });
}

}  // namespace speelpenning
