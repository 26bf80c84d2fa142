// drx/primitives/call_functors.hpp: the functors of drx::call: the user's function, and its derivatives.
//
// A functor computes on flat lists of numbers of any scalar type, so that functors nest; its attributes say which
// operands have tangents or are wanted.
#pragma once

#include <drx/meta/names.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/scalar/differentiate.hpp>
#include <drx/scalar/math.hpp>
#include <drx/scalar/pack.hpp>

#include <tuple>

namespace drx {
namespace ad {

/// How drx::call runs a batch: one value after the other, or several in the lanes of packs.
enum class lanes { one, packs };
/// Option of drx::call: f has no branches on values, so that a batch may run in the lanes of packs.
inline constexpr lanes packs = lanes::packs;
/// Option of drx::call: derivatives up to this order are compiled; each takes compile time.  call<orders{3}>(f, x)
enum class orders : int {};

}  // namespace ad

namespace detail {

struct call_options {
  ad::mode mode = ad::mode::automatic;
  bool packs = false;
  int orders = 2;
  std::size_t capacity = 0;  // statements of a local tape; 0: as many as fit ad::detail::stack_bytes
};
template <auto... Options>
constexpr call_options call_options_of() {
  call_options o;
  [[maybe_unused]] const auto read = [&o](auto option) {
    using O = decltype(option);
    if constexpr (std::is_same_v<O, ad::mode>) {
      o.mode = option;
    } else if constexpr (std::is_same_v<O, ad::lanes>) {
      o.packs = option == ad::packs;
    } else if constexpr (std::is_same_v<O, ad::orders>) {
      o.orders = static_cast<int>(option);
    } else {
      static_assert(
          std::is_integral_v<O>,
          "drx::call<options...>: drx::ad::forward, reverse, packs, orders{n}, or the capacity of the local tape in statements");
      o.capacity = static_cast<std::size_t>(option);
    }
  };
  (read(Options), ...);
  return o;
}

/// The type in which f receives an array<T, E...>: a T, or a std::array for each axis. Floating elements become S.
template <class S, class A>
struct call_argument;
template <class S, class T>
struct call_argument<S, array<T>> {
  using type = std::conditional_t<std::is_floating_point_v<T>, S, T>;
};
template <class S, class T, std::int64_t N, std::int64_t... E>
struct call_argument<S, array<T, N, E...>> {
  using type = std::array<typename call_argument<S, array<T, E...>>::type, static_cast<std::size_t>(N)>;
};

/// The type in a program of numbers T for f's result type R: numbers become array<T>, std::arrays arrays; tuples and
/// pairs stay.
template <class T, class R>
struct call_result_as {
  using type = error::not_a_value_of_drx;
};
template <class T, class R>
  requires(ad::Number<R> && !std::is_same_v<R, bool>)
struct call_result_as<T, R> {
  using type = array<T>;
};
template <std::int64_t N, class A>
struct with_axis {
  using type = error::not_a_value_of_drx;
};
template <std::int64_t N, class T, std::int64_t... E>
  requires(sizeof...(E) < shape::max_rank)
struct with_axis<N, array<T, E...>> {
  using type = array<T, N, E...>;
};
template <class T, class R, std::size_t N>
struct call_result_as<T, std::array<R, N>>
    : with_axis<static_cast<std::int64_t>(N), typename call_result_as<T, R>::type> {};
template <class T, class... R>
  requires(sizeof...(R) > 0)
struct call_result_as<T, std::tuple<R...>> {
  using type = std::tuple<typename call_result_as<T, R>::type...>;
};
template <class T, class R, class Q>
struct call_result_as<T, std::pair<R, Q>> {
  using type = std::pair<typename call_result_as<T, R>::type, typename call_result_as<T, Q>::type>;
};

template <class X, class S>
X read_argument(const S*& from) {
  if constexpr (ad::Number<X>) {
    return X(*from++);
  } else {
    X x{};
    for (auto& part : x) part = read_argument<typename X::value_type>(from);
    return x;
  }
}
template <class S, class R>
void write_result(const R& r, S*& to) {
  if constexpr (ad::Number<R>) {
    *to++ = S(r);
  } else if constexpr (!requires { r.begin(); }) {
    std::apply([&](const auto&... part) { (write_result(part, to), ...); }, r);
  } else {
    for (const auto& part : r) write_result(part, to);
  }
}

/// The sizes of a functor's operands and results. Operands that are not floating are not differentiated: they pass as
/// bytes.
template <int Operands, int Results>
struct call_sizes {
  int operands = 0, results = 0;
  int numbers[Operands > 0 ? Operands : 1] = {};  // for a floating operand
  int bytes[Operands > 0 ? Operands : 1] = {};    // for another one
  int out[Results > 0 ? Results : 1] = {};
};

/// The user's function: order 0.
template <class F, call_options (*Options)(), class T, class Result, class... A>
struct called {
  static constexpr call_options options = Options();
  using real = T;
  using function = F;
  static constexpr int order = 0;
  static constexpr int max_operands = sizeof...(A), max_results = leaf_count<Result>;
  static constexpr int max_in =
      static_cast<int>(((std::is_floating_point_v<typename A::value_type> ? A::size : 0) + ... + 0));
  static constexpr int max_out = [] {
    leaf_types<Result> t;
    std::int64_t n = 0;
    for (int i = 0; i < leaf_count<Result>; ++i) n += t[i].shape.size();
    return static_cast<int>(n);
  }();
  using sizes_type = call_sizes<max_operands, max_results>;
  static constexpr sizes_type fixed_sizes = [] {
    sizes_type s;
    ((std::is_floating_point_v<typename A::value_type>
          ? s.numbers[s.operands++] = static_cast<int>(A::size)
          : s.bytes[s.operands++] =
                static_cast<int>(A::size * static_cast<std::int64_t>(sizeof(typename A::value_type)))),
     ...);
    leaf_types<Result> t;
    for (int i = 0; i < leaf_count<Result>; ++i) s.out[s.results++] = static_cast<int>(t[i].shape.size());
    return s;
  }();
  static constexpr const sizes_type& sizes(const std::int64_t*) { return fixed_sizes; }
  static constexpr vec<abstract_value> type(const std::int64_t*, const vec<abstract_value>& operands) {
    const vec<abstract_value> expected{abstract_value{dtype_of<typename A::value_type>, A::shape}...};
    typing::require(operands == expected, "call: the function takes other types");
    leaf_types<Result> t;
    vec<abstract_value> r;
    for (int i = 0; i < leaf_count<Result>; ++i) r.push_back(t[i]);
    return r;
  }
  static std::string name(const std::int64_t*) {
    const std::string text(meta::type_name<F>());
    return text.find("lambda") == std::string::npos ? text : "lambda";
  }

