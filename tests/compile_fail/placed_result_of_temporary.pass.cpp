#include <drx/run/call/compiled.hpp>
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) { return std::pair{drx::reduce_sum(x), drx::map([](auto v) { return v * v; }, x)}; };
using P = drx::program<f, drx::placed<double, clients>>;

void of(drx::executor& e, drx::communicator& c, const drx::partitions<drx::scalar<double>, clients>& x) {
  drx::compiled<P> p(e, c);
  auto r = p(x);
  (void)r;
}
