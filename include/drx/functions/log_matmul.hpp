// drx/functions/log_matmul.hpp: the matrix product of numbers that are given by their logarithms.
// Section of docs/reference.md: Products and linear algebra.
#pragma once

#include <drx/functions/log_softmax.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
template <class A, class B>
concept LogMultipliable = Multipliable<A, B> && FloatingArray<A>;
template <class A, class B>
constexpr auto log_product_misuse() {
  if constexpr (Multipliable<A, B>) {
    return error::needs_floating_values{};
  } else {
    return product<A, B>::misuse();
  }
}
/// y, with the axis of x that a product drops restored at extent 1 where x is a matrix, so that it broadcasts with x.
template <int Axis, class A, class Y>
constexpr auto beside(const Y& y) {
  if constexpr (A::rank == 1) {
    return y;
  } else {
    return keep_axis<A, Axis>(y);
  }
}
}  // namespace detail

// clang-format off
/// log(exp(a) exp(b)): the matrix product, with matmul's shapes, of numbers that are given by their logarithms, as in
/// forward recursions of hidden Markov models and of conditional random fields. -infinity is the logarithm of 0, such
/// as that of a transition that is forbidden; +infinity is no operand.
///
///     auto step = [=](auto alpha, auto seen) {  // moves: the logarithm of each transition's probability
///       return std::pair{drx::log_matmul(alpha, moves) + seen, std::tuple{}};
///     };
///
/// It is the logarithm of one matrix product of exp(a - A) and exp(b - B), plus A + B, where A is the largest of a row
/// of a, and B of a column of b. So it takes an exponential of each element of a and of b, while `logsumexp` of their
/// sums takes one for each product. In a loop that does not change b, those of b are computed once, in front of it.
///
/// The price is range. A term that is more than about 87 (float) or 708 (double) below A + B is lost, and where the
/// sum of all terms is that small the result is -infinity, with derivatives 0; `logsumexp` keeps it. Digits are lost
/// only as A + B exceeds the result: the error is that of a number as large as A, B or their sum.
template <class A, class B> requires detail::LogMultipliable<A, B>
constexpr auto log_matmul(const A& a, const B& b) {
  using T = typename A::value_type;
  if constexpr (is_half<T>) {
    return detail::rounded_once([](const auto& p, const auto& q) { return log_matmul(p, q); }, a, b);
  } else if constexpr (A::size == 0 || B::size == 0) {
    return log(matmul(a, b));
  } else {
    constexpr int rows = B::rank == 1 ? -1 : -2;
    const auto from_a = detail::finite_largest<-1>(a);
    const auto from_b = detail::finite_largest<rows>(b);
    const auto kept_a = detail::beside<-1, A>(from_a);
    const auto kept_b = detail::beside<rows, B>(from_b);
    const auto sums = matmul(exp(a - kept_a), exp(b - kept_b));
    // A sum that is not a normal number counts as 0, so that no derivative divides by 0.
    const auto lost = sums < std::numeric_limits<T>::min();
    const auto logs = where(lost, -std::numeric_limits<T>::infinity(), log(where(lost, 1, sums)));
    if constexpr (A::rank > 1 && B::rank > 1) {
      return logs + kept_a + kept_b;
    } else {
      return logs + from_a + from_b;
    }
  }
}
// clang-format on
template <class A, class B, class Why = decltype(detail::log_product_misuse<A, B>())>
  requires(Array<A> && Array<B> && !detail::LogMultipliable<A, B>)
Why log_matmul(const A&, const B&) = delete;  // drx: log_matmul of (m, k) and (k, n) of one floating element type, leading axes broadcast; transpose(x) turns one round
template <class A, class B, class Why = detail::no_array_t<A, B>>
  requires detail::NoArrays<A, B>
Why log_matmul(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::log_matmul(a, b); }, x, y); of a structure leaf by leaf: tree_map

DRX_SILENT(log_matmul)

}  // namespace drx
