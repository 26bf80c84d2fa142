// Nested derivatives do not mix up what they differentiate in: D(x -> x D(y -> x + y)) is 1, whatever x and y are
// called. Shown on tapes: what is constant is recorded as a constant.
#include <drx/drx.hpp>

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};

/// The derivative of a function of one number, in reverse and in forward mode.
struct reverse {
  template <class F>
  constexpr auto operator()(F f) const {
    return drx::grad(f);
  }
};
struct forward {
  template <class F>
  constexpr auto operator()(F f) const {
    return [=](auto x) { return drx::jvp(f, x, drx::ones<decltype(x)>()).second; };
  }
};

/// Outer(x -> x Inner(y -> x + y)) at x: 1. A tape that mixed them up would have 2 or 2 x.
template <class Outer, class Inner>
constexpr auto confusable =
    [](auto x) { return Outer{}([](auto v) { return v * Inner{}([=](auto y) { return v + y; })(v); })(x); };
/// The same with products: Inner is x, so that Outer is 2 x.
template <class Outer, class Inner>
constexpr auto doubled =
    [](auto x) { return Outer{}([](auto v) { return v * Inner{}([=](auto y) { return v * y; })(v); })(x); };
/// Three levels, each with its own variable: D(x -> x D(y -> y D(z -> x + y + z))) is 1.
template <class A, class B, class C>
constexpr auto threefold = [](auto x) {
  return A{}([](auto u) { return u * B{}([=](auto v) { return v * C{}([=](auto w) { return u + v + w; })(v); })(u); })(
      x);
};
template <auto F>
constexpr auto in_map = [](auto x) { return drx::map([](auto v) { return F(v); }, x); };
template <auto F>
constexpr auto in_loop = [](auto x) { return drx::fori_loop<3>(x, [](auto v) { return F(v); }); };
/// Around a map: the inner derivative is taken of each member's function, the outer of their sum.
template <class Inner>
constexpr auto around_map = [](auto w, auto x) {
  return drx::grad([&](auto v) {
    return drx::reduce_sum(drx::map([](auto a, auto) { return a * Inner{}([=](auto y) { return a + y; })(a); },
                                    drx::broadcast<clients>(v), x));
  })(w);
};
/// Around a loop: v_{k+1} = v_k D(y -> v_k + y) = v_k, whose derivative is 1.
template <class Inner>
constexpr auto around_loop = [](auto w) {
  return drx::grad([](auto v) {
    return drx::fori_loop<4>(v, [](auto c) { return c * Inner{}([=](auto y) { return c + y; })(c); });
  })(w);
};

/// Whether the tape returns the constant, without other work.
constexpr bool is_constant(const drx::tape& t, double number) {
  return t.entries.size() == 1 && t.entries[0].prim == &drx::prim::constant && t.entries[0].attrs.number == number &&
         t.outputs.size() == 1;
}
constexpr bool is_constant_within(const drx::tape& t, double number) {
  return t.entries.size() == 1 && t.entries[0].regions.size() == 1 && is_constant(t.entries[0].regions[0], number);
}
template <auto F>
constexpr bool is_one = is_constant(program<F, double>::tape().thaw(), 1);
template <auto F>
constexpr bool is_twice = [] {  // x + x, or 2 x
  const drx::tape t = program<F, double>::tape().thaw();
  const drx::entry& last = t.entries.back();
  if (last.prim == &drx::prim::add)
    return t.entries.size() == 1 && last.operands[0] == t.inputs[0] && last.operands[1] == t.inputs[0];
  return last.prim == &drx::prim::mul && t.entries.size() == 2 && t.entries[0].attrs.number == 2;
}();
}  // namespace

// Of two levels, in all pairs of modes.
static_assert(is_one<confusable<reverse, reverse>> && is_one<confusable<forward, reverse>>);
static_assert(is_one<confusable<reverse, forward>> && is_one<confusable<forward, forward>>);
static_assert(is_twice<doubled<reverse, reverse>> && is_twice<doubled<forward, reverse>>);
static_assert(is_twice<doubled<reverse, forward>> && is_twice<doubled<forward, forward>>);

// Of three.
static_assert(is_one<threefold<reverse, reverse, reverse>> && is_one<threefold<forward, forward, forward>>);
static_assert(is_one<threefold<forward, reverse, forward>> && is_one<threefold<reverse, forward, reverse>>);

// Inside of maps and loops: the body is the constant.
static_assert(is_constant_within(program<in_map<confusable<reverse, reverse>>, placed<double, clients>>::tape().thaw(),
                                 1));
static_assert(is_constant_within(
    program<in_map<threefold<forward, reverse, forward>>, placed<double, clients>>::tape().thaw(), 1));
static_assert(is_constant_within(program<in_loop<confusable<reverse, forward>>, double>::tape().thaw(), 1));
static_assert(is_constant_within(program<in_loop<threefold<reverse, forward, reverse>>, double>::tape().thaw(), 1));

// Around them: what goes to the members, or around the loop, is the constant 1, and comes back as it is.
constexpr bool moves_ones(const drx::tape& t) {
  for (const drx::entry& e : t.entries) {
    const bool one = e.prim == &drx::prim::constant && e.attrs.number == 1;
    const bool moves = e.prim == &drx::prim::broadcast || e.prim == &drx::prim::reduce_sum;
    const bool hands_on = e.regions.size() == 1 && e.regions[0].entries.empty();
    if (!one && !moves && !hands_on) return false;
  }
  return true;
}
static_assert(moves_ones(program<around_map<reverse>, double, placed<double, clients>>::tape().thaw()));
static_assert(moves_ones(program<around_map<forward>, double, placed<double, clients>>::tape().thaw()));
static_assert(moves_ones(program<around_loop<reverse>, double>::tape().thaw()));
static_assert(moves_ones(program<around_loop<forward>, double>::tape().thaw()));
