// drx/primitives/call.hpp: ordinary C++ in a program: a function object over scalars and std::arrays of them as one entry.
// It is differentiated as C++ (drx/scalar/), by duals or on a local tape.
//
// Each function has a primitive of its own, and so has each derivative of it: the tangents and the cotangents of a call
// are calls again, of functors made of the first (`pushforward`, `pullback`). A functor computes on flat lists of
// numbers of any scalar type, which is what lets them nest; its attributes tell which operands have tangents or are wanted.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

#include <drx/meta/names.hpp>
#include <drx/scalar/differentiate.hpp>
#if !defined(__CUDACC__)
#include <drx/scalar/pack.hpp>
#endif

#include <tuple>

namespace drx {
namespace ad {

/// For drx::call: f has no branches on values, so that a batch may run in the lanes of packs.
enum class lanes { one, packs };
inline constexpr lanes packs = lanes::packs;
/// For drx::call: derivatives up to this order; each takes compile time.
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
      static_assert(std::is_integral_v<O>, "drx::call<options...>: drx::ad::forward, reverse, packs, orders{n}, or the capacity of the local tape in statements");
      o.capacity = static_cast<std::size_t>(option);
    }
  };
  (read(Options), ...);
  return o;
}

/// How f receives an array<T, E...>: as a T, or as a std::array for each axis. Floating elements become S.
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

/// What f's result of type R is in a program of numbers T: numbers become array<T>, std::arrays arrays; tuples and pairs stay.
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
struct call_result_as<T, std::array<R, N>> : with_axis<static_cast<std::int64_t>(N), typename call_result_as<T, R>::type> {};
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

