// drx/primitives/call.hpp: ordinary C++ in a program: a function object of scalars and std::arrays of them as one
// entry. It is differentiated as C++ (drx/scalar/), by duals or on a local tape.
//
// Each function has a primitive of its own, and so has each of its derivatives: the tangents and the cotangents of a
// call are calls again, of functors made from the first (`pushforward`, `pullback`, in call_functors.hpp).
#pragma once

#include <drx/primitives/call_functors.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim {
namespace rules {
/// One call, or several at once, which have some operands in common.
template <class G>
struct call {
  using T = typename G::real;
  struct view {  // ints: {how many at once, a mask of the operands that differ among those, attributes of G...}
    std::optional<std::int64_t> times;  // none: one call, whose operands have no axis for it
    std::int64_t mask;
    int_list own;  // of G
    constexpr explicit view(int_list a) : mask(a[1]), own(a.from(first_own)) {
      if (a[0] != once) times = a[0];
    }
    [[nodiscard]] constexpr bool differs(int operand) const { return times && drx::detail::has_bit(mask, operand); }
    /// The same call, or the same calls, of a functor whose own attributes are these and then G's.
    [[nodiscard]] constexpr attributes make(std::int64_t differing, const vec<std::int64_t>& before = {}) const {
      attributes a;
      a.ints = {times.value_or(once), differing};
      a.ints.append(before);
      a.ints.append(own);
      return a;
    }

