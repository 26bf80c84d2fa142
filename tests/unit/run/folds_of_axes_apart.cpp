// Sums and extrema over axes that are not neighbours have the bits of the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace {
constexpr auto folds = [](auto x) {
  return std::tuple{drx::sum<0, 2>(x), drx::sum<1, 3>(x),    drx::sum<0, 1, 3>(x), drx::max<0, 2>(x), drx::min<1, 3>(x),
                    drx::min<0, 3>(x), drx::sum<0, 2, 3>(x), drx::max<0, 3>(x),    drx::sum<0, 3>(x)};
};

template <class T, std::int64_t... E>
void same_bits(drx::array<T, E...> x) {
  using P = drx::program<folds, drx::array<T, E...>>;
  drx::serial_executor one;
  drx::single_rank alone;
  drx::compiled<P> p(one, alone);
  const auto fast = p(x), plain = drx::interpreter::call<P>(x);
  const auto same = [](const auto& a, const auto& b) {  // without what fills up the last vector
    return std::memcmp(a.data(), b.data(), sizeof(T) * static_cast<std::size_t>(a.size)) == 0;
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const bool equal[] = {same(std::get<I>(fast), std::get<I>(plain))...};
    for (std::size_t i = 0; i < sizeof...(I); ++i) CHECK_MESSAGE(equal[i], "result ", i);
  }(std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(fast)>>>{});
}
template <class T, std::int64_t... E>
drx::array<T, E...> numbers() {
  drx::array<T, E...> x{};
  T* at = reinterpret_cast<T*>(&x);
  for (std::size_t i = 0; i < sizeof x / sizeof(T); ++i)
    at[i] = static_cast<T>(1e3 * std::sin(static_cast<double>(i * i + 1)));
  return x;
}
}  // namespace

TEST_CASE("the last axis is folded or kept, in columns that are many or few") {
  same_bits(numbers<float, 3, 4, 5, 6>());
  same_bits(numbers<double, 4, 2, 5, 2>());
  same_bits(numbers<float, 5, 3, 2, 131>());
  same_bits(numbers<double, 2, 3, 7, 64>());
  same_bits(numbers<std::int32_t, 2, 3, 2, 3>());
}

TEST_CASE("a NaN, infinities and zeros of both signs") {
  auto x = numbers<float, 2, 3, 4, 5>();
  float* at = reinterpret_cast<float*>(&x);
  for (int i = 0; i < 60; ++i) at[i] = i % 2 == 0 ? -0.0f : 0.0f;
  at[70] = std::numeric_limits<float>::quiet_NaN();
  at[90] = -std::numeric_limits<float>::infinity();
  same_bits(x);
}

TEST_CASE("a kept axis, or a folded one of a sum, without elements") {
  static constexpr auto kept = [](auto x) { return std::pair{drx::max<0, 2>(x), drx::sum<0, 2>(x)}; };
  harness::check_run<drx::program<kept, drx::array<float, 2, 0, 3>>>({}, {0});
  static constexpr auto folded = [](auto x) { return drx::sum<0, 2>(x) + 1; };
  harness::check_run<drx::program<folded, drx::array<float, 2, 3, 0>>>({}, {0});
}
