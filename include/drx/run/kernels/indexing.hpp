// drx/run/kernels/indexing.hpp: the kernels that move elements by positions, or find the order of a row.
// Tested by tests/unit/run/indexing.cpp and tests/unit/run/sliced_pieces.cpp.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/run/data/rearranged_rows.hpp>
#include <drx/run/kernels/layout.hpp>
#include <drx/run/packs/inlining.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace drx::run {

namespace detail {
/// The element of its own batch axes that an operand of shape `own` has for element b of the whole batch, row-major.
constexpr std::int64_t batch_element(const shape& own, const shape& all, int batch, std::int64_t b) {
  std::int64_t at = 0, stride = 1;
  for (int axis = batch - 1; axis >= 0; --axis) {
    if (own[axis] != 1) {
      at += b % all[axis] * stride;
      stride *= own[axis];
    }
    b /= all[axis];
  }
  return at;
}
inline constexpr std::int64_t found_together = 64;  // positions
/// The type of places on an axis: the indices', if it is wide enough.
template <std::int64_t Extent, class Index>
using place_type = std::conditional_t<(Extent > std::numeric_limits<Index>::max()), std::int64_t, Index>;
/// prim::indexing::position(i, Extent) of up to found_together indices. Nearly always all of them lie on the axis: then
/// they are the positions, and are read where they are.
template <std::int64_t Extent, class Index>
class found_positions {
 public:
  using place = place_type<Extent, Index>;
  found_positions(const Index* at, std::int64_t count) : found_(room_) {
    if constexpr (std::is_same_v<place, Index>)
      if (!are_outside(at, count)) {
        found_ = at;
        return;
      }
    constexpr place extent = static_cast<place>(Extent), last = static_cast<place>(Extent - 1);
    for (std::int64_t k = 0; k < count; ++k) {
      const place i = at[k], from_front = i < 0 ? static_cast<place>(i + extent) : i;
      room_[k] = from_front < 0 ? place{0} : from_front > last ? last : from_front;
    }
  }
  found_positions(const found_positions&) = delete;
  found_positions& operator=(const found_positions&) = delete;
  [[nodiscard]] const place* begin() const { return found_; }

 private:
  /// Whether any index lies outside the axis, in vectors: as an unsigned number a negative one is large.
  static bool are_outside(const Index* at, std::int64_t count) {
    using number = std::make_unsigned_t<Index>;
    number outside = 0;
    for (std::int64_t k = 0; k < count; ++k)
      outside = static_cast<number>(outside | (static_cast<number>(at[k]) >= static_cast<number>(Extent)));
    return outside != 0;
  }
  place room_[found_together];
  const place* found_;
};
/// Copies single numbers from their positions, four at a time: so the processor stores one short vector for four.
template <class T, class Place>
inline void copy_numbers(const T* from, const Place* places, std::int64_t count, T* to) {
  constexpr std::int64_t group = 4;
  std::int64_t k = 0;
  for (; k + group <= count; k += group) {
    T numbers[group];
    DRX_UNROLL
    for (std::int64_t i = 0; i < group; ++i) numbers[i] = from[places[k + i]];
    std::memcpy(to + k, numbers, sizeof numbers);
  }
  for (; k < count; ++k) to[k] = from[places[k]];
}
/// Copies the box `part` out of a larger array, or into one: rows of `width` elements, which are contiguous from axis
/// Last on.
template <int Axis, int Last, class T>
inline void copy_box(const T* from, const shape& from_stride, T* to, const shape& to_stride, const shape& part,
                     std::int64_t width) {
  if constexpr (Axis >= Last) {
    std::memcpy(to, from, static_cast<std::size_t>(width) * sizeof(T));
  } else {
    for (std::int64_t i = 0; i < part[Axis]; ++i)
      copy_box<Axis + 1, Last>(from + i * from_stride[Axis], from_stride, to + i * to_stride[Axis], to_stride, part,
                               width);
  }
}
/// A part of an array at positions that are known at run time.
template <class C, int Whole, int Part, int Starts, int Batch>
struct box {
  static constexpr shape whole = C::values[Whole].shape, part = C::values[Part].shape, starts = C::values[Starts].shape;
  static constexpr int rank = whole.rank, sized = static_cast<int>(starts[Batch]);
  static constexpr shape stride = strides_of(whole), part_stride = strides_of(part);
  static constexpr int last = [] {  // the last axis that is not whole: from there on the part is contiguous in each row
    int axis = rank - 1;
    while (axis > Batch && part[axis] == whole[axis]) --axis;
    return axis < Batch ? Batch : axis;
  }();
  static constexpr std::int64_t width = extents_between(part, last, rank);
  DRX_FN static std::int64_t start(const element_of<C, Starts>* at) {
    std::int64_t offset = 0;
    for (int i = 0; i < sized; ++i)
      offset += prim::indexing::position(static_cast<std::int64_t>(at[i]), whole[Batch + i], part[Batch + i]) *
                stride[Batch + i];
    return offset;
  }
  template <class T>
  static void copy_out(const T* x, T* y) {
    copy_box<Batch, last>(x, stride, y, part_stride, part, width);
  }
  template <class T>
  static void copy_in(const T* piece, T* y) {
    copy_box<Batch, last>(piece, part_stride, y, stride, part, width);
  }
};
/// The dynamic_slice of entry E, whose operand is a rearrangement that is not stored: rows of its only axis that is not
/// whole, which are copied piece by piece.
template <class C, int E>
struct sliced_pieces {
  static constexpr int x = C::operand(E, 0), s = C::operand(E, 1), y = C::result(E, 0), from = C::definition(x),
                       batch = prim::rules::dynamic_slice::view(C::attributes(E)).batch;
  using B = box<C, x, y, s, batch>;
  using T = element_of<C, y>;
  static constexpr int cut = plan::rearrangement(C::tape.view(), C::tape.entries[from]).only_cut(),
                       pieces = plan::rearrangement(C::tape.view(), C::tape.entries[from]).pieces(cut);
  static constexpr std::int64_t below = plan::elements_below(B::part, cut);

