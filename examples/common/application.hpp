// common/application.hpp: the common parts of the examples around their algorithm: options, input, progress, files of
// results.
#pragma once

#include <cstdint>
#include <drx/backend/session.hpp>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "data.hpp"
#include "partition.hpp"
#include "progress.hpp"

namespace examples {

/// The options of all examples.
struct options {
  std::string data = "digits";
  std::filesystem::path data_dir = "data";
  int clients = 20;
  double alpha = 0.5;
  int rounds = 30;
  double test_fraction = 0.2;
  std::uint64_t seed = 1;
  int threads = 0;
  std::filesystem::path out = "out";
  bool info = false;
  bool reads_data = false;
  /// Reads what else the example needs, on each rank, after the command line is parsed. What it throws ends all ranks.
  std::function<void()> prepare;

  void add_to(command_line& line);
  void add_data_to(command_line& line);
  void add_clients_to(command_line& line);
  /// The file that --data and --data-dir name. Throws file_error that says how to get it, if it is missing.
  [[nodiscard]] std::filesystem::path data_file() const;
};

/// The measurements after a round: names and values.
using measures = std::vector<std::pair<std::string, double>>;

/// A running example.
class application {
 public:
  application(drx::session& session, const command_line& line, const options& options, train_and_test data,
              partition clients);

  drx::session& session;
  const dataset train, test;
  const partition clients;  ///< of the training rows

  /// Calls round(r) for r from 0, which is before training, to `rounds`, and keeps its results under the method's name:
  /// in curves.csv all rounds, in result.json the last. Throws if a value is not finite.
  void run(const std::string& method, int rounds, const std::function<measures(int)>& round);
  /// The same after an earlier run finished `done` rounds; if these are any, it begins with the next. Calls after(r)
  /// when round(r) is kept.
  void run(const std::string& method, int rounds, const std::function<measures(int)>& round,
           const std::function<void(int)>& after, int done);

  /// Takes over what the folder's curves.csv says of the method's rounds up to `done`.
  void continue_curves(const std::string& method, int done);
  /// Writes curves.csv as it is now, on the first rank.
  void save_curves() const;

  /// Adds a value to run.json.
  void describe(const std::string& name, nlohmann::ordered_json value);
  /// Adds a value to result.json.
  void result(const std::string& name, nlohmann::ordered_json value);

  /// Writes run.json, curves.csv and result.json, and prints the last values, on the first rank.
  void finish();

 private:
  const options& options_;
  std::string name_;
  nlohmann::ordered_json info_, results_;
  std::string curves_;
};

/// Parses the command line, starts MPI and Kokkos, reads the data, divides them among clients, calls `work` and writes
/// the application's results. Returns the exit code of main.
int run_example(int argc, char** argv, command_line& line, options& options,
                const std::function<void(application&)>& work);

}  // namespace examples
