// drx/generate/planned_program.hpp: a program's plan as the text of its constants, with the steps that it shares with
// others.
#pragma once

#include <drx/generate/shared_steps.hpp>
#include <drx/meta/hash.hpp>
#include <drx/plan/pipeline.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace drx::generate {

/// A program and the name that it has in C++.
struct named_program {
  std::string name;
  tape (*make)();
  std::string (*document)() = nullptr;  // its plan for others than drx, where that is asked for
};

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

/// The end of the name of a program's document: that of models::Fit is .models.Fit.plan.json.
inline std::string end_of_document(const std::string& name) {
  std::string s = ".";
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (name.compare(i, 2, "::") == 0) {
      s += '.';
      ++i;
    } else {
      s += word ? c : '_';
    }
  }
  return s + ".plan.json";
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
    planned_step step{{},
                      {},
                      x.is_loop                                               ? x.members + x.sums
                      : prim::is_matrix_product(stages.entries[x.entry].prim) ? 20
                                                                              : 5};
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

}  // namespace detail
}  // namespace drx::generate
