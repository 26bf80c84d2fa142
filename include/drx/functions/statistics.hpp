// drx/functions/statistics.hpp: norm, variance and standard deviation over axes; reductions that keep their axes.
#pragma once

#include <drx/functions/argmax.hpp>
#include <drx/functions/log_softmax.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {

/// Option of reductions over axes: the axes that were summed stay, with extent 1.  sum<1>(x, keepdims)
struct keepdims_t {};
/// Option of reductions over axes: these axes stay, with extent 1, so that the result broadcasts with x.  sum<1>(x,
/// keepdims)
inline constexpr keepdims_t keepdims;
/// var and stddev divide by n - K instead of n.  var(x, ddof<1>)
template <int K>
struct ddof_t {
  static_assert(K >= 0, "drx::ddof: at least 0");
};
/// Option of var and stddev: they divide by n - K instead of n.  var(x, ddof<1>)
template <int K>
inline constexpr ddof_t<K> ddof;

namespace detail {
template <class A, int... Axes>
struct kept_axes {
  static constexpr shape value = [] {
    shape s = A::shape;
    for (int i = 0; i < A::rank; ++i)
      if (reduced_axes<A, Axes...>::has(i)) s[i] = 1;
    return s;
  }();
};
/// y, which has A's shape without Axes, with these axes restored at extent 1.
template <class A, int... Axes, class Y>
constexpr auto keep_axes(const Y& y) {
  using S = kept_axes<A, Axes...>;
  return unary<array_of<typename Y::value_type, S>>(y,
                                                    [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}

template <class O>
inline constexpr int degrees_of = 0;
template <int K>
inline constexpr int degrees_of<ddof_t<K>> = K;
template <class O>
inline constexpr bool is_ddof = false;
template <int K>
inline constexpr bool is_ddof<ddof_t<K>> = true;
template <class... O>  // each at most once
concept SpreadOptions =
    ((std::is_same_v<O, keepdims_t> || is_ddof<O>) && ...) &&
    (static_cast<int>(std::is_same_v<O, keepdims_t>) + ... + 0) <= 1 && (static_cast<int>(is_ddof<O>) + ... + 0) <= 1;
/// The checks and the result of a statistic of A, an array of numbers, over axes and with options O.
template <class A, class... O>
struct spread {
  static constexpr int degrees = (degrees_of<O> + ... + 0);
  template <int... Axes>
  static constexpr std::int64_t count() {
    std::int64_t n = 1;
    for (int i = 0; i < A::rank; ++i)
      if (reduced_axes<A, Axes...>::has(i)) n *= A::shape[i];
    return n;
  }
  template <int... Axes>
  static constexpr auto misuse() {
    if constexpr (!Reducible<A, Axes...>) {
      return reduction_misuse<A, Axes...>();
    } else if constexpr (count<Axes...>() <= degrees) {
      return error::not_more_elements_than_ddof{};
    } else {
      return no_misuse{};
    }
  }
  template <int... Axes>
  static constexpr auto variance(const A& x) {
    using T = mean_element<typename A::value_type>;
    const auto from_mean = cast<T>(x) - keep_axes<A, Axes...>(mean<Axes...>(x));
    return sum<Axes...>(from_mean * from_mean) * static_cast<T>(1 / static_cast<double>(count<Axes...>() - degrees));
  }
  template <int... Axes, class Y>
  static constexpr auto shaped(const Y& y) {
    if constexpr ((std::is_same_v<O, keepdims_t> || ...)) {
      return keep_axes<A, Axes...>(y);
    } else {
      return y;
    }
  }
};
template <int... Axes>
struct axis_list {};
template <class Axes, class A, class... O>
inline constexpr bool spreads = false;
template <int... Axes, Array A, class... O>
  requires SpreadOptions<O...>
inline constexpr bool spreads<axis_list<Axes...>, A, O...> =
    std::is_same_v<decltype(spread<A, O...>::template misuse<Axes...>()), no_misuse>;
template <class Axes, class A, class... O>
concept Spreadable = spreads<Axes, A, O...>;
template <class Axes, class A, class... O>
concept NotSpreadable = (Array<A> || Placed<A>) && SpreadOptions<O...> && !Spreadable<Axes, A, O...>;
template <class A, int... Axes>
concept Measurable = FloatingArray<A> && Reducible<A, Axes...>;
template <class A, int... Axes>
constexpr auto norm_misuse() {
  if constexpr (Array<A> && !FloatingArray<A>) {
    return error::needs_floating_values{};
  } else {
    return reduction_misuse<A, Axes...>();
  }
}
}  // namespace detail

// clang-format off
/// The square root of the sum of squares over the given axes or all of them, for float or double: the Euclidean norm,
/// for matrices Frobenius's. Its derivative at 0 is 0. Squares overflow: above 1e154 (float: 1e19) the norm is
/// infinite.
template <int... Axes, class A> requires detail::Measurable<A, Axes...>
constexpr auto norm(const A& x) {
  return detail::rounded_once([](const auto& y) { return sqrt(sum<Axes...>(y * y)); }, x);
}
/// The mean of the squared differences from the mean, over the given axes or all of them; integers give double.
/// Options, in any order: ddof<k>, which divides by n - k; keepdims.  var<0>(x), var<0>(x, ddof<1>, keepdims)
template <int... Axes, class A, class... O> requires detail::Spreadable<detail::axis_list<Axes...>, A, O...>
constexpr auto var(const A& x, const O&... options) {
  (static_cast<void>(options), ...);  // (their types say all)
  return detail::rounded_once(
      []<class C>(const C& y) {
        using S = detail::spread<C, O...>;
        return S::template shaped<Axes...>(S::template variance<Axes...>(y));
      },
      x);
}
/// The standard deviation: the square root of var, with its options. If all elements are equal its derivative is 0.
template <int... Axes, class A, class... O> requires detail::Spreadable<detail::axis_list<Axes...>, A, O...>
constexpr auto stddev(const A& x, const O&... options) {
  return detail::rounded_once([&](const auto& y) { return sqrt(var<Axes...>(y, options...)); }, x);
}

// Reductions that keep their axes, with extent 1.
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto sum(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(sum<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto mean(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(mean<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto max(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(max<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto min(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(min<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto prod(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(prod<Axes...>(x)); }
template <int... Axes, class A> requires detail::Measurable<A, Axes...>
constexpr auto norm(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(norm<Axes...>(x)); }
template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto all_of(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(all_of<Axes...>(x)); }
template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto any_of(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(any_of<Axes...>(x)); }
template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmax(const A& x, keepdims_t) { return detail::keep_axes<A, Axis>(argmax<Axis>(x)); }
template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmin(const A& x, keepdims_t) { return detail::keep_axes<A, Axis>(argmin<Axis>(x)); }
template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr auto logsumexp(const A& x, keepdims_t) { return detail::keep_axes<A, Axis>(logsumexp<Axis>(x)); }

template <int... Axes, class A, class Why = decltype(detail::norm_misuse<A, Axes...>())> requires((Array<A> || Placed<A>) && !detail::Measurable<A, Axes...>)
Why norm(const A&) = delete;  // drx: norm<axes...>(array of float or double); of a placed value in a map
template <int... Axes, class A, class... O, class Why = decltype(detail::spread<A, O...>::template misuse<Axes...>())> requires detail::NotSpreadable<detail::axis_list<Axes...>, A, O...>
Why var(const A&, const O&...) = delete;  // drx: var<axes...>(array of numbers) of more than ddof elements; of a placed value in a map
template <int... Axes, class A, class... O, class Why = decltype(detail::spread<A, O...>::template misuse<Axes...>())> requires detail::NotSpreadable<detail::axis_list<Axes...>, A, O...>
Why stddev(const A&, const O&...) = delete;  // drx: stddev<axes...>(array of numbers) of more than ddof elements; of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why sum(const A&, keepdims_t) = delete;  // drx: sum<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why mean(const A&, keepdims_t) = delete;  // drx: mean<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why max(const A&, keepdims_t) = delete;  // drx: max<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why min(const A&, keepdims_t) = delete;  // drx: min<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why prod(const A&, keepdims_t) = delete;  // drx: prod<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::norm_misuse<A, Axes...>())> requires((Array<A> || Placed<A>) && !detail::Measurable<A, Axes...>)
Why norm(const A&, keepdims_t) = delete;  // drx: norm<axes...>(array of float or double, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why all_of(const A&, keepdims_t) = delete;  // drx: all_of<axes...>(array of bool, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why any_of(const A&, keepdims_t) = delete;  // drx: any_of<axes...>(array of bool, keepdims); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmax(const A&, keepdims_t) = delete;  // drx: argmax<axis>(array of numbers with elements, keepdims); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmin(const A&, keepdims_t) = delete;  // drx: argmin<axis>(array of numbers with elements, keepdims); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why logsumexp(const A&, keepdims_t) = delete;  // drx: logsumexp<axis>(floating array, keepdims); of a placed value in a map
// clang-format on

DRX_SILENT(norm)
DRX_SILENT(stddev)
DRX_SILENT(var)

}  // namespace drx