/// Sizes of a functor's operands and results. Operands that are not floating are not differentiated: they pass as bytes.
template <int Operands, int Results>
struct call_sizes {
  int operands = 0, results = 0;
  int numbers[Operands > 0 ? Operands : 1] = {};  // of a floating operand
  int bytes[Operands > 0 ? Operands : 1] = {};    // of another one
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
  static constexpr int max_in = static_cast<int>(((std::is_floating_point_v<typename A::value_type> ? A::size : 0) + ... + 0));
  static constexpr int max_out = [] {
    leaf_types<Result> t;
    std::int64_t n = 0;
    for (int i = 0; i < leaf_count<Result>; ++i) n += t[i].shape.size();
    return static_cast<int>(n);
  }();
  using sizes_type = call_sizes<max_operands, max_results>;
  static constexpr sizes_type fixed_sizes = [] {
    sizes_type s;
    ((std::is_floating_point_v<typename A::value_type> ? s.numbers[s.operands++] = static_cast<int>(A::size)
                                                       : s.bytes[s.operands++] = static_cast<int>(A::size * static_cast<std::int64_t>(sizeof(typename A::value_type)))),
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
        auto from = static_cast<const typename B::value_type*>(B::size > 0 ? *raw++ : nullptr);  // (empty ones are not there)
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

/// Operands of G, then tangents of those in attribute 0, to tangents of G's results.
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

/// Operands of G, then cotangents of the results in attribute 1, to cotangents of the operands in attribute 0.
template <class G>
struct pullback {
  static constexpr call_options options = G::options;
  using real = typename G::real;
  using function = typename G::function;
  static constexpr int order = G::order + 1;
  static constexpr int max_operands = G::max_operands + G::max_results, max_results = G::max_operands;
  static constexpr int max_in = G::max_in + G::max_out, max_out = G::max_in;
  using sizes_type = call_sizes<max_operands, max_results>;
  /// Eight directions at a time while there are few of them; else a tape.
  static constexpr bool by_dual = options.mode == ad::mode::forward || (options.mode == ad::mode::automatic && G::max_in <= 8);
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
            for (int k = 0; has_bit(a[1], o) && k < g.out[o]; ++k) sum += ad::detail::times(*ct++, out[at + k].tangent[i - first]);
          y[i] = sum;
        }
      }
    } else {
      constexpr std::size_t fitting = ad::detail::stack_bytes / ad::recording<S>::bytes_per_statement;
      ad::local_tape<S, (options.capacity > 0 ? options.capacity : fitting)> tape;
      ad::var<S> in[G::max_in > 0 ? G::max_in : 1], out[G::max_out > 0 ? G::max_out : 1];
      for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
        for (int k = 0; k < g.numbers[i]; ++k) in[at + k] = has_bit(a[0], i) ? variable(tape, x[at + k]) : ad::var<S>(x[at + k]);
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

namespace prim {
namespace rules {
/// ints: {how many at once, or -1; the operands that differ among those; attributes of G...}
template <class G>
struct call {
  using T = typename G::real;
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = t.attrs.ints[0];
    typing::require(t.operands.size() < 64, "call: more operands than a mask has bits");
    vec<abstract_value> each;
    for (int i = 0; i < t.operands.size(); ++i) {
      const abstract_value& x = t.operands[i];
      const bool batched = n >= 0 && detail::has_bit(t.attrs.ints[1], i);
      typing::require(!batched || (x.shape.rank > 0 && x.shape[0] == n), "call: an operand is no batch");
      each.push_back(batched ? x.with_shape(without_axis(x.shape, 0)) : x);
    }
    vec<abstract_value> r = G::type(t.attrs.ints.begin() + 2, each);
    if (n >= 0)
      for (int i = 0; i < r.size(); ++i) r[i] = r[i].with_shape(with_front(r[i].shape, n));
    return r;
  }
  static constexpr void require_order() {
    if (G::order >= G::options.orders) throw "drx: call: derivatives of this order are not compiled: drx::call<drx::ad::orders{n}>(f, ...)";
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents);
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted);
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t m) {
    attributes a = s.e.attrs;
    std::int64_t mask = 0;
    vec<int> operands = s.operands;
    const std::int64_t n = a.ints[0];
    for (int i = 0; i < operands.size(); ++i) {
      const bool before = n >= 0 && detail::has_bit(a.ints[1], i);
      if (!before && !batched[i]) continue;
      mask |= std::int64_t{1} << i;
      if (n < 0) continue;
      // A batch of batches: m times n of all that differ anywhere.
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], m);
      shape each = s.b.shape(operands[i]);
      if (!before) {
        each = with_front(with_front(without_axis(each, 0), 1), m);
        operands[i] = emit::reshape(s.b, operands[i], each);
        each[1] = n;
        operands[i] = emit::broadcast_to(s.b, operands[i], each);
      }
      operands[i] = emit::reshape(s.b, operands[i], with_front(without_axis(without_axis(each, 0), 0), m * n));
    }
    a.ints[0] = n < 0 ? m : m * n;
    a.ints[1] = mask;
    vec<int> r = s.b.add(*s.e.prim, operands, a);
    for (int i = 0; n >= 0 && i < r.size(); ++i) {
      const shape each = without_axis(s.b.shape(r[i]), 0);
      r[i] = emit::reshape(s.b, r[i], with_front(with_front(each, n), m));
    }
    return r;
  }
  static std::string print(const attributes& a) {
    std::string text = G::name(a.ints.begin() + 2);
    if (a.ints[0] >= 0) text += "; " + std::to_string(a.ints[0]) + " times, of " + std::to_string(a.ints[1]);
    return text;
  }

  /// W times from number `first` on, of which n are in use.
  template <int W>
  static void run_lanes(const std::int64_t* a, const typename G::sizes_type& s, const void* const* in, void* const* out,
                        std::int64_t first, std::int64_t n) {
#if !defined(__CUDACC__)
    using S = ad::pack<T, W>;
    S x[G::max_in > 0 ? G::max_in : 1], y[G::max_out > 0 ? G::max_out : 1];
    const void* raw[G::max_operands > 0 ? G::max_operands : 1] = {};
    int at = 0, others = 0;
    for (int i = 0; i < s.operands; ++i) {
      const T* from = static_cast<const T*>(in[i]);
      if (s.bytes[i] > 0) {
        raw[others++] = in[i];
      } else if (detail::has_bit(a[1], i)) {
        from += first * s.numbers[i];
        for (int k = 0; k < s.numbers[i]; ++k, ++at)
          for (int l = 0; l < W; ++l) x[at].set(l, from[(l < n ? l : 0) * s.numbers[i] + k]);
      } else {
        for (int k = 0; k < s.numbers[i]; ++k) x[at++] = S(from[k]);
      }
    }
    G::template run<S>(a + 2, x, raw, y);
    at = 0;
    for (int o = 0; o < s.results; ++o) {
      T* to = static_cast<T*>(out[o]) + first * s.out[o];
      for (int k = 0; k < s.out[o]; ++k, ++at)
        for (int l = 0; l < n; ++l) to[l * s.out[o] + k] = y[at][l];
    }
#endif
  }
  static void run_one(const std::int64_t* a, const typename G::sizes_type& s, const void* const* in, void* const* out, std::int64_t k) {
    T x[G::max_in > 0 ? G::max_in : 1], y[G::max_out > 0 ? G::max_out : 1];
    const void* raw[G::max_operands > 0 ? G::max_operands : 1] = {};
    int at = 0, others = 0;
    for (int i = 0; i < s.operands; ++i) {
      const auto offset = static_cast<std::size_t>(a[0] >= 0 && detail::has_bit(a[1], i) ? k : 0);
      if (s.bytes[i] > 0) {
        raw[others++] = static_cast<const std::byte*>(in[i]) + offset * static_cast<std::size_t>(s.bytes[i]);
      } else {
        const auto count = static_cast<std::size_t>(s.numbers[i]);
        if (count > 0) std::memcpy(x + at, static_cast<const T*>(in[i]) + offset * count, count * sizeof(T));
        at += s.numbers[i];
      }
    }
    G::template run<T>(a + 2, x, raw, y);
    at = 0;
    for (int o = 0; o < s.results; at += s.out[o++])
      if (s.out[o] > 0)
        std::memcpy(static_cast<T*>(out[o]) + k * s.out[o], y + at, static_cast<std::size_t>(s.out[o]) * sizeof(T));
  }
  static void native(const std::int64_t* a, const void* const* in, void* const* out) {
    const auto& s = G::sizes(a + 2);
#if !defined(__CUDACC__)
    if constexpr (G::options.packs) {
      constexpr std::int64_t width = 64 / sizeof(T);
      bool same = a[0] >= 0;  // operands that are not floating are the same for all lanes
      for (int i = 0; i < s.operands; ++i) same = same && !(s.bytes[i] > 0 && detail::has_bit(a[1], i));
      if (same) {
        for (std::int64_t k = 0; k < a[0]; k += width) run_lanes<width>(a, s, in, out, k, a[0] - k < width ? a[0] - k : width);
        return;
      }
    }
#endif
    for (std::int64_t k = 0; k < (a[0] < 0 ? 1 : a[0]); ++k) run_one(a, s, in, out, k);
  }
  static void evaluate(evaluation& v) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const tensor* x : v.in) in.push_back(x->bytes.data());
    for (tensor& y : v.out) out.push_back(y.bytes.data());
    native(v.e.attrs.ints.begin(), in.data(), out.data());
  }
};
}  // namespace rules

