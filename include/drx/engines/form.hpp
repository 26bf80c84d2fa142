// drx/engines/form.hpp: whether an engine outside the job (Beam, Spark, Hadoop Streaming, Flower) can run a program:
// its stages follow each other, whatever the data are, and all that leaves a stage is the root of its tree.
#pragma once

#include <drx/run/cost.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>

namespace drx {

namespace error {
// Why a program is not of the form that an engine runs. The number is that of the entry at fault in drx::plan::show<P>,
// counted from 0 through all regions; -1 where it is no entry.
template <int Entry>
struct no_reduction_over_members : reported {};
template <int Entry>
struct a_result_is_placed : reported {};
template <int Entry>
struct a_placement_is_nested_in_another : reported {};
template <int Entry>
struct members_exchange_or_keep_values : reported {};
template <int Entry>
struct members_are_split_over_shards : reported {};
template <int Entry>
struct a_reduction_depends_on_a_condition : reported {};
template <int Entry>
struct more_than_one_broadcast_and_reduce : reported {};
template <int Entry>
struct the_first_result_is_not_the_state : reported {};
}  // namespace error

namespace engines {

/// What keeps a program from the form that engines run.
enum class obstacle : std::int8_t {
  none,
  no_stage,
  placed_result,
  nested_placement,
  moved_members,
  shards,
  condition,
  several_stages,
  other_state
};
/// A sentence about an obstacle.
constexpr const char* sentence(obstacle o) {
  switch (o) {
    case obstacle::none: return "";
    case obstacle::no_stage: return "no value of members is reduced";
    case obstacle::placed_result: return "a result is placed: it would stay with the members";
    case obstacle::nested_placement: return "a placement is nested in another: a manifest has one number of members";
    case obstacle::moved_members:
      return "members exchange values, or keep them for a later stage: an engine's members meet in reductions only";
    case obstacle::shards: return "members are split over shards, which exchange values";
    case obstacle::condition:
      return "a reduction stands in a branch, or in a loop that ends by a condition: how often it runs depends on data";
    case obstacle::several_stages: return "a federated round has one broadcast and one reduction";
    default:
      return "the first argument is the server's state, and the first result the next one, of the same structure";
  }
}

/// The form of a program: what keeps it from that of engines, the entry at fault, and how often its stages run.
struct program_form {
  obstacle why = obstacle::none;
  int entry = -1;
  std::int64_t runs = 0;  // of stages, in a call

  constexpr void refuse(obstacle o, int e) {
    if (why != obstacle::none) return;
    why = o;
    entry = e;
  }
};

namespace detail {
/// Reads the form of a plan's tape.
class form_reader {
 public:
  constexpr explicit form_reader(const frozen_view& t) : t_(t), held_(t.sizes.values, false) {}

  constexpr program_form run(const mesh_axes& mesh) {
    if (mesh.count > 0) form_.refuse(obstacle::shards, -1);
    const frozen_region& program = t_.regions[0];
    for (int i = 0; i < program.inputs.count; ++i) held_[id(program.inputs, i)] = true;
    for (int e = 0; e < program.entries; ++e)
      for (int i = 0; i < program.outputs.count; ++i) {
        const int out = id(program.outputs, i);
        for (int k = 0; k < t_.entries[e].results.count; ++k)
          if (t_.values[out].depth > 0 && id(t_.entries[e].results, k) == out) form_.refuse(obstacle::placed_result, e);
      }
    for (int i = 0; i < program.outputs.count; ++i)
      if (t_.values[id(program.outputs, i)].depth > 0) form_.refuse(obstacle::placed_result, -1);
    read(0, 1);
    if (form_.runs == 0) form_.refuse(obstacle::no_stage, -1);
    return form_;
  }

 private:
  [[nodiscard]] constexpr int id(const span_of_pool& s, int i) const { return static_cast<int>(t_.pool[s.first + i]); }
  [[nodiscard]] constexpr bool has_stage(int region) const {
    const frozen_region& r = t_.regions[region];
    for (int e = r.first_entry; e < r.first_entry + r.entries; ++e) {
      if (t_.entries[e].prim == &prim::stage) return true;
      for (int k = 0; k < t_.entries[e].regions; ++k)
        if (has_stage(t_.entries[e].first_region + k)) return true;
    }
    return false;
  }
  /// Reads a region that runs `times` times in a call; none: nobody knows how often.
  constexpr void read(int region, std::optional<std::int64_t> times) {
    const frozen_region& r = t_.regions[region];
    for (int e = r.first_entry; e < r.first_entry + r.entries; ++e) {
      const frozen_entry& x = t_.entries[e];
      if (x.prim == &prim::stage) {
        read_stage(e, times);
        continue;
      }
      if (x.prim == &prim::scan) {
        const prim::rules::scan::view loop(t_.attributes(x));
        for (int i = 0; i < loop.constants; ++i)
          held_[id(t_.regions[x.first_region].inputs, 1 + i)] = held_[id(x.operands, i)];
      }
      for (int k = 0; k < x.regions; ++k) read(x.first_region + k, run::detail::runs_of_regions(t_, x, times));
    }
  }
  constexpr void read_stage(int e, std::optional<std::int64_t> times) {
    const frozen_entry& x = t_.entries[e];
    const prim::rules::stage::view stage(t_.attributes(x));
    if (!times) form_.refuse(obstacle::condition, e);
    form_.runs += times.value_or(0);
    for (int i = 0; i < stage.results; ++i)
      if (const fold f = stage.fold_of(i);
          f != fold::sum && f != fold::mean && f != fold::max && f != fold::min && f != fold::monoid)
        form_.refuse(f == fold::shards || f == fold::shard_sum ? obstacle::shards : obstacle::moved_members, e);
    for (int i = 0; i < stage.placed; ++i) {
      const int from = id(x.operands, i);
      if (t_.values[from].depth > 1) form_.refuse(obstacle::nested_placement, e);
      if (!held_[from]) form_.refuse(obstacle::moved_members, e);
    }
    if (has_stage(x.first_region)) form_.refuse(obstacle::nested_placement, e);
  }