    static constexpr std::int64_t once = -1;
    static constexpr int first_own = 2;
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const view c(t.attrs);
    typing::require(t.operands.size() < 64, "call: more operands than a mask has bits");
    vec<abstract_value> each;
    for (int i = 0; i < t.operands.size(); ++i) {
      const abstract_value& x = t.operands[i];
      const bool batched = c.differs(i);
      typing::require(!batched || (x.shape.rank > 0 && x.shape[0] == c.times), "call: an operand is no batch");
      each.push_back(batched ? x.with_shape(without_axis(x.shape, 0)) : x);
    }
    vec<abstract_value> r = G::type(c.own.begin(), each);
    if (c.times)
      for (int i = 0; i < r.size(); ++i) r[i] = r[i].with_shape(with_front(r[i].shape, *c.times));
    return r;
  }
  static constexpr void require_order() {
    if (G::order >= G::options.orders)
      throw "drx: call: derivatives of this order are not compiled: drx::call<drx::ad::orders{n}>(f, ...)";
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents);
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted);
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t m) {
    view c(s.e);
    const auto n = c.times;
    std::int64_t mask = 0;
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i) {
      const bool before = c.differs(i);
      if (!before && !batched[i]) continue;
      mask |= std::int64_t{1} << i;
      if (!n) continue;
      // A batch of batches: m times n of all operands that differ anywhere.
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], m);
      shape each = s.b.shape(operands[i]);
      if (!before) {
        each = with_front(with_front(without_axis(each, 0), 1), m);
        operands[i] = emit::reshape(s.b, operands[i], each);
        each[1] = *n;
        operands[i] = emit::broadcast_to(s.b, operands[i], each);
      }
      operands[i] = emit::reshape(s.b, operands[i], with_front(without_axis(without_axis(each, 0), 0), m * *n));
    }
    c.times = m * n.value_or(1);
    vec<int> r = s.b.add(*s.e.prim, operands, c.make(mask));
    for (int i = 0; n && i < r.size(); ++i) {
      const shape each = without_axis(s.b.shape(r[i]), 0);
      r[i] = emit::reshape(s.b, r[i], with_front(with_front(each, *n), m));
    }
    return r;
  }
  static std::string print(const attributes& a) {
    const view c(a);
    std::string text = G::name(c.own.begin());
    if (c.times) text += "; " + std::to_string(*c.times) + " times, of " + std::to_string(c.mask);
    return text;
  }

  /// Runs W calls from number `first` on, of which n are in use.
  template <int W>
  static void run_lanes([[maybe_unused]] const std::int64_t* a, [[maybe_unused]] const typename G::sizes_type& s,
                        [[maybe_unused]] const void* const* in, [[maybe_unused]] void* const* out,
                        [[maybe_unused]] std::int64_t first, [[maybe_unused]] std::int64_t n) {
#if !defined(__CUDACC__)
    using S = ad::pack<T, W>;
    S x[G::max_in > 0 ? G::max_in : 1], y[G::max_out > 0 ? G::max_out : 1];
    const void* raw[G::max_operands > 0 ? G::max_operands : 1] = {};
    int at = 0, others = 0;
    for (int i = 0; i < s.operands; ++i) {
      const T* from = static_cast<const T*>(in[i]);
      if (s.bytes[i] > 0) {
        raw[others++] = in[i];
      } else if (drx::detail::has_bit(a[1], i)) {
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
  static void run_one(const std::int64_t* a, const typename G::sizes_type& s, const void* const* in, void* const* out,
                      std::int64_t k) {
    T x[G::max_in > 0 ? G::max_in : 1], y[G::max_out > 0 ? G::max_out : 1];
    const void* raw[G::max_operands > 0 ? G::max_operands : 1] = {};
    int at = 0, others = 0;
    for (int i = 0; i < s.operands; ++i) {
      const auto offset = static_cast<std::size_t>(a[0] >= 0 && drx::detail::has_bit(a[1], i) ? k : 0);
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
      for (int i = 0; i < s.operands; ++i) same = same && !(s.bytes[i] > 0 && drx::detail::has_bit(a[1], i));
      if (same) {
        for (std::int64_t k = 0; k < a[0]; k += width)
          run_lanes<width>(a, s, in, out, k, a[0] - k < width ? a[0] - k : width);
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
                                .native = rules::call<G>::native,
                                .known = rules::known::nothing,
                                .split = rules::split::whole};

template <class G>
constexpr vec<int> rules::call<G>::jvp(const rule_site& s, const vec<int>& tangents) {
  require_order();
  const view c(s.e);
  std::int64_t mask = 0, batched = c.mask;
  vec<int> operands = s.operands;
  for (int i = 0; i < tangents.size(); ++i)
    if (tangents[i] != zero_tangent) {
      mask |= std::int64_t{1} << i;
      if (drx::detail::has_bit(c.mask, i)) batched |= std::int64_t{1} << operands.size();
      operands.push_back(tangents[i]);
    }
  if (mask == 0) return vec<int>(s.results.size(), zero_tangent);
  if constexpr (G::order < G::options.orders) {
    return s.b.add(prim::call<drx::detail::pushforward<G>>, operands, c.make(batched, {mask}));
  } else {
    return {};
  }
}
template <class G>
constexpr vec<int> rules::call<G>::vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
  require_order();
  const view c(s.e);
  std::int64_t asked = 0, given = 0, batched = c.mask;
  vec<int> operands = s.operands;
  vec<int> r(s.operands.size(), zero_tangent);
  for (int i = 0; i < wanted.size(); ++i)
    if (wanted[i] && is_floating(s.b.type(s.operands[i]).type)) asked |= std::int64_t{1} << i;
  for (int i = 0; i < ct.size(); ++i)
    if (ct[i] != zero_tangent) {
      given |= std::int64_t{1} << i;
      if (c.times) batched |= std::int64_t{1} << operands.size();
      operands.push_back(ct[i]);
    }
  if (asked == 0 || given == 0) return r;
  if constexpr (G::order < G::options.orders) {
    const vec<int> pulled = s.b.add(prim::call<drx::detail::pullback<G>>, operands, c.make(batched, {asked, given}));
    int next = 0;
    for (int i = 0; i < r.size(); ++i)
      if (drx::detail::has_bit(asked, i)) {
        r[i] = pulled[next++];
        if (c.times && !drx::detail::has_bit(c.mask, i)) r[i] = emit::sum(s.b, r[i], {0});
      }
  }
  return r;
}
}  // namespace prim

namespace detail {

/// The one floating element type of arrays A; void if there are several or none.
template <class... A>
struct call_real {
  static constexpr int floats = (std::is_same_v<typename A::value_type, float> + ... + 0);
  static constexpr int doubles = (std::is_same_v<typename A::value_type, double> + ... + 0);
  using type = std::conditional_t<floats == 0 && doubles != 0, double,
                                  std::conditional_t<doubles == 0 && floats != 0, float, void>>;
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
    if constexpr ((is_half<typename X::value_type> || ...)) {
      return error::a_function_of_numbers_has_no_numbers_of_16_bits{};
    } else if constexpr (std::is_void_v<T>) {
      return std::conditional_t<call_real<X...>::floats == 0, error::needs_floating_values,
                                error::element_types_differ>{};
    } else {
      using R = called_result<F, T, X...>;
      if constexpr (error::is_unsaid<R>) {
        return error::function_of_a_call_does_not_take_these_numbers{};
      } else if constexpr (error::Reported<R>) {
        return no_misuse{};  // the compiler has complained about f's body
      } else {
        using D = typename call_result_as<T, R>::type;
        return std::conditional_t<Structured<D> && !error::Reported<D>, no_misuse, error::not_a_value_of_drx>{};
      }
    }
  }
}
template <class F, class... X>
concept Callable = std::is_same_v<decltype(call_misuse<F, X...>()), no_misuse>;

}  // namespace detail

/// Ordinary C++ as one operation: f, a generic function object without captures, on arrays of one floating type (and of
/// int and bool, which are constants to the derivative). f receives an array<T> as T, an array<T, N> as std::array<T,
/// N>, an array<T, M, N> as std::array<std::array<T, N>, M>, where T may be any scalar of drx::ad; it returns one
/// number, a std::array, or a std::tuple or std::pair of these. It may loop, branch on values and recurse.
///     drx::call([](const auto& x, const auto& rate) { return solve(x, rate); }, x, rate)
/// The reverse derivative uses duals for up to 8 numbers, else a local tape on the stack; call<drx::ad::forward>(f,
/// ...) and call<drx::ad::reverse>(f, ...) choose, and call<drx::ad::reverse, 10000>(f, ...) gives the tape room for
/// 10000 statements. call<drx::ad::packs>(f, ...) says that f has no branches on values, so that batches run in the
/// lanes of vector registers. Derivatives up to second order are compiled; call<drx::ad::orders{3}>(f, ...) compiles
/// more.
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
    tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
    attributes a;
    a.ints = {prim::rules::call<G>::view::once, 0};
    return detail::bound<D>(b, b.add(prim::call<G>, {detail::id_on(b, x)...}, a));
  }
}
template <auto... Options, class F, class... X, class Why = decltype(detail::call_misuse<F, X...>())>
  requires(((Array<X> || Placed<X>) || ...) && !error::AnyReported<X...> && !detail::Callable<F, X...>)
Why call(const F&, const X&...) = delete;  // drx: call(f, arrays...): f has no captures (make them arguments), takes numbers or std::arrays of them and returns such; of placed values in a map; cast bfloat16 and float16

DRX_SILENT(call)

}  // namespace drx
