#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

constexpr auto f = [](auto x) { return drx::sum(x * x); };
using P = drx::program<f, drx::array<float, 3>>;
const std::string text = drx::plan::show<P, "narrow transposes">();
