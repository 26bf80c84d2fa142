// A shared object of two programs, which host.cpp loads.
#include "../two_programs.hpp"

#include <drx/engines/shared_object.hpp>

extern "C" const drx_engine* drx_engine_of() {
  return drx::engine_table<two_programs::Total, two_programs::Twice, two_programs::Wide>();
}
