// drx/generate/planner.hpp: programs traced and planned by an executable, when a project is built, in place of constant
// evaluation in each file that runs them:
//     // plan.cpp, of a program with models.hpp: g++ -std=c++20 -DDRX_NATIVE_TRACING -rdynamic plan.cpp -o plan
//     #include "models.hpp"
//     #include <drx/generate/planner.hpp>
//     int main(int argc, char** argv) {
//       return drx::generate::main(argc, argv, {drx::generate::program<models::Fit>("models::Fit")});
//     }
// `./plan models.hpp plans 2` writes plans.hpp, plans_1.cpp and plans_2.cpp. With `-include plans.hpp` (or an #include
// of it in place of models.hpp) session.compile<models::Fit>() finds tape and plan there, and its steps in the two
// sources. CMake: drx_add_programs(TARGET fit HEADER models.hpp PROGRAMS models::Fit).
// Tested by tests/native/ and tests/consumer/.
#pragma once

#include <drx/generate/shared_steps.hpp>
#include <drx/meta/hash.hpp>

#if defined(DRX_NATIVE_TRACING)
#include <drx/core/native_tracing.hpp>

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace drx::generate {

/// A program and the name that it has in C++.
struct named_program {
  std::string name;
  tape (*make)();
};
/// Program P, whose qualified name in C++ is `name`.
template <class P>
named_program program(std::string name) {
  return {std::move(name), [] {
            const native_tracing traces;
            return P::make();
          }};
}

namespace detail {

/// The class of constants that is written for a program: models::Fit becomes drx_plans::models_Fit.
inline std::string class_of(const std::string& name) {
  std::string s;
  for (const char c : name) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (word)
      s += c;
    else if (!s.empty() && s.back() != '_')
      s += '_';
  }
  return s;
}

/// A step of a program: its kernel if other steps have it too, else none, and how much there is to compile, in entries.
struct planned_step {
  std::string kernel, slots;
  int work;
};
struct planned_program {
  std::string name, constants;
  std::vector<planned_step> steps;
  std::string declarations;  // of its constants
};
/// A kernel of several steps: a program of one step, whose constants have the name of their hash.
struct shared_kernel {
  std::string members;
  int work = 0, steps = 0;
};
using shared_kernels = std::map<std::string, shared_kernel>;

inline planned_program planned(const named_program& p, shared_kernels& kernels) {
  const frozen_lists program(p.make());
  const tape traced = program.view().thaw();  // (its values are numbered as where constant evaluation makes it)
  const mesh_axes mesh = plan::mesh_of(plan::after_passes(traced, plan::passes_up_to("functions")));
  const tape staged = plan::after_passes(traced, static_cast<int>(std::size(plan::passes)));
  check(staged);
  const frozen_lists stages(staged);
  const plan::workspace_plan memory = plan::workspace_of(stages.view());
  planned_program r{p.name, class_of(p.name), {}, {}};
  r.declarations = "struct " + r.constants + " {\n" + tape_members(program, "program") + tape_members(stages, "tape") +
                   plan_members(memory, stages.sizes, mesh) + "};\n";
  int steps = 0;
  for (int region = 0; region < stages.sizes.regions; ++region)
    steps = std::max(steps, memory.first_step[region] + memory.step_count[region]);
  const frozen_view view = stages.view();
  for (int s = 0; s < steps; ++s) {
    const plan::step& x = memory.steps[s];
    planned_step step{{}, {}, x.is_loop ? x.members + x.sums : stages.entries[x.entry].prim == &prim::matmul ? 20 : 5};
    if (const auto alone = step_extractor(view, memory, s).extracted(); alone && !alone->slots.empty()) {
      char name[32];
      std::snprintf(name, sizeof name, "kernel_%016llx", static_cast<unsigned long long>(meta::hash(alone->members)));
      shared_kernel& k = kernels[name];
      if (k.steps++ == 0) k = {alone->members, step.work, 1};
      if (k.members != alone->members) throw std::runtime_error(std::string("two kernels have the name ") + name);
      step.kernel = name;
      step.slots = list_of(alone->slots, address_text);
    }
    r.steps.push_back(step);
  }
  return r;
}
/// Kernels of one step are no kernels of their own: the step has its addresses as constants.
inline void drop_single(std::vector<planned_program>& programs, shared_kernels& kernels) {
  for (planned_program& p : programs)
    for (planned_step& s : p.steps)
      if (!s.kernel.empty() && kernels[s.kernel].steps == 1) {
        kernels.erase(s.kernel);
        s.kernel.clear();
      }
}

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

/// Writes a file unless it has this text already, so that nothing is compiled again for it.
inline void write(const std::string& path, const std::string& text) {
  if (std::ifstream before(path); before) {
    std::ostringstream all;
    all << before.rdbuf();
    if (all.str() == text) return;
  }
  std::ofstream to(path);
  to << text;
  to.close();
  if (!to) throw std::runtime_error("cannot write " + path);
}

/// Only what is used of it is memory. (The address sanitizer marks all of it.)
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool marks_stack = true;
#elif defined(__has_feature)
inline constexpr bool marks_stack = __has_feature(address_sanitizer);
#else
inline constexpr bool marks_stack = false;
#endif
inline constexpr std::size_t most_stack = std::size_t{marks_stack ? 1 : 64} << 30;
/// Calls f on a stack that holds the arrays of large models.
template <class F>
void on_large_stack(F f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  bool started = false;
  for (std::size_t bytes = most_stack; !started && bytes >= (std::size_t{8} << 20); bytes /= 2) {
    if (pthread_attr_setstacksize(&attributes, bytes) != 0) continue;
    started = pthread_create(
                  &thread, &attributes,
                  [](void* call) -> void* {
                    (*static_cast<F*>(call))();
                    return nullptr;
                  },
                  &f) == 0;
  }
  pthread_attr_destroy(&attributes);
  if (!started) throw std::runtime_error("no thread can be started");
  pthread_join(thread, nullptr);
}

}  // namespace detail

