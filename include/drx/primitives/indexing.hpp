// drx/primitives/indexing.hpp: common parts of the primitives with positions among their operands: the element that a
// position means, and leading axes that are a batch.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/power.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::indexing {

/// Where position i lies on an axis of extent n, so that `size` elements from there on exist: a negative one counts
/// from the end, and one that is then outside is moved to the nearest inside. (JAX's rule for lax.dynamic_slice.)
DRX_FN constexpr std::int64_t position(std::int64_t i, std::int64_t n, std::int64_t size = 1) {
  const std::int64_t at = i < 0 ? i + n : i, last = n - size;
  return at < 0 ? 0 : at > last ? last : at;
}
/// The positions i of parts of `size` elements on an axis of extent n.
constexpr int positions(builder& b, int i, std::int64_t n, std::int64_t size = 1) {
  const auto number = [&](std::int64_t x) { return emit::constant(b, b.type(i), static_cast<double>(x)); };
  const int zero = number(0), last = number(n - size);
  const int from_end = emit::add(b, i, number(n));
  const int at = emit::where(b, emit::less(b, i, zero), from_end, i);
  const int not_before = emit::where(b, emit::less(b, at, zero), zero, at);
  return emit::where(b, emit::less(b, last, at), last, not_before);
}
/// An element of a tensor of integers.
inline std::int64_t integer_at(const tensor& x, const std::int64_t* index) {
  const auto i = flat_index(x.type.shape, index);
  return x.type.type == dtype::int32 ? x.data<std::int32_t>()[i] : x.data<std::int64_t>()[i];
}

// The first axes of all operands are a batch. An operand has extent 1 there if it is the same for the whole batch.

/// The common extents of the first `batch` axes.
constexpr shape common_batch(const shape& a, const shape& b, int batch) {
  typing::require(batch >= 0 && batch <= a.rank && batch <= b.rank, "indexing: not as many axes as the batch has");
  shape s;
  for (int i = 0; i < batch; ++i) {
    typing::require(a[i] == b[i] || a[i] == 1 || b[i] == 1, "indexing: the batches differ");
    s.push_back(a[i] == 1 ? b[i] : a[i]);
  }
  return s;
}
/// The operands with one more batch axis, of extent 1 if they are not batched.
constexpr vec<int> on_batch(const rule_site& s, const vec<bool>& batched) {
  vec<int> operands = s.operands;
  for (int i = 0; i < operands.size(); ++i)
    if (!batched[i]) operands[i] = emit::reshape(s.b, operands[i], with_front(s.b.shape(operands[i]), 1));
  return operands;
}
/// x summed over the axes in which `to` has extent 1.
constexpr int summed_to(builder& b, int x, const shape& to) {
  const shape from = b.shape(x);
  vec<std::int64_t> axes;
  for (int i = 0; i < from.rank; ++i)
    if (to[i] == 1 && from[i] != 1) axes.push_back(i);
  return emit::reshape(b, emit::sum(b, x, axes), to);
}
/// Copies an index, with 0 in those of the first `batch` axes that have extent 1 in s.
inline void own_index(const shape& s, int batch, const std::int64_t* at, std::int64_t* own) {
  for (int i = 0; i < s.rank; ++i) own[i] = i < batch && s[i] == 1 ? 0 : at[i];
}

}  // namespace prim::indexing

namespace detail {
/// Whether a type may stand for a position: a plain integer, or a traced one that is not placed.
template <class I>
concept Position = IntegerLiteral<I> || (ScalarArray<I> && IntegerArray<I>);
template <class I>
struct position_element {
  using type = std::conditional_t<sizeof(I) <= 4, std::int32_t, std::int64_t>;
};
template <Array I>
struct position_element<I> {
  using type = typename I::value_type;
};
/// Positions as one array of integers.
template <class... I>
constexpr int positions_on(tracing_builder& b, const I&... i) {
  constexpr dtype type = dtype_of<std::common_type_t<typename position_element<I>::type...>>;
  auto one = [&](const auto& x) {
    if constexpr (IntegerLiteral<std::remove_cvref_t<decltype(x)>>) {
      return emit::constant(b, {type, make_shape(1)}, static_cast<double>(x));
    } else {
      return emit::reshape(b, emit::cast(b, id_on(b, x), type), make_shape(1));
    }
  };
  return emit::concatenate(b, {one(i)...}, 0);
}
/// The tape that arrays and plain numbers are on.
template <class... X>
constexpr tracing_builder& tape_among(const X&... x) {
  auto ref = [](const auto& v) {
    if constexpr (Literal<std::remove_cvref_t<decltype(v)>>) {
      return traced_ref{};
    } else {
      return ref_of(v);
    }
  };
  return tape_of(ref(x)...);
}
}  // namespace detail
}  // namespace drx
