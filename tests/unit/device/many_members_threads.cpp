// Members in blocks, on a device: gradients over rows, results of members, loops in lanes, members of members.
#include <drx/drx.hpp>

#include "harness/on_device.hpp"

namespace {
struct rows : drx::placement<rows> {};
struct groups : drx::placement<groups> {};
using row = std::pair<drx::array<float, 20>, float>;

constexpr auto of_rows = [](auto w, auto data) {
  auto each = drx::map([](auto v, auto r) { return drx::softplus(-r.second * drx::dot(v, r.first)); },
                       drx::broadcast<rows>(w), data);
  return std::tuple{drx::reduce_mean(each), drx::reduce_max(each)};
};
constexpr auto slopes = [](auto w, auto data) {
  auto value = [=](auto v) { return std::get<0>(of_rows(v, data)); };
  return std::tuple{drx::value_and_grad(value)(w), of_rows(w, data),
                    drx::map([](auto r) { return r.first * r.second; }, data)};
};
constexpr auto decays = [](auto x) {
  auto each = drx::map([](auto v) { return drx::fori_loop<9>(v, [](auto c) { return c - 0.1 * drx::sin(c); }); }, x);
  return std::tuple{drx::reduce_sum(each), each};
};
constexpr auto of_groups = [](auto w, auto data) {
  return drx::reduce_mean(
      drx::map([](auto v, auto own) { return drx::grad([=](auto p) { return std::get<0>(of_rows(p, own)); })(v); },
               drx::broadcast<groups>(w), data));
};
}  // namespace

TEST_CASE("a gradient over rows, and results of rows") {
  harness::check_on_device<drx::program<slopes, drx::array<float, 20>, drx::placed<row, rows>>>({}, {256, 299, 300});
}
TEST_CASE("a loop over three numbers in each member") {
  harness::check_on_device<drx::program<decays, drx::placed<drx::array<double, 3>, rows>>>({}, {256, 300});
}
TEST_CASE("members of members in blocks") {
  harness::check_on_device<drx::program<of_groups, drx::array<float, 20>, drx::placed<drx::placed<row, rows>, groups>>>(
      {.nested = 70}, {3, 1});
}
TEST_CASE("a device with little memory has fewer teams, and too little is an error") {
  using P = drx::program<decays, drx::placed<drx::array<double, 3>, rows>>;
  drx::serial_executor e;
  drx::single_rank c;
  harness::thread_device large(16, 1), small(16, 1);
  auto in_large = drx::compile_on<P>(large, e, c);
  auto in_small = drx::compile_on<P>(small, e, c);
  const harness::tensors in = harness::random_inputs<P>({.members = 40});
  const harness::tensors expected = harness::call(in_large, c, in);
  small.most_bytes = 1;
  CHECK_THROWS_AS(harness::call(in_small, c, in), std::bad_alloc);
  std::size_t least = 0;  // bytes with which it runs
  for (std::size_t bytes = 1 << 12; bytes <= large.bytes(); bytes += 1 << 12) {
    harness::thread_device limited(16, 1);
    limited.most_bytes = bytes;
    auto run = drx::compile_on<P>(limited, e, c);
    try {
      const harness::tensors got = harness::call(run, c, in);
      CHECK(harness::same_bits(got, expected));
      CHECK(harness::same_bits(harness::call(run, c, in), expected));
      if (least == 0) least = bytes;
    } catch (const std::bad_alloc&) {
      CHECK(least == 0);
    }
  }
  CHECK(least > 0);
  CHECK(least < large.bytes() - (4 << 12));
}
