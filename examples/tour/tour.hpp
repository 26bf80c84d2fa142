// tour/tour.hpp: vmap, pmap, grad and collectives in five small programs that users of JAX have seen before.
#pragma once

#include <drx/run.hpp>

namespace tour {

struct devices : drx::placement<devices> {};  // the axis's name; pmap deals its members out to ranks and threads

// ---- 1: a function of one vector, mapped over a batch, and over a batch on devices ----

// cut-begin convolve
inline constexpr auto convolve = [](auto x, auto w) {  // x: array<float, 5>, w: array<float, 3>
  return drx::stack(drx::dot(drx::slice<0, 3>(x), w), drx::dot(drx::slice<1, 4>(x), w),
                    drx::dot(drx::slice<2, 5>(x), w));
};
inline constexpr auto batched = drx::vmap(convolve);
inline constexpr auto parallel = drx::pmap<devices>(convolve);
// cut-end convolve
inline constexpr auto convolutions = [](auto x, auto w) {
  const auto xs = drx::stack(x, x, x), ws = drx::stack(w, w, w);
  return std::tuple{convolve(x, w), batched(xs, ws), parallel(xs, ws)};
};
using Convolutions = drx::program<convolutions, drx::array<float, 5>, drx::array<float, 3>>;

// ---- 2: elementwise work on each device ----

// cut-begin complex
inline constexpr auto complex_computation = [](auto x) {
  auto y = drx::sin(x) * drx::cos(x);
  auto z = drx::tanh(y) + drx::sqrt(drx::abs(x));
  return z * 2.0;
};
using Complex = drx::program<drx::pmap<devices>(complex_computation), drx::array<float, 2, 4>>;
// cut-end complex

// ---- 3: data-parallel training ----

// cut-begin regression
inline constexpr auto predict = [](auto params, auto x) {  // w x + b
  auto [w, b] = params;
  return w * x + b;
};
inline constexpr auto loss = [](auto params, auto x, auto y) { return drx::mean(drx::square(predict(params, x) - y)); };
inline constexpr auto update = [](auto params, auto x, auto y) {  // on one device, with its share of the rows
  auto [value, slope] = drx::value_and_grad(loss)(params, x, y);
  return std::pair{drx::pmean<devices>(value), drx::pmean<devices>(slope)};
};
using params = std::pair<float, float>;
inline constexpr auto parallel_update =
    drx::pmap<devices>(update, std::tuple{drx::none, drx::axis<0>, drx::axis<0>}, std::tuple{drx::none, drx::none});
// cut-end regression
using Update = drx::program<parallel_update, params, drx::array<float, 2, 4>, drx::array<float, 2, 4>>;

/// y = 3 x + 2 + noise
inline constexpr auto measure = [](auto x, auto seed) {
  return 3 * x + 2 + 0.5 * drx::normal<float, 2, 4>(drx::random_key(seed));
};
using Measure = drx::program<measure, drx::array<float, 2, 4>, std::int64_t>;

// cut-begin training
inline constexpr auto train = [](auto start, auto x, auto y) {  // the loop on the devices, a message each step
  auto device = [](auto p, auto own_x, auto own_y) {
    return drx::fori_loop<2000>(
        p, [=](auto q) { return q - 0.02 * drx::pmean<devices>(drx::grad(loss)(q, own_x, own_y)); });
  };
  return drx::pmap<devices>(device, std::tuple{drx::none, drx::axis<0>, drx::axis<0>}, drx::none)(start, x, y);
};
// cut-end training
using Train = drx::program<train, params, drx::array<float, 2, 4>, drx::array<float, 2, 4>>;

// ---- 4: a batch on each device ----

// cut-begin nested
inline constexpr auto process_item = [](auto item) { return drx::tanh(item) * 2.0; };
inline constexpr auto process_batch = [](auto batch) { return drx::vmap(process_item)(batch); };
using Batches = drx::program<drx::pmap<devices>(process_batch), drx::array<float, 2, 3, 4>>;
// cut-end nested

// ---- 5: a mesh: an axis inside an axis, with sums over either ----

struct parts : drx::placement<parts> {};

// cut-begin mesh
inline constexpr auto shares = [](auto x) {  // at one of devices x parts: of its row, of its column
  return std::pair{x / drx::psum<parts>(x), x / drx::psum<devices>(x)};
};
using Shares = drx::program<drx::pmap<devices>(drx::pmap<parts>(shares)), drx::array<float, 2, 3>>;
// cut-end mesh

}  // namespace tour
