// drx/run/stage/exchange.hpp: results of a stage that are not folded, sent between members on several ranks: gathered,
// permuted, transposed, or parts of members in shards.
// Tested by tests/mpi/gather.cpp and tests/mpi/loops_with_collectives.cpp.
#pragma once

#include <drx/core/sentence.hpp>
#include <drx/run/data/runtime.hpp>
#include <drx/run/stage/node_facts.hpp>

#include <optional>
#include <stdexcept>
#include <string_view>

namespace drx::run {

/// A result that is not folded.
struct exchanged_result {
  fold how = fold::collect;
  dtype type{};
  std::int64_t bytes = 0;                 // of one member's value
  std::int64_t elements = 0;              // of the stage's result, for one member if it is placed
  std::int64_t pieces = 1;                // of a member's value that go to members of their own
  std::optional<std::int64_t> members;    // that the program requires
  const std::int64_t* sources = nullptr;  // by member, if it receives another one's value
  plan::location where;                   // of the stage's result

  /// Whether members' values go to other members.
  [[nodiscard]] constexpr bool is_moved() const {
    return how == fold::permute || (how == fold::transpose && pieces > 0);
  }
};
/// The results of a stage that ranks or members exchange, and the functions that do it; null where no result needs it,
/// so that a program without such results does not contain the code.
struct exchange_facts {
  table<exchanged_result> results;
  std::string_view placement;
  void (*gather)(const exchange_facts&, const frame&, const membership&) = nullptr;
  void (*shards)(const exchange_facts&, const frame&, const membership&) = nullptr;
  void (*members)(const exchange_facts&, const frame&, communicator&, const std::int64_t* boundaries,
                  std::int64_t begin) = nullptr;
};

/// Requires as many members as the program gathers; else throws on all ranks alike.
inline void require_gathered(const exchange_facts& facts, std::int64_t members) {
  for (const exchanged_result& x : facts.results)
    if (x.members && members != *x.members)
      throw std::invalid_argument(
          error::sentence({"drx: ",
                           x.how == fold::permute  ? "ppermute"
                           : x.how == fold::gather ? "gather"
                                                   : "all_to_all",
                           " of ", *x.members, " members, but ", facts.placement, " has ", members}));
}
/// Gathers results of which each rank has written its own members' part.
inline void gather_over_ranks(const exchange_facts& facts, const frame& f, const membership& m) {
  runtime& rt = *static_cast<runtime*>(f.runtime);
  const auto ranks = static_cast<std::size_t>(rt.communicator->size());
  if (ranks == 1) return;
  for (const exchanged_result& x : facts.results) {
    if (x.how != fold::gather) continue;
    rt.bytes.resize(ranks);
    rt.offsets.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      rt.offsets[r] = m.boundaries[r] * x.bytes;
      rt.bytes[r] = m.boundaries[r + 1] * x.bytes - rt.offsets[r];
    }
    rt.communicator->all_gather(address_at(f, x.where), rt.bytes, rt.offsets);
  }
}
/// Sends members' values, each of which lies where it was made, to the members that receive them, with one message from
/// rank to rank for all results. `begin`: the first of these members among all whose values lie there.
inline void exchange_members(const exchange_facts& facts, const frame& f, communicator& c,
                             const std::int64_t* boundaries, std::int64_t begin) {
  thread_state& thread = static_cast<runtime*>(f.runtime)->threads[static_cast<std::size_t>(f.thread_number)];
  thread.transfers.clear();
  for (const exchanged_result& x : facts.results)
    if (x.is_moved())
      thread.transfers.push_back({address_at(f, x.where) + begin * x.bytes, x.pieces, x.bytes / x.pieces, x.sources});
  thread.exchange.run(c, boundaries, thread.transfers);
}
/// Gathers, or adds up, results of which each shard has written its own part.
inline void exchange_shards(const exchange_facts& facts, const frame& f, const membership& m) {
  runtime& rt = *static_cast<runtime*>(f.runtime);
  for (const exchanged_result& x : facts.results) {
    std::byte* const at = address_at(f, x.where);
    if (x.how == fold::shards) {
      rt.shards.exchange(at, m.first, m.first + m.local, x.bytes);
    } else if (x.how == fold::shard_sum) {
      rt.columns.sum(at, m.first, x.elements * byte_size(x.type), [&](std::byte* left, const std::byte* right) {
        fold_elements(fold::sum, x.type, left, left, right, x.elements);
      });
    }
  }
}

/// Exchanges the values of the n members of a member, which are all on one rank.
inline void exchange_nested(const exchange_facts& facts, const frame& f, std::int64_t begin, std::int64_t n) {
  if (!facts.members) return;
  single_rank here;
  const std::int64_t boundaries[] = {0, n};
  facts.members(facts, f, here, boundaries, begin);
}
/// The exchange_facts of a stage, whose facts are `Stage`.
template <class Stage>
struct exchange_facts_of {
 private:
  using C = typename Stage::code;
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
  template <int I>
  static constexpr exchanged_result result() {
    constexpr int v = C::result(Stage::entry, I), one = C::output(Stage::body, I);
    constexpr fold how = Stage::fold_of(I);
    exchanged_result x;
    x.how = how;
    x.type = C::values[v].type;
    x.bytes = C::bytes(one);
    x.elements = C::values[v].shape.size();
    x.members = Stage::view().members_of_fold(I);
    x.where = C::plan.where[v];
    if constexpr (how == fold::transpose) x.pieces = Stage::view().exchanged_members(I);
    if constexpr (how == fold::permute) x.sources = sources<I>.of;
    return x;
  }
  static constexpr auto results = [] {
    written_table<exchanged_result, Stage::results> list;
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (!Stage::folded(I) && Stage::fold_of(I) != fold::collect) list.add(result<I>());
    });
    return list;
  }();
  static constexpr exchange_facts make() {
    exchange_facts f{results.all(), Stage::x.placement->name};
    for (const exchanged_result& x : f.results) {
      if (x.how == fold::gather) f.gather = gather_over_ranks;
      if (x.how == fold::shards || x.how == fold::shard_sum) f.shards = exchange_shards;
      if (x.is_moved()) f.members = exchange_members;
    }
    return f;
  }

 public:
  static constexpr exchange_facts value = make();
};

}  // namespace drx::run
