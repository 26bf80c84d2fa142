// bench/fedavg_round/drx_side.hpp: the round in drx, as a user writes it.
#pragma once

#include "inputs.hpp"

#include <drx/ext/hana.hpp>
#include <drx/run.hpp>

#include <algorithm>

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

}  // namespace fedavg::program

namespace fedavg {

/// The data of n clients, placed.
inline drx::partitions<program::rows, program::clients> place(drx::session& session, const inputs& in, std::int64_t n) {
  return session.place<program::clients>(n, [&](std::int64_t i) {
    program::rows r;
    const auto c = static_cast<std::size_t>(i);
    std::copy_n(in.x.data() + c * batch * features, batch * features, r.x.data());
    std::copy_n(in.y.data() + c * batch * classes, batch * classes, r.y.data());
    return r;
  });
}

inline const program::model& as_model(const params& p) {
  static_assert(sizeof(program::model) == sizeof(params));
  return reinterpret_cast<const program::model&>(p);
}

class drx_side {
 public:
  explicit drx_side(const inputs& in)
      : session_(argc_, nullptr),
        data_(place(session_, in, clients)),
        round_(session_.compile<program::Round>()) {}

  void round(const params& from, params& out) {
    round_.call(reinterpret_cast<program::model&>(out), as_model(from), rate, data_);
  }
  std::size_t temp_bytes() const {
    return static_cast<std::size_t>(round_.server_bytes() + session_.threads() * round_.thread_bytes());
  }

 private:
  int argc_ = 0;
  drx::session session_;
  drx::partitions<program::rows, program::clients> data_;
  drx::compiled<program::Round> round_;
};

}  // namespace fedavg
