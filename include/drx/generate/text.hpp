// drx/generate/text.hpp: a tape, the plan of its steps and memory, and its mesh as C++ text.
#pragma once

#include <drx/generate/symbols.hpp>
#include <drx/plan/memory/workspace.hpp>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace drx::generate {

/// Writes braces and what is in them, a line for every few parts.
class list {
 public:
  void add(std::string_view part) {
    if (line_ + static_cast<int>(part.size()) > width) {
      text_ += "\n    ";
      line_ = 0;
    }
    text_ += part;
    text_ += ", ";
    line_ += static_cast<int>(part.size()) + 2;
  }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

 private:
  static constexpr int width = 120;
  std::string text_ = "{";
  int line_ = 0;
};
/// The parts of something, one text for each, in braces.
template <class Parts, class Text>
std::string list_of(const Parts& parts, Text text) {
  list l;
  for (const auto& p : parts) l.add(text(p));
  return l.text();
}

/// A double, all bits of it; of a NaN that it is one.
inline std::string number(double x) {
  if (x != x) return "std::numeric_limits<double>::quiet_NaN()";
  if (x > std::numeric_limits<double>::max()) return "std::numeric_limits<double>::infinity()";
  if (x < std::numeric_limits<double>::lowest()) return "-std::numeric_limits<double>::infinity()";
  char text[64];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}
/// An int64: the least has no literal of its own.
inline std::string integer(std::int64_t n) {
  return n == std::numeric_limits<std::int64_t>::min() ? "std::numeric_limits<std::int64_t>::min()" : std::to_string(n);
}
inline std::string pointer(const placement_info* p) { return p ? "&" + symbol_of(p) : "nullptr"; }
inline std::string span(const span_of_pool& s) {
  return "{" + std::to_string(s.first) + "," + std::to_string(s.count) + "}";
}

inline std::string value_text(const abstract_value& v) {
  static constexpr const char* types[] = {"boolean", "int32", "int64", "float32", "float64", "bf16", "f16"};
  std::string s = std::string("drx::generate::value(drx::dtype::") + types[static_cast<int>(v.type)] + ",{";
  for (int i = 0; i < v.shape.rank; ++i) s += (i ? "," : "") + std::to_string(v.shape[i]);
  s += "}";
  for (int i = 0; i < v.depth; ++i) s += (i ? "," : ",{") + pointer(v.placements[i]);
  return s + (v.depth > 0 ? "})" : ")");
}

inline std::string location_text(const plan::location& l) {
  static constexpr const char* spaces[] = {"nowhere", "server", "thread", "slot"};
  return std::string("{drx::plan::space::") + spaces[static_cast<int>(l.space)] + "," + std::to_string(l.offset) + "}";
}

/// The address of a location in frame f.
inline std::string address_text(const plan::location& l) {
  const std::string n = std::to_string(l.offset);
  return l.space == plan::space::slot ? "f.slots[" + n + "]"
                                      : (l.space == plan::space::server ? "f.server + " : "f.thread + ") + n;
}

/// The type of a frozen tape of these sizes.
inline std::string tape_type(const frozen_sizes& s) {
  return "drx::frozen_tape<" + std::to_string(s.regions) + ", " + std::to_string(s.entries) + ", " +
         std::to_string(s.values) + ", " + std::to_string(s.pool) + ">";
}
/// Static members of a class: the tape, as `name`. Names are looked up once each.
inline std::string tape_members(const frozen_lists& t, const std::string& name) {
  std::map<const primitive*, std::string> primitives;
  std::map<std::string, int> types;
  std::string text, list_of_types;
  list values;
  for (const abstract_value& v : t.values) {
    const auto [at, is_new] = types.emplace(value_text(v), static_cast<int>(types.size()));
    if (is_new) list_of_types += "    " + at->first + ",\n";
    values.add(name + "_types[" + std::to_string(at->second) + "]");
  }
  if (!types.empty())
    text += "  static constexpr drx::abstract_value " + name + "_types[] = {\n" + list_of_types + "  };\n";
  text += "  static constexpr " + tape_type(t.sizes) + " " + name + " = {\n";
  text += "    .regions = " + list_of(t.regions, [](const frozen_region& r) {
            return "{" + span(r.inputs) + "," + span(r.outputs) + "," + std::to_string(r.first_entry) + "," +
                   std::to_string(r.entries) + "}";
          });
  text += ",\n    .entries = " + list_of(t.entries, [&](const frozen_entry& e) {
            std::string& prim = primitives[e.prim];
            if (prim.empty()) prim = symbol_of(e.prim);
            return "{&" + prim + "," + span(e.operands) + "," + span(e.results) + "," + span(e.ints) + "," +
                   number(e.number) + "," + pointer(e.placement) + "," + std::to_string(e.first_region) + "," +
                   std::to_string(e.regions) + "}";
          });
  text += ",\n    .values = " + values.text();
  text += ",\n    .pool = " + list_of(t.pool, integer) + "};\n";
  return text;
}
/// Static members of a class: the plan of a tape of these sizes, and its mesh.
inline std::string plan_members(const plan::workspace_plan& p, const frozen_sizes& s, const mesh_axes& mesh) {
  std::string text = "  static constexpr drx::mesh_axes mesh = {" + pointer(mesh.members) + ", " +
                     pointer(mesh.shards) + ", " + std::to_string(mesh.count) + "};\n";
  text += "  static constexpr drx::plan::frozen_plan<" + std::to_string(s.regions) + ", " + std::to_string(s.entries) +
          ", " + std::to_string(s.values) + "> plan = {\n";
  text += "    .steps = " + list_of(p.steps, [](const plan::step& x) {
            return std::string(x.is_loop ? "{true," : "{false,") + std::to_string(x.entry) + "," +
                   std::to_string(x.first_member) + "," + std::to_string(x.members) + "," + std::to_string(x.sums) +
                   (x.has_folds ? ",true}" : ",false}");
          });
  const auto add = [&](const char* name, const std::string& parts) {
    text += std::string(",\n    .") + name + " = " + parts;
  };
  add("first_step", list_of(p.first_step, integer));
  add("step_count", list_of(p.step_count, integer));
  add("members", list_of(p.members, integer));
  add("loop_of", list_of(p.loop_of, integer));
  add("member_of", list_of(p.member_of, integer));
  add("definition", list_of(p.definition, integer));
  add("stored", list_of(p.stored, [](bool b) { return std::string(b ? "true" : "false"); }));
  add("root", list_of(p.root, integer));
  add("where", list_of(p.where, location_text));
  add("scratch", list_of(p.scratch, location_text));
  add("slots", std::to_string(p.slots));
  add("server_bytes", std::to_string(p.server_bytes));
  add("thread_bytes", std::to_string(p.thread_bytes));
  return text + "};\n";
}

}  // namespace drx::generate
