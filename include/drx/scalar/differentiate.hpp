// drx/scalar/differentiate.hpp: derivatives of functions of many numbers: gradients, Jacobians, Hessians.
//
//     auto [y, g] = drx::ad::value_and_gradient([](const auto& x) { return x[0] * sin(x[1]); }, std::array{1.0, 2.0});
//
// The function is ordinary generic code: loops, branches, recursion, calls of other headers. It takes an array of any
// scalar type: a std::array<S, N> for a std::array, and a std::span<const S> for inputs whose size is known at run
// time.
#pragma once

#include <drx/scalar/prod.hpp>

#include <vector>

namespace drx::ad {

/// How a derivative is computed: with duals, or on a local tape. `automatic` chooses by the numbers of inputs and
/// outputs.
enum class mode { automatic, forward, reverse };
/// How a derivative is computed: by duals (forward), or on a local tape (reverse).  gradient<reverse>(f, x)
inline constexpr mode forward = mode::forward, reverse = mode::reverse;

// The results of the functions below.
/// The result of value_and_gradient; auto [y, g] takes its parts.
template <class V, class G>
struct value_and_gradient_result {
  V value;
  G gradient;
};
/// The result of value_and_jacobian: jacobian[i][j] is d f(x)[i] / d x[j].
template <class V, class J>
struct value_and_jacobian_result {
  V value;
  J jacobian;
};
/// The result of directional: value and derivative.
template <class V>
struct directional_result {
  V value, derivative;
};
/// The result of hessian_vector: the gradient, and the Hessian times v.
template <class G>
struct hessian_vector_result {
  G gradient, product;
};

namespace detail {

/// The size of a local tape on the stack, without an arena.
inline constexpr std::size_t stack_bytes = 128 * 1024;
struct on_stack {};

/// Calls f(recording<T>&) on a recording in the arena, or on the stack.
template <class T, class F>
decltype(auto) with_tape(const on_stack&, F f) {
  local_tape<T, stack_bytes / recording<T>::bytes_per_statement> tape;
  return f(static_cast<recording<T>&>(tape));
}
template <class T, class F>
decltype(auto) with_tape(const arena& memory, F f) {
  recording<T> tape(memory.memory());
  return f(tape);
}
template <class T, class F>
decltype(auto) with_tape(std::span<std::byte> memory, F f) {
  recording<T> tape(memory);
  return f(tape);
}

template <class X>
inline constexpr std::size_t static_size = std::dynamic_extent;
template <class T, std::size_t N>
inline constexpr std::size_t static_size<std::array<T, N>> = N;

// The type that the function is handed for an argument X: X with elements of type S.
template <class X, class S>
struct with_elements {
  using type = std::span<const S>;
};
template <class T, std::size_t N, class S>
struct with_elements<std::array<T, N>, S> {
  using type = std::array<S, N>;
};

/// The scalar type with which f is differentiated at X.
template <class F, class X>
using base_over = higher_t<floating_t<element_of<X>>, seen_by<F, typename with_elements<X, element_of<X>>::type>>;

/// The type of a gradient with elements T: as x where its size is static, else a std::vector.
template <class T, class X>
constexpr auto gradient_like(const X& x) {
  if constexpr (static_size<X> != std::dynamic_extent) {
    return std::array<T, static_size<X>>{};
  } else {
    return std::vector<T>(count_of(x));
  }
}

/// {make(0), ..., make(N - 1)}, each written once.
template <class S, std::size_t N, class Make>
  requires(N <= 32)
DRX_FN constexpr std::array<S, N> array_of(Make make) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<S, N>{make(I)...};
  }(std::make_index_sequence<N>{});
}
template <class S, std::size_t N, class Make>
DRX_FN constexpr std::array<S, N> array_of(Make make) {
  std::array<S, N> a;
  for (std::size_t i = 0; i < N; ++i) a[i] = make(i);
  return a;
}
/// x with elements S, where make(i) makes element i; inputs of run-time size lie in `storage`.
template <class S, class X, class Make, class Storage>
DRX_FN constexpr auto inputs_of(const X& x, Make make, [[maybe_unused]] Storage storage) {
  if constexpr (static_size<X> != std::dynamic_extent) {
    return array_of<S, static_size<X>>(make);
  } else {
    const std::span<S> in = storage(count_of(x));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = make(i);
    return std::span<const S>(in);
  }
}

