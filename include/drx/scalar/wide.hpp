// drx/scalar/wide.hpp: sums, dot products, axpy and matrix products of numbers of any kind. For variables each is one
// statement on the tape: a product of n x n matrices takes 2 n^2 numbers there, not the 2 n^3 of its multiplications.
#pragma once

#include <drx/scalar/constants_times_duals.hpp>
#include <drx/scalar/reverse.hpp>

namespace drx::ad {

namespace detail {

template <class X>
using element_of = std::remove_cvref_t<decltype(std::declval<const X&>()[0])>;
/// A container of numbers: std::array, std::span, std::vector, Eigen's vectors.
template <class X>
concept Numbers = !Number<X> && requires(const X& x) {
  x.size();
  x[0];
} && Number<element_of<X>>;
template <class X>
inline constexpr bool is_var = false;
template <class T>
inline constexpr bool is_var<var<T>> = true;
/// Whether A and B are both recorded as var<T>, or one of them so and the other a constant beside it.
template <class A, class B>
concept Recorded = (is_var<A> && (std::same_as<A, B> || Below<B, A>)) || (is_var<B> && Below<A, B>);

template <class X>
DRX_FN constexpr std::size_t count_of(const X& x) {
  return static_cast<std::size_t>(x.size());
}
/// Element i; sizes and indices may be signed (Eigen's are).
template <class X>
DRX_FN constexpr const auto& at(const X& x, std::size_t i) {
  return x[static_cast<std::remove_cvref_t<decltype(x.size())>>(i)];
}

template <class X>
DRX_FN constexpr std::uint32_t number_of(const X& x) {
  if constexpr (is_var<X>) {
    if (x.tape) return x.index;
  }
  return statement::none;
}
template <class X>
DRX_FN constexpr void find_tape(const X& x, auto*& tape) {
  if constexpr (is_var<X>) {
    if (x.tape) tape = x.tape;
  }
}
/// How the variables get(0), ..., get(n - 1) are numbered, and on which tape.
template <class Get, class Tape>
DRX_FN constexpr wide_operand classify(std::size_t n, Get get, Tape*& tape) {
  wide_operand o;
  if (n == 0) return o;
  const std::uint32_t first = number_of(get(0));
  if constexpr (is_var<std::remove_cvref_t<decltype(get(0))>>) {
    if (first != statement::none) {  // most often they are in order, which is soon seen
      Tape* const on = get(0).tape;
      std::size_t others = 0;
      for (std::size_t i = 0; i < n; ++i)
        others |=
            static_cast<std::size_t>(get(i).index ^ (first + static_cast<std::uint32_t>(i))) | (get(i).tape != on);
      if (others == 0) {
        tape = on;
        return {wide_operand::contiguous, first};
      }
    }
  }
  bool passive = true, contiguous = first != statement::none;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& x = get(i);
    const std::uint32_t number = number_of(x);
    passive = passive && number == statement::none;
    contiguous = contiguous && number == first + i;
    find_tape(x, tape);
  }
  o.form = passive ? wide_operand::passive : contiguous ? wide_operand::contiguous : wide_operand::listed;
  o.first = first;
  return o;
}
template <class Get>
DRX_FN constexpr void list_numbers(const wide_operand& o, std::uint32_t*& to, std::size_t n, Get get) {
  if (o.form != wide_operand::listed) return;
  for (std::size_t i = 0; i < n; ++i) *to++ = number_of(get(i));
}
DRX_FN constexpr std::size_t listed(const wide_operand& o, std::size_t n) {
  return o.form == wide_operand::listed ? n : 0;
}

/// The sum of n terms from term(first) on, in eight lanes, since in one chain each addition would wait for the one
/// before.
template <class T, class Term>
DRX_FN constexpr T sum_in_lanes(std::size_t first, std::size_t n, const Term& term) {
  if constexpr (std::is_floating_point_v<T>) {
    if (n < 16) {
      T sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += term(first + i);
      return sum;
    }
    T lane[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (std::size_t l = 0; l < 8; ++l) lane[l] += term(first + i + l);
    for (std::size_t l = 0; i + l < n; ++l) lane[l] += term(first + i + l);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  } else {
    T sum(real_t<T>(0));
    for (std::size_t i = 0; i < n; ++i) sum = sum + term(first + i);
    return sum;
  }
}
inline constexpr std::size_t longest_sum = 2048;  // without halving
/// The same by halves, so that the error grows with the logarithm of n.
template <class T, class Term>
DRX_FN constexpr T sum_by_halves(std::size_t first, std::size_t n, const Term& term) {
  if (n <= longest_sum) return sum_in_lanes<T>(first, n, term);
  const std::size_t half = n / 16 * 8;
  return sum_by_halves<T>(first, half, term) + sum_by_halves<T>(first + half, n - half, term);
}
/// The sum of term(i).
template <class T, class Term>
DRX_FN constexpr T sum_of(std::size_t n, Term term) {
  return n <= longest_sum ? sum_in_lanes<T>(0, n, term) : sum_by_halves<T>(0, n, term);
}

/// A dot product of variables that are numbered one after the other, written in one pass. Returns false, having done
/// nothing, for others.
template <class X, class Y, class S>
DRX_FN constexpr bool dot_in_order(const X& x, const Y& y, std::size_t n, S& z) {
  using T = typename S::value_type;
  if (n == 0 || (std::is_floating_point_v<T> && n >= 16)) return false;  // long ones of plain numbers: see sum_of
  const S &a = at(x, 0), &b = at(y, 0), &last_a = at(x, n - 1), &last_b = at(y, n - 1);
  recording<T>* const tape = a.tape;
  if (!tape || last_a.index - a.index != n - 1 || last_b.index - b.index != n - 1) return false;
  T* const values = tape->wide_values(1, 2 * n, 0);
  if (!values) return false;
  T sum(real_t<T>(0));
  bool in_order = true;
  for (std::size_t i = 0; i < n; ++i) {
    const S &p = at(x, i), &q = at(y, i);
    in_order = in_order & (p.tape == tape) & (q.tape == tape) & (p.index == a.index + i) & (q.index == b.index + i);
    std::construct_at(values + i, q.value);
    std::construct_at(values + n + i, p.value);
    sum = sum + p.value * q.value;
  }
  if (!in_order) return false;
  const auto count = static_cast<std::uint32_t>(n);
  const wide_header h{
      wide_header::linear, count, count, 0, {wide_operand::contiguous, a.index}, {wide_operand::contiguous, b.index}};
  z = S(sum, tape, tape->push_wide(h, 1, 2 * n, 0).first_result);
  return true;
}

/// The value of a number in an operation that is recorded as an S: the number is another S, or of a lower order.
template <class S, class X>
DRX_FN constexpr decltype(auto) value_in(const X& x) {
  if constexpr (std::is_same_v<X, S>) {
    return (x.value);
  } else {
    return typename S::value_type(x);
  }
}
}  // namespace detail

/// The sum of the numbers in x.
template <detail::Numbers X>
DRX_FN constexpr auto sum(const X& x) {
  using S = detail::element_of<X>;
  const std::size_t n = detail::count_of(x);
  if constexpr (detail::is_var<S>) {
    using T = typename S::value_type;
    const T y = detail::sum_of<T>(n, [&](std::size_t i) { return detail::at(x, i).value; });
    recording<T>* tape = nullptr;
    const auto get = [&](std::size_t i) -> const S& { return detail::at(x, i); };
    detail::wide_header h{
        detail::wide_header::total, static_cast<std::uint32_t>(n), 0, 0, detail::classify(n, get, tape), {}};
    if (!tape) return S(y);
    auto room = tape->push_wide(h, 1, 0, detail::listed(h.a, n));
    if (room.values) detail::list_numbers(h.a, room.numbers, n, get);
    return S(y, tape, room.first_result);
  } else {
    return detail::sum_of<detail::floating_t<S>>(n, [&](std::size_t i) { return detail::at(x, i); });
  }
}

/// The sum of x[i] * y[i].
template <detail::Numbers X, detail::Numbers Y>
DRX_FN constexpr auto dot(const X& x, const Y& y) {
  using A = detail::element_of<X>;
  using B = detail::element_of<Y>;
  const std::size_t n = detail::count_of(x);
  if constexpr (detail::Recorded<A, B>) {
    using S = detail::higher_t<A, B>;
    using T = typename S::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<S>(v); };
    if constexpr (std::is_same_v<A, B>) {
      S in_order;
      if (detail::dot_in_order(x, y, n, in_order)) return in_order;
    }
    const T z = detail::sum_of<T>(n, [&](std::size_t i) { return value(detail::at(x, i)) * value(detail::at(y, i)); });
    recording<T>* tape = nullptr;
    const auto get_x = [&](std::size_t i) -> const A& { return detail::at(x, i); };
    const auto get_y = [&](std::size_t i) -> const B& { return detail::at(y, i); };
    detail::wide_header h;
    h.a = detail::classify(n, get_x, tape);
    h.b = detail::classify(n, get_y, tape);
    if (!tape) return S(z);
    if (h.a.form != detail::wide_operand::passive) h.m = static_cast<std::uint32_t>(n);
    if (h.b.form != detail::wide_operand::passive) h.k = static_cast<std::uint32_t>(n);
    auto room = tape->push_wide(h, 1, h.m + h.k, detail::listed(h.a, n) + detail::listed(h.b, n));
    if (room.values) {
      for (std::size_t i = 0; i < h.m; ++i) std::construct_at(room.values + i, value(detail::at(y, i)));
      for (std::size_t i = 0; i < h.k; ++i) std::construct_at(room.values + h.m + i, value(detail::at(x, i)));
      detail::list_numbers(h.a, room.numbers, n, get_x);
      detail::list_numbers(h.b, room.numbers, n, get_y);
    }
    return S(z, tape, room.first_result);
  } else {
    using S = detail::floating_t<std::remove_cvref_t<decltype(detail::at(x, 0) * detail::at(y, 0))>>;
    return detail::sum_of<S>(n, [&](std::size_t i) { return detail::at(x, i) * detail::at(y, i); });
  }
}

