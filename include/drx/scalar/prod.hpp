// drx/scalar/prod.hpp: the product of many numbers; of variables one statement on the tape.
#pragma once

#include <drx/scalar/wide.hpp>

namespace drx::ad {

namespace detail {

/// The product of value(0), ..., value(n - 1), and for each the product of the others, made of the products before and behind
/// it: right where factors are zero. Of plain numbers in eight lanes, since one chain of products would wait for each.
template <class T, class Value, std::size_t... Lane>
DRX_FN constexpr T product_of(std::size_t n, Value value, T* others, std::index_sequence<Lane...>) {
  constexpr std::size_t lanes = sizeof...(Lane);
  const std::size_t rows = n / lanes * lanes;
  const T one(real_t<T>(1));
  T before[lanes] = {(static_cast<void>(Lane), one)...};  // spelled out, so that it stays in registers
  for (std::size_t r = 0; r < rows; r += lanes) {
    const T v[lanes] = {value(r + Lane)...};
    if (others) (std::construct_at(others + r + Lane, before[Lane]), ...);
    ((before[Lane] = before[Lane] * v[Lane]), ...);
  }
  T rest(one), whole(one);
  for (std::size_t i = rows; i < n; ++i) rest = rest * value(i);
  for (std::size_t l = 0; l < lanes; ++l) whole = whole * before[l];
  if (!others) return whole * rest;
  T behind[lanes], left(rest), right(one);  // behind: first what is in other lanes
  for (std::size_t l = 0; l < lanes; left = left * before[l++]) behind[l] = left;
  for (std::size_t l = lanes; l-- > 0; right = right * before[l]) behind[l] = behind[l] * right;
  for (std::size_t r = rows; r > 0;) {
    r -= lanes;
    const T v[lanes] = {value(r + Lane)...}, other[lanes] = {others[r + Lane] * behind[Lane]...};
    ((others[r + Lane] = other[Lane]), ...);
    ((behind[Lane] = behind[Lane] * v[Lane]), ...);
  }
  for (std::size_t i = rows; i < n; ++i) {
    T other(whole);
    for (std::size_t k = rows; k < n; ++k)
      if (k != i) other = other * value(k);
    std::construct_at(others + i, other);
  }
  return whole * rest;
}
template <class T, class Value>
DRX_FN constexpr T product_of(std::size_t n, Value value, T* others) {
  return product_of(n, value, others, std::make_index_sequence<std::is_floating_point_v<T> ? 8 : 1>{});
}
}  // namespace detail

/// The product of the numbers in x; 1 of none. Its derivative is right where factors are zero.
template <detail::Numbers X>
DRX_FN constexpr auto prod(const X& x) {
  using S = detail::element_of<X>;
  const std::size_t n = detail::count_of(x);
  if constexpr (detail::is_var<S>) {
    using T = typename S::value_type;
    recording<T>* tape = nullptr;
    const auto get = [&](std::size_t i) -> const S& { return detail::at(x, i); };
    const auto value = [&](std::size_t i) -> const T& { return detail::at(x, i).value; };
    detail::wide_header h{detail::wide_header::linear, static_cast<std::uint32_t>(n), 0, 0, detail::classify(n, get, tape), {}};
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
