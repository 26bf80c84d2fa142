#include "application.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "files.hpp"
#include "folder_lock.hpp"
#include "on_all_ranks.hpp"
#include "output.hpp"
#include "run_info.hpp"
#include "shape.hpp"
#include "start.hpp"

namespace examples {
namespace {

constexpr std::string_view curves_header = "method,round,quantity,value\n";

std::string data_name(const std::string& text) {
  if (text == "digits" || text.ends_with(".csv")) return {};
  return fmt::format("'{}' is not digits or the path of a .csv file", text);
}

environment environment_of(const drx::session& session) {
  return {.mpi = drx::session::mpi_version(),
          .backend = drx::session::kokkos_version(),
          .ranks = session.ranks(),
          .threads = session.threads()};
}

struct input {
  std::uint32_t checksum = 0;
  train_and_test data;
  partition clients;
};

input read(const options& o) {
  const auto path = o.data_file();
  const dataset all = read_csv(path, {static_cast<std::size_t>(digits_shape.features), digits_shape.classes});
  input in{.checksum = checksum(all), .data = split(all, o.test_fraction, o.seed), .clients = {}};
  const dataset& train = in.data.train;
  if (train.rows() < static_cast<std::size_t>(o.clients))
    throw file_error(path, fmt::format("{} rows to train on are too few for {} clients", train.rows(), o.clients));
  in.clients = partition_dirichlet(train.y, static_cast<std::size_t>(o.clients), o.alpha, o.seed);
  return in;
}

}  // namespace

void options::add_to(command_line& line) {
  line.number("--rounds", rounds, 1, 1'000'000, "rounds of training");
  line.number("--threads", threads, 0, most_threads(), "threads of each rank, 0: left to Kokkos");
  line.text("--out", out, "DIR", "folder for result.json, curves.csv and run.json");
  line.flag("--info", info, "print compiler, MPI, Kokkos and options and stop");
}

void options::add_data_to(command_line& line) {
  reads_data = true;
  line.text("--data", data, "NAME", "digits or the path of a .csv file of the same columns", data_name);
  line.text("--data-dir", data_dir, "DIR", "folder of digits.csv, from get_data.py");
  line.number("--test-fraction", test_fraction, 0.01, 0.9, "part of the rows set aside for testing");
  line.number("--seed", seed, 0, UINT64_MAX, "seed of split, clients, first weights");
}

void options::add_clients_to(command_line& line) {
  line.number("--clients", clients, 1, 1000, "clients that hold the training rows");
  line.number("--alpha", alpha, 0.001, 1e6, "evenness of the labels over the clients");
}

std::filesystem::path options::data_file() const {
  if (data.ends_with(".csv")) return data;
  const auto path = data_dir / (data + ".csv");
  if (!std::filesystem::exists(path))
    throw file_error(
        path, fmt::format("is missing: python3 examples/common/get_data.py {} --into {}", data, data_dir.string()));
  return path;
}

application::application(drx::session& s, const command_line& line, const options& o, train_and_test data,
                         partition owners)
    : session(s),
      train(std::move(data.train)),
      test(std::move(data.test)),
      clients(std::move(owners)),
      options_(o),
      name_(line.name()),
      info_(run_info(line.chosen(), environment_of(s))),
      curves_(curves_header) {}

void application::run(const std::string& method, int rounds, const std::function<measures(int)>& round) {
  run(method, rounds, round, [](int) {}, 0);
}

void application::run(const std::string& method, int rounds, const std::function<measures(int)>& round,
                      const std::function<void(int)>& after, int done) {
  std::optional<progress> shown;
  if (session.root() && progress::on_terminal()) shown.emplace(rounds, done);
  for (int r = done > 0 ? done + 1 : 0; r <= rounds; ++r) {
    const measures now = round(r);
    for (const auto& [quantity, value] : now) {
      if (!std::isfinite(value))
        throw std::runtime_error(
            fmt::format("{}: {} is {} after round {}: try smaller rates", method, quantity, value, r));
      curves_ += fmt::format("{},{},{},{}\n", method, r, quantity, value);
      if (r == rounds) results_[method][quantity] = value;
    }
    if (shown && r > 0) shown->update(r, fmt::format("{}: {} {:.4f}", method, now[0].first, now[0].second));
    after(r);
  }
}

void application::continue_curves(const std::string& method, int done) {
  const auto path = options_.out / "curves.csv";
  const std::string text = read_file(path);
  if (!text.starts_with(curves_header)) throw file_error(path, 1, "is not the header of such a file");
  const std::string start = method + ',';
  for (std::size_t at = curves_header.size(), end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size() - 1);
    const std::string_view row = std::string_view(text).substr(at, end + 1 - at);
    int round = 0;
    if (row.starts_with(start) &&
        std::from_chars(row.data() + start.size(), row.data() + row.size(), round).ec == std::errc() && round <= done)
      curves_ += row;
  }
}

void application::save_curves() const {
  if (session.root()) write_atomically(options_.out / "curves.csv", curves_);
}

void application::describe(const std::string& name, nlohmann::ordered_json value) { info_[name] = std::move(value); }

void application::result(const std::string& name, nlohmann::ordered_json value) { results_[name] = std::move(value); }

void application::finish() {
  if (!session.root()) return;
  write_atomically(options_.out / "run.json", info_.dump(2) + "\n");
  save_curves();
  write_atomically(options_.out / "result.json", results_.dump(2) + "\n");
  for (const auto& [method, values] : results_.items()) {
    if (!values.is_object()) continue;
    std::string line;
    for (const auto& [quantity, value] : values.items())
      line += fmt::format("  {} {:.4f}", quantity, value.get<double>());
    print(stdout, fmt::format("{:<16}{}\n", method, line));
  }
}

int run_example(int argc, char** argv, command_line& line, options& o, const std::function<void(application&)>& work) {
  auto stopped = line.parse(argc, argv);
  if (!stopped) stopped = too_many_threads_in_environment(line.name(), o.threads);
  drx::session session = start(argv[0], stopped ? 1 : o.threads);
  if (stopped) {
    if (session.root()) print(stopped->code == 0 ? stdout : stderr, stopped->text);
    return stopped->code == 0 ? printed_all(line.name()) : stopped->code;
  }
  if (o.info) {
    if (session.root()) print(stdout, run_info(line.chosen(), environment_of(session)).dump(2) + "\n");
    return printed_all(line.name());
  }
  std::optional<folder_lock> lock;  // on the root rank
  auto in = on_all_ranks(session, line.name(), [&] {
    auto read_in = o.reads_data ? read(o) : input{};
    if (o.prepare) o.prepare();
    if (session.root()) lock.emplace(o.out);
    return read_in;
  });
  if (!in) return 1;
  session.communicator().require_equal(in->checksum, "the data's checksum");
  application app(session, line, o, std::move(in->data), std::move(in->clients));
  work(app);
  app.finish();
  return printed_all(line.name());
}

}  // namespace examples