/// y[i] += s * x[i].
template <class S, detail::Numbers X, class Y>
  requires(Number<S> && detail::Numbers<std::remove_cvref_t<Y>>)
DRX_FN constexpr void axpy(const S s, const X& x, Y&& y) {  // s by value: it may be an element of y
  using V = detail::element_of<std::remove_cvref_t<Y>>;
  using A = detail::element_of<X>;
  const std::size_t n = detail::count_of(y);
  if constexpr (detail::is_var<V> && (std::same_as<A, V> || Below<A, V>) && (std::same_as<S, V> || Below<S, V>)) {
    using T = typename V::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<V>(v); };
    recording<T>* tape = nullptr;
    detail::find_tape(s, tape);
    const auto get_x = [&](std::size_t i) -> const A& { return detail::at(x, i); };
    const auto get_y = [&](std::size_t i) -> const V& { return detail::at(y, i); };
    const detail::wide_header h{
        detail::wide_header::axpy, static_cast<std::uint32_t>(n),    0,
        detail::number_of(s),      detail::classify(n, get_x, tape), detail::classify(n, get_y, tape)};
    typename recording<T>::wide_room room{};
    if (tape && n > 0) {
      const bool moving = h.n != detail::statement::none;
      room = tape->push_wide(h, n, 1 + (moving ? n : 0), detail::listed(h.a, n) + detail::listed(h.b, n));
      if (room.values) {
        std::construct_at(room.values, value(s));
        for (std::size_t i = 0; moving && i < n; ++i) std::construct_at(room.values + 1 + i, value(detail::at(x, i)));
        detail::list_numbers(h.a, room.numbers, n, get_x);
        detail::list_numbers(h.b, room.numbers, n, get_y);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      V& to = const_cast<V&>(detail::at(y, i));
      to = V(to.value + value(s) * value(detail::at(x, i)), tape,
             room.first_result + (room.values ? static_cast<std::uint32_t>(i) : 0));
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      auto& to = const_cast<V&>(detail::at(y, i));
      to = to + s * detail::at(x, i);
    }
  }
}

