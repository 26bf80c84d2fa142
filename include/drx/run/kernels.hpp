// drx/run/kernels.hpp: the steps that are one entry each. An entry without a kernel of its own is computed by its
// primitive's plain evaluation: right, but neither fast nor free of allocation.
#pragma once

#include <drx/run/fused.hpp>
#include <drx/run/gemm.hpp>
#include <drx/run/placed.hpp>

#include <algorithm>
#include <stdexcept>

#if defined(DRX_HAS_EIGEN)
#include <Eigen/Core>
#endif

namespace drx::run {

template <class C, int Region>
void run_region(frame& f);

/// Entry E by its primitive's plain evaluation.
template <class C, int E>
struct plain_kernel {
  struct plain final : evaluation {
    frame& f;
    plain(const entry& of, frame& at) : evaluation(of), f(at) {}
    std::vector<tensor> run(const drx::tape&, std::vector<tensor>) override { throw std::logic_error("drx: a region in a plain kernel"); }
    std::vector<tensor> run_member(const drx::tape& t, std::vector<tensor> i, std::int64_t) override { return run(t, std::move(i)); }
    std::int64_t members(const placement_info* p) override { return f.members[C::placements.index(p)].total; }
  };
  static void run(frame& f) {
    static_assert(C::tape.entries[E].regions == 0, "drx: a primitive with regions needs a kernel");
    constexpr auto& x = C::tape.entries[E];
    entry e;
    e.prim = x.prim;
    for (int i = 0; i < x.ints.count; ++i) e.attrs.ints.push_back(C::tape.pool[x.ints.first + i]);
    e.attrs.number = x.number;
    e.attrs.placement = x.placement;
    plain v(e, f);
    std::vector<tensor> in;
    unroll<x.operands.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int o = C::operand(E, I);
      in.emplace_back(C::tape.values[o]);
      std::copy_n(address<C, o>(f), in.back().bytes.size(), in.back().bytes.begin());  // (memcpy takes no null pointer)
    });
    for (const tensor& t : in) v.in.push_back(&t);
    for (int i = 0; i < x.results.count; ++i) v.out.emplace_back(C::tape.values[C::result(E, i)]);
    x.prim->evaluate(v);
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) {
      std::copy_n(v.out[I].bytes.begin(), v.out[I].bytes.size(), address<C, C::result(E, I)>(f));
    });
  }
};

/// Entry E by its primitive's `native` function, a constant that the compiler may inline.
template <class C, int E>
struct native_kernel {
  static constexpr auto& x = C::tape.entries[E];
  static constexpr int count = x.ints.count > 0 ? x.ints.count : 1;
  struct list {
    std::int64_t at[count] = {};
  };
  static constexpr list ints = [] {
    list r;
    for (int i = 0; i < x.ints.count; ++i) r.at[i] = C::tape.pool[x.ints.first + i];
    return r;
  }();
  static void run(frame& f) {
    const void* in[x.operands.count > 0 ? x.operands.count : 1] = {};
    void* out[x.results.count > 0 ? x.results.count : 1] = {};
    unroll<x.operands.count>([&]<int I>(std::integral_constant<int, I>) { in[I] = address<C, C::operand(E, I)>(f); });
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) { out[I] = address<C, C::result(E, I)>(f); });
    constexpr auto native = x.prim->native;
    native(ints.at, in, out);
  }
};

/// How entry E, of primitive P, is computed.
template <class C, int E, const primitive* P>
struct kernel : std::conditional_t<P->native != nullptr, native_kernel<C, E>, plain_kernel<C, E>> {};