  /// y = f(x), where raw[i] are the operands that are not floating, in their order.
  template <class S>
  static void run(const std::int64_t*, const S* x, const void* const* raw, S* y) {
    const auto next = [&]<class B>(std::type_identity<B>) {
      using X = typename call_argument<S, B>::type;
      if constexpr (std::is_floating_point_v<typename B::value_type>) {
        return read_argument<X>(x);
      } else {
        auto from =
            static_cast<const typename B::value_type*>(B::size > 0 ? *raw++ : nullptr);  // (empty ones have no pointer)
        return read_argument<X>(from);
      }
    };
    const std::tuple<typename call_argument<S, A>::type...> arguments{next(std::type_identity<A>{})...};
    write_result(std::apply([](const auto&... a) { return F{}(a...); }, arguments), y);
  }
};

constexpr int bits_in(std::int64_t mask) {
  int n = 0;
  for (; mask != 0; mask &= mask - 1) ++n;
  return n;
}
constexpr bool has_bit(std::int64_t mask, int i) { return ((mask >> i) & 1) != 0; }

/// Maps operands of G, then tangents of those in attribute 0, to tangents of G's results.
template <class G>
struct pushforward {
  static constexpr call_options options = G::options;
  using real = typename G::real;
  using function = typename G::function;
  static constexpr int order = G::order + 1;
  static constexpr int max_operands = 2 * G::max_operands, max_results = G::max_results;
  static constexpr int max_in = 2 * G::max_in, max_out = G::max_out;
  using sizes_type = call_sizes<max_operands, max_results>;

  static constexpr sizes_type sizes(const std::int64_t* a) {
    const auto& g = G::sizes(a + 1);
    sizes_type s;
    for (int i = 0; i < g.operands; ++i) s.numbers[i] = g.numbers[i], s.bytes[i] = g.bytes[i];
    s.operands = g.operands;
    for (int i = 0; i < g.operands; ++i)
      if (has_bit(a[0], i)) s.numbers[s.operands++] = g.numbers[i];
    s.results = g.results;
    for (int i = 0; i < g.results; ++i) s.out[i] = g.out[i];
    return s;
  }
  static constexpr vec<abstract_value> type(const std::int64_t* a, const vec<abstract_value>& operands) {
    vec<abstract_value> first;
    for (int i = 0; i < operands.size() - bits_in(a[0]); ++i) first.push_back(operands[i]);
    return G::type(a + 1, first);
  }
  static std::string name(const std::int64_t* a) { return "jvp " + std::to_string(a[0]) + " " + G::name(a + 1); }