namespace detail {
/// c = a b, where a(i) is element i of the row-major m x k matrix, b(i) that of the k x n one, and c(i) a reference to
/// that of the m x n one.
template <class S, class GetA, class GetB, class GetC>
DRX_FN constexpr void matmul(std::size_t m, std::size_t k, std::size_t n, GetA a, GetB b, GetC c) {
  using A = std::remove_cvref_t<decltype(a(0))>;
  using B = std::remove_cvref_t<decltype(b(0))>;
  if constexpr (is_var<S> && Recorded<A, B>) {
    using T = typename S::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<S>(v); };
    recording<T>* tape = nullptr;
    const wide_header h{wide_header::product,          static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(k),
                        static_cast<std::uint32_t>(n), classify(m * k, a, tape),      classify(k * n, b, tape)};
    typename recording<T>::wide_room room{};
    const bool recorded = tape && m * k * n > 0;
    if (recorded) {
      const std::size_t for_b = h.b.form == wide_operand::passive ? 0 : m * k,
                        for_a = h.a.form == wide_operand::passive ? 0 : k * n;
      room = tape->push_wide(h, m * n, for_a + for_b, listed(h.a, m * k) + listed(h.b, k * n));
      if (room.values) {
        for (std::size_t i = 0; i < for_b; ++i) std::construct_at(room.values + i, value(a(i)));
        for (std::size_t i = 0; i < for_a; ++i) std::construct_at(room.values + for_b + i, value(b(i)));
        list_numbers(h.a, room.numbers, m * k, a);
        list_numbers(h.b, room.numbers, k * n, b);
      }
    }
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        T sum(real_t<T>(0));
        for (std::size_t l = 0; l < k; ++l) sum = sum + value(a(i * k + l)) * value(b(l * n + j));
        const std::size_t at = i * n + j;
        c(at) =
            recorded ? S(sum, tape, room.first_result + (room.values ? static_cast<std::uint32_t>(at) : 0)) : S(sum);
      }
  } else {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        S sum(real_t<S>(0));
        for (std::size_t l = 0; l < k; ++l) sum = sum + a(i * k + l) * b(l * n + j);
        c(i * n + j) = sum;
      }
  }
}
}  // namespace detail