  frozen_view t_;
  vec<bool> held_;  // by value: whether it is an argument of the program
  program_form form_;
};
template <class C>
constexpr program_form form_of() {
  return form_reader(C::tape.view()).run(C::mesh);
}

/// The first part of a result: that of a tuple or pair, or the result itself.
template <class R>
struct first_result {
  using type = R;
};
template <class X, class... Rest>
struct first_result<std::tuple<X, Rest...>> {
  using type = X;
};
template <class X, class Y>
struct first_result<std::pair<X, Y>> {
  using type = X;
};

/// P, or P planned for engines where members of P's plan keep values for the steps of a loop.
template <class P>
constexpr auto served() {
  if constexpr (form_of<run::code_of<P>>().why == obstacle::moved_members) {
    using Q = plan::for_engines<P>;
    if constexpr (form_of<run::code_of<Q>>().why != obstacle::moved_members)
      return std::type_identity<Q>{};
    else
      return std::type_identity<P>{};
  } else {
    return std::type_identity<P>{};
  }
}
template <class P>
using served_t = typename decltype(served<P>())::type;

template <class P>
constexpr program_form federated_form_of() {
  program_form form = form_of<run::code_of<served_t<P>>>();
  if (form.runs > 1) form.refuse(obstacle::several_stages, -1);
  using state = canonical_t<std::tuple_element_t<0, typename P::inputs>>;
  // (A state that is a tuple is the whole result, or its first part.)
  if constexpr (!std::same_as<canonical_t<typename P::result>, state> &&
                !std::same_as<canonical_t<typename first_result<typename P::result>::type>, state>)
    form.refuse(obstacle::other_state, -1);
  return form;
}

template <obstacle O, int Entry>
struct refusal_of;
template <int E>
struct refusal_of<obstacle::none, E> {
  using type = drx::detail::no_misuse;
};
template <int E>
struct refusal_of<obstacle::no_stage, E> {
  using type = error::no_reduction_over_members<E>;
};
template <int E>
struct refusal_of<obstacle::placed_result, E> {
  using type = error::a_result_is_placed<E>;
};
template <int E>
struct refusal_of<obstacle::nested_placement, E> {
  using type = error::a_placement_is_nested_in_another<E>;
};
template <int E>
struct refusal_of<obstacle::moved_members, E> {
  using type = error::members_exchange_or_keep_values<E>;
};
template <int E>
struct refusal_of<obstacle::shards, E> {
  using type = error::members_are_split_over_shards<E>;
};
template <int E>
struct refusal_of<obstacle::condition, E> {
  using type = error::a_reduction_depends_on_a_condition<E>;
};
template <int E>
struct refusal_of<obstacle::several_stages, E> {
  using type = error::more_than_one_broadcast_and_reduce<E>;
};
template <int E>
struct refusal_of<obstacle::other_state, E> {
  using type = error::the_first_result_is_not_the_state<E>;
};
}  // namespace detail

/// The form of a program, as a constant.
template <Program P>
inline constexpr program_form form = detail::form_of<run::code_of<detail::served_t<P>>>();
/// The form of a program as a federated round.
template <Program P>
inline constexpr program_form federated_form = detail::federated_form_of<P>();

/// Why engines cannot run P; `no_misuse` where they can.
template <class P>
struct refusal {
  using type = drx::detail::no_program_t<P>;
};
template <Program P>
struct refusal<P> : detail::refusal_of<form<P>.why, form<P>.entry> {};
template <class P>
using refusal_t = typename refusal<P>::type;

namespace detail {
template <class First, class... Rest>
struct first_refusal {
  using type = refusal_t<First>;
};
template <class First, class Second, class... Rest>
  requires(std::same_as<refusal_t<First>, drx::detail::no_misuse>)
struct first_refusal<First, Second, Rest...> : first_refusal<Second, Rest...> {};
}  // namespace detail
/// Why P is no federated round; `no_misuse` where it is one.
template <class P>
struct federated_refusal : refusal<P> {};
template <class P>
  requires(Program<P> && federated_form<P>.why != obstacle::none)
struct federated_refusal<P> : detail::refusal_of<federated_form<P>.why, federated_form<P>.entry> {};
/// Why engines cannot run the first of several programs that they cannot run.
template <class... P>
using first_refusal_t = typename detail::first_refusal<P...>::type;

}  // namespace engines

/// A program that engines outside the job can run (drx::worker_main): its reductions follow each other, each as often
/// whatever the data are; members meet in sums, means, extrema and monoids only, and no result is placed. Derivative
/// programs are such programs too.
template <class P>
concept MapReduceForm = Program<P> && engines::form<P>.why == engines::obstacle::none;

/// A program that is one round of federated learning: one broadcast and one reduction, from the server's state (the
/// first argument) and the clients' data to the next state, alone or as the first of several results.
template <class P>
concept FederatedRound = MapReduceForm<P> && engines::federated_form<P>.why == engines::obstacle::none;

/// Compiles only where P is a federated round; the error says what keeps it from that, and at which entry.
///     static_assert(drx::require_federated_round<Round>());
template <FederatedRound P>
constexpr bool require_federated_round() {
  return true;
}
template <class P, class Why = typename engines::federated_refusal<P>::type>
  requires(!FederatedRound<P>)
bool require_federated_round() = delete;  // drx: a federated round has one broadcast and one reduction; its first argument is the server's state, and its result, or the first of several, the next state

}  // namespace drx
