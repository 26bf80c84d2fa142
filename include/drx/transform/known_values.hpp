// drx/transform/known_values.hpp: what is known of a program's values whatever its inputs are, as long as these are finite
// (tape/known_value.hpp): each primitive's rule `known` tells it of its results.
#pragma once

#include <drx/primitives/catalogue.hpp>

namespace drx::transform {

namespace detail {
constexpr known_values known_outputs(const tape& t, const known_values& inputs);

/// Of the inputs of an entry's region number i.
constexpr known_values known_in_region(const definitions& definition, const entry& e, int i,
                                       const known_values& operands) {
  known_values r;
  if (e.prim->known_inside) r = e.prim->known_inside({definition, e, operands, known_outputs}, i);
  r.resize(e.regions[i].inputs.size());
  return r;
}
/// Of the results of an entry. Those that are no floating numbers are finite.
constexpr known_values known_results(const definitions& definition, const entry& e, const known_values& operands) {
  known_values r;
  if (e.prim->known) r = e.prim->known({definition, e, operands, known_outputs});
  r.resize(e.results.size());
  for (int i = 0; i < r.size(); ++i) r[i].finite = r[i].finite || !is_floating(definition.t.values[e.results[i]].type);
  return r;
}
/// Of all values of a tape.
constexpr known_values known_in_tape(const definitions& definition, const known_values& inputs) {
  const tape& t = definition.t;
  known_values all(t.values.size());
  for (int i = 0; i < t.inputs.size(); ++i) {
    all[t.inputs[i]] = inputs[i];
    if (!is_floating(t.values[t.inputs[i]].type)) all[t.inputs[i]].finite = true;
  }
  for (const entry& e : t.entries) {
    known_values operands;
    for (int o : e.operands) operands.push_back(all[o]);
    const known_values results = known_results(definition, e, operands);
    for (int i = 0; i < e.results.size(); ++i) all[e.results[i]] = results[i];
  }
  return all;
}
constexpr known_values known_outputs(const tape& t, const known_values& inputs) {
  const known_values all = known_in_tape(definitions(t), inputs);
  known_values r;
  for (int o : t.outputs) r.push_back(all[o]);
  return r;
}
}  // namespace detail

}  // namespace drx::transform
