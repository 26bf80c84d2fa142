// The tape after a pass that there is not.
// expect: error::no_pass_has_this_name
// expect: the passes are: functions, shards, broadcasts, identities, contractions, stacked parts, members' invariants, stages, block constants
#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

constexpr auto f = [](auto x) { return drx::sum(x * x); };
using P = drx::program<f, drx::array<float, 3>>;
const std::string text = drx::plan::show<P, "narrow transpose">();
// correct: const std::string text = drx::plan::show<P, "narrow transposes">();
