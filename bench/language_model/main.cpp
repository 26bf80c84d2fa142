// bench/language_model/main.cpp: the sides of a round of local SGD of a language model.
#include <harness.hpp>

#include <cstring>
#include <memory>
#include <string>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#ifdef DRX_BENCH_EIGEN
#include "hand_side.hpp"
#endif
#include "inputs.hpp"

namespace language_model_bench {

template <task S>
void add_row(bench::suite& suite, [[maybe_unused]] drx::session& session, const std::string& row) {
  const auto in = std::make_shared<inputs<S>>(make_inputs<S>());
  const auto add = [&](const char* name, auto call, double temp_bytes, bool is_bound = false) {
    auto out = std::make_shared<std::vector<float>>(layout<S>::size);
    bench::side side{
        .row = row, .name = name, .call = [call, out] { call(*out); }, .counters = {{"temp_bytes", temp_bytes}}};
    if (!is_bound)
      side.result = [out, in] {  // what the round changes
        std::vector<double> changed;
        for (std::size_t i = 0; i < out->size(); ++i)
          changed.push_back(static_cast<double>((*out)[i]) - static_cast<double>(in->model[i]));
        return changed;
      };
    suite.add(side);
  };
#ifdef DRX_BENCH_EIGEN
  const auto hand = std::make_shared<hand_side<S>>();
  const auto bytes = static_cast<double>(hand_side<S>::temp_bytes());
  add("by hand, Eigen's products", [=](std::vector<float>& out) { hand->call(*in, out); }, bytes);
  add("its products alone, Eigen", [=](std::vector<float>& out) { hand->products_alone(*in, out); }, bytes, true);
#endif
#ifdef DRX_BENCH_DRX
  const auto data = session.place<clients>(S.clients, [&](std::int64_t i) {
    texts<S> t;
    std::memcpy(t.data(), in->batch_of(static_cast<int>(i), 0), sizeof t);
    return t;
  });
  const auto start = std::make_shared<model<S>>(), end = std::make_shared<model<S>>();
  copy<S>(in->model.data(), *start);
  const auto program =
      std::make_shared<decltype(session.template compile<Round<S>>())>(session.template compile<Round<S>>());
  add(
      "drx",
      [=](std::vector<float>& out) {
        program->call(*end, *start, data);
        copy<S>(*end, out.data());
      },
      static_cast<double>(program->server_bytes() + session.threads() * program->thread_bytes()));
#endif
}

}  // namespace language_model_bench

int main(int argc, char** argv) {
  namespace lm = language_model_bench;
  bench::suite suite(argc, argv);
  int none = 0;
  drx::session session(none, nullptr);
  lm::add_row<lm::narrow>(suite, session, "width 64");
  lm::add_row<lm::wide>(suite, session, "width 256");
  return suite.run();
}
