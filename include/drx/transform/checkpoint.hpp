// drx/transform/checkpoint.hpp: a function whose values reverse mode computes again instead of keeping them.
#pragma once

#include <drx/primitives/reported.hpp>
#include <drx/transform/trace_call.hpp>

namespace drx {
namespace detail {

/// `body` on `inputs` as a loop of one step. A loop keeps the carries of its steps only, and this one has none: what a
/// step reads, its slices and constants, is there anyway, and the backward loop computes the rest again.
constexpr vec<int> in_one_step(builder& b, const tape& body, const vec<int>& inputs) {
  builder step;
  step.input(abstract_value(dtype::int32, {}));
  vec<int> constants, slices, names(inputs.size(), -1);
  const auto add = [&](bool sliced) {
    for (int i = 0; i < inputs.size(); ++i) {
      const abstract_value type = b.type(inputs[i]);
      if ((type.depth == 0 && type.shape.rank < shape::max_rank) != sliced) continue;
      names[i] = step.input(type);
      if (sliced)
        slices.push_back(emit::reshape(b, inputs[i], with_front(type.shape, 1)));
      else
        constants.push_back(inputs[i]);
    }
  };
  add(false);
  add(true);
  for (int o : inline_tape(step, body, names)) step.output(o);
  const prim::rules::scan::view loop(1, constants.size(), 0);
  vec<int> operands = constants;
  operands.append(slices);
  vec<int> results = b.add(prim::scan, operands, loop.make(), one_region(step.take()));
  for (int& r : results) r = emit::reshape(b, r, without_axis(b.shape(r), 0));
  return results;
}

/// Whether a leaf of X has as many axes as an array may have.
template <class X>
inline constexpr bool has_most_axes = [] {
  const leaf_types<X> leaves;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (leaves[i].shape.rank == shape::max_rank) return true;
  return false;
}();

template <class F>
struct checkpointed {
  F f;

  template <class... X>
  static constexpr auto misuse() {
    if constexpr (AlreadyReported<F, X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else if constexpr (!TracedResult<traced_result<F, X...>>) {
      return result_misuse<traced_result<F, X...>>();
    } else if constexpr (!all_unplaced<canonical_t<traced_result<F, X...>>>) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (has_most_axes<canonical_t<traced_result<F, X...>>>) {
      return error::wrong_rank{};
    } else {
      return no_misuse{};
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: checkpoint(f)(x...): f returns unplaced arrays, of at most seven axes, or structures of them; a map's function is checkpointed in the map
    if constexpr (AlreadyReported<F, X...>) {
      return error::reported{};
    } else {
      using R = canonical_t<traced_result<F, X...>>;
      const traced_call call = trace_call(meeting_builder(x...), f, x...);
      return bound<R>(*call.b, in_one_step(*call.b, call.body, call.inputs));
    }
  }
};

}  // namespace detail

/// f, from which reverse mode keeps the arguments only (jax.checkpoint): what its derivative needs of the values inside
/// of f is computed again, from the arguments and what f captures. Same values and derivatives, less memory, f once
/// more. For the steps of a loop there are options: drx::loop_memory.
///     auto block = drx::checkpoint([=](auto x) { return drx::tanh(drx::matmul(drx::tanh(drx::matmul(x, v)), w)); });
template <class F>
constexpr auto checkpoint(const F& f) {
  return detail::checkpointed<F>{f};
}

}  // namespace drx
