#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class K, class N>
concept folds = requires(const K& k, const N& n) { drx::fold_in(k, n); };
}  // namespace

TEST_CASE("what folds into what") {
  using key = drx::prng_key;
  static_assert(folds<key, int> && folds<key, std::int64_t> && folds<key, array<int>> &&
                folds<key, array<std::int64_t>>);
  static_assert(!folds<key, double> && !folds<key, bool> && !folds<key, array<int, 1>> && !folds<array<int>, int>);
  static_assert(!folds<key, drx::placed<std::int64_t, clients>>);
}

TEST_CASE("the keys of JAX") {  // jax.random.fold_in, key 5
  constexpr auto f = [](auto key, auto i, auto j) {
    return std::tuple{drx::fold_in(key, 11), drx::fold_in(drx::fold_in(key, i), j)};
  };
  const auto [a, b] =
      interpreter::call<program<f, drx::prng_key, std::int32_t, std::int64_t>>(drx::random_key(5), 11, std::int64_t{3});
  CHECK(static_cast<std::uint32_t>(a[0]) == 2874194768U);
  CHECK(static_cast<std::uint32_t>(a[1]) == 3359952977U);
  CHECK(static_cast<std::uint32_t>(b[0]) == 1914160367U);
  CHECK(static_cast<std::uint32_t>(b[1]) == 2283342171U);
}

TEST_CASE("fold_in: rules") {
  for (const auto type : {drx::dtype::int32, drx::dtype::int64}) {
    drx::builder b;
    const int key = b.input({drx::dtype::int32, drx::make_shape(2)}), number = b.input({type, {}});
    b.output(b.add1(drx::prim::fold_in, {key, number}));
    harness::check_rules(b.result());
  }
}

TEST_CASE("a number for each member") {
  constexpr auto f = [](auto key, auto x) {
    return drx::map([=](auto i, auto y) { return y + drx::uniform<double>(drx::fold_in(key, i)); },
                    drx::partition_index<clients>(), x);
  };
  using P = program<f, drx::prng_key, drx::placed<double, clients>>;
  const drx::tape t = P::tape().thaw();
  drx::tensor key(t.values[t.inputs[0]]), x(t.values[t.inputs[1]]);
  for (int m = 0; m < 50; ++m) x.members.emplace_back(x.type.of_member());
  const auto y = interpreter::run(t, {key, x})[0];
  for (std::size_t m = 0; m < 50; ++m)
    for (std::size_t n = 0; n < m; ++n) CHECK(y.members[m].data<double>()[0] != y.members[n].data<double>()[0]);
}
