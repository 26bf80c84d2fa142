// Two rounds where one is wanted.
// expect: more_than_one_broadcast_and_reduce
// expect: a federated round has one broadcast and one reduction
// needs: run
#include <drx/drx.hpp>
#include <drx/engines/form.hpp>

struct rows : drx::placement<rows> {};
using weights = drx::array<double, 2>;
constexpr auto round_of = [](auto w, auto x) {
  return drx::reduce_mean(drx::map([](auto v, auto row) { return v * row; }, drx::broadcast<rows>(w), x));
};
constexpr auto two_rounds = [](auto w, auto x) { return round_of(round_of(w, x), x); };
using Round = drx::program<round_of, weights, drx::placed<weights, rows>>;
using TwoRounds = drx::program<two_rounds, weights, drx::placed<weights, rows>>;

bool checked() {
  return drx::require_federated_round<TwoRounds>();
  // correct: return drx::require_federated_round<Round>();
}
