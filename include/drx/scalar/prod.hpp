// drx/scalar/prod.hpp: the product of many numbers; for variables, one statement on the tape.
#pragma once

#include <drx/scalar/wide.hpp>

#include <iterator>

namespace drx::ad {

namespace detail {

/// The product of value(0), ..., value(n - 1), and for each factor the product of the others, made of the products
/// before and after it: right where factors are zero. In one chain each product would wait for the one before, so there
/// are several: factor i is in lane i % lanes, and products round in another order than in a loop. P is a T, or, where
/// values lie side by side, a vector of them.
template <class P, class T, class Value, std::size_t... Chain>
DRX_FN constexpr T product_of(std::size_t n, Value value, T* others, std::index_sequence<Chain...>) {
  constexpr std::size_t width = sizeof(P) / sizeof(T), lanes = width * sizeof...(Chain);
  const auto get = [](const T& from) {
    if constexpr (width == 1) {
      return P(from);
    } else {
      P p;
      __builtin_memcpy(&p, &from, sizeof(P));
      return p;
    }
  };
  const auto put = [](T* to, const P& p) {
    if constexpr (width == 1) {
      std::construct_at(to, p);
    } else {
      __builtin_memcpy(to, &p, sizeof(P));
    }
  };
  const auto ones = [](std::size_t) {
    if constexpr (width == 1) {
      return P(real_t<T>(1));
    } else {
      return T(1) - P{};
    }
  };
  const T one(real_t<T>(1));
  const std::size_t rows = n / lanes * lanes;
  P before[] = {ones(Chain)...};  // spelled out, so that it stays in registers
  for (std::size_t r = 0; r < rows; r += lanes) {
    if (others) (put(others + r + Chain * width, before[Chain]), ...);
    ((before[Chain] = before[Chain] * get(value(r + Chain * width))), ...);
  }
  T lane[lanes] = {}, rest(one);
  (put(lane + Chain * width, before[Chain]), ...);
  for (std::size_t i = rows; i < n; ++i) {
    if (others) std::construct_at(others + i, rest);
    rest = rest * value(i);
  }
  T elsewhere[lanes] = {}, left(one), right(rest);  // the product of the factors in other lanes
  for (std::size_t l = 0; l < lanes; left = left * lane[l++]) elsewhere[l] = left;
  if (!others) return left * rest;
  for (std::size_t l = lanes; l-- > 0; right = right * lane[l]) elsewhere[l] = elsewhere[l] * right;
  for (std::size_t i = n; i-- > rows; left = left * value(i)) others[i] = others[i] * left;
  P behind[] = {get(elsewhere[Chain * width])...};
  for (std::size_t r = rows; r > 0;) {
    r -= lanes;
    const P other[] = {get(others[r + Chain * width]) * behind[Chain]...};
    ((behind[Chain] = behind[Chain] * get(value(r + Chain * width))), ...);
    (put(others + r + Chain * width, other[Chain]), ...);
  }
  return right;
}
template <class T, class Value>
DRX_FN constexpr T product_of(std::size_t n, Value value, T* others) {
  return product_of<T>(n, value, others, std::make_index_sequence<std::is_floating_point_v<T> ? 8 : 1>{});
}
/// The same for values side by side.
template <class T>
DRX_FN T product_of_row(std::size_t n, const T* values, T* others) {
  const auto value = [values](std::size_t i) -> const T& { return values[i]; };
#if !defined(__CUDACC__) && !defined(__HIPCC__)
  constexpr std::size_t width = native_width<T>;
  typedef T native __attribute__((vector_size(sizeof(T) * width)));
  return product_of<native>(n, value, others, std::make_index_sequence<(width < 8 ? 16 / width : 2)>{});
#else
  return product_of<T>(n, value, others);
#endif
}

/// The product of plain variables that lie and are numbered one after the other. Returns false, having done nothing,
/// for others.
template <class X, class S>
DRX_FN constexpr bool product_in_order([[maybe_unused]] const X& x, [[maybe_unused]] std::size_t n,
                                       [[maybe_unused]] S& y) {
  using T = typename S::value_type;
  if constexpr (std::is_floating_point_v<T> && requires { requires std::contiguous_iterator<decltype(x.begin())>; }) {
    const S* const first = n > 0 ? &at(x, 0) : nullptr;
    T* const others = first && first->tape ? first->tape->wide_values(1, 2 * n, 0) : nullptr;
    if (!others) return false;
    T* const values = others + n;  // read before the next statement is written there
    if (!values_in_order(values, first, n)) return false;
    const T product = product_of_row<T>(n, values, others);
    const wide_header h{
        wide_header::linear, static_cast<std::uint32_t>(n), 0, 0, {wide_operand::contiguous, first->index}, {}};
    y = S(product, first->tape, first->tape->push_wide(h, 1, n, 0).first_result);
    return true;
  }
  return false;
}
}  // namespace detail

/// The product of the numbers in x; 1 for none. Its derivative is right where factors are zero. Factors are taken in
/// another order than in a loop: the error is at most about n eps, as there, but the bits differ.
template <detail::Numbers X>
DRX_FN constexpr auto prod(const X& x) {
  using S = detail::element_of<X>;
  const std::size_t n = detail::count_of(x);
  if constexpr (detail::is_var<S>) {
    using T = typename S::value_type;
    S in_order;
    if (detail::product_in_order(x, n, in_order)) return in_order;
    recording<T>* tape = nullptr;
    const auto get = [&](std::size_t i) -> const S& { return detail::at(x, i); };
    const auto value = [&](std::size_t i) -> const T& { return detail::at(x, i).value; };
    detail::wide_header h{
        detail::wide_header::linear, static_cast<std::uint32_t>(n), 0, 0, detail::classify(n, get, tape), {}};
    if (!tape) return S(detail::product_of<T>(n, value, nullptr));
    auto room = tape->push_wide(h, 1, n, detail::listed(h.a, n));
    if (room.values) detail::list_numbers(h.a, room.numbers, n, get);
    return S(detail::product_of<T>(n, value, room.values), tape, room.first_result);
  } else {
    using T = detail::floating_t<S>;
    return detail::product_of<T>(n, [&](std::size_t i) { return T(detail::at(x, i)); }, static_cast<T*>(nullptr));
  }
}

}  // namespace drx::ad
