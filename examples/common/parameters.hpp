// common/parameters.hpp: the numbers of a model as one sequence, for checkpoints.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <drx/drx.hpp>
#include <span>
#include <vector>

namespace examples {

/// Calls f with the span of each array in a model, in the order of its members.
template <class Model, class F>
void for_each_array(Model& model, F f) {
  drx::structure<std::remove_const_t<Model>>::visit(
      model, [&](auto* first, const drx::shape& s) { f(std::span(first, static_cast<std::size_t>(s.size()))); });
}

/// The number of parameters in each array.
template <class Model>
std::vector<std::uint64_t> sizes_of(const Model& model) {
  std::vector<std::uint64_t> sizes;
  for_each_array(model, [&](auto values) { sizes.push_back(values.size()); });
  return sizes;
}

/// Adds a model's parameters to those of others.
template <class Model>
void append(std::vector<float>& parameters, const Model& model) {
  for_each_array(model, [&](auto values) { parameters.insert(parameters.end(), values.begin(), values.end()); });
}

/// Takes a model's parameters from the front of a sequence.
template <class Model>
void take_from(std::span<const float>& parameters, Model& model) {
  for_each_array(model, [&](auto values) {
    std::copy_n(parameters.begin(), values.size(), values.begin());
    parameters = parameters.subspan(values.size());
  });
}

}  // namespace examples
