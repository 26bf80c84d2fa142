// The rules of convolutions and pooling on random extents and windows: derivatives of both modes and orders, batching.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::builder;
using drx::dtype;
using drx::shape;
using drx::vec;
namespace emit = drx::emit;

namespace {
struct generator {
  std::mt19937_64 r;
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(n)); }
};
template <class F>
void check(const std::vector<shape>& shapes, F write) {
  builder b;
  vec<int> in;
  for (const shape& s : shapes) in.push_back(b.input({dtype::float64, s}));
  b.output(write(b, in));
  harness::check_rules(b.result());
}
}  // namespace

TEST_CASE("convolutions: strides, paddings of either sign, dilations of both") {
  generator g{std::mt19937_64(5)};
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    const int axes = 1 + static_cast<int>(g.below(2));
    const std::int64_t ci = 1 + g.below(2), co = 1 + g.below(2);
    shape x = drx::make_shape(1 + g.below(2)), w;
    vec<std::int64_t> stride, low, input_dilation, kernel_dilation, extent;
    for (int i = 0; i < axes; ++i) {
      x.push_back(1 + g.below(4));
      w.push_back(1 + g.below(3));
      stride.push_back(1 + g.below(2));
      low.push_back(g.below(4) - 1);
      input_dilation.push_back(1 + g.below(2));
      kernel_dilation.push_back(1 + g.below(2));
      extent.push_back(g.below(4));
    }
    x.push_back(ci);
    w.push_back(ci);
    w.push_back(co);
    if (round % 3 == 0) {
      x = drx::with_front(x, 2);
      w = drx::with_front(w, 2);
    }
    vec<std::int64_t> ints{axes, 0};
    for (const auto& part : {stride, low, input_dilation, kernel_dilation, extent}) ints.append(part);
    check({x, w}, [&](builder& b, const vec<int>& in) { return emit::convolution(b, in[0], in[1], ints); });
  }
}

TEST_CASE("pooling") {
  generator g{std::mt19937_64(6)};
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    const int axes = 1 + static_cast<int>(g.below(2));
    shape x = drx::make_shape(1 + g.below(2));
    vec<std::int64_t> window, stride, low, extent;
    for (int i = 0; i < axes; ++i) {
      x.push_back(2 + g.below(3));
      window.push_back(1 + g.below(3));
      stride.push_back(1 + g.below(3));
      low.push_back(g.below(2));
      extent.push_back(1 + g.below(3));
    }
    x.push_back(1 + g.below(2));
    vec<std::int64_t> ints{axes, 0};
    for (const auto& part : {window, stride, low, extent}) ints.append(part);
    check({x}, [&](builder& b, const vec<int>& in) { return emit::window_sum(b, in[0], ints); });
    check({x}, [&](builder& b, const vec<int>& in) {  // no window of padding only, whose maximum is infinite
      vec<std::int64_t> inside = ints;
      for (int i = 0; i < axes; ++i) {
        inside[2 + i] = 1 + low[i];
        inside[2 + 3 * axes + i] = 1;
      }
      return emit::window_max(b, in[0], inside);
    });
  }
}
