// ADOL-C: with the tape made anew for each call, and with one that is replayed (valid for the branches that were
// taken).
#include "rows.hpp"

#include <adolc/adolc.h>

#include <memory>

namespace adbench {

namespace {

enum tape : short { of_mixture, of_lstm, of_bundle, of_simple, of_complicated };

template <std::size_t N, class F>
void record(short tag, const std::array<double, N>& x, F f) {
  trace_on(tag, 1);
  auto in = std::make_unique<std::array<adouble, N>>();
  for (std::size_t i = 0; i < N; ++i) (*in)[i] <<= x[i];
  auto y = f(*in);
  double ignored;
  if constexpr (requires { y.size(); }) {
    for (auto& v : y) v >>= ignored;
  } else {
    y >>= ignored;
  }
  trace_off();
}
template <std::size_t N, class F>
void add_gradient(bench::suite& suite, const char* row, short tag, const std::array<double, N>& x, F f) {
  using vector = std::array<double, N>;
  const auto sweep = [&x, tag](vector& g) { gradient(tag, static_cast<int>(N), x.data(), g.data()); };
  add<vector>(suite, row, "ADOL-C, taped anew", [=, &x](vector& g) {
    record(tag, x, f);
    sweep(g);
  });
  record(static_cast<short>(tag + 10), x, f);
  add<vector>(suite, row, "ADOL-C, replayed",
              [=, &x](vector& g) { gradient(static_cast<short>(tag + 10), static_cast<int>(N), x.data(), g.data()); });
}
template <std::size_t M, std::size_t N>
void replay(short tag, const std::array<double, N>& x, std::array<double, N>* j) {
  std::array<double*, M> rows;
  for (std::size_t o = 0; o < M; ++o) rows[o] = j[o].data();
  jacobian(tag, static_cast<int>(M), static_cast<int>(N), x.data(), rows.data());
}
template <class Track>
void add_hand(bench::suite& suite, const char* row, short tag, const Track& f, const inputs& in) {
  const auto x = place_of<Track>(in);
  record(tag, x, f);
  add<typename Track::jacobian>(suite, row, "ADOL-C, replayed",
                                [=](auto& j) { replay<Track::outputs>(tag, x, j.data()); });
}

}  // namespace

void add_adolc(bench::suite& suite, const inputs& in) {
  add_gradient(suite, mixture_row, of_mixture, in.theta,
               [&](const auto& t) { return in.of_points.value(t, in.points); });
  add_gradient(suite, lstm_row, of_lstm, in.weights, [&](const auto& w) { return in.text(w); });
  record(of_bundle, in.observations[0], in.view);
  add_bundles(suite, in, "ADOL-C, replayed",
              [](const auto&, const auto& x, auto& j) { replay<2>(of_bundle, x, j.data()); });
  add_hand(suite, simple_row, of_simple, in.simple, in);
  add_hand(suite, complicated_row, of_complicated, in.complicated, in);
}

}  // namespace adbench
