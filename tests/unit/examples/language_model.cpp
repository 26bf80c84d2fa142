// The decoder's derivative, that it sees no letter before its time, what a round computes, and the texts around it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <drx/run/check/check_grads.hpp>
#include <drx/run/check/interpreter.hpp>
#include <examples/common/parameters.hpp>
#include <examples/language_model/language_model.hpp>
#include <examples/language_model/ngram.hpp>
#include <examples/language_model/text.hpp>

#include "folder.hpp"
#include "harness/difference.hpp"

namespace {

using namespace language_model;

constexpr sizes small{.width = 4, .heads = 2, .context = 4, .layers = 2, .letters = 5};
using small_model = transformer<small>;

template <class Model = small_model>
Model model_of(double seed) {
  Model m;
  double k = 100 * seed;
  examples::for_each_array(m, [&](auto values) {
    for (auto& v : values) v = static_cast<float>(0.5 * std::sin(1.7 * ++k));
  });
  return m;
}
template <class Texts>
Texts texts_of(int seed) {
  Texts t;
  int k = seed;
  for (auto& letter : t) letter = (k = (7 * k + 3) % 31) % small.letters;
  return t;
}
template <class Model>
double largest_difference(Model a, Model b) {
  std::vector<float> x, y;
  examples::append(x, a);
  examples::append(y, b);
  return harness::largest_difference(x, y);
}

}  // namespace

TEST_CASE("language_model: the gradient agrees with differences") {
  using texts_of_batch = drx::array<std::int32_t, 2, small.context + 1>;
  using loss = drx::program<mean_loss<small>, small_model, texts_of_batch>;
  const auto report = drx::check_grads<loss>(model_of(1), texts_of<texts_of_batch>(1));
  CHECK_MESSAGE(report.ok(), report.text());
  CHECK(report.checks > 0);
  CHECK(report.unclear == 0);
}

TEST_CASE("language_model: a letter changes no loss before it, and one after it") {
  using one_text = drx::array<std::int32_t, 1, small.context + 1>;
  using all_losses = drx::program<losses<small>, small_model, one_text>;
  const auto m = model_of(2);
  auto text = texts_of<one_text>(3);
  const auto before = drx::interpreter::call<all_losses>(m, text);
  text(0, 2) = (text(0, 2) + 1) % small.letters;  // what loss 1 is to predict, and loss 2 reads
  const auto after = drx::interpreter::call<all_losses>(m, text);
  CHECK(before(0, 0) == after(0, 0));
  CHECK(before(0, 1) != after(0, 1));
  CHECK(before(0, 2) != after(0, 2));
  CHECK(before(0, 3) != after(0, 3));
}

TEST_CASE("language_model: clients of equal models average to the model that one of them trains") {
  using batches = drx::array<std::int32_t, 2, 2, small.context + 1>;
  using work = std::tuple<batches, drx::scalar<float>>;
  using alone = drx::program<train_sgd<small>, small_model, float, batches>;
  using by_fedavg = drx::program<fedavg_round<small>, small_model, float, drx::placed<work, clients>>;
  using adamw_state = drx::host_t<std::pair<small_model, drx::optimizer_state<drx::adamw, small_model>>>;
  using by_diloco = drx::program<diloco_round<small>, adamw_state, small_model, std::tuple<float, float, float>,
                                 drx::placed<work, clients>>;
  using alone_adamw = drx::program<train_adamw<small>, adamw_state, float, batches>;
  const auto m = model_of(3);
  const auto own = texts_of<batches>(5), other = texts_of<batches>(11);

  const auto [trained, loss] = drx::interpreter::call<alone>(m, 0.1f, own);
  CHECK(largest_difference(trained, m) > 1e-3);
  const auto [mean, mean_loss_of_clients] =
      drx::interpreter::call<by_fedavg>(m, 0.1f, std::vector<work>{{own, 3.0f}, {own, 1.0f}});
  CHECK(largest_difference(mean, trained) < 1e-6);
  CHECK(float(mean_loss_of_clients) == doctest::Approx(float(loss)));
  const auto [weighted, ignored] =
      drx::interpreter::call<by_fedavg>(m, 0.1f, std::vector<work>{{own, 1.0f}, {other, 0.0f}});
  CHECK(largest_difference(weighted, trained) < 1e-6);

  const adamw_state start{m, {}};
  const auto [by_adamw, its_loss] = drx::interpreter::call<alone_adamw>(start, 0.01f, own);
  const auto [next, moved, loss_of_clients] = drx::interpreter::call<by_diloco>(
      start, small_model{}, std::tuple{0.01f, 1.0f, 0.0f}, std::vector<work>{{own, 3.0f}, {own, 1.0f}});
  CHECK(largest_difference(next, by_adamw) < 1e-6);
  CHECK(largest_difference(std::get<0>(next), trained) > 1e-3);
  CHECK(float(std::get<2>(next.second)) == 2);
}

TEST_CASE("language_model: texts are read by owner, and their ends held out") {
  const test_folder folder;
  const auto path = folder.file("t.tsv", "B\tabcdefg\nA\t12345678\nB\thijklmn\n");
  const auto owners = read_owners(path, 0.25, 2);
  REQUIRE(owners.size() == 2);
  CHECK(owners[0].name == "B");
  const auto text = [](const letter_string& of) {
    std::string bytes;
    for (const auto letter : of) bytes += byte_of(letter);
    return bytes;
  };
  CHECK(text(owners[0].train) == "abcdefg\nhijk");
  CHECK(text(owners[0].held_out) == "lmn\n");
  CHECK(text(owners[1].train) == "123456");
  const auto error = [&](const char* content, std::size_t shortest) {
    return what_is_thrown(folder,
                          [&] { static_cast<void>(read_owners(folder.file("t.tsv", content), 0.25, shortest)); });
  };
  CHECK(error("", 1) == "t.tsv: is empty");
  CHECK(error("A\tb\nno name\n", 1) == "t.tsv:2: has no tab after a name");
  CHECK(error("A\t1234567\n", 3) ==
        "t.tsv: the text of A is too short: 6 letters to train on, 2 held out; the model needs 3 of both");
  CHECK(byte_of(letter_of('\xe9')) == '?');
}

TEST_CASE("language_model: second halves of pieces cover a text once") {
  CHECK(pieces(8, 8).empty());
  CHECK(pieces(9, 8) == std::vector<std::size_t>{0});
  CHECK(pieces(20, 8) == std::vector<std::size_t>{0, 4, 8});
  CHECK(pieces(100, 8, 3) == std::vector<std::size_t>{0, 28, 60});
}

TEST_CASE("language_model: probabilities by counts") {
  const std::vector<std::uint8_t> text{0, 1, 0, 1, 0, 2};
  ngram counts(2, 4);
  counts.learn(text);
  for (std::size_t i : {0u, 1u, 2u}) {
    double sum = 0;
    for (std::uint8_t letter = 0; letter < 4; ++letter) {
      auto changed = text;
      changed[i] = letter;
      sum += counts.probability(changed, i);
    }
    CHECK(sum == doctest::Approx(1));
  }
  // After no letter: seen 6 times, 3 different. After 0: 1 twice and 2 once, 2 different.
  CHECK(counts.probability(text, 0) == doctest::Approx((3 + 3 * 0.25) / 9));
  CHECK(counts.probability(text, 1) == doctest::Approx((2 + 2 * (2 + 3 * 0.25) / 9) / 5));
}
