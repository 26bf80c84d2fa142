// tour: five small programs that users of JAX have seen before, on any number of ranks.
// programs: tour::Convolutions tour::Complex tour::Update tour::Measure tour::Train tour::Batches tour::Shares
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "tour.hpp"

namespace {

template <class T, std::int64_t... E>
std::vector<T> list(const drx::array<T, E...>& x) {
  return {x.begin(), x.end()};
}
template <class A>
A counting() {
  A x;
  for (std::int64_t i = 0; i < A::size; ++i) x[i] = static_cast<typename A::value_type>(i);
  return x;
}
template <class A>
void print_rows(const A& x) {  // of an array of rank 2
  for (std::int64_t i = 0; i < A::shape[0]; ++i)
    fmt::print("{}{:g}{}\n", i ? " [" : "[[",
               fmt::join(x.data() + i * A::shape[1], x.data() + (i + 1) * A::shape[1], ", "),
               i + 1 < A::shape[0] ? "]," : "]]");
}

nlohmann::json run(drx::session& s) {
  nlohmann::json out;
  const bool root = s.root();

  auto convolve = s.compile<tour::Convolutions>();
  const auto [one, batched, parallel] = convolve(counting<drx::array<float, 5>>(), drx::array<float, 3>{2, 3, 4});
  out["convolve"] = {list(one), list(batched), list(parallel)};
  if (root) {
    fmt::print("convolve(x, w)\n[{:g}]\n\nvmap(convolve)(xs, ws)\n", fmt::join(one, ", "));
    print_rows(batched);
    fmt::print("\npmap(convolve)(xs, ws)\n");
    print_rows(parallel);
  }

  auto complex = s.compile<tour::Complex>();
  const auto result = complex(counting<drx::array<float, 2, 4>>());
  out["complex_computation"] = list(result);
  if (root) {
    fmt::print("\npmap(complex_computation)(data)\nResult shape: (2, 4)\n");
    print_rows(result);
  }

  auto measure = s.compile<tour::Measure>();
  auto update = s.compile<tour::Update>();
  auto train = s.compile<tour::Train>();
  const auto x = counting<drx::array<float, 2, 4>>();
  const auto y = measure(x, std::int64_t{0});
  const auto [loss, slope] = update(tour::params{2, 1}, x, y);
  const auto [w, b] = train(tour::params{2, 1}, x, y);
  const float rest = update(tour::params{w, b}, x, y).first;
  out["measured"] = list(y);
  out["update"] = {loss, slope.first, slope.second};
  out["trained"] = {w, b, rest};
  if (root) {
    fmt::print("\nAverage Loss across devices: {:.4f}\nAveraged Gradients (dw, db): ({:.4f}, {:.4f})\n", loss,
               slope.first, slope.second);
    fmt::print("After 2000 steps: w = {:.4f}, b = {:.4f}, loss {:.4f}\n", w, b, rest);
  }

  auto batches = s.compile<tour::Batches>();
  const auto processed = batches(counting<drx::array<float, 2, 3, 4>>());
  out["process_batches"] = list(processed);
  if (root)
    fmt::print(
        "\npmap(vmap(process_item))(data)\nInput data shape per device: (3, 4)\nOutput result shape: (2, 3, 4)\n");

  auto share = s.compile<tour::Shares>();
  const auto [of_row, of_column] = share(counting<drx::array<float, 2, 3>>());
  out["shares"] = {list(of_row), list(of_column)};
  if (root) {
    fmt::print("\npmap(pmap(shares))(data)\nof the row\n");
    print_rows(of_row);
    fmt::print("of the column\n");
    print_rows(of_column);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("vmap, pmap, grad and collectives in five small programs that users of JAX have seen before.", "tour");
  std::string file;
  app.add_option("--out", file, "also write all numbers to this JSON file");
  CLI11_PARSE(app, argc, argv);
  drx::session session(argc, argv);
  const nlohmann::json numbers = run(session);
  if (file.empty() || !session.root()) return 0;
  std::ofstream out(file);
  out << numbers.dump(1) << '\n';
  out.close();
  if (!out) throw std::runtime_error("tour: cannot write " + file);
}
