// drx/tape/print.hpp: a tape as text, one entry per line, in a stable format that tests compare.
#pragma once

#include <drx/tape/primitive.hpp>

#include <string>

namespace drx {

/// f32[32,64]@clients
inline std::string show(const abstract_value& v) {
  std::string s = name_of(v.type);
  if (v.shape.rank > 0) {
    for (int i = 0; i < v.shape.rank; ++i) {  // (appended: of "," + std::to_string(...) g++ 12 warns, -Wrestrict)
      s += i ? ',' : '[';
      s += std::to_string(v.shape[i]);
    }
    s += ']';
  }
  for (int i = v.depth - 1; i >= 0; --i) {
    s += '@';
    s += v.placements[i]->name;
  }
  return s;
}

namespace detail {
inline std::string show_values(const tape& t, const vec<int>& ids, bool types) {
  std::string s;
  for (int i = 0; i < ids.size(); ++i)
    s += (i ? ", %" : "%") + std::to_string(ids[i]) + (types ? ": " + show(t.values[ids[i]]) : "");
  return s;
}
inline std::string show_entry(const tape& t, const entry& e) {  // without its regions
  std::string s = show_values(t, e.results, true) + " = " + e.prim->name;
  const std::string attributes = e.prim->print ? e.prim->print(e.attrs) : "";
  if (!attributes.empty()) s += "[" + attributes + "]";
  if (!e.operands.empty()) s += " " + show_values(t, e.operands, false);
  return s;
}
inline void show_region(const tape& t, const std::string& indent, std::string& out) {
  out += "(" + show_values(t, t.inputs, true) + ") {\n";
  for (const entry& e : t.entries) {
    out += indent + "  " + show_entry(t, e);
    for (const tape& r : e.regions) {
      out += " ";
      show_region(r, indent + "  ", out);
    }
    out += "\n";
  }
  out += indent + "  return " + show_values(t, t.outputs, false) + "\n" + indent + "}";
}
}  // namespace detail

/// A tape as text, an entry on each line, regions indented.
inline std::string show(const tape& t) {
  std::string s;
  detail::show_region(t, "", s);
  return s + "\n";
}

}  // namespace drx
