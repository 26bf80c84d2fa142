// fedavg: federated averaging of a small neural network over clients that hold different data. drx is used in model.hpp
// (the programs) and make_trainer.hpp (the data); this file has the input and output and the loop.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <drx/backend/device.hpp>
#include <optional>

#include "../common/checkpoint.hpp"
#include "../common/data.hpp"
#include "../common/files.hpp"
#include "../common/folder_lock.hpp"
#include "../common/npz.hpp"
#include "../common/on_all_ranks.hpp"
#include "../common/output.hpp"
#include "../common/partition.hpp"
#include "../common/progress.hpp"
#include "../common/random.hpp"
#include "../common/run_info.hpp"
#include "../common/start.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "trainer.hpp"

namespace fedavg {
namespace {

struct input {
  shape model;
  std::uint32_t checksum = 0;
  train_and_test rows;
  partition clients;
};

shape shape_for(const options& o, const dataset& data) {
  for (const auto& s : shapes)
    if (static_cast<std::size_t>(s.features) == data.features) return s;
  std::vector<int> known;
  for (const auto& s : shapes) known.push_back(s.features);
  throw file_error(o.data_file(), 1,
                   fmt::format("the header names {} features; compiled in are models of {}: examples/fedavg/shapes.hpp "
                               "says how to add one",
                               data.features, fmt::join(known, " and ")));
}

input read(const options& o) {
  const auto known = o.data == "digits"    ? std::optional(digits_shape)
                     : o.data == "flights" ? std::optional(flights_shape)
                                           : std::nullopt;
  const auto expects = [](shape s) { return schema{static_cast<std::size_t>(s.features), s.classes}; };
  dataset all = read_csv(o.data_file(), known ? expects(*known) : schema{});
  const shape s = known ? *known : shape_for(o, all);
  if (all.classes > s.classes) all = read_csv(o.data_file(), expects(s));  // to say in which line
  input in{.model = s, .checksum = checksum(all), .rows = split(all, o.test_fraction, o.seed), .clients = {}};
  const dataset& train = in.rows.train;
  if (!train.client.empty()) {
    in.clients = partition_by_client(train.client);
  } else {
    if (train.rows() < static_cast<std::size_t>(o.clients))
      throw file_error(o.data_file(),
                       fmt::format("{} rows to train on are too few for {} clients", train.rows(), o.clients));
    in.clients = partition_dirichlet(train.y, static_cast<std::size_t>(o.clients), o.alpha, o.seed);
  }
  return in;
}

std::unique_ptr<trainer> make_trainer(drx::session& session, const options& o, const input& in) {
  const auto make = [&]<shape S>() {
    return fedavg::make_trainer<S>(session, in.rows.train, in.rows.test, in.clients, o.local_steps,
                                   static_cast<float>(o.rate), o.device);
  };
  return in.model.features == digits_shape.features ? make.operator()<digits_shape>()
                                                    : make.operator()<flights_shape>();
}

/// Weights normally distributed by the number of units that feed a unit; biases zero.
void initialise(trainer& t, std::uint64_t seed) {
  random_stream random(seed, purpose::weights);
  for (const auto& p : t.parameters()) {
    const double scale = p.shape.size() < 2 ? 0 : 1 / std::sqrt(static_cast<double>(p.shape[0]));
    for (float& v : p.values) v = static_cast<float>(scale * random.normal());
  }
}

std::vector<std::uint64_t> sizes_of(trainer& t) {
  std::vector<std::uint64_t> sizes;
  for (const auto& p : t.parameters()) sizes.push_back(p.values.size());
  return sizes;
}

void save_model(trainer& t, const std::filesystem::path& path) {
  std::vector<npz_array> arrays;
  for (const auto& p : t.parameters()) arrays.push_back({p.name, p.shape, p.values});
  write_npz(path, arrays);
}

class run {
 public:
  run(drx::session& session, const options& o, const input& in, trainer& t)
      : session_(session),
        o_(o),
        trainer_(t),
        fingerprint_(fingerprint(o, in.checksum)),
        clients_(in.clients.clients()) {}

