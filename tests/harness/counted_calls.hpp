// Calls of any program, with arguments that are made up, whose messages are counted and compared with drx::cost.
#pragma once

#include "ranks.hpp"

#include <drx/backend/session.hpp>
#include <drx/run/cost.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

namespace harness {

/// A value of this structure: small numbers, and integers that are 0.
template <class X>
drx::host_t<X> some_value(std::int64_t member) {
  drx::host_t<X> x{};
  std::int64_t k = member;
  drx::structure<drx::host_t<X>>::visit(x, [&](auto* p, const drx::shape& s) {
    using T = std::remove_reference_t<decltype(*p)>;
    for (std::int64_t i = 0; i < s.size(); ++i)
      if constexpr (std::is_floating_point_v<T>) p[i] = static_cast<T>(0.01 * static_cast<double>(1 + k++ % 7));
  });
  return x;
}
/// An argument: placed ones have one member at each rank, in which three are nested.
template <class X>
struct some_argument {
  static auto make() { return some_value<X>(0); }
};
template <class S, class P>
struct some_argument<drx::placed<S, P>> {
  static auto make() {
    return session().place<P>(size(), [](std::int64_t i) { return some_value<S>(i); });
  }
};
template <class S, class Q, class P>
struct some_argument<drx::placed<drx::placed<S, Q>, P>> {
  static auto make() {
    return session().place<P, Q>(size(), [](std::int64_t i) { return std::vector(3, some_value<S>(i)); });
  }
};

/// The messages of a call: of this rank, and the bytes of all ranks.
struct counted {
  std::int64_t collectives = 0, bytes = 0;
};
template <class F>
counted count_messages(F call) {
  drx::communicator& c = session().communicator();
  const std::int64_t collectives = c.collectives(), sent = c.bytes_sent();
  call();
  counted n{c.collectives() - collectives, c.bytes_sent() - sent};
  MPI_Allreduce(MPI_IN_PLACE, &n.bytes, 1, MPI_INT64_T, MPI_SUM, world());
  return n;
}

/// A call of program P has the collectives, and all ranks send the bytes, that its cost says. `subtrees`: how many
/// nodes all ranks have, where these are others than one for each.
template <class P>
void compare_cost(std::int64_t subtrees = 0) {
  constexpr auto cost = drx::cost<P>();
  const int ranks = session().ranks();
  auto program = session().compile<P>();
  [&]<class... X>(std::type_identity<std::tuple<X...>>) {
    const auto arguments = std::tuple{some_argument<X>::make()...};
    for (int i = 0; i < 2; ++i) {
      const counted n =
          count_messages([&] { std::apply([&](const auto&... a) { std::ignore = program(a...); }, arguments); });
      REQUIRE(cost.collectives(ranks, subtrees));
      CHECK(n.collectives == *cost.collectives(ranks, subtrees));
      REQUIRE(cost.bytes_sent(ranks));
      if (subtrees == 0 || subtrees == ranks) CHECK(n.bytes == *cost.bytes_sent(ranks));
    }
  }(std::type_identity<typename P::inputs>{});
}

}  // namespace harness