template <class C, int E>
struct kernel<C, E, &prim::members> {
  static void run(frame& f) {
    constexpr int v = C::result(E, 0);
    constexpr int p = C::placements.index(C::tape.entries[E].placement);
    constexpr int parent = C::placements.parent[p];
    std::int64_t n = f.members[p].total;
    if constexpr (parent >= 0) n = f.members[p].offsets[f.at[parent] + 1] - f.members[p].offsets[f.at[parent]];
    *elements<element_of<C, v>, C, v>(f) = static_cast<element_of<C, v>>(n);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::matmul> {
  static constexpr int x = C::operand(E, 0), y = C::operand(E, 1), z = C::result(E, 0);
  using T = element_of<C, z>;
  static constexpr plan::product_extents extents = plan::extents_of(C::tape, C::tape.entries[E]);
  static constexpr bool tx = extents.tx, ty = extents.ty;
  static constexpr std::int64_t m = extents.m, n = extents.n, k = extents.k;
  static constexpr bool large = std::is_floating_point_v<T> && extents.large();

  static void run(frame& f) {
    const T* p = elements<const T, C, x>(f);
    const T* q = elements<const T, C, y>(f);
    T* r = elements<T, C, z>(f);
    for (std::int64_t b = 0; b < extents.batches; ++b) product(p + b * m * k, q + b * k * n, r + b * m * n);
  }
  /// Rows [first, first + Rows) of a product that is dot products.
  template <int Rows>
  static void run_dots(frame& f, int first) {
    static_assert(extents.dots() > 0);
    constexpr int depth = static_cast<int>(k);
    const T* p = elements<const T, C, x>(f);
    const T* q = elements<const T, C, y>(f);
    T* r = elements<T, C, z>(f) + first;
    if constexpr (n == 1 && !tx) drx::kernel::gemm<T, Rows, 1, depth, false, false>(p + first * depth, q, drx::kernel::store<1>(r));
    else drx::kernel::gemm<T, 1, Rows, depth, false, true>(p, q + first * depth, drx::kernel::store<Rows>(r));
  }
  static void product(const T* p, const T* q, T* r) {
#if defined(DRX_HAS_EIGEN)
    if constexpr (large) {
      using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const Eigen::Map<const matrix> a(p, tx ? k : m, tx ? m : k), b(q, ty ? n : k, ty ? k : n);
      Eigen::Map<matrix> c(r, m, n);
      if constexpr (tx && ty) {
        c.noalias() = a.transpose() * b.transpose();
      } else if constexpr (tx) {
        c.noalias() = a.transpose() * b;
      } else if constexpr (ty) {
        c.noalias() = a * b.transpose();
      } else {
        c.noalias() = a * b;
      }
      return;
    }
#endif
    drx::kernel::gemm<T, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), tx, ty>(
        p, q, drx::kernel::store<static_cast<int>(n)>(r));
  }
};

namespace detail {
/// The steps in memory along the axes of a row-major array.
constexpr shape strides_of(const shape& s) {
  shape r;
  r.rank = s.rank;
  std::int64_t n = 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    r[i] = n;
    n *= s[i];
  }
  return r;
}
/// Copies an array of the given extents between two strided places.
template <int Rank, int Axis = 0, class T>
inline void copy_strided(const T* from, const shape& from_stride, T* to, const shape& to_stride, const shape& extent) {
  if constexpr (Axis == Rank) {
    *to = *from;
  } else {
    for (std::int64_t i = 0; i < extent[Axis]; ++i)
      copy_strided<Rank, Axis + 1>(from + i * from_stride[Axis], from_stride, to + i * to_stride[Axis], to_stride, extent);
  }
}
template <class C, int E>
struct moves {  // entries that move elements: x to y
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0), rank = C::tape.values[y].shape.rank;
  using T = element_of<C, y>;
  static constexpr shape from = C::tape.values[x].shape, to = C::tape.values[y].shape;
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::transpose> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static constexpr shape stride = [] {
    const shape own = detail::strides_of(m::from);
    shape s = own;
    for (int i = 0; i < s.rank; ++i) s[i] = own[static_cast<int>(C::attr(E, i))];
    return s;
  }();
  static constexpr bool of_matrix = m::rank == 2 && (std::is_same_v<typename m::T, float> || std::is_same_v<typename m::T, double>);

  static void run(frame& f) {
    const auto* x = elements<const typename m::T, C, m::x>(f);
    auto* y = elements<typename m::T, C, m::y>(f);
    if constexpr (of_matrix) {
      drx::kernel::transpose<static_cast<int>(m::from[0]), static_cast<int>(m::from[1])>(x, y);
    } else {
      detail::copy_strided<m::rank>(x, stride, y, detail::strides_of(m::to), m::to);
    }
  }
};

// cut-begin slice_kernel
template <class C, int E>
struct kernel<C, E, &prim::slice> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static void run(frame& f) {
    shape stride = detail::strides_of(m::from);
    std::int64_t start = 0;
    for (int i = 0; i < m::rank; ++i) {
      start += C::attr(E, i) * stride[i];
      stride[i] *= C::attr(E, 2 * m::rank + i);
    }
    detail::copy_strided<m::rank>(elements<const typename m::T, C, m::x>(f) + start, stride,
                                  elements<typename m::T, C, m::y>(f), detail::strides_of(m::to), m::to);
  }
};
// cut-end slice_kernel

