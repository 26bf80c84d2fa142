// Members nested in members that send to each other.
// needs: run
// expect: error::nested_members_change_places_on_a_device
// expect: on devices, members have no layout
#include <drx/backend/device.hpp>
#include <drx/run.hpp>

struct groups : drx::placement<groups> {};
struct members : drx::placement<members> {};
using numbers = drx::array<float, 4>;
constexpr auto f = [](auto x) {
  const auto of_group = [](auto own) {
    const auto next = [](auto v) { return drx::ppermute<members>(v, std::array{1, 0}); };
    return drx::reduce_sum(drx::map([=](auto v) { return v * next(v); }, own));
  };
  return drx::reduce_sum(drx::map(of_group, x));
};
using F = drx::program<f, drx::placed<drx::placed<numbers, members>, groups>>;
void run(drx::session& session, drx::kokkos_device<>& device) {
  auto ready = drx::compile_on<F>(device, session);
  // correct: auto ready = session.compile<F>();
  static_cast<void>(ready), static_cast<void>(device);
}
