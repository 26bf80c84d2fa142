// The library's programs of arrays: the Gaussian mixture, and the long short-term memory.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include "gmm_arrays.hpp"
#include "inputs.hpp"
#include "lstm_arrays.hpp"

#include <algorithm>
#include <tuple>

namespace adbench {

namespace {

/// The next numbers of a flat list, as an array.
template <class A, class List>
A next(const List& list, std::size_t& at) {
  A a;
  for (double& v : a) v = list[at++];
  return a;
}
template <class Gradient, class Vector>
void flatten(const Gradient& gradient, Vector& g) {
  auto to = g.begin();
  std::apply([&](const auto&... part) { ((to = std::copy(part.begin(), part.end(), to)), ...); }, gradient);
}

struct executor {
  drx::serial_executor threads;
  drx::single_rank rank;
};

}  // namespace

void add_arrays(bench::suite& suite, const inputs& in) {
  static executor on;
  {
    static std::vector<double> numbers;
    for (const auto& p : in.points) numbers.insert(numbers.end(), p.begin(), p.end());
    const auto data = drx::place_memory<points, drx::array<double, 10>>(on.rank, {0, inputs::samples}, numbers);
    std::size_t at = 0;
    const auto theta = [&]<class... A>(std::type_identity<std::tuple<A...>>) {
      return std::tuple<A...>{next<A>(in.theta, at)...};
    }(std::type_identity<mixture<10, 5>>{});
    auto run = std::make_shared<drx::compiled<mixture_program<10, 5>>>(on.threads, on.rank);
    add<inputs::mixture::vector>(suite, mixture_row, "drx, arrays",
                                 [=](auto& g) { flatten(std::get<1>((*run)(theta, 1.0, 0.0, data)), g); });
  }
  {
    auto sequence = std::make_shared<drx::array<double, inputs::characters, 14>>();
    for (std::size_t t = 0; t < inputs::characters; ++t)
      std::copy(in.text.sequence[t].begin(), in.text.sequence[t].end(), sequence->data() + 14 * t);
    std::size_t at = 0, zero = 0;
    const auto layers = next<drx::array<double, 2, 4, 2, 14>>(in.weights, at);
    const auto extra = next<drx::array<double, 3, 14>>(in.weights, at);
    const auto start = next<drx::array<double, 2, 2, 14>>(in.text.start, zero);
    auto run = std::make_shared<drx::compiled<lstm_program<2, 14, inputs::characters>>>(on.threads, on.rank);
    add<inputs::recurrent::vector>(suite, lstm_row, "drx, arrays", [=](auto& g) {
      flatten(std::get<1>((*run)(std::tuple{layers, extra}, start, *sequence)), g);
    });
  }
}

}  // namespace adbench