/// Element i of x as a dual; from `first` on each moves in a direction of its own.
template <class S, class X>
constexpr S seeded(const X& x, std::size_t i, std::size_t first) {
  using T = typename S::value_type;
  if (i < first || i >= first + static_cast<std::size_t>(S::directions)) return S(T(at(x, i)));
  return S::variable(T(at(x, i)), static_cast<int>(i - first));
}

template <class F, class X, class G>
auto gradient_by_dual(const F& f, const X& x, G& g) {
  using T = base_over<F, X>;
  constexpr std::size_t n = static_size<X>;
  constexpr int width = n == std::dynamic_extent ? 8 : static_cast<int>(n < 1 ? 1 : n <= 16 ? n : 8);
  using S = dual<T, width>;
  using Y = std::remove_cvref_t<decltype(f(std::declval<typename with_elements<X, S>::type>()))>;
  T y{};
  std::vector<S> kept;  // for sizes known at run time only
  for (std::size_t first = 0; first == 0 || first < count_of(x); first += static_cast<std::size_t>(width)) {
    const auto in = inputs_of<S>(
        x, [&](std::size_t i) { return seeded<S>(x, i, first); },
        [&](std::size_t size) { return kept.resize(size), std::span<S>(kept); });
    const Y r = f(in);
    if constexpr (std::is_same_v<Y, S>) {
      y = r.value;
    } else {
      y = T(r);
    }
    for (std::size_t i = first; i < count_of(x) && i < first + static_cast<std::size_t>(width); ++i)
      g[i] = tangent_of<S>(r, static_cast<int>(i - first));
  }
  return y;
}

/// A function's inputs. Large arrays are not written before their elements are made.
template <class In>
struct held_inputs {
  In values;
};
template <class S, std::size_t N>
  requires(N > 32)
struct held_inputs<std::array<S, N>> {
  static_assert(std::is_trivially_copyable_v<S> && std::is_trivially_destructible_v<S>);
  union {
    std::array<S, N> values;
  };
  held_inputs() {}
};
/// Makes variables of x, numbered from `first` on.
template <class T, class X>
void make_variables_of(var<T>* to, const X& x, recording<T>& tape, std::uint32_t first) {
  if constexpr (std::is_same_v<element_of<X>, T> &&
                requires { requires std::contiguous_iterator<decltype(x.begin())>; }) {
    if (count_of(x) > 0) make_variables(to, &at(x, 0), count_of(x), &tape, first);
  } else {
    for (std::size_t i = 0; i < count_of(x); ++i)
      std::construct_at(to + i, T(at(x, i)), &tape, first + static_cast<std::uint32_t>(i));
  }
}
/// The variables of x, the first on the tape; those of run-time size lie in the tape's memory.
template <class T, class X>
auto record_inputs(recording<T>& tape, const X& x) {
  const std::size_t n = count_of(x);
  if constexpr (static_size<X> == std::dynamic_extent) {
    var<T>* in = tape.template reserve<var<T>>(n);
    const std::uint32_t first = tape.leaves(n);
    tape.require_complete();
    make_variables_of(in, x, tape, first);
    return held_inputs<std::span<const var<T>>>{{in, n}};
  } else {
    const std::uint32_t first = tape.leaves(n);
    return held_inputs<std::array<var<T>, static_size<X>>>{array_of<var<T>, static_size<X>>(
        [&](std::size_t i) { return var<T>(T(at(x, i)), &tape, first + static_cast<std::uint32_t>(i)); })};
  }
}
template <class T, class X>
  requires(static_size<X> != std::dynamic_extent && static_size<X> > 32)
