// drx/run/stage/exchange.hpp: results of a stage that are not folded, sent between members on several ranks: gathered,
// permuted, transposed, or parts of members in shards.
// Tested by tests/mpi/gather.cpp and tests/mpi/loops_with_collectives.cpp.
#pragma once

#include <drx/run/kernels/fold_operations.hpp>
#include <drx/run/data/placed_storage.hpp>
#include <drx/run/stage/facts.hpp>
#include <drx/run/packs/inlining.hpp>

#include <optional>
#include <stdexcept>
#include <string>

namespace drx::run {

/// `Stage`: the facts of a stage.
template <class Stage>
struct stage_exchange {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;

  /// Requires as many members as the program gathers; else throws on all ranks alike.
  static void require_gathered(std::int64_t members) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr std::optional<std::int64_t> n = Stage::view().members_of_fold(I);
      constexpr fold f = Stage::fold_of(I);
      if constexpr (n)
        if (members != *n)
          throw std::invalid_argument(std::string("drx: ") +
                                      (f == fold::permute  ? "ppermute"
                                       : f == fold::gather ? "gather"
                                                           : "all_to_all") +
                                      " of " + std::to_string(*n) + " members, but " +
                                      std::string(Stage::x.placement->name) + " has " + std::to_string(members));
    });
  }
  /// Gathers a result of which each rank has written its own members' part.
  static void gathered(frame& f, runtime& rt, const membership& m) {
    if (rt.communicator->size() == 1) return;
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::fold_of(I) == fold::gather) {
        const auto ranks = static_cast<std::size_t>(rt.communicator->size());
        rt.bytes.resize(ranks);
        rt.offsets.resize(ranks);
        for (std::size_t r = 0; r < ranks; ++r) {
          rt.offsets[r] = m.boundaries[r] * C::bytes(C::output(Stage::body, I));
          rt.bytes[r] = m.boundaries[r + 1] * C::bytes(C::output(Stage::body, I)) - rt.offsets[r];
        }
        rt.communicator->all_gather(address<C, C::result(E, I)>(f), rt.bytes, rt.offsets);
      }
    });
  }

  /// Sends members' values, each of which lies where it was made, to the members that receive them, with one message
  /// from rank to rank for all results.
  static void members(frame& f, communicator& c, const std::int64_t* boundaries, std::int64_t begin) {
    member_exchange& exchange =
        static_cast<runtime*>(f.runtime)->threads[static_cast<std::size_t>(f.thread_number)].exchange;
    [&]<int... K>(std::integer_sequence<int, K...>) {
      if constexpr (sizeof...(K) > 0) exchange.run(c, boundaries, transfer<moved.result[K]>(f, begin)...);
    }(std::make_integer_sequence<int, moved.count>{});
  }
  /// The results that go to other members.
  static constexpr auto moved = [] {
    struct {
      int result[Stage::results + 1] = {};
      int count = 0;
    } list;
    for (int i = 0; i < Stage::results; ++i)
      if (Stage::fold_of(i) == fold::permute ||
          (Stage::fold_of(i) == fold::transpose && Stage::view().exchanged_members(i) > 0))
        list.result[list.count++] = i;
    return list;
  }();
  template <int I>
  static auto transfer(frame& f, std::int64_t begin) {
    constexpr std::int64_t bytes = C::bytes(C::output(Stage::body, I));
    std::byte* const values = address<C, C::result(E, I)>(f) + begin * bytes;
    if constexpr (Stage::fold_of(I) == fold::permute) {
      return member_transfer{values, 1, bytes, [](member_range to, member_range from, auto&& get) {
                               for (std::int64_t m = to.begin; m < to.end; ++m)
                                 if (const std::int64_t source = sources<I>.of[m]; from.holds(source))
                                   get(m, 0, source, 0);
                             }};
    } else {
      constexpr std::int64_t n = Stage::view().exchanged_members(I);
      return member_transfer{values, n, bytes / n, [](member_range to, member_range from, auto&& get) {
                               for (std::int64_t m = to.begin; m < to.end; ++m)
                                 for (std::int64_t k = from.begin; k < from.end; ++k) get(m, k, k, m);
                             }};
    }
  }
  /// By member: the member whose value it receives. (A copy: a program that reads its tape while running contains the
  /// rules of all primitives.)
  template <int I>
  static constexpr auto sources = [] {
    struct {
      std::int64_t of[Stage::view().sources(I).size() + 1] = {};
    } list;
    int m = 0;
    for (auto source : Stage::view().sources(I)) list.of[m++] = source;
    return list;
  }();
  /// Gathers results of which each shard has written its own part.
  static void shards(frame& f, runtime& rt, const membership& m) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(E, I);
      if constexpr (Stage::fold_of(I) == fold::shards) {
        rt.shards.exchange(address<C, v>(f), m.first, m.first + m.local, C::bytes(C::output(Stage::body, I)));
      } else if constexpr (Stage::fold_of(I) == fold::shard_sum) {
        rt.columns.sum(address<C, v>(f), m.first, C::bytes(v), [](std::byte* left, const std::byte* right) {
          using T = element_of<C, v>;
          T* a = reinterpret_cast<T*>(left);
          const T* b = reinterpret_cast<const T*>(right);
          constexpr std::int64_t n = C::values[v].shape.size();
          DRX_INDEPENDENT_STEPS
          for (std::int64_t i = 0; i < n; ++i) a[i] = detail::add_op{}(a[i], b[i]);
        });
      }
    });
  }
  static void nested(frame& f, std::int64_t begin, std::int64_t n) {
    single_rank here;
    const std::int64_t boundaries[] = {0, n};
    members(f, here, boundaries, begin);
  }
};

}  // namespace drx::run
