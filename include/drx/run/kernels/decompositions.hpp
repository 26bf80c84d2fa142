// drx/run/kernels/decompositions.hpp: the kernels of QR, symmetric eigenvalues and singular values: the loops of plain
// evaluation, in the workspace.
// Tested by tests/unit/run/linear_algebra.cpp.
#pragma once

#include <drx/primitives/decompose/eigh.hpp>
#include <drx/primitives/decompose/qr.hpp>
#include <drx/primitives/decompose/svd.hpp>
#include <drx/run/kernels/kernel.hpp>

namespace drx::run {
namespace detail {
/// The batch of matrices in operand 0 of entry E.
template <class C, int E>
struct decomposed {
  static constexpr int a = C::operand(E, 0);
  using T = element_of<C, a>;
  static constexpr shape from = C::values[a].shape;
  static constexpr std::int64_t m = from[from.rank - 2], n = from.last(), k = m < n ? m : n;
  static constexpr std::int64_t batches = prim::rules::square_matrix::batches(from);
  static const T* operand(frame& f) { return elements<const T, C, a>(f); }
  template <int I>
  static T* result(frame& f) {
    return elements<T, C, C::result(E, I)>(f);
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::qr> : detail::decomposed<C, E> {
  using d = detail::decomposed<C, E>;
  static void run(frame& f) {
    auto* const space = reinterpret_cast<typename d::T*>(scratch<C, E>(f));
    for (std::int64_t b = 0; b < d::batches; ++b)
      decompose::qr(d::m, d::n, d::operand(f) + b * d::m * d::n, d::template result<0>(f) + b * d::m * d::n,
                    d::template result<1>(f) + b * d::n * d::n, space);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::eigh> : detail::decomposed<C, E> {
  using d = detail::decomposed<C, E>;
  static void run(frame& f) {
    auto* const space = reinterpret_cast<typename d::T*>(scratch<C, E>(f));
    for (std::int64_t b = 0; b < d::batches; ++b)
      decompose::eigh(d::n, d::operand(f) + b * d::n * d::n, d::template result<0>(f) + b * d::n,
                      d::template result<1>(f) + b * d::n * d::n, space);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::svd> : detail::decomposed<C, E> {
  using d = detail::decomposed<C, E>;
  static void run(frame& f) {
    auto* const space = reinterpret_cast<typename d::T*>(scratch<C, E>(f));
    for (std::int64_t b = 0; b < d::batches; ++b)
      decompose::svd(d::m, d::n, d::operand(f) + b * d::m * d::n, d::template result<0>(f) + b * d::m * d::k,
                     d::template result<1>(f) + b * d::k, d::template result<2>(f) + b * d::k * d::n, space);
  }
};

}  // namespace drx::run
