// drx/run/check/interpreter.hpp: the plain interpreter: serial, unfused, entry by entry. All other ways of running a
// program are compared with it. Reductions fold in the order of the members.
#pragma once

#include <drx/tape/evaluation.hpp>
#include <drx/plan/staging/stages.hpp>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace drx::interpreter {

using drx::member_count;
using drx::members;
/// The numbers of members of placements that no input has.  {members<clients>(100)}
using member_counts = std::vector<member_count>;

namespace detail {

/// The counts of placements that the program's inputs give: those at one level, and for each member those inside it.
/// (They come from the inputs and not from a region's operands, since a transformation drops operands that no value
/// needs.)
struct scope {
  struct placed_members {
    const placement_info* placement;
    std::vector<scope> members;
  };
  std::vector<placed_members> placements;

  [[nodiscard]] const placed_members* find(const placement_info* p) const {
    for (const placed_members& x : placements)
      if (x.placement == p) return &x;
    return nullptr;
  }
};

inline std::string text(const placement_info* p) { return "drx: placement " + std::string(p->name) + ": "; }

inline void note(scope& s, const tensor& x, int input) {
  if (x.type.depth == 0) return;
  const placement_info* p = x.type.placements[0];
  if (!s.find(p)) s.placements.push_back({p, std::vector<scope>(x.members.size())});
  const auto at = static_cast<std::size_t>(s.find(p) - s.placements.data());
  std::vector<scope>& members = s.placements[at].members;
  if (members.size() != x.members.size())
    throw std::invalid_argument(text(p) + "input " + std::to_string(input) + " has " +
                                std::to_string(x.members.size()) + " members, an input before it " +
                                std::to_string(members.size()));
  for (std::size_t m = 0; m < x.members.size(); ++m) note(members[m], x.members[m], input);
}

inline void compare(const scope& s, const member_count& said) {
  for (const scope::placed_members& x : s.placements) {
    if (x.placement == said.placement && static_cast<std::int64_t>(x.members.size()) != said.count)
      throw std::invalid_argument(text(x.placement) + "an input has " + std::to_string(x.members.size()) +
                                  " members, the program or the caller says " + std::to_string(said.count));
    for (const scope& member : x.members) compare(member, said);
  }
}

inline bool is_of_type(const tensor& x, const abstract_value& type) {
  if (!(x.type == type)) return false;
  if (type.depth == 0) return x.bytes.size() == static_cast<std::size_t>(type.shape.size() * byte_size(type.type));
  for (const tensor& m : x.members)
    if (!is_of_type(m, type.of_member())) return false;
  return true;
}

/// The position at which a region is evaluated: in which member, of which member, ... of the whole.
struct site {
  const scope* here;  // null where no input gives counts
  const site* outer;
  const member_counts& counts;

  [[nodiscard]] std::int64_t members(const placement_info* p) const {
    for (const site* s = this; s; s = s->outer)
      if (const scope::placed_members* x = s->here ? s->here->find(p) : nullptr)
        return static_cast<std::int64_t>(x->members.size());
    for (const member_count& c : counts)
      if (c.placement == p) return c.count;
    throw std::invalid_argument(text(p) + "no input is placed there, and the number of its members was not given");
  }
  [[nodiscard]] site member(const placement_info* p, std::int64_t index) const {
    const scope::placed_members* x = here ? here->find(p) : nullptr;
    return {x ? &x->members[static_cast<std::size_t>(index)] : nullptr, this, counts};
  }
};

std::vector<tensor> evaluate(const tape& t, std::vector<tensor> inputs, const site& at);

struct one_entry final : evaluation {
  const site& at;
  one_entry(const entry& of, const site& s) : evaluation(of), at(s) {}
  std::vector<tensor> run(const tape& region, std::vector<tensor> inputs) override {
    return evaluate(region, std::move(inputs), at);
  }
  std::vector<tensor> run_member(const tape& region, std::vector<tensor> inputs, std::int64_t index) override {
    return evaluate(region, std::move(inputs), at.member(e.attrs.placement, index));
  }
  std::int64_t members(const placement_info* p) override { return at.members(p); }
};

inline std::vector<tensor> evaluate(const tape& t, std::vector<tensor> inputs, const site& at) {
  std::vector<tensor> values(static_cast<std::size_t>(t.values.size()));
  const auto value = [&](int id) -> tensor& { return values[static_cast<std::size_t>(id)]; };
  for (int i = 0; i < t.inputs.size(); ++i) value(t.inputs[i]) = std::move(inputs.at(static_cast<std::size_t>(i)));
  for (const entry& e : t.entries) {
    if (!e.prim->evaluate) throw std::logic_error(std::string("drx: no plain evaluation of ") + e.prim->name);
    one_entry one(e, at);
    for (int o : e.operands) one.in.push_back(&value(o));
    for (int r : e.results) one.out.emplace_back(t.values[r]);
    e.prim->evaluate(one);
    for (int i = 0; i < e.results.size(); ++i) value(e.results[i]) = std::move(one.out[static_cast<std::size_t>(i)]);
  }
  std::vector<tensor> outputs;
  for (int o : t.outputs) outputs.push_back(value(o));
  return outputs;
}

/// Adds the numbers of members that the program itself gives: an array is distributed to them, or gathered.
inline void add_static_counts(const tape& t, member_counts& counts) {
  for (const entry& e : t.entries) {
    if (const auto n = plan::members_said_by(t, e)) {
      bool known = false;
      for (const member_count& c : counts) known = known || (c.placement == e.attrs.placement && c.count == *n);
      if (!known) counts.push_back({e.attrs.placement, *n});
    }
    for (const tape& r : e.regions) add_static_counts(r, counts);
  }
}

}  // namespace detail