auto record_inputs(recording<T>& tape, const X& x) {
  held_inputs<std::array<var<T>, static_size<X>>> in;  // not in a block within the function: g++ 12 would copy it
  make_variables_of(in.values.data(), x, tape, tape.leaves(count_of(x)));
  return in;
}

template <class F, class X, class Memory, class G>
auto gradient_by_tape(const F& f, const X& x, const Memory& memory, G& g) {
  using T = base_over<F, X>;
  return with_tape<T>(memory, [&](recording<T>& tape) {
    const auto held = record_inputs(tape, x);
    const auto& in = held.values;
    const auto r = f(in);
    tape.require_complete();
    tape.clear();
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(r)>, var<T>>) {
      add_cotangent(r, T(real_t<T>(1)));
      const auto n = static_cast<std::uint32_t>(in.size());
      tape.sweep(n);
      for (std::uint32_t i = 0; i < n; ++i) g[i] = tape.cotangent(i);
      return r.value;
    } else {
      static_assert(
          level<decltype(r)> < level<var<T>>,
          "drx::ad: a function that is differentiated returns no scalar of a higher level than those it has seen");
      for (std::size_t i = 0; i < in.size(); ++i) g[i] = T(real_t<T>(0));
      return T(r);
    }
  });
}

template <mode Mode, class X>
inline constexpr bool use_dual = Mode == mode::forward || (Mode == mode::automatic && static_size<X> <= 16);

template <mode Mode, class F, class X, class Memory>
auto value_and_gradient_of(const F& f, const X& x, const Memory& memory) {
  using T = base_over<F, X>;
  auto g = gradient_like<T>(x);
  if constexpr (use_dual<Mode, X>) {
    T y = gradient_by_dual(f, x, g);
    return value_and_gradient_result<T, decltype(g)>{y, std::move(g)};
  } else {
    T y = gradient_by_tape(f, x, memory, g);
    return value_and_gradient_result<T, decltype(g)>{y, std::move(g)};
  }
}

}  // namespace detail

/// f(x) and its gradient, for f from many numbers to one. x is a std::array (and then the gradient is one too), or
/// anything with size() and [] (a std::vector). It uses duals for up to 16 inputs in a std::array, else a local tape;
/// value_and_gradient<reverse> and <forward> choose. The tape lies on the stack (128 KiB), or in an arena or a span of
/// bytes; if it does not fit, tape_overflow says how much memory is needed.
template <mode Mode = mode::automatic, class F, detail::Numbers X>
auto value_and_gradient(const F& f, const X& x) {
  return detail::value_and_gradient_of<Mode>(f, x, detail::on_stack{});
}
template <mode Mode = mode::automatic, class F, detail::Numbers X>
auto value_and_gradient(const F& f, const X& x, const arena& memory) {
  return detail::value_and_gradient_of<Mode>(f, x, memory);
}
template <mode Mode = mode::automatic, class F, detail::Numbers X>
auto value_and_gradient(const F& f, const X& x, std::span<std::byte> memory) {
  return detail::value_and_gradient_of<Mode>(f, x, memory);
}
/// f(x), with its gradient written to g: nothing is allocated, whatever x is. Otherwise as value_and_gradient.
template <mode Mode = mode::reverse, class F, detail::Numbers X, class G, class Memory = detail::on_stack>
  requires(detail::Numbers<std::remove_cvref_t<G>> && !std::is_convertible_v<G, std::span<std::byte>>)
auto value_and_gradient_into(G&& g, const F& f, const X& x, const Memory& memory = {}) {
  if constexpr (Mode == mode::forward) {
    return detail::gradient_by_dual(f, x, g);
  } else {
    return detail::gradient_by_tape(f, x, memory, g);
  }
}

/// The gradient alone.
template <mode Mode = mode::automatic, class F, detail::Numbers X, class... Memory>
auto gradient(const F& f, const X& x, const Memory&... memory) {
  return ad::value_and_gradient<Mode>(f, x, memory...).gradient;
}