/// The primitive of functor G: the address of this object.
template <class G>
inline constexpr primitive call{.name = "call",
                                .type = rules::call<G>::type,
                                .jvp = rules::call<G>::jvp,
                                .vjp = rules::call<G>::vjp,
                                .batch = rules::call<G>::batch,
                                .print = rules::call<G>::print,
                                .evaluate = rules::call<G>::evaluate,
                                .native = rules::call<G>::native};

template <class G>
constexpr vec<int> rules::call<G>::jvp(const rule_site& s, const vec<int>& tangents) {
  require_order();
  std::int64_t mask = 0, batched = s.e.attrs.ints[1];
  vec<int> operands = s.operands;
  for (int i = 0; i < tangents.size(); ++i)
    if (tangents[i] != zero_tangent) {
      mask |= std::int64_t{1} << i;
      if (detail::has_bit(s.e.attrs.ints[1], i)) batched |= std::int64_t{1} << operands.size();
      operands.push_back(tangents[i]);
    }
  if (mask == 0) return vec<int>(s.results.size(), zero_tangent);
  attributes a;
  a.ints = {s.e.attrs.ints[0], batched, mask};
  for (int i = 2; i < s.e.attrs.ints.size(); ++i) a.ints.push_back(s.e.attrs.ints[i]);
  if constexpr (G::order < G::options.orders) {
    return s.b.add(prim::call<detail::pushforward<G>>, operands, a);
  } else {
    return {};
  }
}
template <class G>
constexpr vec<int> rules::call<G>::vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
  require_order();
  const std::int64_t n = s.e.attrs.ints[0];
  std::int64_t asked = 0, given = 0, batched = s.e.attrs.ints[1];
  vec<int> operands = s.operands;
  vec<int> r(s.operands.size(), zero_tangent);
  for (int i = 0; i < wanted.size(); ++i)
    if (wanted[i] && is_floating(s.b.type(s.operands[i]).type)) asked |= std::int64_t{1} << i;
  for (int i = 0; i < ct.size(); ++i)
    if (ct[i] != zero_tangent) {
      given |= std::int64_t{1} << i;
      if (n >= 0) batched |= std::int64_t{1} << operands.size();
      operands.push_back(ct[i]);
    }
  if (asked == 0 || given == 0) return r;
  attributes a;
  a.ints = {n, batched, asked, given};
  for (int i = 2; i < s.e.attrs.ints.size(); ++i) a.ints.push_back(s.e.attrs.ints[i]);
  if constexpr (G::order < G::options.orders) {
    const vec<int> pulled = s.b.add(prim::call<detail::pullback<G>>, operands, a);
    int next = 0;
    for (int i = 0; i < r.size(); ++i)
      if (detail::has_bit(asked, i)) {
        r[i] = pulled[next++];
        if (n >= 0 && !detail::has_bit(s.e.attrs.ints[1], i)) r[i] = emit::sum(s.b, r[i], {0});
      }
  }
  return r;
}
}  // namespace prim

