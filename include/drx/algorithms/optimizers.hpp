// drx/algorithms/optimizers.hpp: optimizers of structures, as optax has them. Their coefficients are numbers, their
// state is a structure: it may be placed, mapped, carried through a loop and differentiated.
//
//     constexpr auto optimizer = drx::adamw{.decay = 1e-3};
//     auto [next, next_state] = drx::step(optimizer, model, state, gradient, rate);
//
// Tested by tests/unit/algorithms/optimizers.cpp.
#pragma once

#include <drx/algorithms/constants.hpp>
#include <drx/functions/statistics.hpp>
#include <drx/functions/structure_reductions.hpp>
#include <drx/functions/tree_map.hpp>
#include <drx/primitives/catalogue.hpp>

namespace drx {
namespace detail {
template <class X>
inline constexpr dtype first_type = leaf_types<X>()[0].type;
/// The number of steps done, as a number of the parameters' type so that a state is differentiable. From 2^24 a float
/// stays the same; 1 - b^t is 1 long before.
template <class X>
using step_count = scalar<element_t<first_type<X>>>;

/// decay x + (1 - decay) y
template <class X, class Y>
constexpr auto moving_mean(double decay, const X& x, const Y& y) {
  return decay * x + (1 - decay) * y;
}
/// 1 - b^t, without cancellation: what a moving mean from 0 is divided by.
template <class Count>
constexpr auto started(double b, const Count& t) {
  return -drx::expm1(t * constant_log(b));
}
/// x - rate (m / (sqrt(v) + epsilon) + decay x), leaf by leaf; m and v are moments, divided by c and d.
template <class X, class M, class V, class Rate, class C, class D>
constexpr auto adaptive_step(const X& x, const M& m, const V& v, const Rate& rate, const C& c, const D& d,
                             double epsilon, double decay) {
  auto of_leaf = [=](auto w, auto first, auto second) {
    const auto direction = (first / c) / (drx::sqrt(second / d) + epsilon);
    if (decay == 0) return w - rate * direction;
    return w - rate * (direction + decay * w);
  };
  return drx::tree_map(of_leaf, x, m, v);
}
}  // namespace detail

/// x - rate g. It has no state.
struct sgd {
  template <class X>
  using state = std::tuple<>;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S&, const G& g, const Rate& rate) const {
    return std::pair{x - rate * g, std::tuple<>{}};
  }
};

/// m = decay m + g; x - rate m (Polyak 1964; optax.sgd(momentum=decay)). The state is m. The decay is a number or a
/// traced one.  momentum{0.9}
template <class Decay>
struct momentum {
  Decay decay;
  template <class X>
  using state = X;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S& s, const G& g, const Rate& rate) const {
    const auto m = decay * s + g;
    return std::pair{x - rate * m, m};
  }
};
template <class Decay>
momentum(Decay) -> momentum<Decay>;

/// m = decay m + g; x - rate (g + decay m) (Sutskever et al. 2013; optax.sgd(momentum=decay, nesterov=True)). The state
/// is m. The decay is a number or a traced one.  nesterov{0.9}
template <class Decay>
struct nesterov {
  Decay decay;
  template <class X>
  using state = X;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S& s, const G& g, const Rate& rate) const {
    const auto m = decay * s + g;
    return std::pair{x - rate * (g + decay * m), m};
  }
};
template <class Decay>
nesterov(Decay) -> nesterov<Decay>;

/// Adam with decay of the weights beside it (Loshchilov and Hutter 2019): m = first m + (1 - first) g,
/// v = second v + (1 - second) g g; x - rate (M / (sqrt(V) + epsilon) + decay x), M = m / (1 - first^t),
/// V = v / (1 - second^t) in step t. The state is (m, v, t).
struct adamw {
  double first = 0.9, second = 0.999, epsilon = 1e-8, decay = 1e-4;
  template <class X>
  using state = std::tuple<X, X, detail::step_count<X>>;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S& s, const G& g, const Rate& rate) const {
    const auto m = detail::moving_mean(first, std::get<0>(s), g),
               v = detail::moving_mean(second, std::get<1>(s), g * g);
    const auto t = std::get<2>(s) + 1;
    const auto c = detail::started(first, t), d = detail::started(second, t);
    return std::pair{detail::adaptive_step(x, m, v, rate, c, d, epsilon, decay), std::tuple{m, v, t}};
  }
};

/// Adam (Kingma and Ba 2015): adamw without decay.
struct adam {
  double first = 0.9, second = 0.999, epsilon = 1e-8;
  template <class X>
  using state = adamw::state<X>;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S& s, const G& g, const Rate& rate) const {
    return adamw{first, second, epsilon, 0}(x, s, g, rate);
  }
};

/// The server's Adam of Reddi et al. 2021 (FedAdam), which divides the moments by nothing: x - rate m / (sqrt(v) +
/// epsilon). The state is (m, v).
struct fedadam {
  double first = 0.9, second = 0.99, epsilon = 1e-3;
  template <class X>
  using state = std::tuple<X, X>;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S& s, const G& g, const Rate& rate) const {
    const auto m = detail::moving_mean(first, std::get<0>(s), g),
               v = detail::moving_mean(second, std::get<1>(s), g * g);
    return std::pair{detail::adaptive_step(x, m, v, rate, 1., 1., epsilon, 0), std::tuple{m, v}};
  }
};

