#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace emit = drx::emit;
namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;
using bits = drx::prim::rules::random_bits;

namespace {
struct clients : drx::placement<clients> {};
template <class T, class K>
concept drawable = requires(const K& k) { drx::random_bits<T, 3>(k); };
std::uint32_t word(std::int32_t x) { return static_cast<std::uint32_t>(x); }
}  // namespace

TEST_CASE("what is a key") {
  static_assert(drawable<int, drx::prng_key> && drawable<std::int64_t, drx::prng_key> &&
                !drawable<float, drx::prng_key>);
  static_assert(!drawable<int, array<std::int64_t, 2>> && !drawable<int, array<int, 3>> &&
                !drawable<int, drx::placed<drx::prng_key, clients>>);
}

TEST_CASE("a seed's key is its words") {
  constexpr auto f = [](auto small, auto large) {
    return std::tuple{drx::random_key(small), drx::random_key(large), drx::random_key(7) + 0 * drx::random_key(small)};
  };
  using P = program<f, std::int32_t, std::int64_t>;
  const auto [a, b, c] = interpreter::call<P>(-5, (std::int64_t{3} << 32) + 0xfffffff0);
  CHECK(a[0] == 0);
  CHECK(a[1] == -5);
  CHECK(b[0] == 3);
  CHECK(word(b[1]) == 0xfffffff0);
  CHECK(c[0] == 0);
  CHECK(c[1] == 7);
  const auto [d, e, g] = interpreter::call<P>(0, std::int64_t{-1});
  CHECK((e[0] == -1 && e[1] == -1));
  const drx::prng_key outside = drx::random_key(std::int64_t{-1});
  CHECK((outside[0] == -1 && outside[1] == -1));
}

TEST_CASE("the numbers of JAX") {  // jax.random, key 5
  constexpr auto f = [](auto key) {
    return std::tuple{drx::random_bits<std::int32_t, 2, 2>(key), drx::random_bits<std::int64_t, 2>(key),
                      drx::split<3>(key)};
  };
  using P = program<f, drx::prng_key>;
  static_assert(
      std::is_same_v<P::result,
                     std::tuple<array<std::int32_t, 2, 2>, array<std::int64_t, 2>, array<std::int32_t, 3, 2>>>);
  const auto [b, wide, keys] = interpreter::call<P>(drx::random_key(5));
  CHECK(word(b[0]) == 2003086470U);
  CHECK(word(b[3]) == 408371909U);
  CHECK(static_cast<std::uint64_t>(wide[0]) == 11701519018614622474U);
  CHECK(static_cast<std::uint64_t>(wide[1]) == 870020224683618988U);
  CHECK(word(keys(2, 0)) == 3594430910U);
  CHECK(word(keys(2, 1)) == 1784718894U);
}

TEST_CASE("random bits: rules") {
  for (const auto what : {bits::bits32, bits::bits64, bits::keys}) {
    drx::builder b;
    const int key = b.input({drx::dtype::int32, drx::make_shape(2)}),
              scale = b.input({drx::dtype::float64, drx::make_shape(2, 3)});
    const drx::shape s = what == bits::keys ? drx::make_shape(3) : drx::make_shape(3, 2);
    const int x = emit::random_bits(b, key, what, s);
    b.output(x);
    b.output(emit::mul(b, emit::cast(b, emit::transpose(b, x, {1, 0}), drx::dtype::float64),
                       emit::mul(b, scale, emit::constant_like(b, scale, 0x1p-60))));
    harness::check_rules(b.result());
  }
}

TEST_CASE("a draw with the same key is the same draw") {
  constexpr auto f = [](auto key) { return drx::random_bits<int, 3>(key) - drx::random_bits<int, 3>(key); };
  CHECK(drx::show<program<f, drx::prng_key>>().find("random_bits") ==
        drx::show<program<f, drx::prng_key>>().rfind("random_bits"));
}
