// bench/logistic_regression/main.cpp: the sides of a logistic regression's loss and gradient, and how fast memory is.
#include <harness.hpp>

#include <algorithm>
#include <memory>
#include <span>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "hand_side.hpp"
#include "inputs.hpp"
#ifdef DRX_BENCH_EIGEN
#include "eigen_side.hpp"
#endif

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const std::string row = "loss and gradient";
  const auto in = std::make_unique<const logistic::inputs>(logistic::make_inputs());
  if (suite.checking()) suite.reference(row, logistic::reference(*in));

  // STREAM's triad, a = b + s c: two arrays read and one written, together as many bytes as the rows have.
  constexpr std::size_t third = logistic::rows * (logistic::features + 1) / 3;
  auto a = std::make_shared<logistic::numbers>(third, 1.0f), b = std::make_shared<logistic::numbers>(third, 2.0f),
       c = std::make_shared<logistic::numbers>(third, 3.0f);
  suite.add({.row = row, .name = "bandwidth (STREAM triad of as many bytes)", .call = [a, b, c] {
               float* to = a->data();
               const float *from = b->data(), *more = c->data();
#pragma omp parallel for schedule(static)
               for (std::size_t i = 0; i < third; ++i) to[i] = from[i] + 3.0f * more[i];
             }});

  const auto add = [&](const char* name, void (*side)(const logistic::inputs&, logistic::answer&)) {
    auto out = std::make_shared<logistic::answer>();
    suite.add({.row = row,
               .name = name,
               .call = [&in, side, out] { side(*in, *out); },
               .result = [out] { return bench::numbers(std::span(&out->loss, 1 + logistic::features)); }});
  };
  add("fused by hand", logistic::hand_side);
#ifdef DRX_BENCH_EIGEN
  add("Eigen + OpenMP", logistic::eigen_side);
#endif
#ifdef DRX_BENCH_DRX
  int none = 0;
  drx::session session(none, nullptr);
  logistic::program::weights w;
  std::copy(in->w.begin(), in->w.end(), w.data());
  const auto add_program = [&]<class Program, class Member>(const char* name, std::int64_t members, std::type_identity<Program>,
                                                            std::type_identity<Member>) {
    auto data = drx::place_memory<logistic::program::rows, Member>(session.communicator(), drx::even_blocks(members, 1), in->x, in->y);
    auto slope = std::make_shared<drx::compiled<Program>>(session.compile<Program>());
    auto out = std::make_shared<typename drx::compiled<Program>::result>();
    suite.add({.row = row,
               .name = name,
               .call = [w, data, slope, out] { slope->call(*out, w, data); },
               .result =
                   [out] {
                     auto all = bench::numbers(out->first);
                     for (int j = 0; j < logistic::features; ++j) all.push_back(static_cast<double>(out->second.data()[j]));
                     return all;
                   },
               .counters = {{"temp_bytes", static_cast<double>(slope->server_bytes() + session.threads() * slope->thread_bytes())}}});
  };
  namespace drx_side = logistic::program;
  add_program("drx", logistic::rows, std::type_identity<drx_side::Slope>{}, std::type_identity<drx_side::row>{});
  add_program("drx, blocks of 1000 rows", logistic::rows / drx_side::block, std::type_identity<drx_side::SlopeByBlocks>{},
              std::type_identity<drx_side::rows_of_block>{});
#endif
  return suite.run();
}
