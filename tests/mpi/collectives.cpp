// ranks: 1 2 3
// options: -O0
// What programs say to the other ranks: how many collectives a call takes, and how many bytes each rank gives to them.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct schools : drx::placement<schools> {};
struct rows : drx::placement<rows> {};
using v3 = array<double, 3>;
using at_clients = placed<v3, clients>;

/// Counts by kind what goes through to another communicator.
class counting final : public drx::communicator {
 public:
  explicit counting(drx::communicator& to) : to_(to) {}
  int gathers = 0, sums = 0, exchanges = 0, comparisons = 0;
  std::int64_t bytes = 0;  // given by this rank

  [[nodiscard]] int rank() const override { return to_.rank(); }
  [[nodiscard]] int size() const override { return to_.size(); }
  void all_gather(std::byte* data, std::span<const std::int64_t> b, std::span<const std::int64_t> o) override {
    ++gathers;
    bytes += b[static_cast<std::size_t>(rank())];
    to_.all_gather(data, b, o);
  }
  void all_sum(float* data, std::int64_t n) override { count_sum(data, n); }
  void all_sum(double* data, std::int64_t n) override { count_sum(data, n); }
  void exchange(std::span<const drx::message> sent, std::span<const drx::message> received) override {
    ++exchanges;
    for (const auto& m : sent) bytes += m.bytes;
    to_.exchange(sent, received);
  }
  void require_equal(std::int64_t value, const char* what) override {
    ++comparisons;
    to_.require_equal(value, what);
  }
  [[nodiscard]] std::unique_ptr<drx::communicator> split(int color) override { return to_.split(color); }
  [[nodiscard]] bool checks_calls() const override { return true; }
  [[nodiscard]] std::int64_t bytes_sent() const override { return to_.bytes_sent(); }
  [[nodiscard]] std::int64_t collectives() const override { return to_.collectives(); }

 private:
  template <class T>
  void count_sum(T* data, std::int64_t n) {
    ++sums;
    bytes += n * static_cast<std::int64_t>(sizeof(T));
    to_.all_sum(data, n);
  }
  drx::communicator& to_;
};

/// A call of P with two members on each rank, which make one subtree: one node of `bytes` in all collectives together.
template <class P>
void check(const char* name, int collectives, int bytes, drx::reduction_order order = drx::reduction_order::tree) {
  CAPTURE(name);
  counting c(harness::session().communicator());
  drx::serial_executor e;
  drx::compiled<P> p(e, c, {.order = order});
  const auto in = harness::random_inputs<P>({.members = 2 * c.size()});
  const auto before = c.collectives();
  c.comparisons = 0;
  (void)harness::call(p, c, in);
  const bool alone = c.size() == 1;
  CHECK(c.gathers + c.sums + c.exchanges == (alone ? 0 : collectives));
  CHECK((order == drx::reduction_order::fast ? c.gathers : c.sums) == 0);
  CHECK(c.collectives() - before == (alone ? 0 : collectives));
  CHECK(c.bytes == (alone ? 0 : bytes));
  CHECK(c.comparisons == (alone ? 0 : 1));  // of the members, and at this first call of the unplaced arguments
}

constexpr auto squared = [](auto w, auto x) {
  const auto d = drx::tanh(w * x) - x;
  return drx::sum(d * d);
};
constexpr auto loss = [](auto w, auto x) { return drx::reduce_mean(drx::map(squared, drx::broadcast<clients>(w), x)); };
constexpr auto loss_slope = [](auto w, auto x) { return drx::grad(loss)(w, x); };
constexpr auto loss_both = [](auto w, auto x) { return drx::value_and_grad(loss)(w, x); };
constexpr auto two_at_once = [](auto x) {
  return std::pair{drx::reduce_sum(drx::map([](auto v) { return drx::sum(v); }, x)), drx::reduce_max(x)};
};

// Three broadcasts and three reductions, each of what the one before gave.
constexpr auto step = [](auto w, auto x) {
  return drx::reduce_mean(drx::map([](auto a, auto b) { return drx::tanh(a * b); }, drx::broadcast<clients>(w), x));
};
constexpr auto chain = [](auto w, auto x) { return drx::sum(step(step(step(w, x), x), x)); };
constexpr auto chain_slope = [](auto w, auto x) { return drx::grad(chain)(w, x); };
constexpr auto chain_both = [](auto w, auto x) { return drx::value_and_grad(chain)(w, x); };
constexpr auto rounds = [](auto w, auto x) { return drx::fori_loop<3>(w, [&](auto v) { return step(v, x); }); };

