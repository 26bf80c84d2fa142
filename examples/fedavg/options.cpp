#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>

#include "../common/files.hpp"
#include "../common/start.hpp"
#include "shapes.hpp"

namespace fedavg {
namespace {

std::string data_name(const std::string& text) {
  if (text == "digits" || text == "flights" || text.ends_with(".csv")) return {};
  return fmt::format("'{}' is not digits, flights or the path of a .csv file", text);
}

std::string compiled_in(const std::string& text) {
  for (const int steps : compiled_steps)
    if (text == fmt::to_string(steps)) return {};
  return fmt::format("'{}' is not one of {}, which are compiled in (examples/fedavg/shapes.hpp)", text,
                     fmt::join(compiled_steps, ", "));
}

}  // namespace

std::filesystem::path options::data_file() const {
  if (data.ends_with(".csv")) return data;
  const auto path = data_dir / (data + ".csv");
  if (!std::filesystem::exists(path))
    throw file_error(
        path, fmt::format("is missing: python3 examples/common/get_data.py {} --into {}", data, data_dir.string()));
  return path;
}

std::variant<options, stop> parse(int argc, const char* const* argv) {
  options o;
  command_line line("fedavg", "Federated averaging of a small neural network over clients that hold different data.");
  line.text("--data", o.data, "NAME", "digits, flights or the path of a .csv file", data_name);
  line.text("--data-dir", o.data_dir, "DIR", "folder of digits.csv and flights.csv, from get_data.py");
  line.number("--test-fraction", o.test_fraction, 0.01, 0.9, "part of the rows set aside for testing");
  line.number("--clients", o.clients, 1, 1'000'000, "clients, unless the data have a client column");
  line.number("--alpha", o.alpha, 0.001, 1e6, "evenness of the labels over the clients");
  line.number("--rounds", o.rounds, 1, 1'000'000, "rounds of federated averaging");
  line.number("--participation", o.participation, 1e-6, 1.0, "part of the clients drawn for each round");
  const std::string steps =
      fmt::format("gradient steps of a client in a round, each on all its rows ({}: those compiled in; default {})",
                  fmt::join(compiled_steps, ", "), o.local_steps);
  line.choice("--local-steps", o.local_steps, steps.c_str(), compiled_in);
  line.number("--rate", o.rate, 1e-9, 1e3, "learning rate of the clients");
  line.number("--seed", o.seed, 0, UINT64_MAX, "seed of split, clients, participants, first weights");
  line.number("--threads", o.threads, 0, most_threads(), "threads of each rank, 0: left to Kokkos");
  line.text("--out", o.out, "DIR", "folder for model, metrics, checkpoint and run.json");
  line.number("--eval-every", o.eval_every, 1, 1'000'000, "rounds between evaluations");
  line.number("--checkpoint-every", o.checkpoint_every, 0, 1'000'000, "rounds between checkpoints, 0: none");
  line.flag("--resume", o.resume, "continue from the checkpoint in the --out folder");
  line.flag("--central", o.central, "also train one model on all the data in one place");
  line.flag("--device", o.device, "train on a GPU, one for each rank, which keeps the clients' rows");
  line.flag("--show", o.show, "print the program of a round and stop");
  line.flag("--info", o.info, "print compiler, MPI, Kokkos and options and stop");
  if (auto stopped = line.parse(argc, argv)) return *stopped;
  if (auto stopped = too_many_threads_in_environment(line.name(), o.threads)) return *stopped;
  return o;
}

nlohmann::ordered_json chosen(const options& o) {
  nlohmann::ordered_json all;
  for_each_option(o, [&](const char* name, const auto& value) { all[name] = value; });
  return all;
}

std::string fingerprint(const options& o, std::uint32_t data_checksum) {
  static const std::set<std::string_view> decisive{"test_fraction", "clients", "alpha", "participation",
                                                   "local_steps",   "rate",    "seed"};
  std::string text = fmt::format("data={:08x}\n", data_checksum);
  for_each_option(o, [&](std::string_view name, const auto& value) {
    if (decisive.contains(name)) text += fmt::format("{}={}\n", name, value);
  });
  return text;
}

}  // namespace fedavg
