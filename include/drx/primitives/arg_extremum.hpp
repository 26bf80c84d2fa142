// drx/primitives/arg_extremum.hpp: the positions of the largest or smallest elements along an axis.
#pragma once

#include <drx/primitives/cummax.hpp>
#include <drx/primitives/reduction.hpp>

namespace drx::prim {
namespace rules {
/// An int32; the first of equal ones, or the first NaN. No derivative passes through positions.
template <bool Max>
struct arg_extremum : over_axes {
  static constexpr auto known = rules::known::nothing;
  static constexpr auto jvp = rules::constant::jvp;
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value reduced = over_axes::type(t)[0], x = t.operands[0];
    const int_list axes = view(t.attrs).axes;
    typing::require(axes.size() == 1, "argmax or argmin: not along one axis");
    typing::require(x.shape[axes.number(0)] > 0, "argmax or argmin along an axis without elements");
    return {reduced.with_type(dtype::int32)};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const abstract_value x = b.type(o[0]);
    const int axis = view(a).axes.number(0);
    if (x.shape[axis] != 1) return -1;
    return emit::constant(b, x.with_shape(without_axis(x.shape, axis)).with_type(dtype::int32), 0);
  }
  static constexpr vec<split_result> split(split_site& s) {
    return view(s.e).axes.contains(s.axis(0)) ? rules::split::whole(s) : over_axes::split(s);
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const int axis = view(v.e).axes.number(0);
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      for_each_index(to, [&, i = 0](const std::int64_t* at) mutable {
        std::int64_t here[shape::max_rank] = {};
        for (int k = 0; k < to.rank; ++k) here[k < axis ? k : k + 1] = at[k];
        const auto element = [&](std::int64_t k) {
          here[axis] = k;
          return v.in[0]->data<T>()[flat_index(from, here)];
        };
        std::int64_t best = 0;
        for (std::int64_t k = 1; k < from[axis]; ++k)
          if (beats<Max>(element(k), element(best))) best = k;
        v.out[0].data<std::int32_t>()[i++] = static_cast<std::int32_t>(best);
      });
    });
  }
};
template <class Rules>
constexpr primitive arg_extremum_primitive(const char* name) {
  primitive p = reduction_primitive<Rules>(name);
  p.split = Rules::split;
  return p;
}
}  // namespace rules
inline constexpr primitive argmax = rules::arg_extremum_primitive<rules::arg_extremum<true>>("argmax");
inline constexpr primitive argmin = rules::arg_extremum_primitive<rules::arg_extremum<false>>("argmin");
}  // namespace drx::prim