// The loss after a round of K local steps, and its derivative in their rate.
template <int K>
constexpr auto after_round = [](auto rate, auto w, auto x) {
  const auto trained = drx::reduce_mean(drx::map(
      [](auto m, auto r, auto own) {
        return drx::fori_loop<K>(m, [=](auto v) { return v - r * drx::grad(squared)(v, own); });
      },
      drx::broadcast<clients>(w), drx::broadcast<clients>(rate), x));
  return loss(trained, x);
};
template <int K>
constexpr auto hypergradient =
    [](auto rate, auto w, auto x) { return drx::value_and_grad(after_round<K>)(rate, w, x); };

constexpr auto weighted = [](auto x, auto w) { return drx::reduce_weighted_mean(x, w); };
constexpr auto weighted_slopes = [](auto x, auto w) {
  return drx::grad<0, 1>([](auto a, auto b) { return drx::sum(drx::square(weighted(a, b))); })(x, w);
};
constexpr auto nested = [](auto w, auto data) {
  return drx::reduce_mean(
      drx::map([](auto v, auto own) { return drx::reduce_mean(drx::map(squared, drx::broadcast<rows>(v), own)); },
               drx::broadcast<clients>(w), data));
};
constexpr auto nested_both = [](auto w, auto data) { return drx::value_and_grad(nested)(w, data); };
constexpr auto two_placements = [](auto w, auto x, auto y) {
  return loss(w, x) + drx::reduce_sum(drx::map(squared, drx::broadcast<schools>(w), y));
};
constexpr auto two_placements_both = [](auto w, auto x, auto y) {
  return drx::value_and_grad(two_placements)(w, x, y);
};
constexpr auto largest_slope = [](auto x) {
  return drx::grad([](auto v) { return drx::sum(drx::square(drx::reduce_max(v))); })(x);
};
constexpr auto product = [](auto x) {
  return drx::reduce_with(
      drx::monoid{[](auto a, auto b) { return a * b; }, 1, [](auto v, auto y, auto ct) { return ct * y / v; }}, x);
};
constexpr auto product_slope = [](auto x) { return drx::grad([](auto v) { return drx::sum(product(v)); })(x); };
}  // namespace

TEST_CASE("collectives and bytes of a call") {
  // A reduction is one collective; those of one level, of one placement, share it. Values of 3 doubles are 24 bytes.
  //                                                       collectives  bytes
  check<program<loss, v3, at_clients>>("a mean over clients", 1, 8);
  check<program<loss_slope, v3, at_clients>>("its gradient", 1, 24);
  check<program<loss_both, v3, at_clients>>("value and gradient", 1, 32);
  check<program<two_at_once, at_clients>>("two reductions", 1, 32);
  check<program<chain, v3, at_clients>>("three rounds", 3, 72);
  check<program<chain_slope, v3, at_clients>>("its gradient: two rounds forward, three back", 5, 120);
  check<program<chain_both, v3, at_clients>>("with the value, the third round beside the first back", 5, 144);
  check<program<rounds, v3, at_clients>>("a loop of three rounds", 3, 72);
  check<program<after_round<1>, double, v3, at_clients>>("the loss after a round", 2, 32);
  check<program<hypergradient<1>, double, v3, at_clients>>("its derivative in the rate: model; loss and slope; rate", 3,
                                                           64);
  check<program<hypergradient<4>, double, v3, at_clients>>("of four local steps the same", 3, 64);
  check<program<weighted, at_clients, placed<double, clients>>>("a weighted mean", 1, 32);
  check<program<weighted_slopes, at_clients, placed<double, clients>>>(
      "its gradients in values and weights, which stay where they are", 1, 32);
  check<program<largest_slope, at_clients>>("the gradient of a maximum: it, who attains it first, and how many do", 2,
                                            96);
  check<program<product, at_clients>>("a product", 1, 24);
  check<program<product_slope, at_clients>>("its gradient", 1, 24);
  check<program<nested, v3, placed<placed<v3, rows>, clients>>>("rows of clients", 1, 8);
  check<program<nested_both, v3, placed<placed<v3, rows>, clients>>>("value and gradient", 1, 32);
  check<program<two_placements, v3, at_clients, placed<v3, schools>>>("clients and schools", 2, 16);
  check<program<two_placements_both, v3, at_clients, placed<v3, schools>>>("value and gradient", 2, 64);
  check<program<loss_both, v3, at_clients>>("in the fast order", 1, 32, drx::reduction_order::fast);
}