/// The main function of an executable that plans programs: see the head of this file. Returns the exit status: 1, after
/// a sentence on std::cerr, where a program is refused or a file cannot be written; then no file has been changed.
inline int main(int argc, char** argv, std::initializer_list<named_program> programs) {
  const auto usage = [&] {
    std::cerr
        << "usage: " << argv[0]
        << " HEADER PLANS SOURCES: writes PLANS.hpp, which includes HEADER, and as many sources PLANS_1.cpp ...\n";
    return 2;
  };
  if (argc != 4) return usage();
  int sources = 0;
  if (!(std::istringstream(argv[3]) >> sources) || sources < 1) return usage();
  const std::string header = argv[1], plans = argv[2], name = plans.substr(plans.rfind('/') + 1);
  int status = 0;
  detail::on_large_stack([&] {
    std::string at;
    try {
      std::vector<detail::planned_program> all;
      detail::shared_kernels kernels;
      for (const named_program& p : programs) {
        at = p.name + ": ";
        all.push_back(detail::planned(p, kernels));
        for (std::size_t i = 0; i + 1 < all.size(); ++i)
          if (all[i].constants == all.back().constants)
            throw std::runtime_error("its constants have the name of those of " + all[i].name);
      }
      at.clear();
      detail::drop_single(all, kernels);
      detail::write(plans + ".hpp", detail::header_text(header, all, kernels));
      const std::vector<std::string> texts = detail::source_texts(name + ".hpp", all, kernels, sources);
      for (std::size_t i = 0; i < texts.size(); ++i)
        detail::write(plans + "_" + std::to_string(i + 1) + ".cpp", texts[i]);
    } catch (const char* sentence) {
      std::cerr << at << sentence << '\n';
      status = 1;
    } catch (const std::exception& e) {
      std::cerr << at << e.what() << '\n';
      status = 1;
    }
  });
  return status;
}

}  // namespace drx::generate

#endif