/// Adam with v = v - (1 - second) sign(v - g g) g g (Zaheer et al. 2018). optax.yogi begins with moments of 1e-6, this
/// with the state that it is given. The state is (m, v, t).
struct yogi {
  double first = 0.9, second = 0.999, epsilon = 1e-3;
  template <class X>
  using state = adamw::state<X>;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S& s, const G& g, const Rate& rate) const {
    const auto m = detail::moving_mean(first, std::get<0>(s), g);
    auto of_leaf = [k = 1 - second](auto v, auto h) { return v - k * drx::sign(v - h * h) * h * h; };
    const auto v = drx::tree_map(of_leaf, std::get<1>(s), g);
    const auto t = std::get<2>(s) + 1;
    const auto c = detail::started(first, t), d = detail::started(second, t);
    return std::pair{detail::adaptive_step(x, m, v, rate, c, d, epsilon, 0), std::tuple{m, v, t}};
  }
};

/// a = a + g g; x - rate g / sqrt(a + epsilon), and no step where a is 0 (Duchi et al. 2011). optax.adagrad begins with
/// a = 0.1, this with the state that it is given. The state is a.
struct adagrad {
  double epsilon = 1e-7;
  template <class X>
  using state = X;
  template <class X, class S, class G, class Rate>
  constexpr auto operator()(const X& x, const S& s, const G& g, const Rate& rate) const {
    const auto a = s + g * g;
    auto of_leaf = [=, e = epsilon](auto w, auto h, auto sum) {
      return w - rate * drx::where(sum > 0, h / drx::sqrt(sum + e), 0 * h);
    };
    return std::pair{drx::tree_map(of_leaf, x, g, a), a};
  }
};

namespace detail {
template <class O, class X>
using optimizer_state = typename O::template state<canonical_t<X>>;
/// Why no step of optimizer O goes from X with state S along G; `no_misuse` if one does.
template <class O, class X, class S, class G, class Rate>
constexpr auto step_misuse() {
  if constexpr ((Placed<X> || Placed<S> || Placed<G> || Placed<Rate>) || !all_unplaced<X>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (leaf_count<X> == 0 || !all_floating<X>) {
    return error::needs_floating_values{};
  } else if constexpr (!std::is_same_v<canonical_t<G>, canonical_t<X>> ||
                       !std::is_same_v<canonical_t<S>, canonical_t<optimizer_state<O, X>>>) {
    return error::structures_differ{};
  } else if constexpr (Literal<Rate>) {
    return no_misuse{};
  } else if constexpr (!ScalarArray<Rate>) {
    return error::wrong_rank{};
  } else {
    return std::conditional_t<first_type<Rate> == first_type<X>, no_misuse, error::element_types_differ>{};
  }
}
template <class X, class S, class G, class Rate>
concept StepOperands = Structured<X> && Structured<S> && Structured<G> && (Structured<Rate> || Literal<Rate>) &&
                       !error::AnyReported<X, S, G, Rate>;
template <class Why>
concept MayStep = std::is_same_v<Why, no_misuse>;
}  // namespace detail

/// The type of optimizer O's state for parameters X. Its zeros are the state before the first step.
///     optimizer_state<adamw, model>
template <class O, class X>
using optimizer_state = detail::optimizer_state<O, X>;

/// One step of an optimizer: the pair of the next parameters and the next state. The gradient has the type of the
/// parameters, the rate is a number or a traced one.
///     auto [next, next_state] = step(adamw{.decay = 1e-3}, model, state, gradient, rate)
template <class O, class X, class S, class G, class Rate>
  requires(detail::StepOperands<X, S, G, Rate> && detail::MayStep<decltype(detail::step_misuse<O, X, S, G, Rate>())>)
constexpr auto step(const O& optimizer, const X& x, const S& state, const G& g, const Rate& rate) {
  return optimizer(x, state, g, rate);
}
template <class O, class X, class S, class G, class Rate, class Why = decltype(detail::step_misuse<O, X, S, G, Rate>())>
  requires(detail::StepOperands<X, S, G, Rate> && !detail::MayStep<Why>)
Why step(const O&, const X&, const S&, const G&, const Rate&) = delete;  // drx: step(optimizer, parameters, its optimizer_state, a gradient of the parameters' type, one number as rate); of placed values in a map

/// x, or x limit / norm(x) if its norm is larger than the limit (optax.clip_by_global_norm). At x = 0 the derivative is
/// 1, as it is within the limit.
///     clip_by_global_norm(gradient, 1.0)
template <class X, class L>
constexpr auto clip_by_global_norm(const X& x, const L& limit) {
  const auto n = drx::norm(x);
  return x * drx::where(n > limit, limit / drx::where(n > limit, n, 0 * n + 1), 0 * n + 1);
}

DRX_SILENT(step)

}  // namespace drx