  /// The position along an axis at which the part begins.
  template <int Axis>
  static std::int64_t start(const element_of<C, s>* at) {
    if constexpr (Axis - batch < B::sized)
      return prim::indexing::position(static_cast<std::int64_t>(at[Axis - batch]), B::whole[Axis], B::part[Axis]);
    else
      return 0;
  }
  /// Copies the row from position `first` on, at place `outer` of the axes before, piece after piece as they follow
  /// each other along it. Returns the end of the copy.
  static T* copy_row(const frame& f, std::int64_t outer, std::int64_t first, T* to) {
    unroll<pieces>([&]<int K>(std::integral_constant<int, K>) {
      constexpr plan::rearranged_piece p = rearranged_piece_of<C, from, cut, K>;
      const std::int64_t begin = std::max(first, p.begin), end = std::min(first + B::part[cut], p.end);
      if (begin >= end) return;
      const auto bytes = static_cast<std::size_t>((end - begin) * below) * sizeof(T);
      if constexpr (p.operand == plan::rearranged_piece::zeros) {
        std::memset(to, 0, bytes);
      } else {
        constexpr int v = C::operand(from, p.operand == plan::rearranged_piece::each ? 0 : p.operand);
        const std::int64_t row = outer * C::values[v].shape[cut] + p.start + begin - p.begin;
        std::memcpy(to, elements<const T, C, v>(f) + row * below, bytes);
      }
      to += (end - begin) * below;
    });
    return to;
  }
  /// The rows at place `outer` of the axes before Axis.
  template <int Axis>
  static T* copy_rows(const frame& f, const element_of<C, s>* at, std::int64_t outer, T* to) {
    const std::int64_t first = start<Axis>(at);
    if constexpr (Axis == cut)
      return copy_row(f, outer, first, to);
    else
      for (std::int64_t i = 0; i < B::part[Axis]; ++i)
        to = copy_rows<Axis + 1>(f, at, outer * B::whole[Axis] + first + i, to);
    return to;
  }
  static void run(const frame& f) {
    const auto* starts = elements<const element_of<C, s>, C, s>(f);
    T* to = elements<T, C, y>(f);
    for (std::int64_t b = 0; b < extents_between(B::part, 0, batch); ++b)
      to = copy_rows<batch>(f, starts + batch_element(B::starts, B::part, batch, b) * B::sized,
                            batch_element(B::whole, B::part, batch, b), to);
  }
};
/// Whether value v is a constant that the plan does not store.
template <class C>
constexpr bool is_unstored_constant(int v) {
  const int r = C::root(v), e = C::plan.stored[r] ? -1 : C::definition(r);
  return e >= 0 && C::tape.entries[e].prim == &prim::constant;
}
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::dynamic_slice> {
  static void run(frame& f) {
    constexpr int x = C::operand(E, 0), s = C::operand(E, 1), y = C::result(E, 0),
                  batch = prim::rules::dynamic_slice::view(C::attributes(E)).batch;
    using B = detail::box<C, x, y, s, batch>;
    using T = element_of<C, y>;
    constexpr std::int64_t n = detail::extents_between(B::part, 0, batch);
    constexpr std::int64_t from = detail::extents_between(B::whole, batch, B::rank),
                           to = detail::extents_between(B::part, batch, B::rank);
    if constexpr (is_rearranged<C, x>) {
      detail::sliced_pieces<C, E>::run(f);
    } else if constexpr (n > 1 && to == 1 && B::sized == 1 && detail::extents_between(B::starts, 0, batch) == n) {
      using I = element_of<C, s>;  // single numbers
      const I* at = elements<const I, C, s>(f);
      const T* p = elements<const T, C, x>(f);
      T* q = elements<T, C, y>(f);
      for (std::int64_t first = 0; first < n; first += detail::found_together) {
        const std::int64_t count = std::min(detail::found_together, n - first);
        const detail::found_positions<B::whole[batch], I> places(at + first, count);
        if constexpr (detail::extents_between(B::whole, 0, batch) == 1) {
          detail::copy_numbers(p, places.begin(), count, q + first);
        } else {
          for (std::int64_t k = 0; k < count; ++k)
            q[first + k] = p[detail::batch_element(B::whole, B::part, batch, first + k) * from +
                             static_cast<std::int64_t>(places.begin()[k])];
        }
      }
    } else if constexpr (n * to > 0)
      for (std::int64_t b = 0; b < n; ++b) {
        const T* p = elements<const T, C, x>(f) + detail::batch_element(B::whole, B::part, batch, b) * from;
        const auto* at =
            elements<const element_of<C, s>, C, s>(f) + detail::batch_element(B::starts, B::part, batch, b) * B::sized;
        B::copy_out(p + B::start(at), elements<T, C, y>(f) + b * to);
      }
  }
};

template <class C, int E>
struct kernel<C, E, &prim::update_slice> {
  static void run(frame& f) {
    constexpr int x = C::operand(E, 0), piece = C::operand(E, 1), s = C::operand(E, 2), y = C::result(E, 0);
    constexpr int batch = prim::rules::update_slice::view(C::attributes(E)).batch;
    using B = detail::box<C, y, piece, s, batch>;
    using T = element_of<C, y>;
    constexpr std::int64_t n = detail::extents_between(B::whole, 0, batch);
    constexpr std::int64_t each = detail::extents_between(B::whole, batch, B::rank),
                           part = detail::extents_between(B::part, batch, B::rank);
    T* out = elements<T, C, y>(f);
    if constexpr (detail::is_unstored_constant<C>(x)) {
      std::fill_n(out, n * each, static_cast<T>(C::tape.entries[C::definition(C::root(x))].number));
    } else {
      constexpr shape from = C::values[x].shape;
      const T* p = elements<const T, C, x>(f);
      if constexpr (from == B::whole) {
        if (p != out) std::memcpy(out, p, static_cast<std::size_t>(C::bytes(y)));
      } else {
        for (std::int64_t b = 0; b < n; ++b)
          std::memcpy(out + b * each, p + detail::batch_element(from, B::whole, batch, b) * each,
                      static_cast<std::size_t>(each) * sizeof(T));
      }
    }
    if constexpr (n * part > 0)
      for (std::int64_t b = 0; b < n; ++b) {
        const T* q = elements<const T, C, piece>(f) + detail::batch_element(B::part, B::whole, batch, b) * part;
        const auto* at =
            elements<const element_of<C, s>, C, s>(f) + detail::batch_element(B::starts, B::whole, batch, b) * B::sized;
        B::copy_in(q, out + b * each + B::start(at));
      }
  }
};

namespace detail {
/// The loops of take and scatter over a whole array [batch, before, n, behind], indices [batch, any] and gathered
/// elements [batch, before, any, behind].
template <class C, int Axis, int Batch, int Whole, int Indices, int Gathered>
struct gathering {
  static constexpr int axis = Axis, batch = Batch;
  static constexpr shape whole = C::values[Whole].shape, indices = C::values[Indices].shape,
                         gathered = C::values[Gathered].shape;
  static constexpr std::int64_t n = whole[axis], before = extents_between(whole, batch, axis),
                                behind = extents_between(whole, axis + 1, whole.rank),
                                any = extents_between(indices, batch, indices.rank);
  static constexpr shape all =
      prim::indexing::common_batch(prim::indexing::common_batch(whole, indices, batch), gathered, batch);
  static constexpr std::int64_t batches = extents_between(all, 0, batch);