/// The outputs of t. Counts of placements come from the placed inputs; `counts` has those of placements that no input
/// has. Throws std::invalid_argument where inputs do not have t's types, or disagree on a count.
inline std::vector<tensor> run(const tape& t, std::vector<tensor> inputs, const member_counts& counts = {}) {
  if (inputs.size() != static_cast<std::size_t>(t.inputs.size()))
    throw std::invalid_argument("drx: the tape has " + std::to_string(t.inputs.size()) + " inputs, given are " +
                                std::to_string(inputs.size()));
  detail::scope top;
  for (int i = 0; i < t.inputs.size(); ++i) {
    const tensor& x = inputs[static_cast<std::size_t>(i)];
    const abstract_value& type = t.values[t.inputs[i]];
    if (!detail::is_of_type(x, type))
      throw std::invalid_argument("drx: input " + std::to_string(i) + " is to be " + show(type) + ", not " +
                                  show(x.type));
    detail::note(top, x, i);
  }
  member_counts all = counts;
  detail::add_static_counts(t, all);
  for (const member_count& c : all) {
    if (c.count < 0)
      throw std::invalid_argument(detail::text(c.placement) + "has " + std::to_string(c.count) + " members");
    for (const member_count& d : all)
      if (c.placement == d.placement && c.count != d.count)
        throw std::invalid_argument(detail::text(c.placement) + "has " + std::to_string(c.count) +
                                    " members in one place, " + std::to_string(d.count) + " in another");
    detail::compare(top, c);
  }
  return detail::evaluate(t, std::move(inputs), {&top, nullptr, all});
}

// ---- between the user's own types and tensors ----

namespace detail {

/// The form in which a value of structure X is held: numbers for scalars, std::vector for placed values, the structure
/// otherwise.
///   type                 the form of results
///   read(x, out)         writes the leaves of x to out[0..]
///   write(in) -> type    the reverse
template <class X>
struct held {
  using type = typename structure<X>::host;
  template <class V>
  static void read(const V& x, tensor* out) {
    if constexpr (ScalarArray<canonical_t<X>>) {
      using T = typename canonical_t<X>::value_type;
      T number;
      if constexpr (Array<V>) {
        static_assert(std::is_same_v<typename V::value_type, T>,
                      "drx::interpreter: an argument is of another element type");
        number = x.item();
      } else {
        number = static_cast<T>(x);
      }
      *out = tensor(leaf_types<X>()[0]);
      out->data<T>()[0] = number;
    } else {
      static_assert(Structured<V>,
                    "drx::interpreter: an argument is not a value of drx (placed ones are std::vectors)");
      constexpr leaf_types<X> types;
      static_assert(leaf_count<V> == leaf_count<X>,
                    "drx::interpreter: an argument is of another structure than the program's input");
      structure<V>::visit(x, [&, i = 0](const auto* data, const shape& s) mutable {
        using T = std::remove_cvref_t<decltype(*data)>;
        const abstract_value& type = types[i];
        if (!(abstract_value(dtype_of<T>, s) == type))
          throw std::invalid_argument("drx: an argument is " + show(abstract_value(dtype_of<T>, s)) +
                                      " where the program takes " + show(type));
        out[i] = tensor(type);
        if (!out[i].bytes.empty()) std::memcpy(out[i].bytes.data(), data, out[i].bytes.size());
        ++i;
      });
    }
  }
  static type write(const tensor* in) {
    type x{};
    if constexpr (ScalarArray<canonical_t<X>>) {
      x = in->data<typename canonical_t<X>::value_type>()[0];
    } else {
      structure<X>::visit(x, [&](auto* data, const shape&) {
        if (!in->bytes.empty()) std::memcpy(data, in->bytes.data(), in->bytes.size());
        ++in;
      });
    }
    return x;
  }
};

template <class S, class P>
struct held<placed<S, P>> {
  using type = std::vector<typename held<S>::type>;
  static constexpr auto leaves = static_cast<std::size_t>(leaf_count<S>);
  template <class V>
  static void read(const V& x, tensor* out) {
    constexpr leaf_types<placed<S, P>> types;
    for (std::size_t i = 0; i < leaves; ++i) out[i] = tensor(types[static_cast<int>(i)]);
    for (const auto& member : x) {
      std::vector<tensor> parts(leaves);
      held<S>::read(member, parts.data());
      for (std::size_t i = 0; i < leaves; ++i) out[i].members.push_back(std::move(parts[i]));
    }
  }
  static type write(const tensor* in) {
    type x;
    for (std::size_t m = 0; leaves > 0 && m < in->members.size(); ++m) {
      std::vector<tensor> parts;
      for (std::size_t i = 0; i < leaves; ++i) parts.push_back(in[i].members[m]);
      x.push_back(held<S>::write(parts.data()));
    }
    return x;
  }
};

// Tuples of any kind, part by part, since any part may be placed.
template <template <class...> class Tuple, class Get, class... X>
struct held_tuple {
  using type = Tuple<typename held<X>::type...>;
  using structure_type = drx::detail::tuple_structure<Tuple, Get, X...>;
  template <class V>
  static void read(const V& x, tensor* out) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (held<X>::read(Get::template at<I>(x), out + structure_type::offset[I]), ...);
    }(std::index_sequence_for<X...>{});
  }
  static type write([[maybe_unused]] const tensor* in) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return type{held<X>::write(in + structure_type::offset[I])...};
    }(std::index_sequence_for<X...>{});
  }
};
template <template <class...> class Tuple, class Get, class... X>
held_tuple<Tuple, Get, X...> as_tuple(const drx::detail::tuple_structure<Tuple, Get, X...>*);
template <class X>
  requires requires { detail::as_tuple(static_cast<const structure<X>*>(nullptr)); }
