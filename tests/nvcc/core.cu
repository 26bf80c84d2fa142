// A program traced, differentiated and checked by nvcc: the core headers hold nothing that it refuses.
#include <drx/drx.hpp>
struct clients : drx::placement<clients> {};
using namespace drx;
constexpr auto loss = [](auto m, auto d) {
  auto z = drx::tanh(drx::matmul(d, m));
  return drx::mean(z * z);
};
constexpr auto f = [](auto m, auto d) { return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(m), d)); };
using P = program<drx::value_and_grad(f), array<float, 3, 4>, placed<array<float, 5, 3>, clients>>;

static_assert(P::tape().sizes.entries > 3);

// Letters are a template argument of class type.
constexpr auto letters = [](auto a, auto b) {
  auto product = [=](auto x) { return einsum<"ij,kj->ik">(x, b); };
  return sum(eigh(product(a)).first) + einsum<"ii">(product(b));
};
using L = program<grad(letters), array<double, 2, 3>, array<double, 2, 3>>;
static_assert(L::tape().sizes.entries > 3);

int main() {}