  /// Returns false if it was stopped by a checkpoint that does not fit, or by a folder that cannot be written or
  /// belongs to another run.
  bool federated(const std::string& info) {
    if (!on_all_ranks(session_, "fedavg", [&] { return session_.root() && lock(); })) return false;
    std::uint64_t done = 0;
    if (o_.resume) {
      const auto state =
          on_all_ranks(session_, "fedavg", [&] { return load(file("checkpoint"), fingerprint_, sizes_of(trainer_)); });
      if (!state) return false;
      done = state->round;
      session_.communicator().require_equal(static_cast<std::int64_t>(done), "the checkpoint's round");
      auto from = state->parameters.begin();
      for (const auto& p : trainer_.parameters()) {
        std::copy_n(from, p.values.size(), p.values.begin());
        from += static_cast<std::ptrdiff_t>(p.values.size());
      }
    } else {
      initialise(trainer_, o_.seed);
    }
    if (!on_all_ranks(session_, "fedavg", [&] { return session_.root() && open(done, info); })) return false;
    if (!o_.resume) {
      evaluate(0);
      if (o_.checkpoint_every > 0) checkpoint(0);
    }
    const auto rounds = static_cast<std::uint64_t>(o_.rounds);
    begin(done);
    for (std::uint64_t r = done + 1; r <= rounds; ++r) {
      const auto drawn = participants(clients_, o_.participation, o_.seed, r);
      time([&] { trainer_.round({drawn.begin(), drawn.end()}); });
      const bool saves =
          o_.checkpoint_every > 0 && (r == rounds || r % static_cast<std::uint64_t>(o_.checkpoint_every) == 0);
      if (saves || r == rounds || r % static_cast<std::uint64_t>(o_.eval_every) == 0) evaluate(r);
      if (saves) checkpoint(r);
    }
    if (session_.root()) save_model(trainer_, file("model.npz"));
    finish(fmt::format("federated, {} clients", clients_));
    return true;
  }

  /// The same program with one client, which holds all rows.
  void central() {
    initialise(trainer_, o_.seed);
    before_ = {};
    seconds_ = 0;
    bytes_ = 0;
    if (session_.root()) metrics_.emplace(file("central.csv"));
    evaluate(0);
    begin(0);
    for (int r = 1; r <= o_.rounds; ++r) {
      time([&] { trainer_.central_round(); });
      if (r == o_.rounds || r % o_.eval_every == 0) evaluate(static_cast<std::uint64_t>(r));
    }
    finish("all data in one place");
  }

 private:
  [[nodiscard]] std::filesystem::path file(const char* name) const { return o_.out / name; }

  bool lock() {
    lock_.emplace(o_.out);
    return true;
  }
  bool open(std::uint64_t done, const std::string& info) {
    if (o_.resume) {
      metrics_.emplace(file("metrics.csv"), done);
      before_ = *metrics_->last();
    } else {  // nothing of an earlier run stays, which a later --resume could take for its own
      for (const char* old : {"checkpoint", "model.npz", "central.csv", "curve.png"})
        std::filesystem::remove(file(old));
      metrics_.emplace(file("metrics.csv"));
    }
    write_atomically(file("run.json"), info);
    return true;
  }
  void begin(std::uint64_t done) {
    if (session_.root()) progress_.emplace(o_.rounds, static_cast<int>(done));
  }
  template <class Work>
  void time(Work work) {
    const auto bytes = session_.communicator().bytes_sent();
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    bytes_ += static_cast<double>(session_.communicator().bytes_sent() - bytes);
  }
  void evaluate(std::uint64_t round) {
    const score train = trainer_.on_training_rows(), test = trainer_.on_test_rows();
    double bytes = bytes_;  // of all ranks
    session_.communicator().all_sum(&bytes, 1);
    if (!std::isfinite(train.loss))
      throw std::runtime_error(fmt::format("the loss is {} after round {}: try a smaller --rate", train.loss, round));
    if (!session_.root()) return;
    metrics_->append({.round = round,
                      .train_loss = train.loss,
                      .test_loss = test.loss,
                      .test_accuracy = test.accuracy,
                      .seconds = before_.seconds + seconds_,
                      .bytes_reduced = before_.bytes_reduced + static_cast<std::uint64_t>(bytes)});
    if (progress_)
      progress_->update(static_cast<int>(round), fmt::format("test accuracy {:.1f}%", 100 * test.accuracy));
  }
  void checkpoint(std::uint64_t round) {
    if (!session_.root()) return;
    metrics_->sync();
    examples::checkpoint state{
        .fingerprint = fingerprint_, .round = round, .sizes = sizes_of(trainer_), .parameters = {}};
    for (const auto& p : trainer_.parameters())
      state.parameters.insert(state.parameters.end(), p.values.begin(), p.values.end());
    save(file("checkpoint"), state);
  }
  void finish(const std::string& what) {
    if (!session_.root()) return;
    const metrics_row& last = *metrics_->last();
    print(stdout,
          fmt::format(
              "{}: test accuracy {:.2f}%, test loss {:.4f} after {} rounds of {} steps, {:.1f} s, {} bytes reduced\n",
              what, 100 * last.test_accuracy, last.test_loss, last.round, o_.local_steps, last.seconds,
              last.bytes_reduced));
    progress_.reset();
  }

