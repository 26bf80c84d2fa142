// drx/run/kernels/indexing.hpp: the kernels that move elements by positions, fold along an axis, or sort.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/run/kernels/folds.hpp>
#include <drx/run/kernels/layout.hpp>
#include <drx/run/packs/inlining.hpp>
#include <drx/run/packs/pack.hpp>

#include <algorithm>
#include <cstring>

namespace drx::run {

namespace detail {
/// The product of the extents of axes [first, last).
constexpr std::int64_t extents_between(const shape& s, int first, int last) {
  std::int64_t n = 1;
  for (int i = first; i < last; ++i) n *= s[i];
  return n;
}
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
    if constexpr (n * to > 0)
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
  /// Calls f(element of the whole, gathered element), each the first of `behind` ones.
  template <class F>
  static void for_each(const element_of<C, Indices>* index, F f) {
    if constexpr (batches * before * any * behind > 0)
      for (std::int64_t b = 0; b < batches; ++b) {
        const auto* at = index + batch_element(indices, all, batch, b) * any;
        const std::int64_t w = batch_element(whole, all, batch, b) * before,
                           g = batch_element(gathered, all, batch, b) * before;
        for (std::int64_t p = 0; p < before; ++p)
          for (std::int64_t i = 0; i < any; ++i)
            f(((w + p) * n + prim::indexing::position(static_cast<std::int64_t>(at[i]), n)) * behind,
              ((g + p) * any + i) * behind);
      }
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
    G::for_each(elements<const element_of<C, i>, C, i>(f), [&](std::int64_t from, std::int64_t to) {
      std::memcpy(q + to, p + from, static_cast<std::size_t>(G::behind) * sizeof(T));
    });
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
    G::for_each(elements<const element_of<C, i>, C, i>(f),
                [&](std::int64_t to, std::int64_t from) { detail::add_row<G::behind>(q + to, p + from); });
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

namespace detail {
/// Goes along an axis: the first row of a result is begin(i), the others are next(element before, i).
template <class C, int E>
struct walk_kernel {
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0),
                       axis = prim::rules::along_axis::view(C::attributes(E)).axis;
  static constexpr bool backwards = prim::rules::along_axis::view(C::attributes(E)).backwards;
  using T = element_of<C, y>;
  static constexpr shape s = C::values[y].shape;
  static constexpr std::int64_t outer = extents_between(s, 0, axis), n = s[axis],
                                inner = extents_between(s, axis + 1, s.rank);
  /// Of the rows from `done` on.
  template <class Begin, class Next>
  DRX_FN static void walk(frame& f, Begin begin, Next next, std::int64_t done = 0) {
    T* out = elements<T, C, y>(f);
    if constexpr (s.size() > 0)
      for (std::int64_t o = done; o < outer; ++o)
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t row = (o * n + (backwards ? n - 1 - k : k)) * inner,
                             before = row + (backwards ? inner : -inner);
          if (k == 0) {
            for (std::int64_t i = 0; i < inner; ++i) out[row + i] = begin(row + i);
          } else {
            for (std::int64_t i = 0; i < inner; ++i) out[row + i] = static_cast<T>(next(out[before + i], row + i));
          }
        }
  }
};

/// The same of operands x...: the first row is begin(x...), the others are next(element before, x...), of numbers or of
/// packs. Rows along the last axis are walked along side by side.
template <class C, int E, class Step, int... Operand>
struct walk_of_operands : walk_kernel<C, E> {
  using w = walk_kernel<C, E>;
  using T = typename w::T;
  static void run(frame& f) { walk_along(f, elements<const T, C, C::operand(E, Operand)>(f)...); }

