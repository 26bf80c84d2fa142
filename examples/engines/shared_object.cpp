// The same programs in a shared object, for processes that load it.
#include "engines.hpp"

#include <drx/engines/shared_object.hpp>

using namespace engines_example;

// cut-begin shared
extern "C" const drx_engine* drx_engine_of() { return drx::engine_table<fedavg, hypergradient, k_means>(); }
// cut-end shared
