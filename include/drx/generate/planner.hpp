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
// With drx::generate::program<models::Fit>("models::Fit", drx::plan_text<models::Fit>), and
// <drx/engines/plan_json.hpp>, it also writes plans.models.Fit.plan.json, the plan as a document. CMake: PLANS.
// Tested by tests/native/ and tests/consumer/.
#pragma once

#include <drx/generate/sources.hpp>

#if defined(DRX_NATIVE_TRACING)
#include <drx/core/native_tracing.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx::generate {

/// Program P, whose qualified name in C++ is `name`; its plan is written as `document`'s text too, if there is one
/// (drx::plan_text<P>).
template <class P>
named_program program(std::string name, std::string (*document)() = nullptr) {
  return {std::move(name),
          [] {
            const native_tracing traces;
            return P::make();
          },
          document};
}

namespace detail {

/// A file's path and its text.
struct file {
  std::string path, text;
};
inline bool has_text(const file& f) {
  std::ifstream before(f.path);
  std::ostringstream all;
  all << before.rdbuf();
  return before && all.str() == f.text;
}
/// Writes the files that have not their text already, so that nothing is compiled again for the others. Each is written
/// beside its place first: where one cannot be, none is changed.
inline void write(std::vector<file> files) {
  std::erase_if(files, has_text);
  const auto beside = [](const file& f) { return f.path + ".new"; };
  const auto fail = [&](const file& at) {
    for (const file& f : files) unlink(beside(f).c_str());
    throw std::runtime_error("cannot write " + at.path);
  };
  for (const file& f : files) {
    std::ofstream to(beside(f));
    to << f.text;
    to.close();
    if (!to) fail(f);
  }
  for (const file& f : files)
    if (std::rename(beside(f).c_str(), f.path.c_str()) != 0) fail(f);
}

/// The most bytes of a stack that is asked for. Only what is used of it is memory; but the address sanitizer marks all
/// of it.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool marks_stack = true;
#elif defined(__has_feature)
inline constexpr bool marks_stack = __has_feature(address_sanitizer);
#else
inline constexpr bool marks_stack = false;
#endif
inline constexpr std::size_t most_stack = std::size_t{marks_stack ? 1 : 64} << 30;
/// Calls f on a stack that holds the arrays of large models. Whether a thread could be started for it.
template <class F>
bool on_large_stack(F f) {
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
  if (started) pthread_join(thread, nullptr);
  return started;
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
  std::istringstream number(argv[3]);
  if (!(number >> sources) || !number.eof() || sources < 1) return usage();
  const std::string header = argv[1], plans = argv[2], name = plans.substr(plans.rfind('/') + 1);
  std::string at, refused;
  const auto plan_all = [&] {
    try {
      std::vector<detail::planned_program> all;
      std::vector<detail::file> files;
      detail::shared_kernels kernels;
      for (const named_program& p : programs) {
        at = p.name + ": ";
        all.push_back(detail::planned(p, kernels));
        for (std::size_t i = 0; i + 1 < all.size(); ++i)
          if (all[i].constants == all.back().constants)
            throw std::runtime_error("its constants have the name of those of " + all[i].name);
        if (!p.document) continue;
        const std::string path = plans + detail::end_of_document(p.name);
        if (std::any_of(files.begin(), files.end(), [&](const detail::file& f) { return f.path == path; }))
          throw std::runtime_error("its document has the name of another program's: " + path);
        files.push_back({path, p.document()});
      }
      at.clear();
      detail::drop_single(all, kernels);
      files.push_back({plans + ".hpp", detail::header_text(header, all, kernels)});
      int number_of_source = 0;
      for (std::string& text : detail::source_texts(name + ".hpp", all, kernels, sources))
        files.push_back({plans + "_" + std::to_string(++number_of_source) + ".cpp", std::move(text)});
      detail::write(std::move(files));
    } catch (const char* sentence) {
      refused = sentence;
    } catch (const std::exception& e) {
      refused = e.what();
    }
  };
  if (!detail::on_large_stack(plan_all)) refused = "no thread can be started";
  if (refused.empty()) return 0;
  std::cerr << at << refused << '\n';
  return 1;
}

}  // namespace drx::generate

#endif