  template <class S>
  static void run(const std::int64_t* a, const S* x, const void* const* raw, S* y) {
    using D = ad::dual<S, 1>;
    const auto& g = G::sizes(a + 1);
    D in[G::max_in > 0 ? G::max_in : 1], out[G::max_out > 0 ? G::max_out : 1];
    int numbers = 0, results = 0;
    for (int i = 0; i < g.operands; ++i) numbers += g.numbers[i];
    for (int i = 0; i < g.results; ++i) results += g.out[i];
    for (int i = 0; i < numbers; ++i) in[i].value = x[i];
    const S* tangent = x + numbers;
    for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
      if (has_bit(a[0], i))
        for (int k = 0; k < g.numbers[i]; ++k) in[at + k].tangent[0] = *tangent++;
    G::template run<D>(a + 1, in, raw, out);
    for (int i = 0; i < results; ++i) y[i] = out[i].tangent[0];
  }
};

/// Maps operands of G, then cotangents of the results in attribute 1, to cotangents of the operands in attribute 0.
template <class G>
struct pullback {
  static constexpr call_options options = G::options;
  using real = typename G::real;
  using function = typename G::function;
  static constexpr int order = G::order + 1;
  static constexpr int max_operands = G::max_operands + G::max_results, max_results = G::max_operands;
  static constexpr int max_in = G::max_in + G::max_out, max_out = G::max_in;
  using sizes_type = call_sizes<max_operands, max_results>;
  /// Eight directions at a time while they are few; else a tape.
  static constexpr bool by_dual =
      options.mode == ad::mode::forward || (options.mode == ad::mode::automatic && G::max_in <= 8);
  static constexpr int width = G::max_in < 1 ? 1 : G::max_in < 8 ? G::max_in : 8;

  static constexpr sizes_type sizes(const std::int64_t* a) {
    const auto& g = G::sizes(a + 2);
    sizes_type s;
    for (int i = 0; i < g.operands; ++i) s.numbers[i] = g.numbers[i], s.bytes[i] = g.bytes[i];
    s.operands = g.operands;
    for (int i = 0; i < g.results; ++i)
      if (has_bit(a[1], i)) s.numbers[s.operands++] = g.out[i];
    for (int i = 0; i < g.operands; ++i)
      if (has_bit(a[0], i)) s.out[s.results++] = g.numbers[i];
    return s;
  }
  static constexpr vec<abstract_value> type(const std::int64_t* a, const vec<abstract_value>& operands) {
    vec<abstract_value> r;
    for (int i = 0; i < operands.size() - bits_in(a[1]); ++i)
      if (has_bit(a[0], i)) r.push_back(operands[i]);
    return r;
  }
  static std::string name(const std::int64_t* a) {
    return "vjp " + std::to_string(a[0]) + "," + std::to_string(a[1]) + " " + G::name(a + 2);
  }

  template <class S>
  static void run(const std::int64_t* a, const S* x, const void* const* raw, S* y) {
    const auto& g = G::sizes(a + 2);
    int numbers = 0;
    for (int i = 0; i < g.operands; ++i) numbers += g.numbers[i];
    const S* const cotangents = x + numbers;
    if constexpr (by_dual) {
      using D = ad::dual<S, width>;
      D in[G::max_in > 0 ? G::max_in : 1], out[G::max_out > 0 ? G::max_out : 1];
      int wanted[G::max_in > 0 ? G::max_in : 1], count = 0;
      for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
        for (int k = 0; has_bit(a[0], i) && k < g.numbers[i]; ++k) wanted[count++] = at + k;
      for (int first = 0; first < count; first += width) {
        const int last = first + width < count ? first + width : count;
        for (int i = 0; i < numbers; ++i) in[i] = D(x[i]);
        for (int i = first; i < last; ++i) in[wanted[i]].tangent[i - first] = S(1);
        G::template run<D>(a + 2, in, raw, out);
        for (int i = first; i < last; ++i) {
          S sum(0);
          const S* ct = cotangents;
          for (int o = 0, at = 0; o < g.results; at += g.out[o++])
            for (int k = 0; has_bit(a[1], o) && k < g.out[o]; ++k)
              sum += ad::detail::times(*ct++, out[at + k].tangent[i - first]);
          y[i] = sum;
        }
      }
    } else {
      constexpr std::size_t fitting = ad::detail::stack_bytes / ad::recording<S>::bytes_per_statement;
      ad::local_tape<S, (options.capacity > 0 ? options.capacity : fitting)> tape;
      ad::var<S> in[G::max_in > 0 ? G::max_in : 1], out[G::max_out > 0 ? G::max_out : 1];
      for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
        for (int k = 0; k < g.numbers[i]; ++k)
          in[at + k] = has_bit(a[0], i) ? variable(tape, x[at + k]) : ad::var<S>(x[at + k]);
      G::template run<ad::var<S>>(a + 2, in, raw, out);
      tape.require_complete();
      tape.clear();
      const S* ct = cotangents;
      for (int o = 0, at = 0; o < g.results; at += g.out[o++])
        for (int k = 0; has_bit(a[1], o) && k < g.out[o]; ++k) add_cotangent(out[at + k], *ct++);
      tape.sweep();
      for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
        for (int k = 0; has_bit(a[0], i) && k < g.numbers[i]; ++k) *y++ = cotangent(in[at + k]);
    }
  }
};

}  // namespace detail
}  // namespace drx