  drx::session& session_;
  const options& o_;
  trainer& trainer_;
  std::string fingerprint_;
  std::size_t clients_;
  std::optional<folder_lock> lock_;        // on the root rank
  std::optional<metrics_writer> metrics_;  // on the root rank
  std::optional<progress> progress_;       // on the root rank
  metrics_row before_;                     // spent before this run
  double seconds_ = 0, bytes_ = 0;         // spent in this run
};

void describe(const options& o, const input& in, const drx::session& session) {
  std::size_t smallest = in.rows.train.rows(), largest = 0;
  for (std::size_t c = 0; c < in.clients.clients(); ++c) {
    smallest = std::min(smallest, in.clients.rows_of(c).size());
    largest = std::max(largest, in.clients.rows_of(c).size());
  }
  print(
      stdout,
      fmt::format(
          "{}: {} rows to train on, {} to test; {} clients with {} to {} rows, {} in each round; {} ranks x {} threads\n",
          o.data, in.rows.train.rows(), in.rows.test.rows(), in.clients.clients(), smallest, largest,
          participants(in.clients.clients(), o.participation, o.seed, 1).size(), session.ranks(), session.threads()));
}

int train(drx::session& session, const options& o) {
  const environment where{.mpi = drx::session::mpi_version(),
                          .backend = drx::session::kokkos_version(),
                          .ranks = session.ranks(),
                          .threads = session.threads()};
  if (o.device && !drx::kokkos_device<>::is_gpu) {
    if (session.root())
      print(stderr, fmt::format("fedavg: --device: this Kokkos ({}) has no GPU; docs/devices.md says how to get one\n",
                                drx::session::kokkos_version()));
    return 2;
  }
  if (o.info) {
    if (session.root()) print(stdout, run_info(chosen(o), where).dump(2) + "\n");
    return printed_all("fedavg");
  }
  const auto in = on_all_ranks(session, "fedavg", [&] { return read(o); });
  if (!in) return 1;
  session.communicator().require_equal(in->checksum, "the data's checksum");
  const auto t = make_trainer(session, o, *in);
  if (o.show) {
    if (session.root()) print(stdout, t->program());
    return printed_all("fedavg");
  }
  if (session.root()) describe(o, *in, session);
  run r(session, o, *in, *t);
  if (!r.federated(run_info(chosen(o), where).dump(2) + "\n")) return 1;
  if (o.central) r.central();
  return printed_all("fedavg");
}

}  // namespace
}  // namespace fedavg

int main(int argc, char** argv) {
  const auto parsed = fedavg::parse(argc, argv);
  const auto* o = std::get_if<fedavg::options>(&parsed);
  drx::session session = examples::start(argv[0], o ? o->threads : 1);
  if (o) return fedavg::train(session, *o);
  const auto& [code, text] = std::get<fedavg::stop>(parsed);
  if (session.root()) examples::print(code == 0 ? stdout : stderr, text);
  return code == 0 ? examples::printed_all("fedavg") : code;
}