  template <class... X>
  static void walk_along(frame& f, const X*... x) {
    std::int64_t rows = 0;
#if !defined(__CUDACC__)
    if constexpr ((std::is_same_v<T, float> || std::is_same_v<T, double>) && w::inner == 1)
      if constexpr (w::n >= pack_width<T> && w::outer >= pack_width<T>)
        rows = walk_in_packs(elements<T, C, w::y>(f), x...);
#endif
    w::walk(
        f, [=](std::int64_t i) { return Step::begin(x[i]...); },
        [=](T before, std::int64_t i) { return Step::next(before, x[i]...); }, rows);
  }

#if !defined(__CUDACC__)
 private:
  static constexpr int width = pack_width<T>;
  /// As many rows as lanes, transposed in squares. Returns how many rows were walked along.
  template <class... X>
  static std::int64_t walk_in_packs(T* out, const X*... x) {
    constexpr std::int64_t whole = w::outer / width * width, squares = w::n / width, n = w::n;
    for (std::int64_t row = 0; row < whole; row += width) {
      pack<T> total{};
      for (std::int64_t q = 0; q < squares; ++q) {
        const std::int64_t at = row * n + (w::backwards ? n - (q + 1) * width : q * width);
        pack<T> result[width];
        along_square(q == 0, total, result, square(x + at)...);
        transpose_packs<T>(result);
        for (int r = 0; r < width; ++r) save(out + at + r * n, result[r]);
      }
      for (std::int64_t k = squares * width; k < n; ++k)
        for (int r = 0; r < width; ++r) {
          const std::int64_t i = (row + r) * n + (w::backwards ? n - 1 - k : k);
          out[i] = Step::next(out[w::backwards ? i + 1 : i - 1], x[i]...);
        }
    }
    return whole;
  }
  struct packs {
    pack<T> of[width];
  };
  /// The columns of a square.
  static packs square(const T* x) {
    packs r;
    for (int i = 0; i < width; ++i) r.of[i] = load(x + i * w::n);
    transpose_packs<T>(r.of);
    return r;
  }
  template <class... Packs>
  static void along_square(bool first, pack<T>& total, pack<T> (&result)[width], const Packs&... x) {
    for (int j = 0; j < width; ++j) {
      const int k = w::backwards ? width - 1 - j : j;
      total = first && j == 0 ? Step::begin(x.of[k]...) : Step::next(total, x.of[k]...);
      result[k] = total;
    }
  }
#endif
};
struct sum_step {
  template <class V>
  DRX_INLINE static V begin(V x) {
    return x;
  }
  template <class V>
  DRX_INLINE static V next(V before, V x) {
    return wrapping_sum(before, x);
  }
};
struct product_step : sum_step {
  template <class V>
  DRX_INLINE static V next(V before, V x) {
    return wrapping_product(before, x);
  }
};
template <class Op>
struct extremum_step : sum_step {
  template <class V>
  DRX_INLINE static V next(V before, V x) {
    return Op{}(before, x);
  }
};
struct recurrence_step {
  template <class V>
  DRX_INLINE static V begin(V, V x) {
    return x;
  }
  template <class V>
  DRX_INLINE static V next(V before, V factor, V x) {
    return wrapping_product_sum(factor, before, x);
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::cumsum> : detail::walk_of_operands<C, E, detail::sum_step, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::cumprod> : detail::walk_of_operands<C, E, detail::product_step, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::cummax> : detail::walk_of_operands<C, E, detail::extremum_step<detail::max_op>, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::cummin> : detail::walk_of_operands<C, E, detail::extremum_step<detail::min_op>, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::recurrence> : detail::walk_of_operands<C, E, detail::recurrence_step, 0, 1> {};

namespace detail {
template <class C, int E, bool Max>
struct best_so_far_kernel : walk_kernel<C, E> {
  using w = walk_kernel<C, E>;
  DRX_FN static void run(frame& f) {
    const auto* p = elements<const element_of<C, w::x>, C, w::x>(f);
    const auto position = [](std::int64_t i) { return static_cast<std::int32_t>(i / w::inner % w::n); };
    w::walk(f, position, [=](std::int32_t best, std::int64_t i) {
      const std::int32_t here = position(i);
      return prim::beats<Max>(p[i], p[i + (best - here) * w::inner]) ? here : best;
    });
  }
};
}  // namespace detail

namespace detail {
/// The first position of the best element along an axis.
template <class C, int E, bool Max>
struct arg_extremum_kernel {
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0),
                       axis = prim::rules::over_axes::view(C::attributes(E)).axes.number(0);
  using T = element_of<C, x>;
  static constexpr shape s = C::values[x].shape;
  static constexpr std::int64_t outer = extents_between(s, 0, axis), n = s[axis],
                                inner = extents_between(s, axis + 1, s.rank);
  DRX_FN static void run(frame& f) {
    const T* p = elements<const T, C, x>(f);
    std::int32_t* q = elements<std::int32_t, C, y>(f);
    for (std::int64_t o = 0; o < outer; ++o) {
      if constexpr (inner == 1) {
        q[o] = of_row(p + o * n);
      } else if constexpr (inner > 1) {
        constexpr std::int64_t width = columns_at_once, rest = inner % width;
        const T* first = p + o * n * inner;
        for (std::int64_t at = 0; at + width <= inner; at += width) of_columns<width>(first + at, q + o * inner + at);
        if constexpr (rest > 0) of_columns<rest>(first + inner - rest, q + (o + 1) * inner - rest);
      }
    }
  }

 private:
  DRX_FN static std::int32_t of_row(const T* row) {
#if !defined(__CUDACC__)
    constexpr std::int64_t lanes = lanes_of_row;
    if constexpr ((std::is_same_v<T, float> || std::is_same_v<T, double>) && n >= 2 * lanes) {
      const T best = fold_row(row, n, std::conditional_t<Max, max_op, min_op>{});
      for (std::int64_t k = 0; k + lanes <= n; k += lanes) {
        int hits = 0;
        for (std::int64_t l = 0; l < lanes; ++l) hits += (row[k + l] == best) | (row[k + l] != row[k + l]);
        if (hits > 0) return first_hit(row, k, best);
      }
      return first_hit(row, n / lanes * lanes, best);
    }
#endif
    std::int32_t best = 0;
    for (std::int64_t k = 1; k < n; ++k)
      if (prim::beats<Max>(row[k], row[best])) best = static_cast<std::int32_t>(k);
    return best;
  }
  /// The first position from k on at which the row is `best`, or no number. There is one.
  static std::int32_t first_hit(const T* row, std::int64_t k, T best) {
    while (row[k] != best && row[k] == row[k]) ++k;
    return static_cast<std::int32_t>(k);
  }
#if !defined(__CUDACC__)
  static constexpr bool in_packs = (std::is_same_v<T, float> || std::is_same_v<T, double>) && n < (1 << 23);
  static constexpr std::int64_t columns_at_once = in_packs ? pack_width<T> : 64;
#else
  static constexpr bool in_packs = false;
  static constexpr std::int64_t columns_at_once = 64;
#endif
  /// N columns side by side.
  template <std::int64_t N>
  DRX_FN static void of_columns(const T* __restrict row, std::int32_t* __restrict best) {
#if !defined(__CUDACC__)
    if constexpr (in_packs && N == columns_at_once) {
      pack<T> value = load(row), place{};  // (places as floating numbers: then all lanes have one width)
      for (std::int64_t k = 1; k < n; ++k) {
        const pack<T> next = load(row + k * inner);
        const auto better = prim::beats<Max>(next, value);
        value = better ? next : value;
        place = better ? pack<T>{} + static_cast<T>(k) : place;
      }
      for (std::int64_t i = 0; i < N; ++i) best[i] = static_cast<std::int32_t>(place[i]);
      return;
    }
#endif
    T value[N];
    for (std::int64_t i = 0; i < N; ++i) value[i] = row[i];
    for (std::int64_t i = 0; i < N; ++i) best[i] = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      row += inner;
      for (std::int64_t i = 0; i < N; ++i) {
        const bool better = prim::beats<Max>(row[i], value[i]);
        const std::int32_t mask = -static_cast<std::int32_t>(better);  // (bits, so that there are vectors)
        value[i] = chosen(better, row[i], value[i]);
        best[i] = (best[i] & ~mask) | (static_cast<std::int32_t>(k) & mask);
      }
    }
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::argmax> : detail::arg_extremum_kernel<C, E, true> {};
template <class C, int E>
struct kernel<C, E, &prim::argmin> : detail::arg_extremum_kernel<C, E, false> {};

template <class C, int E>
struct kernel<C, E, &prim::largest_so_far> : detail::best_so_far_kernel<C, E, true> {};
template <class C, int E>
struct kernel<C, E, &prim::smallest_so_far> : detail::best_so_far_kernel<C, E, false> {};

namespace detail {
struct times_op {
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return wrapping_product(a, b);
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::prod> {
  static void run(frame& f) {  // the axes are neighbours: its simplify rule sees to that
    constexpr prim::rules::over_axes::view over(C::attributes(E));
    constexpr int x = C::operand(E, 0), y = C::result(E, 0), first = over.axes.number(0),
                  behind = first + over.axes.size();
    using T = element_of<C, y>;
    constexpr shape from = C::values[x].shape;
    static_assert(over.are_neighbours());
    detail::fold_axis<T, detail::extents_between(from, 0, first), detail::extents_between(from, first, behind),
                      detail::extents_between(from, behind, from.rank)>(elements<const T, C, x>(f),
                                                                        elements<T, C, y>(f), T(1), detail::times_op{});
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
      std::sort(order, order + n, [p](std::int32_t i, std::int32_t j) {  // (std::stable_sort would allocate)
        return prim::comes_before(p[i], p[j]) || (!prim::comes_before(p[j], p[i]) && i < j);
      });
    }
  }
};

}  // namespace drx::run
