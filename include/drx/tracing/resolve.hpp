// drx/tracing/resolve.hpp: the id of a traced value on the tape where it is used.
#pragma once

#include <drx/tape/rewrite.hpp>
#include <drx/tracing/innermost.hpp>
#include <drx/tracing/made_of_primitives.hpp>

namespace drx::emit {

/// Writes a value computed from constants only where it is used; its loops and maps go outside the loops that use them,
/// once.
constexpr int written_on(tracing_builder& b, const traced_ref& r) {
  constants_trace::adopt(b.context(), r.from.tape->context());
  const tape& t = r.from.tape->result();
  vec<bool> needed(t.values.size(), false);
  needed[r.id] = true;
  bool has_regions = false;
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    bool any = false;
    for (int result : e.results) any = any || needed[result];
    if (!any) continue;
    for (int o : e.operands) needed[o] = true;
    for (int result : e.results) needed[result] = true;
    has_regions = has_regions || !e.regions.empty();
  }
  tracing_builder* const to = has_regions ? &drx::detail::around_loops(b) : &b;
  int id = r.id;
  if (to != r.from.tape) {
    rewriter w(*to, t, {});
    w.write([&](const entry& e) {
      if (!needed[e.results[0]]) return vec<int>();
      return to->add_shared(e, w.operands(e));
    });
    id = w.names[r.id];
  }
  return to == &b ? id : b.capture({{to}, id, traced_ref::kind::value});
}

/// The id on b of a traced value of the given type: itself, a captured outer value, or a constant made now.
constexpr int resolve(tracing_builder& b, const traced_ref& r, const abstract_value& type) {
  if (r.what != traced_ref::kind::value) return constant_of(b, r, type);
  if (r.from.tape == &b) return r.id;
  return r.from.tape->of_constants() ? written_on(b, r) : b.capture(r);
}

}  // namespace drx::emit