template <class C, int E>
struct kernel<C, E, &prim::pad> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static void run(frame& f) {
    shape stride = detail::strides_of(m::to);
    std::int64_t start = 0;
    for (int i = 0; i < m::rank; ++i) {
      start += C::attr(E, i) * stride[i];
      stride[i] *= C::attr(E, 2 * m::rank + i) + 1;
    }
    auto* out = elements<typename m::T, C, m::y>(f);
    std::memset(out, 0, static_cast<std::size_t>(C::bytes(m::y)));
    if (m::from.size() > 0)
      detail::copy_strided<m::rank>(elements<const typename m::T, C, m::x>(f), detail::strides_of(m::from), out + start, stride, m::from);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::concatenate> {
  static void run(frame& f) {  // in front of the axis: one after the other; from the axis on: contiguous
    constexpr int y = C::result(E, 0), axis = static_cast<int>(C::attr(E, 0));
    using T = element_of<C, y>;
    constexpr shape to = C::tape.values[y].shape;
    std::int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= to[i];
    const std::int64_t row = outer == 0 ? 0 : to.size() / outer;
    std::int64_t at = 0;
    unroll<C::tape.entries[E].operands.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int x = C::operand(E, I);
      const T* p = elements<const T, C, x>(f);
      T* q = elements<T, C, y>(f) + at;
      const std::int64_t part = outer == 0 ? 0 : C::tape.values[x].shape.size() / outer;
      for (std::int64_t o = 0; o < outer; ++o) std::memcpy(q + o * row, p + o * part, static_cast<std::size_t>(part) * sizeof(T));
      at += part;
    });
  }
};

template <class C, int E>
struct kernel<C, E, &prim::data> {
  static void run(frame& f) {
    constexpr int y = C::result(E, 0), first = 2 + static_cast<int>(C::attr(E, 1));
    using T = element_of<C, y>;
    T* q = elements<T, C, y>(f);
    for (std::int64_t i = 0; i < C::tape.values[y].shape.size(); ++i)
      q[i] = prim::rules::data::element<T>(C::attr(E, first + static_cast<int>(i)));
  }
};

template <class C, int E>
struct kernel<C, E, &prim::random_bits> {
  static void run(frame& f) {
    constexpr int x = C::operand(E, 0), y = C::result(E, 0);
    constexpr auto what = static_cast<prim::rules::random_bits::kind>(C::attr(E, 0));
    constexpr std::int64_t keys = C::tape.values[x].shape.size() / 2;
    constexpr std::int64_t each = keys == 0 ? 0 : C::tape.values[y].shape.size() / keys;
    constexpr std::int64_t numbers = what == prim::rules::random_bits::keys ? each / 2 : each;
    const std::int32_t* p = elements<const std::int32_t, C, x>(f);
    auto* q = elements<element_of<C, y>, C, y>(f);
    for (std::int64_t k = 0; k < keys; ++k, q += each) {
      const word_pair key = prim::rules::random_bits::key_from(p + 2 * k);
      DRX_INDEPENDENT
      for (std::int64_t i = 0; i < numbers; ++i) prim::rules::random_bits::write<what>(key, static_cast<std::uint64_t>(i), q);
    }
  }
};

