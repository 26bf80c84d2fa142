// Runs programs with their stages on a device of threads, and on the plain interpreter beside it.
#pragma once

#include <drx/device/compile_on.hpp>

#include "run.hpp"
#include "thread_device.hpp"

namespace harness {

/// Compares the program on devices of several teams and lanes with the plain interpreter, for several numbers of
/// members. The bits are the same on all of them.
template <class Program>
void check_on_device(sample s = {}, std::vector<std::int64_t> members = {5, 0, 1, 2, 37},
                     const drx::compile_options& options = {}) {
  drx::serial_executor e;
  drx::single_rank c;
  thread_device one(1, 1), several(3, 2), many(2, 4);
  auto alone = drx::compile_on<Program>(one, e, c, options);
  auto in_pairs = drx::compile_on<Program>(several, e, c, options);
  auto in_fours = drx::compile_on<Program>(many, e, c, options);
  for (std::int64_t n : members) {
    n = std::min<std::int64_t>(n, 300);  // (blocks of 32 members begin at 256)
    CAPTURE(n);
    s.members = n;
    ++s.seed;
    const tensors in = random_inputs<Program>(s), expected = run_plain<Program>(in, options);
    const tensors got = call(alone, c, in);
    check_near(got, expected, 1 + static_cast<double>(n) / 32);
    CHECK_MESSAGE(same_bits(call(in_pairs, c, in), got), "teams of two");
    if (n > 0) CHECK(several.launches > 0);
    if (n > 5) continue;  // (more threads than processors wait long for each other)
    CHECK_MESSAGE(same_bits(call(in_fours, c, in), got), "teams of four");
    CHECK_MESSAGE(same_bits(call(in_fours, c, in), got), "the second call");
  }
}

namespace detail {
struct device_members : drx::placement<device_members> {};
}  // namespace detail
/// The same for a function of one member: a program that maps it.
template <auto F, class... X>
void check_member_on_device(const sample& s = {}) {
  constexpr auto all = [](auto... x) { return drx::map(F, x...); };
  check_on_device<drx::program<all, drx::placed<X, detail::device_members>...>>(s, {5, 0, 1});
}

#if defined(DRX_TESTED_ON_A_DEVICE)
namespace detail {
template <class Program>
struct on_device {
  static void check(const sample& s, const std::vector<std::int64_t>& members, const drx::compile_options& options) {
    check_on_device<Program>(s, members, options);
  }
};
/// A program without placed inputs is what each member computes.
template <auto F, class... X>
struct on_device<drx::program<F, X...>> {
  static void check(const sample& s, const std::vector<std::int64_t>& members, const drx::compile_options& options) {
    constexpr bool has_placed_values = [] {
      for (const auto& v : drx::program<F, X...>::tape().values)
        if (v.depth > 0) return true;
      return false;
    }();
    if constexpr (has_placed_values)
      check_on_device<drx::program<F, X...>>(s, members, options);
    else if constexpr (sizeof...(X) > 0)
      check_member_on_device<F, X...>(s);
  }
};
}  // namespace detail
template <class Program>
void check_run(sample s, std::vector<std::int64_t> members, const drx::compile_options& options) {
  detail::on_device<Program>::check(s, members, options);
}
#endif

}  // namespace harness