namespace detail {
template <class T>
inline constexpr std::size_t outputs_of = 1;
template <class S, std::size_t M>
inline constexpr std::size_t outputs_of<std::array<S, M>> = M;
template <class Y>
constexpr const auto& output(const Y& y, [[maybe_unused]] std::size_t i) {
  if constexpr (Number<Y>) {
    return y;
  } else {
    return y[i];
  }
}
template <class Y>
using output_t = std::remove_cvref_t<decltype(output(std::declval<const Y&>(), 0))>;
/// std::array<S, M> with elements T; a number S as T.
template <class T, class Y>
struct outputs_as {
  using type = T;
};
template <class T, class S, std::size_t M>
struct outputs_as<T, std::array<S, M>> {
  using type = std::array<T, M>;
};
template <class R>
constexpr auto& output_of(R& r, [[maybe_unused]] std::size_t i) {
  if constexpr (Number<R>) {
    return r;
  } else {
    return r[i];
  }
}
/// y without the derivative that S carries.
template <class S, class T, class Y>
constexpr T lowered_value(const Y& y) {
  if constexpr (std::is_same_v<Y, S>) {
    return y.value;
  } else {
    return T(y);
  }
}
}  // namespace detail

/// f(x) and the derivative of f along v, where f returns a number or a std::array of them.
template <class F, class T, std::size_t N>
constexpr auto directional(const F& f, const std::array<T, N>& x, const std::array<T, N>& v) {
  using B = detail::base_over<F, std::array<T, N>>;
  using S = dual<B, 1>;
  std::array<S, N> in{};
  for (std::size_t i = 0; i < N; ++i) {
    in[i] = S(B(x[i]));
    in[i].tangent[0] = B(v[i]);
  }
  const auto y = f(in);
  using Y = std::remove_cvref_t<decltype(y)>;
  directional_result<typename detail::outputs_as<B, Y>::type> r{};
  for (std::size_t i = 0; i < detail::outputs_of<Y>; ++i) {
    detail::output_of(r.value, i) = detail::lowered_value<S, B>(detail::output(y, i));
    detail::output_of(r.derivative, i) = B(detail::tangent_of<S>(detail::output(y, i), 0));
  }
  return r;
}

namespace detail {
/// f(x), with row k of the Jacobian written to j[k].
template <mode Mode, std::size_t Directions, class J, class F, class T, std::size_t N, class Memory>
auto jacobian_to(J& j, const F& f, const std::array<T, N>& x, const Memory& memory) {
  static_assert(Directions >= 1, "drx::ad: a Jacobian takes at least one direction at a time");
  using X = std::array<T, N>;
  using B = base_over<F, X>;
  constexpr std::size_t M = outputs_of<std::remove_cvref_t<decltype(f(x))>>;
  std::array<B, M> value{};
  if constexpr (Mode == mode::forward || (Mode == mode::automatic && (N <= M || N <= 16))) {
    constexpr std::size_t width = N < 1 ? 1 : N <= Directions ? N : Directions;
    using S = dual<B, static_cast<int>(width)>;
    for (std::size_t first = 0; first == 0 || first < N; first += width) {
      const auto in = array_of<S, N>([&](std::size_t i) { return seeded<S>(x, i, first); });
      const auto y = f(in);
      for (std::size_t k = 0; k < M; ++k) {
        value[k] = lowered_value<S, B>(output(y, k));
        for (std::size_t i = first; i < N && i < first + width; ++i)
          j[k][i] = tangent_of<S>(output(y, k), static_cast<int>(i - first));
      }
    }
  } else {
    with_tape<B>(memory, [&](recording<B>& tape) {
      const auto held = record_inputs(tape, x);
      const auto& in = held.values;
      const auto y = f(in);
      tape.require_complete();
      for (std::size_t k = 0; k < M; ++k) {
        value[k] = lowered_value<var<B>, B>(output(y, k));
        if constexpr (std::is_same_v<output_t<std::remove_cvref_t<decltype(y)>>, var<B>>) {
          tape.clear();
          add_cotangent(output(y, k), B(real_t<B>(1)));
          tape.sweep(N);
          for (std::size_t i = 0; i < N; ++i) j[k][i] = cotangent(in[i]);
        } else {
          for (std::size_t i = 0; i < N; ++i) j[k][i] = B(real_t<B>(0));
        }
      }
    });
  }
  return value;
}
}  // namespace detail

