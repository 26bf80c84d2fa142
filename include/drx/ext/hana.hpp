// drx/ext/hana.hpp: structs adapted by Boost.Hana, and hana::tuple, may stand wherever a value may:
//     struct model { drx::array<float, 64, 10> w; drx::array<float, 10> b; };
//     BOOST_HANA_ADAPT_STRUCT(model, w, b);
// Members are arrays (drx::scalar<float> for one number), other adapted structs, or tuples and std::arrays of these;
// their leaves have the order in which the macro names them. The gradient with respect to a model is a model.
#pragma once

#include <drx/core/structure.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/tuple.hpp>

namespace drx {
namespace detail {

template <class X>
inline constexpr bool is_traced_struct = false;
template <class S>
inline constexpr bool is_traced_struct<value<S>> = true;  // it inherits the members of BOOST_HANA_DEFINE_STRUCT too

template <class S>
concept AdaptedStruct = std::is_class_v<S> && !is_traced_struct<S> && boost::hana::Struct<S>::value;

template <class S>
struct members_of {
  using accessors = decltype(boost::hana::accessors<S>());
  static constexpr int count = static_cast<int>(decltype(boost::hana::length(std::declval<accessors>()))::value);
  template <int I, class V>
  static constexpr decltype(auto) at(V& x) {
    return boost::hana::second(boost::hana::at_c<I>(boost::hana::accessors<S>()))(x);
  }
  template <int I>
  using type = std::remove_cvref_t<decltype(at<I>(std::declval<S&>()))>;
};

// Whether a traced M can be held by a member of type M: that must hold references, which only arrays can.
template <class M>
constexpr bool holds_references() {
  if constexpr (Structured<M>) {
    if constexpr (std::is_same_v<canonical_t<M>, M>) {
      constexpr leaf_types<M> types;
      for (int i = 0; i < leaf_count<M>; ++i)
        if (types[i].depth > 0) return false;
      return true;
    }
  }
  return false;
}

template <class To, class From>
constexpr void store(To& to, const From& from) {
  if constexpr (std::is_assignable_v<To&, const From&>) {
    to = from;
  } else {  // a std::array of structs from one of their traced forms
    for (std::size_t i = 0; i < to.size(); ++i) detail::store(to[i], from[i]);
  }
}

template <class S, class = std::make_integer_sequence<int, members_of<S>::count>>
struct struct_structure;
template <class S, int... I>
struct struct_structure<S, std::integer_sequence<int, I...>> {
  using members = members_of<S>;
  template <int K>
  using member = typename members::template type<K>;

  static constexpr int leaves = (leaf_count<member<I>> + ... + 0);
  using canonical = S;
  using traced = value<S>;
  using host = S;
  using parts = std::tuple<member<I>...>;
  static constexpr void types(abstract_value* out) {
    ((structure<member<I>>::types(out), out += leaf_count<member<I>>), ...);
  }
  template <class V>
  static constexpr void refs(const V& x, traced_ref* out) {
    ((structure<member<I>>::refs(members::template at<I>(x), out), out += leaf_count<member<I>>), ...);
  }
  static constexpr traced bind(const traced_ref* in) {
    traced x{};
    ((detail::store(members::template at<I>(x), structure<member<I>>::bind(in)), in += leaf_count<member<I>>), ...);
    return x;
  }
  template <class V, class F>
  static constexpr void visit(V& x, F&& f) {
    (structure<member<I>>::visit(members::template at<I>(x), f), ...);
  }
};

template <class S, class = std::make_integer_sequence<int, members_of<S>::count>>
inline constexpr bool all_hold_references = false;
template <class S, int... I>
inline constexpr bool all_hold_references<S, std::integer_sequence<int, I...>> =
    (holds_references<typename members_of<S>::template type<I>>() && ...);

struct hana_get {
  template <std::size_t I, class V>
  static constexpr decltype(auto) at(V& x) {
    return boost::hana::at_c<I>(x);
  }
};

}  // namespace detail

template <detail::AdaptedStruct S>
  requires detail::all_hold_references<S>
struct structure<S> : detail::struct_structure<S> {};
template <detail::AdaptedStruct S>
  requires(!detail::all_hold_references<S>)
struct structure<S> {  // a member is a plain number, for example
  using why = error::structure_members_must_be_arrays;
};

template <Structured... X>
struct structure<boost::hana::tuple<X...>> : detail::tuple_structure<boost::hana::tuple, detail::hana_get, X...> {};

}  // namespace drx
