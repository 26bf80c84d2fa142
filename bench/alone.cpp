// One program of a workload's drx_side.hpp and a call of it, for bench/run --build-only.
#include DRX_SIDE

#include <tuple>

template <class Program, class Inputs = typename Program::inputs>
struct caller;
template <class Program, class... A>
struct caller<Program, std::tuple<A...>> {
  static void call(drx::session& session, typename drx::compiled<Program>::result& result,
                   const drx::host_t<A>&... arguments) {
    session.compile<Program>().call(result, arguments...);
  }
};
template struct caller<DRX_PROGRAM>;
