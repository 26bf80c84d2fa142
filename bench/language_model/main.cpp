// bench/language_model/main.cpp: the sides of a round of local SGD of a language model.
#include <harness.hpp>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inputs.hpp"

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#if defined(DRX_HAS_MPI)
#include "../scaling/timed.hpp"
#endif
#ifdef DRX_BENCH_EIGEN
#include "hand_side.hpp"
#endif

namespace language_model_bench {

/// What a round has changed of a model.
template <task S>
std::vector<double> changed(const inputs<S>& in, const std::vector<float>& after) {
  std::vector<double> by;
  for (std::size_t i = 0; i < after.size(); ++i)
    by.push_back(static_cast<double>(after[i]) - static_cast<double>(in.model[i]));
  return by;
}

template <task S>
void add_row(bench::suite& suite, drx::session& session, const std::string& row) {
  const auto in = std::make_shared<inputs<S>>(make_inputs<S>());
  using numbers = std::vector<float>;
#ifdef DRX_BENCH_EIGEN
  const auto hand = std::make_shared<hand_side<S>>();
  const auto out = std::make_shared<numbers>(layout<S>::size);
  const std::map<std::string, double> counters{{"temp_bytes", static_cast<double>(hand_side<S>::temp_bytes())}};
  suite.add({.row = row,
             .name = "by hand, Eigen's products",
             .call = [=] { hand->call(*in, *out); },
             .result = [=] { return changed(*in, *out); },
             .counters = counters});
  suite.add({.row = row,
             .name = "its products alone, Eigen",
             .call = [=] { hand->products_alone(*in); },
             .counters = counters});
#endif
  const auto data = session.place<clients>(S.clients, [&](std::int64_t i) {
    texts<S> t;
    std::memcpy(t.data(), in->batch_of(static_cast<int>(i), 0), sizeof t);
    return t;
  });
  const auto start = std::make_shared<model<S>>(), end = std::make_shared<model<S>>();
  copy<S>(in->model.data(), *start);
  const auto program =
      std::make_shared<decltype(session.template compile<Round<S>>())>(session.template compile<Round<S>>());
  suite.add({.row = row,
             .name = "drx",
             .call = [=] { program->call(*end, *start, data); },
             .result =
                 [=] {
                   numbers all(layout<S>::size);
                   copy<S>(*end, all.data());
                   return changed(*in, all);
                 },
             .counters = {{"temp_bytes", static_cast<double>(program->server_bytes() +
                                                             session.threads() * program->thread_bytes())}}});
}

#if defined(DRX_HAS_MPI)
/// Times the round for several numbers of clients on each rank: bench/scale reads that.
template <task S>
void over_ranks(drx::session& session) {
  const inputs<S> in = make_inputs<S>();
  const auto start = std::make_unique<model<S>>(), end = std::make_unique<model<S>>();
  copy<S>(in.model.data(), *start);
  scaling::timed c(session.communicator());
  for (std::int64_t each : {1, 4, 16}) {
    const auto data = session.place<clients>(each * session.ranks(), [&](std::int64_t i) {
      texts<S> t;
      std::memcpy(t.data(), in.batch_of(static_cast<int>(i % S.clients), 0), sizeof t);
      return t;
    });
    drx::compiled<Round<S>> round(session.executor(), c);
    scaling::report(
        session, c, "transformer", each, 5, [&] { round.call(*end, *start, data); },
        round.server_bytes() + round.thread_bytes());
  }
}
#endif

}  // namespace language_model_bench

int main(int argc, char** argv) {
  namespace lm = language_model_bench;
#if defined(DRX_HAS_MPI)
  if (argc > 1 && std::string_view(argv[1]) == "--scaling") {
    drx::session session(argc, argv);
    lm::over_ranks<lm::narrow>(session);
    return 0;
  }
#endif
  bench::suite suite(argc, argv);
  int none = 0;
  drx::session session(none, nullptr);
  lm::add_row<lm::narrow>(suite, session, "width 64");
#ifdef __OPTIMIZE__  // (where tests only see that it compiles, one row will do)
  lm::add_row<lm::wide>(suite, session, "width 256");
#endif
  return suite.run();
}

#else
int main() { std::puts("bench_language_model needs drx::run"); }
#endif