struct held<X> : decltype(detail::as_tuple(static_cast<const structure<X>*>(nullptr))){};

template <class X, std::size_t N>
struct held<std::array<X, N>> {
  using type = std::array<typename held<X>::type, N>;
  template <class V>
  static void read(const V& x, tensor* out) {
    for (std::size_t i = 0; i < N; ++i, out += leaf_count<X>) held<X>::read(x[i], out);
  }
  static type write(const tensor* in) {
    type x{};
    for (std::size_t i = 0; i < N; ++i, in += leaf_count<X>) x[i] = held<X>::write(in);
    return x;
  }
};

}  // namespace detail

/// The type that `call` takes and returns for a value of structure X.
template <class X>
using held_t = typename detail::held<X>::type;

/// The leaves of x, which represents a value of structure X: itself, or a std::vector of members where X is placed.
template <class X, class V>
std::vector<tensor> to_tensors(const V& x) {
  std::vector<tensor> leaves(static_cast<std::size_t>(leaf_count<X>));
  detail::held<X>::read(x, leaves.data());
  return leaves;
}
template <class X>
held_t<X> from_tensors(const std::vector<tensor>& leaves) {
  if (leaves.size() != static_cast<std::size_t>(leaf_count<X>))
    throw std::invalid_argument("drx: the structure has " + std::to_string(leaf_count<X>) + " leaves, given are " +
                                std::to_string(leaves.size()));
  return detail::held<X>::write(leaves.data());
}

namespace detail {
template <class Program, class... X, class... V>
auto call(std::type_identity<std::tuple<X...>>, const member_counts& counts, const V&... x) {
  static_assert(sizeof...(X) == sizeof...(V),
                "drx::interpreter::call: not as many arguments as the program has inputs");
  std::vector<tensor> inputs;
  [[maybe_unused]] const auto append = [&](std::vector<tensor> leaves) {
    for (tensor& leaf : leaves) inputs.push_back(std::move(leaf));
  };
  (append(to_tensors<X>(x)), ...);
  return from_tensors<typename Program::result>(run(Program::tape().thaw(), std::move(inputs), counts));
}
}  // namespace detail

/// Runs a program on the user's own values: structures as they are, placed ones as std::vectors of members.
///     double loss = interpreter::call<Loss>(model, std::vector<batch>{...});
template <class Program, class... V>
auto call(const V&... x) {
  return detail::call<Program>(std::type_identity<typename Program::inputs>{}, {}, x...);
}
/// `call` with counts of placements that no input has.  call<P>(member_counts{members<clients>(100)}, 1.0)
template <class Program, class... V>
auto call(const member_counts& counts, const V&... x) {
  return detail::call<Program>(std::type_identity<typename Program::inputs>{}, counts, x...);
}

}  // namespace drx::interpreter
