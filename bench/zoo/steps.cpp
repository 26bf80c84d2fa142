// bench/zoo/steps.cpp: the steps of one program's plan and what they should take, as JSON. Its arguments' files say how
// many members there are.
#include ZOO_HEADER

#include <drx/run/estimate.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <tuple>
#include <type_traits>

namespace {

struct counter {
  std::string folder;
  int next = 0;
  drx::member_counts members = {};

  template <class X>
  void argument(std::type_identity<X>) {
    next += drx::leaf_count<X>;
  }
  template <class S, class P>
  void argument(std::type_identity<drx::placed<S, P>>) {
    constexpr drx::leaf_types<S> types;
    const std::int64_t each = types[0].shape.size() * drx::byte_size(types[0].type);
    members[std::string(drx::placement_of<P>.name)] =
        static_cast<std::int64_t>(std::filesystem::file_size(folder + "/" + std::to_string(next))) / each;
    next += drx::leaf_count<S>;
  }
  template <class... X>
  void arguments(std::type_identity<std::tuple<X...>>) {
    (argument(std::type_identity<X>{}), ...);
  }
};

}  // namespace

int main(int, char** argv) {
  using program = ZOO_NAMESPACE::Program;
  counter files{argv[1]};
  files.arguments(std::type_identity<program::inputs>{});
  const char* between = "[";
  for (const drx::step_estimate& s : drx::estimate<program>(files.members)) {
    std::printf(
        "%s\n{\"step\": %d, \"entry\": %d, \"region\": %d, \"what\": \"%s\", \"runs\": %g, \"depends_on_data\": %s, \"vectors\": %g, \"bytes\": %g, \"cycles\": %g, "
        "\"seconds\": %g}",
        between, s.step, s.entry, s.region, s.what.c_str(), s.runs, s.depends_on_data ? "true" : "false", s.vectors,
        s.bytes, s.cycles, s.seconds);
    between = ",";
  }
  std::puts("]");
}
