// Stan Math: var. The tape's memory is kept from call to call.
#include <stan/math/rev/core.hpp>

#include "inputs.hpp"

#include <algorithm>

namespace speelpenning {

void add_stan(bench::suite& suite, const vector& x) {
  add(suite, "Stan Math", [&](vector& g) {
    std::array<stan::math::var, count> in;
    std::copy(x.begin(), x.end(), in.begin());
    stan::math::var y = in[0];
    for (std::size_t i = 1; i < count; ++i) y *= in[i];
    y.grad();
    for (std::size_t i = 0; i < count; ++i) g[i] = in[i].adj();
    stan::math::recover_memory();
  });
}

}  // namespace speelpenning
