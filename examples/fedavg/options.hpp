// fedavg/options.hpp: the command-line options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>

#include "../common/command_line.hpp"

namespace fedavg {

using namespace examples;

struct options {
  std::string data = "digits";  ///< digits, flights or the path of a CSV file
  std::filesystem::path data_dir = "data";
  int clients = 100;  ///< unused where the data name their own clients
  int rounds = 60;
  int local_steps = 8;
  double rate = 0.1;
  double participation = 0.2;
  double alpha = 0.5;
  double test_fraction = 0.2;
  std::uint64_t seed = 1;
  std::filesystem::path out = "out";
  int eval_every = 1;         ///< rounds
  int checkpoint_every = 10;  ///< rounds; 0: never
  int threads = 0;            ///< per rank; 0: left to Kokkos
  bool resume = false;
  bool central = false;
  bool device = false;
  bool show = false;
  bool info = false;

  /// The file that --data and --data-dir name. Throws file_error that says how to get it, if it is one of the two
  /// known.
  [[nodiscard]] std::filesystem::path data_file() const;
};

[[nodiscard]] std::variant<options, stop> parse(int argc, const char* const* argv);

/// Calls visit(name, value) for each option that describes a run.
template <class Visit>
void for_each_option(const options& o, Visit visit) {
  visit("data", o.data);
  visit("data_dir", o.data_dir.string());
  visit("test_fraction", o.test_fraction);
  visit("clients", o.clients);
  visit("alpha", o.alpha);
  visit("rounds", o.rounds);
  visit("participation", o.participation);
  visit("local_steps", o.local_steps);
  visit("rate", o.rate);
  visit("seed", o.seed);
  visit("threads", o.threads);
  visit("out", o.out.string());
  visit("eval_every", o.eval_every);
  visit("checkpoint_every", o.checkpoint_every);
  visit("resume", o.resume);
  visit("central", o.central);
  visit("device", o.device);
}

/// The options as JSON.
[[nodiscard]] nlohmann::ordered_json chosen(const options& options);

/// All options that decide the trained parameters, one `name=value` per line: not those for files, length of training,
/// or threads. Runs with equal fingerprints continue each other's checkpoints.
[[nodiscard]] std::string fingerprint(const options& options, std::uint32_t data_checksum);

}  // namespace fedavg