/// f(x) and the Jacobian of f from std::array<T, N> to std::array<T, M>: row i is the gradient of output i. It uses
/// duals where there are at most as many inputs as outputs, or at most 16, else a local tape, swept once for each
/// output. Duals carry up to Directions directions at a time: with more of them f is computed less often, but its
/// intermediate results take more memory. value_and_jacobian<forward, 32> chooses.
template <mode Mode = mode::automatic, std::size_t Directions = 16, class F, class T, std::size_t N,
          class Memory = detail::on_stack>
auto value_and_jacobian(const F& f, const std::array<T, N>& x, const Memory& memory = {}) {
  using B = detail::base_over<F, std::array<T, N>>;
  constexpr std::size_t M = detail::outputs_of<std::remove_cvref_t<decltype(f(x))>>;
  value_and_jacobian_result<std::array<B, M>, std::array<std::array<B, N>, M>> r{};
  r.value = detail::jacobian_to<Mode, Directions>(r.jacobian, f, x, memory);
  return r;
}
/// f(x), with row i of the Jacobian written to j[i], a std::array or a span. Otherwise as value_and_jacobian.
template <mode Mode = mode::automatic, std::size_t Directions = 16, class J, class F, class T, std::size_t N,
          class Memory = detail::on_stack>
auto value_and_jacobian_into(J&& j, const F& f, const std::array<T, N>& x, const Memory& memory = {}) {
  return detail::jacobian_to<Mode, Directions>(j, f, x, memory);
}
/// The Jacobian alone.
template <mode Mode = mode::automatic, std::size_t Directions = 16, class F, class T, std::size_t N, class... Memory>
auto jacobian(const F& f, const std::array<T, N>& x, const Memory&... memory) {
  return ad::value_and_jacobian<Mode, Directions>(f, x, memory...).jacobian;
}

/// The Hessian of f from std::array<T, N> to one number, eight rows at a time, by a local tape of duals.
template <class F, class T, std::size_t N, class Memory = detail::on_stack>
auto hessian(const F& f, const std::array<T, N>& x, const Memory& memory = {}) {
  using B = detail::base_over<F, std::array<T, N>>;
  constexpr std::size_t width = N < 1 ? 1 : N <= 8 ? N : 8;
  using S = dual<B, static_cast<int>(width)>;
  std::array<std::array<B, N>, N> h{};
  for (std::size_t first = 0; first < N; first += width) {
    const auto at = detail::array_of<S, N>([&](std::size_t i) { return detail::seeded<S>(x, i, first); });
    std::array<S, N> g{};
    detail::gradient_by_tape(f, at, memory, g);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t k = first; k < N && k < first + width; ++k) h[k][i] = g[i].tangent[k - first];
  }
  return h;
}

/// The gradient of f, and the Hessian times v.
template <class F, class T, std::size_t N, class Memory = detail::on_stack>
auto hessian_vector(const F& f, const std::array<T, N>& x, const std::array<T, N>& v, const Memory& memory = {}) {
  using B = detail::base_over<F, std::array<T, N>>;
  using S = dual<B, 1>;
  std::array<S, N> at{}, g{};
  for (std::size_t i = 0; i < N; ++i) {
    at[i] = S(B(x[i]));
    at[i].tangent[0] = B(v[i]);
  }
  detail::gradient_by_tape(f, at, memory, g);
  hessian_vector_result<std::array<B, N>> r{};
  for (std::size_t i = 0; i < N; ++i) {
    r.gradient[i] = g[i].value;
    r.product[i] = g[i].tangent[0];
  }
  return r;
}

}  // namespace drx::ad
