// A loop inside a member whose placed carries change places.
// needs: run
// expect: error::placed_carries_change_places_on_a_device
// expect: on devices, members have no layout
#include <drx/backend/device.hpp>
#include <drx/run.hpp>

struct groups : drx::placement<groups> {};
struct members : drx::placement<members> {};
using numbers = drx::array<float, 4>;
constexpr auto f = [](auto x, auto y) {
  const auto of_group = [](auto a, auto b) {
    const auto c = drx::fori_loop<3>(std::pair{a, b}, [](auto state) { return std::pair{state.second, state.first}; });
    return drx::reduce_sum(c.first);
  };
  return drx::reduce_sum(drx::map(of_group, x, y));
};
using nested = drx::placed<drx::placed<numbers, members>, groups>;
using F = drx::program<f, nested, nested>;
void run(drx::session& session, drx::kokkos_device<>& device) {
  auto ready = drx::compile_on<F>(device, session);
  // correct: auto ready = session.compile<F>();
  static_cast<void>(ready), static_cast<void>(device);
}