namespace detail {
template <class S>
inline constexpr bool is_plain_dual = false;
template <class T, int N>
inline constexpr bool is_plain_dual<dual<T, N>> = std::is_floating_point_v<T>;
/// For a of plain numbers, and b and c of duals of them, each in one piece.
template <class A, class B, class C>
concept constants_in_memory =
    is_plain_dual<element_of<B>> && std::same_as<element_of<std::remove_cvref_t<C>>, element_of<B>> &&
    std::same_as<element_of<A>, real_t<element_of<B>>> && requires(const A& a, const B& b, C&& c) {
      { a.data() } -> std::convertible_to<const element_of<A>*>;
      { b.data() } -> std::convertible_to<const element_of<B>*>;
      { c.data() } -> std::convertible_to<element_of<B>*>;
    };
}  // namespace detail

/// c = a b for row-major matrices: a is M x K, b is K x N, c is M x N; c must not alias the other two. If a is constant
/// and has many rows, duals are multiplied in blocks, and directions that are zero are left out.
template <std::size_t M, std::size_t K, std::size_t N, detail::Numbers A, detail::Numbers B, class C>
DRX_FN constexpr void matmul(const A& a, const B& b, C&& c) {
  using S = detail::element_of<std::remove_cvref_t<C>>;
#if !defined(__CUDACC__) && !defined(__HIPCC__)
  if constexpr (detail::constants_in_memory<A, B, C>) {
    using kernel = detail::constants_times_duals<M, K, N, typename S::value_type, S::directions>;
    if constexpr (kernel::applies) {
      if (!std::is_constant_evaluated()) return kernel::run(a.data(), b.data(), c.data());
    }
  }
#endif
  detail::matmul<S>(
      M, K, N, [&](std::size_t i) -> const auto& { return detail::at(a, i); },
      [&](std::size_t i) -> const auto& { return detail::at(b, i); },
      [&](std::size_t i) -> S& { return const_cast<S&>(detail::at(c, i)); });
}

/// y = a x for a lower triangular matrix a, N x N, packed by rows: N (N + 1) / 2 numbers. y must not alias the other
/// two.
template <std::size_t N, detail::Numbers A, detail::Numbers X, class Y>
DRX_FN constexpr void lower_matmul(const A& a, const X& x, Y&& y) {
  using S = detail::element_of<std::remove_cvref_t<Y>>;
  using P = detail::element_of<A>;
  using Q = detail::element_of<X>;
  constexpr std::size_t size = N * (N + 1) / 2;
  if constexpr (detail::is_var<S> && detail::Recorded<P, Q>) {
    using T = typename S::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<S>(v); };
    recording<T>* tape = nullptr;
    const auto get_a = [&](std::size_t i) -> const P& { return detail::at(a, i); };
    const auto get_x = [&](std::size_t i) -> const Q& { return detail::at(x, i); };
    const detail::wide_header h{detail::wide_header::lower,      N, 0, 0, detail::classify(size, get_a, tape),
                                detail::classify(N, get_x, tape)};
    std::array<T, N> column;
    for (std::size_t j = 0; j < N; ++j) column[j] = value(get_x(j));
    typename recording<T>::wide_room room{};
    const std::size_t of_a = h.b.form == detail::wide_operand::passive ? 0 : size,
                      of_x = h.a.form == detail::wide_operand::passive ? 0 : N;
    if (tape) {
      room = tape->push_wide(h, N, of_x + of_a, detail::listed(h.a, size) + detail::listed(h.b, N));
      if (room.values) {
        for (std::size_t j = 0; j < of_x; ++j) std::construct_at(room.values + j, column[j]);
        detail::list_numbers(h.a, room.numbers, size, get_a);
        detail::list_numbers(h.b, room.numbers, N, get_x);
      }
    }
    T* kept = room.values && of_a > 0 ? room.values + of_x : nullptr;
    for (std::size_t i = 0; i < N; ++i) {
      T sum(real_t<T>(0));
      for (std::size_t j = 0; j <= i; ++j) {
        const T v = value(get_a(i * (i + 1) / 2 + j));
        if (kept) std::construct_at(kept++, v);
        sum = sum + v * column[j];
      }
      const_cast<S&>(detail::at(y, i)) =
          S(sum, tape, room.first_result + (room.values ? static_cast<std::uint32_t>(i) : 0));
    }
  } else {
    for (std::size_t i = 0; i < N; ++i) {
      S sum(real_t<S>(0));
      for (std::size_t j = 0; j <= i; ++j) sum = sum + detail::at(a, i * (i + 1) / 2 + j) * detail::at(x, j);
      const_cast<S&>(detail::at(y, i)) = sum;
    }
  }
}

}  // namespace drx::ad
