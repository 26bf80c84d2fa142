// shallow_water: waves in a rotating basin, and the search for the water from which they came.
// programs: shallow_water::observation shallow_water::search
#include "shallow_water.hpp"

#include <optional>

#include "../common/application.hpp"
#include "../common/checkpoint.hpp"
#include "../common/files.hpp"
#include "../common/npz.hpp"
#include "../common/output.hpp"
#include "basin.hpp"

namespace shallow_water {
namespace {

using examples::application, examples::measures;

struct settings : examples::options {
  settings() { rounds = 40; }
  deviations of{.depth = 1, .velocity = 0.5, .noise = 0.1};
  int checkpoint_every = 10;
  bool resume = false;
};

struct input {
  std::string fingerprint;
  std::optional<examples::checkpoint_of<double>> before;
};

const std::vector<std::uint64_t> sizes_of_search(3, size.strips* water::size);

/// What decides what the search computes.
std::string fingerprint(const nlohmann::ordered_json& chosen) {
  std::string text;
  for (const char* name : {"seed", "depth_error", "velocity_error", "noise"})
    text += fmt::format("{}={}\n", name, chosen.at(name).dump());
  return text + fmt::format("strips={}\nrows={}\ncolumns={}\nsteps={}\nreadings={}\nsweeps={}\n", size.strips,
                            size.rows, size.columns, size.steps, size.readings, size.sweeps);
}

input read(const settings& o, const nlohmann::ordered_json& chosen) {
  input in{.fingerprint = fingerprint(chosen), .before = {}};
  if (o.resume) in.before = examples::load_doubles(o.out / "checkpoint", in.fingerprint, sizes_of_search);
  return in;
}

/// water.npz: each water at three times, as times x fields x rows x columns.
void write_waters(const std::filesystem::path& path, const std::vector<std::pair<std::string, forecast_of>>& waters) {
  std::vector<std::vector<float>> values;
  for (const auto& [name, f] : waters) {
    auto& to = values.emplace_back();
    for (const numbers* time : {&f.start, &f.end, &f.later})
      for (std::size_t field = 0; field < 3; ++field)
        for (std::size_t strip = 0; strip < size.strips; ++strip)
          for (std::size_t k = 0; k < size.rows * size.columns; ++k)
            to.push_back(static_cast<float>((*time)[(3 * strip + field) * size.rows * size.columns + k]));
  }
  std::vector<examples::npz_array> arrays;
  for (std::size_t i = 0; i < waters.size(); ++i)
    arrays.push_back({waters[i].first, {3, 3, size.strips * size.rows, size.columns}, values[i]});
  examples::write_npz(path, arrays);
}

void search_for(application& app, const settings& o, const input& in) {
  basin b(app.session, o.seed, o.of);
  int done = 0;
  auto at = in.before ? b.continued(in.before->parameters) : b.first();
  if (in.before) {
    done = static_cast<int>(in.before->round);
    app.continue_curves("search", done);
  }
  app.session.communicator().require_equal(static_cast<std::int64_t>(done), "the checkpoint's round");

  const auto truth = b.forecast(b.truth()), guess = b.forecast(b.guess());
  auto now = b.step(at);
  const auto measured = [&]() -> measures {
    const auto found = b.whole(now.from);
    return {{"misfit", now.misfit},
            {"cost", now.cost},
            {"depth_error", depth_error(found, truth.start)},
            {"velocity_error", velocity_error(found, truth.start)}};
  };
  app.run(
      "search", o.rounds,
      [&](int round) {
        if (round > 0) {
          at = now.next;
          now = b.step(at);
        }
        return measured();
      },
      [&](int round) {
        if (o.checkpoint_every == 0 || !(round == o.rounds || round % o.checkpoint_every == 0)) return;
        app.save_curves();
        const auto all = b.saved(at);
        if (app.session.root())
          examples::save_doubles(o.out / "checkpoint",
                                 {in.fingerprint, static_cast<std::uint64_t>(round), sizes_of_search, all});
      },
      done);

  nlohmann::ordered_json last;  // also where the checkpoint left nothing to do
  for (const auto& [quantity, value] : measured()) last[quantity] = value;
  app.result("search", last);
  const auto found = b.forecast(now.from);
  for (const auto& [name, f] : {std::pair{"of_first_guess", &guess}, std::pair{"of_search", &found}})
    app.result(name, {{"depth_error_at_start", depth_error(f->start, truth.start)},
                      {"at_end", depth_error(f->end, truth.end)},
                      {"later", depth_error(f->later, truth.later)}});
  app.result("mass_drift", std::abs(found.mass_drift));
  app.result("energy_drift", std::abs(found.energy_drift));
  const auto readings = b.table_of_readings();
  if (!app.session.root()) return;
  examples::write_atomically(o.out / "readings.csv", readings);
  write_waters(o.out / "water.npz", {{"truth", truth}, {"first_guess", guess}, {"found", found}});
}

}  // namespace
}  // namespace shallow_water

int main(int argc, char** argv) {
  shallow_water::settings o;
  examples::command_line line("shallow_water",
                              "Waves in a rotating basin; from depths that are read here and there, the water is found "
                              "from which they came.");
  o.add_to(line);
  line.number("--seed", o.seed, 0, UINT64_MAX, "seed of eddies, first guess, places and noise of readings");
  line.number("--depth-error", o.of.depth, 1e-6, 1e3, "expected error of the first guess's depths, in m");
  line.number("--velocity-error", o.of.velocity, 1e-6, 1e3, "and of its velocities, in m/s");
  line.number("--noise", o.of.noise, 1e-6, 1e3, "error of readings, in m");
  line.number("--checkpoint-every", o.checkpoint_every, 0, 1'000'000, "rounds between checkpoints, 0: none");
  line.flag("--resume", o.resume, "continue from the checkpoint in the --out folder");
  shallow_water::input in;
  o.prepare = [&] { in = shallow_water::read(o, line.chosen()); };
  return examples::run_example(argc, argv, line, o,
                               [&](examples::application& app) { shallow_water::search_for(app, o, in); });
}
