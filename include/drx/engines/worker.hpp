// drx/engines/worker.hpp: an executable as the worker of an engine (Beam, Spark, Hadoop Streaming, Flower): it serves
// the stages of its programs over framed stdin and stdout. docs/engines.md describes the requests.
//     int main(int argc, char** argv) {
//       if (drx::is_worker(argc, argv)) return drx::worker_main<Round, Tuned>(argc, argv);
//       drx::session session(argc, argv);  // as before
// Tested by tests/unit/engines/worker.cpp.
#pragma once

#include <drx/engines/server.hpp>

#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace drx {

namespace engines {

/// The exit status of a worker.
enum class worker_exit { done = 0, refused = 1, usage = 2, damaged = 3 };

namespace detail {

/// Serves requests until the input ends. After a wrong request the answer is {"error": sentence}, and the worker ends.
inline worker_exit serve(server& s, int in, int out) {
  const auto report = [&](const char* sentence) {
    std::cerr << sentence << std::endl;
    try {
      write_packet(out, {{{"error", sentence}}, {}});
    } catch (const std::exception&) {  // nobody reads any more
    }
  };
  try {
    while (const std::optional<packet> request = read_packet(in)) write_packet(out, s.answer(*request));
    return worker_exit::done;
  } catch (const damaged_frame& e) {
    report(e.what());
    return worker_exit::damaged;
  } catch (const std::exception& e) {
    report(e.what());
    return worker_exit::refused;
  }
}

}  // namespace detail
}  // namespace engines

/// Whether the executable was started as a worker: its first argument is --drx-worker or --drx-plans.
inline bool is_worker(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view first = argv[1];
  return first == "--drx-worker" || first == "--drx-plans";
}

/// Serves the stages of programs to an engine, by the kernels that calls run: `--drx-worker` answers requests in frames
/// on stdin and stdout until stdin ends, `--drx-plans` prints the programs with their plans as JSON. Returns the exit
/// status: 0; 1 after a wrong request, 2 without one of these words, 3 after a damaged frame, each with a sentence on
/// stderr. What the programs print goes to stderr.
template <class... P>
  requires(MapReduceForm<P> && ...)
int worker_main(int argc, char** argv) {
  using engines::worker_exit;
  if (!is_worker(argc, argv)) {
    std::cerr << "usage: " << (argc > 0 ? argv[0] : "worker") << " --drx-worker | --drx-plans\n";
    return static_cast<int>(worker_exit::usage);
  }
  try {
    engines::detail::server server = engines::detail::server_of<P...>();
    if (std::string_view(argv[1]) == "--drx-plans") {
      std::cout << server.list().dump(1) << '\n';
      return static_cast<int>(std::cout.flush() ? worker_exit::done : worker_exit::refused);
    }
    const int out = ::dup(STDOUT_FILENO);
    if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      throw std::runtime_error("drx: no file descriptor is left");
    return static_cast<int>(engines::detail::serve(server, STDIN_FILENO, out));
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return static_cast<int>(worker_exit::refused);
  }
}
template <class First, class... Rest, class Why = engines::first_refusal_t<First, Rest...>>
  requires(!(MapReduceForm<First> && ... && MapReduceForm<Rest>))
int worker_main(int argc, char** argv) = delete;  // drx: an engine runs programs whose reductions follow each other, outside of branches and loops that end by a condition, without placed results, nested placements or exchanges between members

}  // namespace drx
