// What the one file is for: a program that is traced, differentiated and printed where nothing but a compiler is, with
// its default limits.
#include <drx.hpp>  // single_include/drx.hpp

#include <cstdio>
#include <string>

struct rows : drx::placement<rows> {};
using row = std::tuple<drx::array<double, 2>, double>;

constexpr auto error = [](auto w, auto r) { return drx::square(drx::dot(w, std::get<0>(r)) - std::get<1>(r)); };
constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(w), data));
};
constexpr auto fit = [](auto w, auto data) {
  return drx::fori_loop<100>(w, [=](auto v) { return v - 0.2 * drx::grad(loss)(v, data); });
};
using Fit = drx::program<fit, drx::array<double, 2>, drx::placed<row, rows>>;

static_assert(drx::ad::derivative([](auto x) { return x * x * x; }, 2.0) == 12);

int main() {
  const std::string tape = drx::show<Fit>();
  std::printf("%s", tape.c_str());
  const drx::array<double, 2> x{1, 2};
  return tape.find("reduce_sum[rows]") == std::string::npos || (x * x)[1] != 4;
}
