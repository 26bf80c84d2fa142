// drx/transform/jacobian.hpp: jacfwd, jacrev, hessian, hvp.
#pragma once

#include <drx/transform/grad.hpp>
#include <drx/transform/modes.hpp>

namespace drx {
namespace detail {

/// The type of the derivative of a result R with respect to an argument A: for each array of the result one value of A,
/// whose arrays have the result's axes in front.
template <class R, class A>  // a struct R: by one number, R itself; else a tuple of its members' derivatives
struct jacobian_of
    : std::conditional_t<ScalarArray<A>, std::type_identity<R>, jacobian_of<typename structure<R>::parts, A>> {};
template <class T, class A>
struct jacobian_of<array<T>, A> {
  using type = A;
};
template <class T, std::int64_t M, std::int64_t... Rest, class A>
struct jacobian_of<array<T, M, Rest...>, A> {
  using type = stacked_t<typename jacobian_of<array<T, Rest...>, A>::type, M>;
};
template <class... R, class A>
struct jacobian_of<std::tuple<R...>, A> {
  using type = std::tuple<typename jacobian_of<R, A>::type...>;
};
template <class R, class S, class A>
struct jacobian_of<std::pair<R, S>, A> {
  using type = std::pair<typename jacobian_of<R, A>::type, typename jacobian_of<S, A>::type>;
};
template <class R, std::size_t N, class A>
struct jacobian_of<std::array<R, N>, A> {
  using type = std::array<typename jacobian_of<R, A>::type, N>;
};
template <class S, std::int64_t N, class A>
struct jacobian_of<batched<S, N>, A> : jacobian_of<decltype(batched<S, N>::leaf), A> {};
template <class R, class A>
constexpr bool arrays_only() {
  const leaf_types<std::tuple<R, A>> t;
  for (int i = 0; i < leaf_count<R> + leaf_count<A>; ++i)
    if (t[i].depth > 0) return false;
  return leaf_count<R> > 0 && leaf_count<A> > 0;
}
template <class R, class A>
constexpr bool one_element_type() {
  const leaf_types<std::tuple<R, A>> t;
  for (int i = 0; i < leaf_count<R> + leaf_count<A>; ++i)
    if (t[i].type != t[0].type) return false;
  return true;
}
template <class R, class A>
constexpr int largest_rank() {
  const leaf_types<std::tuple<R, A>> t;
  int most[2] = {};
  for (int i = 0; i < leaf_count<R> + leaf_count<A>; ++i) {
    int& m = most[i < leaf_count<R> ? 0 : 1];
    if (t[i].shape.rank > m) m = t[i].shape.rank;
  }
  return most[0] + most[1];
}
template <class F, int... I, class... X>
constexpr auto jacobian_misuse(std::type_identity<X>... x) {
  using Why = decltype(derivative_misuse<F, I...>(x...));
  if constexpr (!std::is_same_v<Why, no_misuse> || error::AnyReported<X...>) {
    return Why{};
  } else {
    using R = canonical_t<traced_result<F, X...>>;
    using A = one_or_tuple_t<canonical_t<argument_t<I, X...>>...>;
    if constexpr (error::Reported<R>) {
      return no_misuse{};
    } else if constexpr (!arrays_only<R, A>()) {
      return error::jacobian_needs_arrays{};
    } else if constexpr (!one_element_type<R, A>()) {
      return error::element_types_differ{};
    } else if constexpr (largest_rank<R, A>() > shape::max_rank) {
      return error::wrong_rank{};
    } else {
      return no_misuse{};
    }
  }
}

/// The rows of the unit matrix, cut to leaves of the given types: [rows, shape...] for each.
constexpr vec<int> unit_vectors(builder& b, const vec<abstract_value>& leaves) {
  std::int64_t n = 0, first = 0;
  for (const auto& l : leaves) n += l.shape.size();
  const int unit = emit::identity(b, {leaves[0].type, make_shape(n, n)});
  vec<int> r;
  for (const auto& l : leaves) {
    r.push_back(emit::reshape(b, emit::part_of_axis(b, unit, 1, first, l.shape.size()), with_front(l.shape, n)));
    first += l.shape.size();
  }
  return r;
}

template <bool Forward, class F, int... I>
struct jacobian {
  F f;

  template <class... X>
  static constexpr auto misuse() {
    return jacobian_misuse<F, I...>(std::type_identity<X>{}...);
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: a Jacobian is of arrays, or structures of arrays, in such, all of one floating type and unplaced: reduce or capture what is placed; the argument asked for is jacfwd<I>
    if constexpr (AlreadyReported<F, X...>) {
      return error::reported{};
    } else {
      return differentiate(x...);
    }
  }

