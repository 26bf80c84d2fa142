// Prints plans as documents: compiled with DRX_NATIVE_TRACING, it traces and plans the programs itself; without, these
// are constants, of the compiler or of the executable that drx_add_programs makes.
#include "plans.hpp"

#include <drx/engines/plan_json.hpp>

#include <iostream>

int main() {
  std::cout << drx::plan_text<native_plans::Round>() << drx::plan_text<native_plans::Rounds>()
            << drx::plan_text<native_plans::Slope>();
}
