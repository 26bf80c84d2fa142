// drx/generate/sources.hpp: the header and the sources that are written for planned programs, as text.
#pragma once

#include <drx/generate/planned_program.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace drx::generate::detail {

inline std::string run_step_text(const std::string& constants, std::size_t step) {
  return "void drx::run::run_step<drx::run::code<drx_plans::" + constants + ">, " + std::to_string(step) +
         ">(drx::run::frame&";
}
/// The header: the programs' constants, and where drx looks for them.
inline std::string header_text(const std::string& header, const std::vector<planned_program>& programs,
                               const shared_kernels& kernels) {
  std::string s =
      "// Tapes and plans of the programs of " + header +
      ", written by drx/generate/planner.hpp. It is made again, not edited.\n#pragma once\n\n#include \"" + header +
      "\"\n\n#include <drx/generate/values.hpp>\n#include <drx/run/call/compiled.hpp>\n#include <drx/run/kernels/shared.hpp>\n\n#include <limits>\n\nnamespace drx_plans {\n";
  for (const auto& [name, kernel] : kernels)
    s += "[[gnu::weak]] DRX_NOT_INLINED void " + name +
         "(drx::run::frame&);\n";  // (other plans may have the same kernel)
  for (const planned_program& p : programs) s += p.declarations;
  s += "}  // namespace drx_plans\n\n";
  for (const planned_program& p : programs) {
    s += "template <>\nstruct drx::frozen<" + p.name +
         "> {\n  static constexpr const auto& value = drx_plans::" + p.constants +
         "::program;\n};\ntemplate <>\nstruct drx::plan::lowering<" + p.name +
         "> {\n  using type = drx_plans::" + p.constants + ";\n};\n";
    for (std::size_t i = 0; i < p.steps.size(); ++i)
      s += (p.steps[i].kernel.empty() ? "extern template " : "template <> ") + run_step_text(p.constants, i) + ");\n";
  }
  return s;
}
/// The sources: each has some of the kernels and steps, about as much to compile as the others.
inline std::vector<std::string> source_texts(const std::string& header, const std::vector<planned_program>& programs,
                                             const shared_kernels& kernels, int sources) {
  struct part {
    std::string text;
    int work;
  };
  std::vector<part> parts;
  for (const auto& [name, kernel] : kernels)
    parts.push_back({"namespace drx_plans {\nstruct of_" + name + " {\n" + kernel.members + "};\nvoid " + name +
                         "(drx::run::frame& f) { drx::run::run_only_step<drx::run::code<of_" + name + ">>(f); }\n}\n",
                     kernel.work});
  std::string shared;
  for (const planned_program& p : programs)
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      const planned_step& s = p.steps[i];
      if (s.kernel.empty()) {
        parts.push_back({"template " + run_step_text(p.constants, i) + ");\n", s.work});
      } else {
        shared += "template <>\n" + run_step_text(p.constants, i) + " f) {\n  std::byte* slots[] = " + s.slots +
                  ";\n  run_on_slots(f, slots, drx_plans::" + s.kernel + ");\n}\n";
      }
    }
  std::stable_sort(parts.begin(), parts.end(), [](const part& a, const part& b) { return a.work > b.work; });
  std::vector<std::string> texts(static_cast<std::size_t>(sources), "#include \"" + header + "\"\n\n");
  std::vector<int> work(texts.size());
  for (const part& p : parts) {
    const auto least = static_cast<std::size_t>(std::min_element(work.begin(), work.end()) - work.begin());
    texts[least] += p.text;
    work[least] += p.work;
  }
  texts.back() += shared;
  return texts;
}

}  // namespace drx::generate::detail