  using index_type = element_of<C, Indices>;
  /// Calls f(element of the whole, positions from there on in units of `behind`, their number, gathered element of the
  /// first): for up to found_together positions at a time.
  template <class F>
  static void for_each_run(const index_type* index, F f) {
    if constexpr (batches * before * any * behind > 0)
      for (std::int64_t b = 0; b < batches; ++b) {
        const auto* at = index + batch_element(indices, all, batch, b) * any;
        const std::int64_t w = batch_element(whole, all, batch, b) * before,
                           g = batch_element(gathered, all, batch, b) * before;
        for (std::int64_t first = 0; first < any; first += found_together) {
          const std::int64_t count = std::min(found_together, any - first);
          const found_positions<n, index_type> places(at + first, count);
          for (std::int64_t p = 0; p < before; ++p)
            f((w + p) * n * behind, places.begin(), count, ((g + p) * any + first) * behind);
        }
      }
  }
  /// Calls f(element of the whole, gathered element), each the first of `behind` ones.
  template <class F>
  static void for_each(const index_type* index, F f) {
    for_each_run(index, [&](std::int64_t w, const auto* places, std::int64_t count, std::int64_t g) {
      for (std::int64_t k = 0; k < count; ++k) f(w + static_cast<std::int64_t>(places[k]) * behind, g + k * behind);
    });
  }
  /// The same for call number `row` of these.
  template <class F>
  DRX_INLINE static void at(const element_of<C, Indices>* index, std::int64_t row, const F& f) {
    constexpr shape of_whole = whole, of_indices = indices, of_gathered = gathered, of_all = all;
    if constexpr (before * any > 0) {
      const std::int64_t i = row % any, p = row / any % before, b = row / any / before;
      const std::int64_t w = batch_element(of_whole, of_all, batch, b) * before + p,
                         g = batch_element(of_gathered, of_all, batch, b) * before + p,
                         chosen = index[batch_element(of_indices, of_all, batch, b) * any + i];
      f((w * n + prim::indexing::position(chosen, n)) * behind, (g * any + i) * behind);
    }
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::take> {
  static void run(frame& f) {
    constexpr int x = C::operand(E, 0), i = C::operand(E, 1), y = C::result(E, 0);
    constexpr prim::rules::take::view taken(C::attributes(E));
    using G = detail::gathering<C, taken.axis, taken.batch, x, i, y>;
    using T = element_of<C, y>;
    const T* p = elements<const T, C, x>(f);
    T* q = elements<T, C, y>(f);
    const auto* index = elements<const element_of<C, i>, C, i>(f);
    if constexpr (G::behind == 1) {
      G::for_each_run(index, [&](std::int64_t from, const auto* places, std::int64_t count, std::int64_t to) {
        detail::copy_numbers(p + from, places, count, q + to);
      });
    } else {
      G::for_each(index, [&](std::int64_t from, std::int64_t to) {
        std::memcpy(q + to, p + from, static_cast<std::size_t>(G::behind) * sizeof(T));
      });
    }
  }
};

namespace detail {
template <class C, int E>
using scattering =
    gathering<C, prim::rules::scatter::view(C::attributes(E)).axis, prim::rules::scatter::view(C::attributes(E)).batch,
              C::result(E, 0), C::operand(E, 0), C::operand(E, 1)>;
/// Adds an update to a row, which lies apart.
template <std::int64_t Width, class T>
DRX_INLINE void add_row(T* __restrict row, const T* __restrict update) {
  DRX_INDEPENDENT_VECTORS
  for (std::int64_t k = 0; k < Width; ++k) row[k] = wrapping_sum(row[k], update[k]);
}
/// Adds updates to the rows of an array, as `G`, a `gathering`, tells: of single numbers four to a jump.
template <class G, class T>
inline void add_updates(T* to, const typename G::index_type* index, const T* updates) {
  if constexpr (G::behind == 1) {
    G::for_each_run(index, [&](std::int64_t first, const auto* places, std::int64_t count, std::int64_t update) {
      T* const numbers = to + first;
      const T* const own = updates + update;
      constexpr std::int64_t group = 4;
      std::int64_t k = 0;
      for (; k + group <= count; k += group) {
        DRX_UNROLL
        for (std::int64_t i = k; i < k + group; ++i) numbers[places[i]] = wrapping_sum(numbers[places[i]], own[i]);
      }
      for (; k < count; ++k) numbers[places[k]] = wrapping_sum(numbers[places[k]], own[k]);
    });
  } else {
    G::for_each(index, [&](std::int64_t at, std::int64_t update) { add_row<G::behind>(to + at, updates + update); });
  }
}
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::scatter> {
  static void run(frame& f) {
    constexpr int i = C::operand(E, 0), u = C::operand(E, 1), y = C::result(E, 0);
    using G = detail::scattering<C, E>;
    using T = element_of<C, y>;
    const T* p = elements<const T, C, u>(f);
    T* q = elements<T, C, y>(f);
    std::memset(q, 0, static_cast<std::size_t>(C::bytes(y)));
    detail::add_updates<G>(q, elements<const element_of<C, i>, C, i>(f), p);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::roll> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static void run(frame& f) {
    constexpr auto of = prim::rules::roll::view(C::attributes(E));
    constexpr int axis = of.axis;
    constexpr std::int64_t outer = detail::extents_between(m::to, 0, axis),
                           row = detail::extents_between(m::to, axis, m::rank);
    constexpr std::int64_t moved =
        of.places * detail::extents_between(m::to, axis + 1, m::rank);  // comes in at the beginning
    const typename m::T* x = elements<const typename m::T, C, m::x>(f);
    typename m::T* y = elements<typename m::T, C, m::y>(f);
    for (std::int64_t o = 0; o < outer; ++o, x += row, y += row) std::rotate_copy(x, x + (row - moved), x + row, y);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::flip> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static constexpr int_list axes = prim::rules::flip::view(C::attributes(E)).axes;
  static constexpr shape whole = detail::strides_of(m::from);
  static constexpr std::int64_t start = [] {
    std::int64_t n = 0;
    for (const std::int64_t axis : axes) n += (m::from[static_cast<int>(axis)] - 1) * whole[static_cast<int>(axis)];
    return n;
  }();
  static constexpr detail::strided_places places = [] {
    shape stride = whole;
    for (const std::int64_t axis : axes) stride[static_cast<int>(axis)] = -stride[static_cast<int>(axis)];
    return detail::strided_places{m::to, stride, detail::strides_of(m::to)};
  }();
  static void run(frame& f) {
    if constexpr (m::to.size() > 0)
      detail::copy_strided<kernel>(elements<const typename m::T, C, m::x>(f) + start,
                                   elements<typename m::T, C, m::y>(f));
  }
};

template <class C, int E>
struct kernel<C, E, &prim::argsort> {
  static void run(frame& f) {
    constexpr int x = C::operand(E, 0), y = C::result(E, 0);
    using T = element_of<C, x>;
    constexpr shape s = C::values[y].shape;
    constexpr std::int64_t n = s.last(), rows = n == 0 ? 0 : s.size() / n;
    const T* p = elements<const T, C, x>(f);
    std::int32_t* order = elements<std::int32_t, C, y>(f);
    for (std::int64_t row = 0; row < rows; ++row, p += n, order += n) {
      for (std::int64_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i);
      std::sort(order, order + n, [p](std::int32_t i, std::int32_t j) { return prim::comes_before(p, i, j); });
    }
  }
};

}  // namespace drx::run
