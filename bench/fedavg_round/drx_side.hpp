// bench/fedavg_round/drx_side.hpp: the round in drx, as a user writes it.
#pragma once

#include "inputs.hpp"

#include <drx/ext/hana.hpp>
#include <drx/run.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace fedavg {
namespace program {

struct clients : drx::placement<clients> {};

struct model {
  drx::array<float, features, hidden> w1;
  drx::array<float, hidden> b1;
  drx::array<float, hidden, classes> w2;
  drx::array<float, classes> b2;
};
struct rows {
  drx::array<float, batch, features> x;
  drx::array<float, batch, classes> y;
};

}  // namespace program
}  // namespace fedavg
BOOST_HANA_ADAPT_STRUCT(fedavg::program::model, w1, b1, w2, b2);
BOOST_HANA_ADAPT_STRUCT(fedavg::program::rows, x, y);

namespace fedavg::program {

inline constexpr auto loss = [](auto m, auto d) {
  auto h = drx::tanh(drx::matmul(d.x, m.w1) + m.b1);
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(h, m.w2) + m.b2, d.y));
};
inline constexpr auto local_sgd = [](auto m, auto r, auto d) {
  return drx::fori_loop<steps>(m, [=](auto now) { return now - r * drx::grad(loss)(now, d); });
};
inline constexpr auto round = [](auto m, auto r, auto data) {
  return drx::reduce_mean(drx::map(local_sgd, drx::broadcast<clients>(m), drx::broadcast<clients>(r), data));
};
using Round = drx::program<round, model, float, drx::placed<rows, clients>>;

/// One batch for each step.
using batches = drx::batched<rows, steps>;
inline constexpr auto sgd_over_batches = [](auto m, auto r, auto d) {
  return drx::scan([=](auto now, auto b) { return std::pair{now - r * drx::grad(loss)(now, b), std::tuple{}}; }, m, d)
      .first;
};
inline constexpr auto round_over_batches = [](auto m, auto r, auto data) {
  return drx::reduce_mean(drx::map(sgd_over_batches, drx::broadcast<clients>(m), drx::broadcast<clients>(r), data));
};
using RoundOverBatches = drx::program<round_over_batches, model, float, drx::placed<batches, clients>>;

}  // namespace fedavg::program

namespace fedavg {

inline auto arrays(program::rows& r) { return std::tie(r.x, r.y); }
inline auto arrays(program::batches& b) { return std::tie(std::get<0>(b.leaf), std::get<1>(b.leaf)); }

/// The data of n clients, placed.
template <class Data = program::rows>
drx::partitions<Data, program::clients> place(drx::session& session, const inputs& in, std::int64_t n) {
  return session.place<program::clients>(n, [&](std::int64_t i) {
    Data d;
    auto [x, y] = arrays(d);
    std::copy_n(in.x.data() + static_cast<std::size_t>(i) * x.size, x.size, x.data());
    std::copy_n(in.y.data() + static_cast<std::size_t>(i) * y.size, y.size, y.data());
    return d;
  });
}

inline const program::model& as_model(const params& p) {
  static_assert(sizeof(program::model) == sizeof(params));
  return reinterpret_cast<const program::model&>(p);
}

template <class Round, class Data>
class drx_side {
 public:
  drx_side(drx::session& session, const inputs& in)
      : session_(session), data_(place<Data>(session, in, clients)), round_(session.compile<Round>()) {}

  void round(const params& from, params& out) {
    round_.call(reinterpret_cast<program::model&>(out), as_model(from), rate, data_);
  }
  std::size_t temp_bytes() const {
    return static_cast<std::size_t>(round_.server_bytes() + session_.threads() * round_.thread_bytes());
  }

 private:
  drx::session& session_;
  drx::partitions<Data, program::clients> data_;
  drx::compiled<Round> round_;
};

}  // namespace fedavg
