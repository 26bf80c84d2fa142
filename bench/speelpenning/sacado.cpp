// Sacado's reverse mode (RAD).
#include "inputs.hpp"

#include <Sacado_trad.hpp>

namespace speelpenning {

void add_sacado(bench::suite& suite, const vector& x) {
  add(suite, "Sacado RAD", [&](vector& g) {
    using variable = Sacado::Rad::ADvar<double>;
    std::array<variable, count> in;
    for (std::size_t i = 0; i < count; ++i) in[i] = x[i];
    variable y = in[0];
    for (std::size_t i = 1; i < count; ++i) y = y * in[i];
    variable::Gradcomp();
    for (std::size_t i = 0; i < count; ++i) g[i] = in[i].adj();
  });
}

}  // namespace speelpenning
