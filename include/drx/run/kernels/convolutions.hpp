// drx/run/kernels/convolutions.hpp: the kernels of convolutions and of their derivatives.
// Tested by tests/unit/run/convolution.cpp.
#pragma once

#include <drx/run/kernels/convolution_loops.hpp>
#include <drx/run/kernels/kernel.hpp>
#include <drx/run/kernels/one_channel.hpp>

#include <cstring>

namespace drx::run {
namespace detail {
/// The arrays of a convolution by name, whichever of them is the result.
template <class C, int E>
struct convolved {
  static constexpr int axes = prim::rules::convolution::view(C::attributes(E)).axes;
  static constexpr auto result = prim::rules::convolution::view(C::attributes(E)).result;
  using role = prim::rules::convolution_role;
  static constexpr int x = result == role::x ? C::result(E, 0) : C::operand(E, 0);
  static constexpr int w = result == role::w ? C::result(E, 0) : C::operand(E, 1);
  static constexpr int y = result == role::y ? C::result(E, 0) : C::operand(E, result == role::x ? 0 : 1);
  static constexpr shape xs = C::values[x].shape, ws = C::values[w].shape, ys = C::values[y].shape;
  static constexpr int batch = xs.rank - axes - 2;
  static constexpr std::int64_t batches = [] {
    std::int64_t n = 1;
    for (int i = 0; i < batch; ++i) n *= xs[i];
    return n;
  }();
  static constexpr std::int64_t examples = xs[batch];
  static constexpr int ci = static_cast<int>(xs.last()), co = static_cast<int>(ys.last());
  static constexpr std::int64_t image = xs.size() == 0 ? 0 : xs.size() / (batches * examples);
  static constexpr std::int64_t response = ys.size() == 0 ? 0 : ys.size() / (batches * examples);
  static constexpr std::int64_t kernel = ws.size() == 0 ? 0 : ws.size() / batches;

  static constexpr axis along(int i) {
    if (i < 0) return {};  // a height of one
    return axis_of(prim::rules::convolution::view(C::attributes(E)), i, xs[batch + 1 + i], ys[batch + 1 + i],
                   ws[batch + i]);
  }
  struct forward {
    static constexpr axis height = along(axes - 2), width = along(axes - 1);
  };
  struct backward {
    static constexpr axis height = along(axes - 2).turned(), width = along(axes - 1).turned();
  };
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::convolution> {
  static void run(frame& f) {
    if constexpr (detail::convolved<C, E>::axes == 1 || detail::convolved<C, E>::axes == 2) {
      spatial(f);
    } else {
      plain_kernel<C, E>::run(f);
    }
  }
  static void spatial(frame& f) {
    using c = detail::convolved<C, E>;
    using T = element_of<C, c::y>;
    if constexpr (c::xs.size() == 0 || c::ws.size() == 0 || c::ys.size() == 0) {
      constexpr int result = C::result(E, 0);
      std::memset(elements<T, C, result>(f), 0, static_cast<std::size_t>(C::bytes(result)));
    } else if constexpr (c::result == c::role::y) {
      using run = convolution_of<T, typename c::forward, c::ci, c::co>;
      for (std::int64_t n = 0; n < c::batches * c::examples; ++n)
        run::template forward<false>(elements<const T, C, c::x>(f) + n * c::image,
                                     elements<const T, C, c::w>(f) + n / c::examples * c::kernel,
                                     elements<T, C, c::y>(f) + n * c::response);
    } else if constexpr (c::result == c::role::x) {
      using run = convolution_of<T, typename c::backward, c::co, c::ci>;
      T* turned = reinterpret_cast<T*>(scratch<C, E>(f));
      for (std::int64_t b = 0; b < c::batches; ++b) {
        const T* w = elements<const T, C, c::w>(f) + b * c::kernel;
        for (std::int64_t k = 0; k < c::kernel; k += c::ci * c::co)
          for (int i = 0; i < c::ci; ++i)
            for (int j = 0; j < c::co; ++j) turned[k + j * c::ci + i] = w[k + i * c::co + j];
        for (std::int64_t n = b * c::examples; n < (b + 1) * c::examples; ++n)
          run::template forward<true>(elements<const T, C, c::y>(f) + n * c::response, turned,
                                      elements<T, C, c::x>(f) + n * c::image);
      }
    } else {
      using run = convolution_of<T, typename c::forward, c::ci, c::co>;
      T* w = elements<T, C, c::w>(f);
      std::memset(w, 0, static_cast<std::size_t>(C::bytes(c::w)));
      for (std::int64_t b = 0; b < c::batches; ++b)
        run::of_kernel(elements<const T, C, c::x>(f) + b * c::examples * c::image,
                       elements<const T, C, c::y>(f) + b * c::examples * c::response, w + b * c::kernel, c::examples);
    }
  }
};

}  // namespace drx::run
