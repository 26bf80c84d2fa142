// Members whose parts lie on several ranks.
// needs: run
// expect: error::members_in_shards_on_a_device
// expect: on devices, members have no layout
#include <drx/backend/device.hpp>
#include <drx/run.hpp>

struct groups : drx::placement<groups> {};
struct members : drx::placement<members> {};
using numbers = drx::array<float, 4>;
using matrix = drx::array<float, 4, 4>;
constexpr auto f = [](auto w, auto x) {
  const auto product = [](auto v, auto y) {
    return drx::sum(drx::matmul(y, drx::with_layout<members, 2>(v, drx::split_along<0>)));
  };
  return drx::reduce_sum(drx::map(product, w, x));
};
using F = drx::program<f, drx::placed<matrix, groups>, drx::placed<matrix, groups>>;
void run(drx::session& session, drx::kokkos_device<>& device) {
  auto ready = drx::compile_on<F>(device, session);
  // correct: auto ready = session.compile<F>();
  static_cast<void>(ready), static_cast<void>(device);
}