 private:
  template <class... X>
  constexpr auto differentiate(const X&... x) const {
    using R = canonical_t<traced_result<F, X...>>;
    using A = one_or_tuple_t<canonical_t<argument_t<I, X...>>...>;
    const traced_call call = trace_call(meeting_builder(x...), f, x...);
    tracing_builder& b = *call.b;
    const vec<bool> in = leaves_of_arguments<I...>(call.inputs.size(), std::type_identity<X>{}...);
    vec<int> argument;  // the inputs that are leaves of A
    const auto add = [&]<int J>(std::integral_constant<int, J>) {
      for (int i = 0; i < leaf_count<argument_t<J, X...>>; ++i) argument.push_back(leaf_offsets<X...>::first(J) + i);
    };
    (add(std::integral_constant<int, I>{}), ...);
    tape t;
    if (Forward) {
      t = tangents_only(call.body, in);
    } else {
      t = transform::pullback(call.body, in, vec<bool>(leaf_count<R>, true));
    }
    vec<int> inputs = call.inputs;
    vec<abstract_value> seeds;
    for (int i = inputs.size(); i < t.inputs.size(); ++i) seeds.push_back(t.values[t.inputs[i]]);
    const vec<int> units = unit_vectors(b, seeds);
    inputs.append(units);
    const tape all = transform::batch(t, last(units.size(), t.inputs.size()), b.shape(units[0])[0]);
    vec<int> out = inline_tape(b, all, inputs);
    if (Forward)  // columns came first
      for (int& o : out) {
        vec<std::int64_t> order;
        for (int i = 1; i < b.shape(o).rank; ++i) order.push_back(i);
        order.push_back(0);
        o = emit::transpose(b, o, order);
      }
    const auto rank_among = [&](int input) {  // its place among the leaves with tangents or cotangents
      int n = 0;
      for (int i = 0; i < input; ++i) n += in[i];
      return n;
    };
    vec<int> ids;
    std::int64_t row = 0;
    for (int r = 0; r < leaf_count<R>; ++r) {
      const shape of_result = call.body.values[call.body.outputs[r]].shape;
      for (int a : argument) {
        const shape of_argument = call.body.values[call.body.inputs[a]].shape;
        int j = -1;
        if (Forward) {
          std::int64_t column = 0;
          for (int i = 0; i < rank_among(a); ++i) column += seeds[i].shape.size();
          j = emit::part_of_axis(b, out[r], of_result.rank, column, of_argument.size());
        } else {
          j = emit::part_of_axis(b, out[rank_among(a)], 0, row, of_result.size());
        }
        shape s = of_result;
        for (int i = 0; i < of_argument.rank; ++i) s.push_back(of_argument[i]);
        ids.push_back(emit::reshape(b, j, s));
      }
      row += of_result.size();
    }
    return bound<typename jacobian_of<R, A>::type>(b, ids);
  }
};

}  // namespace detail

/// The Jacobian of a function from arrays or structures of them to such, with respect to its argument 0, or to
/// arguments I... (a tuple of several): the derivative of result[i...] by x[j...] is at [i..., j...]. For structures,
/// each array of the result gets a value of the argument's structure, with the result's axes in front of its own
/// (stacked_t: a struct becomes a drx::batched). A returned struct becomes a tuple of its members' derivatives.
/// It uses forward mode, a column for each element of x: for few inputs.
template <int... I, class F>
constexpr auto jacfwd(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::jacobian<true, F, 0>{f};
  } else {
    return detail::jacobian<true, F, I...>{f};
  }
}
/// The Jacobian, as jacfwd gives it, by reverse mode, a row for each element of the result: for few outputs.
template <int... I, class F>
constexpr auto jacrev(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::jacobian<false, F, 0>{f};
  } else {
    return detail::jacobian<false, F, I...>{f};
  }
}
/// The second derivatives of a function that returns one floating number, with respect to its argument 0, or to
/// arguments I...: the Jacobian of the gradient, forward over reverse mode.  hessian(f)(x) of an array has the shape
/// [x..., x...].
template <int... I, class F>
constexpr auto hessian(const F& f) {
  return jacfwd<I...>(grad<I...>(f));
}

namespace detail {
template <class F>
struct full_gradient {  // with respect to all arguments
  const F& f;
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return grad<I...>(f)(x...);
    }(std::make_integer_sequence<int, sizeof...(X)>{});
  }
};
}  // namespace detail

/// The Hessian of f, which returns one floating number, at x... times v..., without forming the Hessian: forward over
/// reverse mode, at the cost of a few gradients. v... have the types of x..., and so has the result (a tuple of
/// several).
///     auto product = drx::hvp(f, x, v);
template <class F, class... X>
  requires(!error::AnyReported<X...>)
constexpr auto hvp(const F& f, const X&... x_then_v) {
  return jvp(detail::full_gradient<F>{f}, x_then_v...).second;
}

}  // namespace drx