namespace detail {

/// The one floating element type of arrays A; void where there are several or none.
template <class... A>
struct call_real {
  static constexpr int floats = (std::is_same_v<typename A::value_type, float> + ... + 0);
  static constexpr int doubles = (std::is_same_v<typename A::value_type, double> + ... + 0);
  using type = std::conditional_t<floats == 0 && doubles != 0, double, std::conditional_t<doubles == 0 && floats != 0, float, void>>;
};
template <class F, class T, class... A>
using called_result = call_result_t<F, typename call_argument<T, A>::type...>;

template <class F, class... X>
constexpr auto call_misuse() {
  if constexpr ((Placed<X> || ...)) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!(Array<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!std::is_empty_v<F> || !std::is_default_constructible_v<F>) {
    return error::traced_lambda_captures_a_runtime_value{};
  } else {
    using T = typename call_real<X...>::type;
    if constexpr (std::is_void_v<T>) {
      return std::conditional_t<call_real<X...>::floats == 0, error::needs_floating_values, error::element_types_differ>{};
    } else {
      using R = called_result<F, T, X...>;
      if constexpr (std::is_same_v<R, error::function_does_not_take_these_arguments>) {
        return error::function_of_a_call_does_not_take_these_numbers{};
      } else if constexpr (error::Reported<R>) {
        return fine{};  // the compiler has complained about f's body
      } else {
        using D = typename call_result_as<T, R>::type;
        return std::conditional_t<Structured<D> && !error::Reported<D>, fine, error::not_a_value_of_drx>{};
      }
    }
  }
}
template <class F, class... X>
concept Callable = std::is_same_v<decltype(call_misuse<F, X...>()), fine>;

}  // namespace detail

/// Ordinary C++ as one operation: f, a generic function object without captures, on arrays of one floating type (and any of
/// int and bool, which are constants of the derivative). f receives an array<T> as T, an array<T, N> as std::array<T, N>,
/// an array<T, M, N> as std::array<std::array<T, N>, M>, where T may be any scalar of drx::ad; it returns one number, a
/// std::array, or a std::tuple or std::pair of these. It may loop, branch on values and recurse.
///     drx::call([](const auto& x, const auto& rate) { return solve(x, rate); }, x, rate)
/// Differentiated backwards by duals for up to 8 numbers, else on a local tape on the stack; call<drx::ad::forward>(f, ...)
/// and call<drx::ad::reverse>(f, ...) choose, and call<drx::ad::reverse, 10000>(f, ...) gives the tape room for 10000 statements.
/// call<drx::ad::packs>(f, ...): f has no branches on values, and batches run in the lanes of vector registers.
/// Derivatives up to second order are compiled; call<drx::ad::orders{3}>(f, ...) for more.
template <auto... Options, class F, class... X>
  requires(sizeof...(X) > 0 && detail::Callable<F, X...>)
constexpr auto call(const F&, const X&... x) {
  using T = typename detail::call_real<X...>::type;
  using R = detail::called_result<F, T, X...>;
  if constexpr (error::Reported<R>) {
    return error::reported{};
  } else {
    using D = typename detail::call_result_as<T, R>::type;
    using G = detail::called<F, detail::call_options_of<Options...>, T, D, X...>;
    builder& b = detail::tape_of(detail::ref_of(x)...);
    attributes a;
    a.ints = {-1, 0};
    return detail::bound<D>(b, b.add(prim::call<G>, {detail::id_on(b, x)...}, a));
  }
}
template <auto... Options, class F, class... X, class Why = decltype(detail::call_misuse<F, X...>())>
  requires(((Array<X> || Placed<X>) || ...) && !error::AnyReported<X...> && !detail::Callable<F, X...>)
Why call(const F&, const X&...) = delete;  // drx: call(f, arrays...): f has no captures (make them arguments), takes numbers or std::arrays of them and returns such; of placed values in a map

}  // namespace drx

#endif
