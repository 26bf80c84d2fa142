// drx/primitives/extremum_patterns.hpp: patterns (patterns.hpp) of values beside their largest or smallest one, as softmax has them.
#pragma once

#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/cast.hpp>
#include <drx/primitives/comparison.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/exponential.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/piecewise.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/where.hpp>

namespace drx::patterns {

constexpr int behind(const definitions& d, int v, const primitive& p) {
  for (const entry* e = d.of(v); e && (e->prim == &p || e->prim == &prim::stop_gradient); e = d.of(v))
    v = e->operands[0];
  return v;
}
constexpr bool is_same(const definitions& d, int v, int w) {
  return behind(d, v, prim::stop_gradient) == behind(d, w, prim::stop_gradient);
}
/// where(abs(y) <= number, y, ...)
constexpr bool is_test_of_finiteness(const definitions& d, const entry& e) {
  const entry* c = d.of(behind(d, e.operands[0], prim::broadcast_to));
  const entry* y = c && c->prim == &prim::less_equal ? d.of(c->operands[0]) : nullptr;
  return y && y->prim == &prim::abs && is_same(d, y->operands[0], e.operands[1]);
}
constexpr const entry* extremum_of(const definitions& d, int v, int x) {
  v = behind(d, v, prim::stop_gradient);
  const entry* repeated = d.of(v);
  const shape kept =
      repeated && repeated->prim == &prim::broadcast_to ? d.t.values[repeated->operands[0]].shape : d.t.values[v].shape;
  if (repeated && repeated->prim == &prim::broadcast_to) v = repeated->operands[0];
  const entry* m = d.of(behind(d, v, prim::reshape));
  if (m && m->prim == &prim::where && is_test_of_finiteness(d, *m)) m = d.of(behind(d, m->operands[1], prim::reshape));
  if (!m || (m->prim != &prim::max_over && m->prim != &prim::min_over) || !is_same(d, m->operands[0], x))
    return nullptr;
  shape expected = d.t.values[x].shape;
  for (auto axis : prim::rules::over_axes::view(*m).axes) expected[static_cast<int>(axis)] = 1;
  return kept == expected || kept.size() == 1 ? m : nullptr;
}
constexpr std::optional<int_list> below_maximum(const definitions& d, const entry& e) {
  const entry* m = e.prim == &prim::sub ? extremum_of(d, e.operands[1], e.operands[0]) : nullptr;
  if (m && m->prim == &prim::max_over) return prim::rules::over_axes::view(*m).axes;
  return {};
}
constexpr bool is_softmax_sum(const definitions& d, const entry& e) {
  const entry* x = d.of(e.operands[0]);
  if (!x || x->prim != &prim::exp) return false;
  const entry* shifted = d.of(x->operands[0]);
  if (!shifted) return false;
  const auto axes = below_maximum(d, *shifted);
  return axes && *axes == prim::rules::over_axes::view(e).axes;
}
constexpr bool is_share(const definitions& d, const entry& e) {
  const entry *hit = d.of(e.operands[0]), *n = d.of(e.operands[1]);
  if (!hit || hit->prim != &prim::cast || !n || n->prim != &prim::broadcast_to) return false;
  const entry *same = d.of(hit->operands[0]), *sum = d.of(behind(d, n->operands[0], prim::reshape));
  return same && same->prim == &prim::equal && sum && sum->prim == &prim::sum && sum->operands[0] == e.operands[0] &&
         extremum_of(d, same->operands[1], same->operands[0]);
}

}  // namespace drx::patterns
