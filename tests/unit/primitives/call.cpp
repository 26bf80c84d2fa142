// Ordinary C++ in programs: values, derivatives of both modes and orders, batches, kernels.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <array>
#include <string>
#include <tuple>

using drx::array;
using drx::program;
namespace ad = drx::ad;

namespace {

/// Branches on values, a loop, recursion.
struct newton {
  template <class S>
  static S step(const S& x, const S& a, int n) {
    return n == 0 ? x : step(S((x + a / x) / 2), a, n - 1);
  }
  template <class S>
  S operator()(const S& a) const {
    if (a < 0) return -step(S(1), S(-a), 6);
    return step(S(1), a, 6);
  }
};
constexpr auto root = [](auto x) { return drx::call(newton{}, x * x + 1) * x; };

/// Arrays of rank 1 and 2, integers, several results.
struct layered {
  template <class S, std::size_t M, std::size_t N>
  auto operator()(const std::array<std::array<S, N>, M>& w, const std::array<S, N>& x, std::int32_t times) const {
    using std::tanh;
    std::array<S, M> y{};
    for (int k = 0; k < times; ++k)
      for (std::size_t i = 0; i < M; ++i) {
        S sum = 0;
        for (std::size_t j = 0; j < N; ++j) sum += w[i][j] * x[j];
        y[i] += tanh(sum);
      }
    return std::tuple{y, std::pair{y[0] * x[1], w}, 2.0};
  }
};
template <auto... Options>
constexpr auto layers = [](auto w, auto x, auto times) {
  const auto [y, more, two] = drx::call<Options...>(layered{}, w, x, times);
  return drx::sum(y * y) * more.first + drx::sum(drx::exp(more.second)) * two;
};
using w23 = array<double, 2, 3>;
using v3 = array<double, 3>;

}  // namespace

TEST_CASE("values, through the plain interpreter") {
  using P = program<root, double>;
  CHECK(drx::interpreter::call<P>(1.5) == doctest::Approx(1.5 * std::sqrt(3.25)));
  const std::string text = drx::show<P>();
  CHECK(text.find("call[newton]") != std::string::npos);
}

TEST_CASE("a tape that is too small says so") {
  using P = program<layers<ad::reverse, 10>, w23, v3, std::int32_t>;
  const auto backwards = drx::transform::pullback(P::tape().thaw(), {true, false, false}, {true});
  std::vector<drx::tensor> in;
  for (int i : backwards.inputs) in.emplace_back(backwards.values[i]);
  in[2].data<std::int32_t>()[0] = 2;
  CHECK_THROWS_AS(drx::interpreter::run(backwards, in), ad::tape_overflow);
}

TEST_CASE("derivatives of both modes and two orders, batches") {
  harness::check_program<program<root, double>>();
  harness::check_program<program<layers<>, w23, v3, std::int32_t>>();
  harness::check_program<program<layers<ad::packs, ad::reverse, 2000>, w23, v3, std::int32_t>>();
  harness::check_program<program<layers<ad::forward>, w23, v3, std::int32_t>>();
}
