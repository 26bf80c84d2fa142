// What a program is cut into: how many stages, what each does, and how much memory that takes.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include <doctest/doctest.h>

#include <string>

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct sites : drx::placement<sites> {};
using v4 = array<double, 4>;

constexpr auto loss = [](auto w, auto x) { return drx::sum(drx::tanh(w * x)); };
constexpr auto mean_loss = [](auto w, auto x) {
  return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(w), x));
};
constexpr auto gradient = [](auto w, auto x) { return drx::value_and_grad(mean_loss)(w, x); };
constexpr auto round_ = [](auto w, auto rate, auto x) {
  auto local = [](auto p, auto r, auto v) {
    return drx::fori_loop<2>(p, [=](auto q) { return q - r * drx::grad(loss)(q, v); });
  };
  return drx::reduce_mean(drx::map(local, drx::broadcast<clients>(w), drx::broadcast<clients>(rate), x));
};
constexpr auto independent = [](auto x) {
  auto a = drx::map([](auto v) { return v * v; }, x);
  auto b = drx::map([](auto v) { return drx::exp(v); }, x);
  return std::tuple{drx::reduce_sum(a), drx::reduce_max(b), drx::reduce_mean(a + b), b};
};
constexpr auto two_placements = [](auto x, auto y) { return drx::reduce_sum(x) + drx::reduce_sum(y); };
constexpr auto after_each_other = [](auto x) {
  auto m = drx::reduce_mean(x);
  return drx::reduce_sum(drx::map([](auto v, auto c) { return (v - c) * (v - c); }, x, drx::broadcast<clients>(m)));
};

template <class P>
std::string plan_of() {
  return show(drx::plan::staged_program<P>::tape_constant().thaw());
}
template <class P>
int stages_of() {
  int n = 0;
  for (const drx::entry& e : drx::plan::staged_program<P>::tape_constant().thaw().entries)
    n += e.prim == &drx::prim::stage;
  return n;
}
/// The text up to the body for one member's end: bodies for blocks follow it.
std::string without_blocks(const std::string& s) {
  std::string r;
  bool keep = true;
  std::size_t at = 0;
  while (at < s.size()) {
    const std::size_t end = s.find('\n', at);
    std::string line = s.substr(at, end - at);
    at = end + 1;
    if (line.rfind("  } (", 0) == 0) {
      if (keep) r += "  }\n";
      keep = false;
    }
    if (keep) r += line + '\n';
    if (line == "  }") keep = true;
  }
  return r;
}
}  // namespace

TEST_CASE("the gradient of a mean of losses is one stage, in which forward and backward stand together") {
  using P = program<gradient, v4, placed<v4, clients>>;
  CHECK(stages_of<P>() == 1);
  CHECK(without_blocks(plan_of<P>()) == R"((%0: f64[4], %1: f64[4]@clients) {
  %2: f64 = constant[1]
  %3: f64 = members[clients]
  %4: f64 = max %3, %2
  %5: f64 = div %2, %4
  %6: f64, %7: f64[4] = stage[clients: mean sum; blocks of 128, 32, 8] %1, %0, %5 (%0: i64, %1: f64[4], %2: f64[4], %3: f64) {
    %4: f64[4] = mul %2, %1
    %5: f64[4] = tanh %4
    %6: f64 = sum[0] %5
    %7: f64[1] = reshape %3
    %8: f64[4] = broadcast_to %7
    %9: f64[4] = constant[1]
    %10: f64[4] = mul %5, %5
    %11: f64[4] = sub %9, %10
    %12: f64[4] = mul %8, %11
    %13: f64[4] = mul %12, %1
    return %6, %13
  }
  return %6, %7
}
)");
}
TEST_CASE("a round of federated averaging is one stage") {
  using P = program<round_, v4, double, placed<v4, clients>>;
  CHECK(stages_of<P>() == 1);
  CHECK(without_blocks(plan_of<P>()) == R"((%0: f64[4], %1: f64, %2: f64[4]@clients) {
  %3: f64[4] = stage[clients: mean; blocks of 32, 16, 8] %2, %0, %1 (%0: i64, %1: f64[4], %2: f64[4], %3: f64) {
    %4: f64[4] = scan[2, 2 constants, 1 carries] %1, %3, %2 (%0: i32, %1: f64[4], %2: f64, %3: f64[4]) {
      %4: f64[4] = mul %3, %1
      %5: f64[4] = tanh %4
      %6: f64[4] = constant[1]
      %7: f64[4] = mul %5, %5
      %8: f64[4] = sub %6, %7
      %9: f64[4] = mul %8, %1
      %10: f64[4] = broadcast_to %2
      %11: f64[4] = mul %10, %9
      %12: f64[4] = sub %3, %11
      return %12
    }
    return %4
  }
  return %3
}
)");
}
TEST_CASE("independent maps join one stage; placements and dependences part them") {
  CHECK(stages_of<program<independent, placed<v4, clients>>>() == 1);
  CHECK(stages_of<program<two_placements, placed<v4, clients>, placed<v4, sites>>>() == 2);
  CHECK(stages_of<program<after_each_other, placed<v4, clients>>>() == 2);
}
TEST_CASE("workspaces are constants, a few arrays large") {
  using P = drx::plan::lowered<program<gradient, v4, placed<v4, clients>>>;
  static_assert(P::plan.thread_bytes > 0 && P::plan.server_bytes > 0);
  CHECK(P::plan.server_bytes <= 4 * 64);
  CHECK(P::plan.thread_bytes <= 128 * 32 * 8);  // a block of 128 members
}
TEST_CASE("a long chain needs no more memory than a short one") {
  static constexpr auto chain = [](auto x) {
    auto y = x;
    for (int i = 0; i < 20; ++i) y = drx::matmul(drx::tanh(y), x);
    return y;
  };
  using P = drx::plan::lowered<program<chain, array<double, 8, 8>>>;
  CHECK(P::plan.server_bytes <= 3 * 8 * 8 * 8);
}