template <class C, int E>
struct kernel<C, E, &prim::fold_in> {
  static void run(frame& f) {
    constexpr int x = C::operand(E, 0), n = C::operand(E, 1), y = C::result(E, 0);
    const std::int32_t* p = elements<const std::int32_t, C, x>(f);
    const auto* number = elements<const element_of<C, n>, C, n>(f);
    std::int32_t* q = elements<std::int32_t, C, y>(f);
    for (std::int64_t k = 0; k < C::tape.values[n].shape.size(); ++k) prim::rules::fold_in::write(p + 2 * k, number[k], q + 2 * k);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::scan> {
  static constexpr auto& x = C::tape.entries[E];
  static constexpr std::int64_t length = C::attr(E, 0);
  static constexpr bool backwards = C::attr(E, 1) != 0;
  static constexpr int constants = static_cast<int>(C::attr(E, 2)), carries = static_cast<int>(C::attr(E, 3));
  static constexpr int guard = static_cast<int>(C::attr(E, 4));
  static constexpr bool carry_guards = guard > constants && guard <= constants + carries;
  static constexpr int xs = x.operands.count - constants - carries, ys = x.results.count - carries;
  static constexpr int body = x.first_region;

  static constexpr bool exchanged(int k) {  // the carry's new value lies in another carry's memory
    for (int i = 0; i < carries; ++i)
      if (i != k && C::root(C::output(body, k)) == C::root(C::result(E, i))) return true;
    return false;
  }

  static void run(frame& f) {
    unroll<x.results.count>([&]<int K>(std::integral_constant<int, K>) { provide_placed<C, C::result(E, K)>(f); });
    unroll<xs>([&]<int K>(std::integral_constant<int, K>) { provide_placed<C, C::input(body, 1 + constants + carries + K)>(f); });
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int from = C::operand(E, constants + K), to = C::result(E, K);
      if constexpr (C::root(from) != C::root(to)) copy_value<C, from, to>(f);
    });
    for (std::int64_t step = 0; length < 0 || step < length; ++step) {
      const std::int64_t at = backwards ? length - 1 - step : step;
      std::int32_t index = static_cast<std::int32_t>(at);
      f.slots[C::plan.where[C::input(body, 0)].offset] = reinterpret_cast<std::byte*>(&index);
      unroll<xs>([&]<int K>(std::integral_constant<int, K>) {
        constexpr int from = C::operand(E, constants + carries + K), to = C::input(body, 1 + constants + carries + K);
        if constexpr (C::tape.values[to].depth > 0) {
          copy_value<C, from, to, row_of::source>(f, at);
        } else {
          f.slots[C::plan.where[to].offset] = address<C, from>(f) + at * C::bytes(to);
        }
      });
      if constexpr (guard > 0) {
        if (!*elements<const bool, C, C::input(body, guard)>(f)) {
          clear(f, at, carry_guards ? length - step : 1);
          if (carry_guards) return;
          continue;
        }
      }
      run_region<C, body>(f);
      unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
        copy_value<C, C::output(body, carries + K), C::result(E, carries + K), row_of::target>(f, at);
      });
      carry_over(f);
    }
  }
  /// Zeros in the slices of ys at the next `steps` steps.
  static void clear(frame& f, std::int64_t at, std::int64_t steps) {
    const std::int64_t first = backwards ? at - steps + 1 : at;
    unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int y = C::result(E, carries + K);
      const element_range members = range_of<C, y>(f);
      constexpr std::int64_t row = C::bytes(C::output(body, carries + K));
      for (std::int64_t m = members.begin; m < members.end; ++m)
        std::memset(address<C, y>(f) + m * C::bytes(y) + first * row, 0, static_cast<std::size_t>(steps * row));
    });
  }
  /// The body's outputs become the carries: those already in place stay, those in another carry's memory go by a copy.
  static void carry_over(frame& f) {
    exchange<false>(f);
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int from = C::output(body, K), to = C::result(E, K);
      if constexpr (!exchanged(K) && C::root(from) != C::root(to)) copy_value<C, from, to>(f);
    });
    exchange<true>(f);
  }
  /// The outputs that lie in other carries' memory to copies, and then back.
  template <bool Back>
  static void exchange(frame& f) {
    [[maybe_unused]] std::byte* copies = scratch<C, E>(f);
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      if constexpr (exchanged(K)) {
        constexpr int value = Back ? C::result(E, K) : C::output(body, K);
        std::byte* copy = copies;
        if constexpr (C::tape.values[value].depth > 0) {
          copy = placed_buffer<C, C::input(body, 1 + constants + K)>(f);
        } else {
          copies += (C::bytes(value) + 63) / 64 * 64;
        }
        const element_range members = range_of<C, value>(f);
        const auto size = static_cast<std::size_t>(members.count() * C::bytes(value));
        std::byte* lies = address<C, value>(f) + members.begin * C::bytes(value);
        copy += members.begin * C::bytes(value);
        std::memcpy(Back ? lies : copy, Back ? copy : lies, size);
      }
    });
  }
};

template <class C, int E>
struct kernel<C, E, &prim::cond> {
  static constexpr auto& x = C::tape.entries[E];

  static void run(frame& f) {
    if (*elements<const bool, C, C::operand(E, 0)>(f)) {
      branch<x.first_region>(f);
    } else {
      branch<x.first_region + 1>(f);
    }
  }
  template <int Region>
  static void branch(frame& f) {
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) { provide_placed<C, C::result(E, I)>(f); });
    run_region<C, Region>(f);
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int from = C::output(Region, I), to = C::result(E, I);
      if constexpr (C::root(from) != C::root(to)) copy_value<C, from, to>(f);
    });
  }
};

#if defined(__GNUC__) && !defined(__clang__)
#define DRX_STEP [[gnu::noipa]]  // with its interprocedural analyses g++ 12.2 drops calls of steps that store bool
#else
#define DRX_STEP [[gnu::noinline]]
#endif

/// One step, a function of its own: profiles name it, and the compiler's work stays linear in the steps.
template <class C, int Step>
DRX_STEP void run_step(frame& f) {
  constexpr plan::step now = C::plan.steps[Step];
  if constexpr (now.group) {
    run_fused<C, Step>(f);
  } else {
    kernel<C, now.entry, C::tape.entries[now.entry].prim>::run(f);
  }
}

template <class C, int Region>
void run_region(frame& f) {
  unroll<C::plan.step_count[Region]>(
      [&]<int I>(std::integral_constant<int, I>) { run_step<C, C::plan.first_step[Region] + I>(f); });
}

}  // namespace drx::run

// More specialisations of `kernel`.
#include <drx/run/convolution_kernels.hpp>
#include <drx/run/fold_kernels.hpp>
#include <drx/run/linear_algebra_kernels.hpp>
