#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <set>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "files.hpp"
#include "shapes.hpp"

namespace fedavg {
namespace {

/// Refuses what is not a number of type T in the range. (CLI::Range lets nan pass.)
template <class T> CLI::Validator from_to(T low, T high, const std::string& range) {
  return {[=](std::string& text) {
            T value{};
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool good = error == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
            if (good) return std::string();
            return fmt::format("'{}' is not a {} from {}", text, std::is_integral_v<T> ? "whole number" : "number",
                               range);
          },
          ""};
}

CLI::Validator data_name() {
  return {[](std::string& text) {
            if (text == "digits" || text == "flights" || text.ends_with(".csv")) return std::string();
            return fmt::format("'{}' is not digits, flights or the path of a .csv file", text);
          },
          ""};
}

CLI::Validator compiled_in() {
  return {[](std::string& text) {
            for (const int steps : compiled_steps)
              if (text == fmt::to_string(steps)) return std::string();
            return fmt::format("'{}' is not one of {}, which are compiled in (examples/fedavg/shapes.hpp)", text,
                               fmt::join(compiled_steps, ", "));
          },
          ""};
}

}  // namespace

std::filesystem::path options::data_file() const {
  if (data.ends_with(".csv")) return data;
  const auto path = data_dir / (data + ".csv");
  if (!std::filesystem::exists(path))
    throw file_error(
        path, fmt::format("is missing: python3 examples/fedavg/get_data.py {} --into {}", data, data_dir.string()));
  return path;
}

std::variant<options, stop> parse(int argc, const char* const* argv) {
  options o;
  CLI::App app("Federated averaging of a small neural network over clients that hold different data.", "fedavg");
  app.get_formatter()->column_width(26);
  const auto number = [&](const char* name, auto& value, auto lowest, auto highest, const char* what) {
    using T = std::remove_reference_t<decltype(value)>;
    const T low = static_cast<T>(lowest), high = static_cast<T>(highest);
    const std::string range = fmt::format("{} to {}", low, high);
    const std::string help = fmt::format("{} ({}; default {})", what, range, value);
    app.add_option(name, value, help)->check(from_to(low, high, range))->type_name("N");
  };
  const auto text = [&](const char* name, auto& value, const char* type, const char* what) {
    const std::string preset = std::filesystem::path(value).string();
    return app.add_option(name, value, fmt::format("{} (default {})", what, preset))->type_name(type);
  };
  text("--data", o.data, "NAME", "digits, flights or the path of a .csv file")->check(data_name());
  text("--data-dir", o.data_dir, "DIR", "folder of digits.csv and flights.csv, from get_data.py");
  number("--test-fraction", o.test_fraction, 0.01, 0.9, "part of the rows set aside for testing");
  number("--clients", o.clients, 1, 1'000'000, "clients, unless the data have a client column");
  number("--alpha", o.alpha, 0.001, 1e6, "evenness of the labels over the clients");
  number("--rounds", o.rounds, 1, 1'000'000, "rounds of federated averaging");
  number("--participation", o.participation, 1e-6, 1.0, "part of the clients drawn for each round");
  app.add_option("--local-steps", o.local_steps,
                 fmt::format("gradient steps of a client in a round, each on all its rows ({}: those compiled in; "
                             "default {})",
                             fmt::join(compiled_steps, ", "), o.local_steps))
      ->check(compiled_in())
      ->type_name("N");
  number("--rate", o.rate, 1e-9, 1e3, "learning rate of the clients");
  number("--seed", o.seed, 0, UINT64_MAX, "seed of split, clients, participants, first weights");
  number("--threads", o.threads, 0, 4096, "threads of each rank, 0: left to Kokkos");
  text("--out", o.out, "DIR", "folder for model, metrics, checkpoint and run.json");
  number("--eval-every", o.eval_every, 1, 1'000'000, "rounds between evaluations");
  number("--checkpoint-every", o.checkpoint_every, 0, 1'000'000, "rounds between checkpoints, 0: none");
  app.add_flag("--resume", o.resume, "continue from the checkpoint in the --out folder");
  app.add_flag("--central", o.central, "also train one model on all the data in one place");
  app.add_flag("--show", o.show, "print the program of a round and stop");
  app.add_flag("--info", o.info, "print compiler, MPI, Kokkos and options and stop");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    const int code = app.exit(error, out, out);
    return stop{code == 0 ? 0 : 2, out.str()};
  }
  return o;
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
