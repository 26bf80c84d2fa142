// bench/logistic_regression/main.cpp: the sides of a logistic regression's loss and gradient, and the memory's
// bandwidth.
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

namespace {

template <class T, class X>
void add_sides(bench::suite& suite, const std::string& row, const logistic::inputs<T, X>& in) {
  if (suite.checking()) suite.reference(row, logistic::reference(in));

  // STREAM's triad, a = b + s c: two arrays read and one written, together as many bytes as the rows have.
  const std::size_t third = in.rows * (logistic::features * sizeof(X) + sizeof(T)) / (3 * sizeof(T));
  using numbers = logistic::numbers<T>;
  auto a = std::make_shared<numbers>(third, T(1)), b = std::make_shared<numbers>(third, T(2)),
       c = std::make_shared<numbers>(third, T(3));
  suite.add({.row = row, .name = "bandwidth (STREAM triad of as many bytes)", .call = [a, b, c, third] {
               T* to = a->data();
               const T *from = b->data(), *more = c->data();
#pragma omp parallel for schedule(static)
               for (std::size_t i = 0; i < third; ++i) to[i] = from[i] + 3 * more[i];
             }});

  const auto add = [&](const char* name, void (*side)(const logistic::inputs<T, X>&, logistic::answer<T>&)) {
    auto out = std::make_shared<logistic::answer<T>>();
    suite.add({.row = row,
               .name = name,
               .call = [&in, side, out] { side(in, *out); },
               .result = [out] { return bench::numbers(std::span(&out->loss, 1 + logistic::features)); }});
  };
  add("fused by hand", logistic::hand_side<T, X>);
#ifdef DRX_BENCH_EIGEN
  if constexpr (std::is_same_v<T, X>) add("Eigen + OpenMP", logistic::eigen_side<T>);
#endif
}

#ifdef DRX_BENCH_DRX
template <class X>
std::span<const X> elements(const logistic::numbers<X>& x) {
  return x;
}
std::span<const drx::bfloat16> elements(const logistic::numbers<logistic::brain_float>& x) {
  return {reinterpret_cast<const drx::bfloat16*>(x.data()), x.size()};
}
template <class Program, class Member, class T, class X>
void add_program(bench::suite& suite, drx::session& session, const std::string& row, const char* name,
                 const logistic::inputs<T, X>& in, std::size_t members) {
  logistic::program::weights<T> w;
  std::copy(in.w.begin(), in.w.end(), w.data());
  const auto blocks = drx::even_blocks(static_cast<std::int64_t>(members), 1);
  const auto x = elements(in.x);
  auto data = drx::place_memory<logistic::program::rows, Member>(session.communicator(), blocks, x, in.y);
  auto slope = std::make_shared<drx::compiled<Program>>(session.compile<Program>());
  auto out = std::make_shared<typename drx::compiled<Program>::result>();
  suite.add({.row = row,
             .name = name,
             .call = [w, data, slope, out] { slope->call(*out, w, data); },
             .result =
                 [out] {
                   auto all = bench::numbers(out->first);
                   for (int j = 0; j < logistic::features; ++j)
                     all.push_back(static_cast<double>(out->second.data()[j]));
                   return all;
                 },
             .counters = {{"temp_bytes",
                           static_cast<double>(slope->server_bytes() + session.threads() * slope->thread_bytes())}}});
}
#endif

}  // namespace

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const std::string row = "float, 1e6 rows", row_of_doubles = "double, 5e5 rows", narrow_row = "bfloat16, 2e6 rows";
  const auto floats = logistic::make_inputs<float>(1'000'000);
  const auto doubles = logistic::make_inputs<double>(500'000);
  const auto narrow = logistic::make_inputs<float, logistic::brain_float>(2'000'000);
  add_sides(suite, row, floats);
  add_sides(suite, row_of_doubles, doubles);
  add_sides(suite, narrow_row, narrow);
#ifdef DRX_BENCH_DRX
  namespace side = logistic::program;
  int none = 0;
  drx::session session(none, nullptr);
  add_program<side::Slope<float>, side::row<float>>(suite, session, row, "drx", floats, floats.rows);
  add_program<side::SlopeByBlocks, side::rows_of_block>(suite, session, row, "drx, blocks of 1000 rows", floats,
                                                        floats.rows / side::block);
  add_program<side::Slope<double>, side::row<double>>(suite, session, row_of_doubles, "drx", doubles, doubles.rows);
  add_program<side::Slope<float, drx::bfloat16>, side::narrow_row>(suite, session, narrow_row, "drx", narrow,
                                                                   narrow.rows);
#endif
  return suite.run();
}
