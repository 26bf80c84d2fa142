// drx/run/fused.hpp: a group of elementwise entries as one loop. Each entry's value lives in a register; what leaves
// the loop is stored at its end, so that a result may take an operand's place.
//
// A loop over short rows would run scalar remainders and restart for each row. There, what is broadcast along rows or
// columns is written out first, and several rows are one loop.
//
// Sums over the rows of a loop of plain arithmetic are added up in it.
//
// After a product of matrices, which is then the group's first entry, the loop runs over each tile as soon as it is finished; where all
// entries are plain arithmetic it takes the packs from the product's registers.
//
// A long function (prim::row_of<p>::begin and end) runs in two halves, each for many numbers: a processor looks ahead only so
// many instructions, and finds more independent ones in two short loops than in a long one.
//
// Some functions are fast in a range only (prim::row_of<p>::near). A loop with one of them runs in chunks; a chunk in
// which an operand was out of range runs again with their exact forms.
#pragma once

#include <drx/run/frame.hpp>
#include <drx/run/gemm.hpp>
#include <drx/run/pack_tanh.hpp>

#include <cstring>

namespace drx::run {

#if defined(__GNUC__) && !defined(__clang__)  // (clang vectorises by itself, and warns of loops that it was told to and cannot)
#define DRX_INDEPENDENT _Pragma("GCC ivdep")
#else
#define DRX_INDEPENDENT
#endif

namespace detail {

enum class source_kind : std::int8_t { none, register_, literal, position, memory, tile };

/// Where an operand of a fused entry comes from.
struct source {
  source_kind kind = source_kind::none;
  int index = 0;             // of the register
  double number = 0;         // the literal
  int value = -1;            // in memory
  int axis = 0;              // of a position
  shape from = {};           // the shape in memory, to be broadcast
};

template <int I, class T>
struct register_leaf {
  T v;
};
template <class Seq, class... T>
struct register_file;
template <int... I, class... T>
struct register_file<std::integer_sequence<int, I...>, T...> : register_leaf<I, T>... {};
template <int I, class T>
DRX_INLINE T& get(register_leaf<I, T>& r) {
  return r.v;
}
template <int I, class T>
DRX_INLINE const T& get(const register_leaf<I, T>& r) {
  return r.v;
}

}  // namespace detail

template <class C, int Step>
struct fused {
  static constexpr plan::step now = C::plan.steps[Step];
  static constexpr int count = now.members;
  static constexpr int entry(int m) { return C::plan.members[now.first_member + m]; }
  static constexpr int result(int m) { return C::result(entry(m), 0); }
  static constexpr shape loop = C::tape.values[result(0)].shape;

  static constexpr detail::source read(int v, bool through_broadcast) {
    detail::source s;
    s.from = C::tape.values[v].shape;
    if (C::plan.group_of[v] == 1 + Step && !through_broadcast) {  // (a carry written in place has another root)
      s.index = C::plan.member_of[v];
      s.kind = detail::source_kind::register_;
      return s;
    }
    const int r = C::root(v);
    const int e = C::plan.stored[r] ? -1 : C::definition(r);
    if (e >= 0 && C::tape.entries[e].prim == &prim::constant) {
      s.kind = detail::source_kind::literal;
      s.number = C::tape.entries[e].number;
    } else if (e >= 0 && C::tape.entries[e].prim == &prim::iota) {
      s.kind = detail::source_kind::position;
      s.axis = static_cast<int>(C::attr(e, 0));
    } else if (e >= 0 && C::tape.entries[e].prim == &prim::broadcast_to) {
      return read(C::operand(e, 0), true);
    } else {
      s.kind = detail::source_kind::memory;
      s.value = r;
    }
    return s;
  }
  static constexpr detail::source operand(int m, int i) {
    const int e = entry(m);
    const primitive* p = C::tape.entries[e].prim;
    if (p == &prim::matmul) {
      detail::source s;
      s.kind = detail::source_kind::tile;
      return s;
    }
    if (p == &prim::constant) {
      detail::source s;
      s.kind = detail::source_kind::literal;
      s.number = C::tape.entries[e].number;
      return s;
    }
    if (p == &prim::iota) {
      detail::source s;
      s.kind = detail::source_kind::position;
      s.axis = static_cast<int>(C::attr(e, 0));
      return s;
    }
    return read(C::operand(e, i), p == &prim::broadcast_to);
  }
  static constexpr int arity(int m) {
    const int n = C::tape.entries[entry(m)].operands.count;
    return n == 0 || C::tape.entries[entry(m)].prim == &prim::matmul ? 1 : n;
  }
  static constexpr bool after_product = C::tape.entries[entry(0)].prim == &prim::matmul;

  /// Whether all memory is read in the order of the loop or is one number: then the loop needs no rows.
  static constexpr bool flat = [] {
    if (after_product || now.sums > 0) return false;
    for (int m = 0; m < count; ++m)
      for (int i = 0; i < arity(m); ++i) {
        const detail::source s = operand(m, i);
        if (s.kind == detail::source_kind::position) return false;
        if (s.kind == detail::source_kind::memory && !(s.from == loop) && s.from.size() != 1) return false;
      }
    return true;
  }();
  static constexpr std::int64_t columns = flat ? loop.size() : loop.last();
  static constexpr std::int64_t rows = columns == 0 ? 0 : loop.size() / columns;
  static constexpr bool short_rows = !flat && rows > 1 && columns < 64 && columns % 16 != 0;
  /// Whether an operand is written out, row by row, before a loop over short rows.
  static constexpr bool written_out(const detail::source& s) {
    const bool in_order = s.kind == detail::source_kind::memory && (s.from == loop || s.from.size() == 1);
    return short_rows && !in_order && (s.kind == detail::source_kind::memory || s.kind == detail::source_kind::position);
  }

  /// The position in memory at which row r of a source of shape `from` begins.
  static constexpr std::int64_t row_start(const shape& from, std::int64_t r) {
    if (flat) return 0;
    std::int64_t at = 0, stride = from.last();
    for (int axis = loop.rank - 2; axis >= 0; --axis) {
      const std::int64_t i = r % loop[axis];
      r /= loop[axis];
      const int own = axis - (loop.rank - from.rank);
      if (own < 0) break;
      if (from[own] != 1) at += i * stride;
      stride *= from[own];
    }
    return at;
  }

  template <class T, int M, int I, class Registers, class Pointers>
  DRX_INLINE static T load(const Registers& registers, const Pointers& pointers, std::int64_t r, std::int64_t i) {
    constexpr detail::source s = operand(M, I);
    if constexpr (s.kind == detail::source_kind::register_) {
      return detail::get<s.index>(registers);
    } else if constexpr (s.kind == detail::source_kind::literal) {
      return static_cast<T>(s.number);
    } else if constexpr (written_out(s) || s.kind == detail::source_kind::tile) {
      return detail::get<3 * M + I>(pointers)[i];
    } else if constexpr (s.kind == detail::source_kind::position) {
      return position<T, s.axis>(r, i);
    } else {
      const T* p = detail::get<3 * M + I>(pointers);
      if constexpr (s.from.size() == 1 || (!flat && s.from.last() == 1 && !(s.from == loop))) {
        return p[0];
      } else {
        return p[i];
      }
    }
  }
  template <class T, int Axis>
  DRX_INLINE static T position(std::int64_t r, std::int64_t i) {
    if constexpr (Axis == loop.rank - 1) {
      return static_cast<T>(i);
    } else {
      std::int64_t before = r;
      for (int axis = loop.rank - 2; axis > Axis; --axis) before /= loop[axis];
      return static_cast<T>(before % loop[Axis]);
    }
  }

  template <class Row, class T>
  [[gnu::noinline]] static T exact(T x) {  // no branches in the loop, so that it is contracted like the fast one
    return Row::exact(x);
  }
  /// Whether entry M of the group is fast in a range only.
  template <int M>
  static constexpr bool ranged = requires { &prim::row_of<C::tape.entries[entry(M)].prim>::template exact<double>; };
  template <int M, class Registers, class Pointers>
  DRX_INLINE static bool out_of_range(const Registers& registers, const Pointers& pointers, std::int64_t r, std::int64_t i) {
    using row = prim::row_of<C::tape.entries[entry(M)].prim>;
    return !row::near(load<element_of<C, C::operand(entry(M), 0)>, M, 0>(registers, pointers, r, i));
  }

  /// In which of the two loops of a group with long functions an entry is computed.
  enum class half : std::int8_t {
    first,  // in both: it depends on no long function
    ended,  // a long function, begun in the first and ended in the second
    second
  };
  struct halves {
    half of[count] = {};
  };
  /// Whether entry M is a long function.
  template <int M>
  static constexpr bool long_function = requires { &prim::row_of<C::tape.entries[entry(M)].prim>::template begin<double>; };
  static constexpr halves each_half = []<int... M>(std::integer_sequence<int, M...>) {
    constexpr bool is_long[] = {long_function<M>...};
    halves h;
    for (int m = 0; m < count; ++m) {
      for (int i = 0; i < arity(m); ++i) {
        const detail::source s = operand(m, i);
        if (s.kind == detail::source_kind::register_ && h.of[s.index] != half::first) h.of[m] = half::second;
      }
      if (h.of[m] == half::first && is_long[m]) h.of[m] = half::ended;
    }
    return h;
  }(std::make_integer_sequence<int, count>{});
  template <int M>
  static constexpr half when = each_half.of[M];
  static constexpr bool in_halves = [] {
    for (half h : each_half.of)
      if (h == half::ended) return true;
    return false;
  }();
  static constexpr int begun = 2;  // of an entry's three pointers, the one to what its first half has left

  /// The first halves of N elements of row r from `first` on, to `at` in kept.
  template <std::int64_t N, int... M, class Pointers, class Kept>
  DRX_INLINE static void begin_row(const Pointers& pointers, std::int64_t r, std::int64_t first, Kept& kept, std::int64_t at) {
    DRX_INDEPENDENT
    for (std::int64_t i = 0; i < N; ++i) {
      registers_type registers;
      auto compute = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
        if constexpr (when<K> == half::first) detail::get<K>(registers) = value<K>(registers, pointers, r, first + i);
        if constexpr (when<K> == half::ended)
          detail::get<K>(kept).elements[at + i] =
              prim::row_of<C::tape.entries[entry(K)].prim>::begin(load<element_of<C, result(K)>, K, 0>(registers, pointers, r, first + i));
      };
      (compute(std::integral_constant<int, M>{}), ...);
    }
  }

  template <int M, bool Exact = false, bool Halves = false, class Registers, class Pointers>
  DRX_INLINE static auto value(const Registers& registers, const Pointers& pointers, std::int64_t r, std::int64_t i) {
    constexpr int e = entry(M);
    constexpr const primitive* p = C::tape.entries[e].prim;
    using R = element_of<C, C::result(e, 0)>;
    if constexpr (p == &prim::constant || p == &prim::iota || p == &prim::broadcast_to || p == &prim::matmul) {
      return load<R, M, 0>(registers, pointers, r, i);
    } else if constexpr (p == &prim::cast) {
      using From = element_of<C, C::operand(e, 0)>;
      return prim::rules::cast::convert<R>(load<From, M, 0>(registers, pointers, r, i));
    } else if constexpr (Exact && ranged<M>) {
      return exact<prim::row_of<p>>(load<R, M, 0>(registers, pointers, r, i));
    } else if constexpr (Halves && when<M> == half::ended) {
      return prim::row_of<p>::end(detail::get<3 * M + begun>(pointers)[i - pointers.first], load<R, M, 0>(registers, pointers, r, i));
    } else {
      return [&]<int... K>(std::integer_sequence<int, K...>) {
        return static_cast<R>(prim::row_of<p>::apply(load<element_of<C, C::operand(e, K)>, M, K>(registers, pointers, r, i)...));
      }(std::make_integer_sequence<int, arity(M)>{});
    }
  }

  // One pointer per operand, three to an entry; those that are no memory are null and unused.
  template <int K>
  static constexpr auto pointer_type() {
    constexpr int m = K / 3, i = K % 3;
    if constexpr (i == begun && when<m> == half::ended) {
      return static_cast<const element_of<C, result(m)>*>(nullptr);
    } else if constexpr (i < arity(m)) {
      constexpr detail::source s = operand(m, i);
      if constexpr (s.kind == detail::source_kind::memory) {
        return static_cast<const element_of<C, s.value>*>(nullptr);
      } else if constexpr (s.kind == detail::source_kind::tile) {
        return static_cast<const element_of<C, result(m)>*>(nullptr);
      } else if constexpr (written_out(s)) {
        constexpr int e = entry(m);
        constexpr int v = C::tape.entries[e].operands.count == 0 ? C::result(e, 0) : C::operand(e, i);
        return static_cast<const element_of<C, v>*>(nullptr);
      } else {
        return static_cast<const char*>(nullptr);
      }
    } else {
      return static_cast<const char*>(nullptr);
    }
  }

  template <class, class>
  struct files;
  template <int... M, int... K>
  struct files<std::integer_sequence<int, M...>, std::integer_sequence<int, K...>> {
    using registers = detail::register_file<std::integer_sequence<int, M...>, element_of<C, result(M)>...>;
    using pointers = detail::register_file<std::integer_sequence<int, K...>, decltype(pointer_type<K>())...>;
  };
  using files_type = files<std::make_integer_sequence<int, count>, std::make_integer_sequence<int, 3 * count>>;
  // Structs, since the functions of each entry are named after them.
  struct registers_type : files_type::registers {};
  struct pointers_type : files_type::pointers {
    std::int64_t first = 0;  // the element from which the first halves are there
  };
  /// What the first halves of N elements leave.
  template <int M, std::int64_t N>
  struct begun_numbers {
    alignas(64) element_of<C, result(M)> elements[when<M> == half::ended ? N : 1];
  };
  template <int... M, class Kept>
  DRX_INLINE static void point_to_begun(pointers_type& pointers, const Kept& kept, std::int64_t at) {
    auto point = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
      if constexpr (when<K> == half::ended) detail::get<3 * K + begun>(pointers) = detail::get<K>(kept).elements + at;
    };
    (point(std::integral_constant<int, M>{}), ...);
  }

  /// N numbers of operand Q, written out.
  template <int Q, std::int64_t N>
  struct numbers {
    static constexpr bool used = [] {
      if constexpr (Q % 3 < arity(Q / 3)) {
        return written_out(operand(Q / 3, Q % 3));
      } else {
        return false;
      }
    }();
    using type = std::remove_cvref_t<decltype(*pointer_type<Q>())>;
    alignas(64) type elements[used ? N : 1];
  };
  /// Band rows from row `first` on as one loop.
  template <std::int64_t Band, int... M, int... K>
  static void run_band(frame& f, std::int64_t first, std::integer_sequence<int, M...>, std::integer_sequence<int, K...>) {
    constexpr std::int64_t size = Band * columns;
    detail::register_file<std::integer_sequence<int, K...>, numbers<K, size>...> written;
    pointers_type pointers{};
    auto point = [&]<int Q>(std::integral_constant<int, Q>) {
      constexpr int m = Q / 3, i = Q % 3;
      if constexpr (i < arity(m)) {
        constexpr detail::source s = operand(m, i);
        if constexpr (written_out(s)) {
          using T = typename numbers<Q, size>::type;
          T* to = detail::get<Q>(written).elements;
          for (std::int64_t r = first; r < first + Band; ++r, to += columns) {
            if constexpr (s.kind == detail::source_kind::position) {
              for (std::int64_t c = 0; c < columns; ++c) to[c] = position<T, s.axis>(r, c);
            } else {
              const T* from = elements<T, C, s.value>(f) + row_start(s.from, r);
              for (std::int64_t c = 0; c < columns; ++c) to[c] = from[s.from.last() == 1 ? 0 : c];
            }
          }
          detail::get<Q>(pointers) = reinterpret_cast<const T*>(unrelated(reinterpret_cast<std::byte*>(detail::get<Q>(written).elements)));
        } else if constexpr (s.kind == detail::source_kind::memory) {
          detail::get<Q>(pointers) = elements<element_of<C, s.value>, C, s.value>(f) + (s.from.size() == 1 ? 0 : first * columns);
        }
      }
    };
    (point(std::integral_constant<int, K>{}), ...);
    constexpr std::int64_t widths[] = {static_cast<std::int64_t>(sizeof(element_of<C, result(M)>))...};
    std::byte* const out[] = {(C::plan.stored[result(M)] ? store_address<M>(f) + first * columns * widths[M] : nullptr)...};
    run_row<size, M...>(out, pointers, 0);
  }

  /// Whether the loop after a product is computed in packs: arithmetic, and tanh where packs have it, of one floating type.
  static constexpr bool in_packs = [] {
    if constexpr (after_product) {
      using T = element_of<C, result(0)>;
      for (int m = 0; m < count; ++m) {
        const primitive* p = C::tape.entries[entry(m)].prim;
        if (p != &prim::matmul && p != &prim::constant && p != &prim::broadcast_to && p != &prim::add && p != &prim::sub && p != &prim::mul &&
            p != &prim::neg && !(p == &prim::tanh && drx::kernel::has_pack_tanh<T>)) return false;
        if (C::tape.values[result(m)].type != C::tape.values[result(0)].type) return false;
      }
      return true;
    }
    return false;
  }();
  /// Operand I of entry M for the columns from `col` on of a row.
  template <class T, int M, int I>
  DRX_HOST static drx::kernel::pack<T> load_pack(const drx::kernel::pack<T>* registers, const pointers_type& pointers, std::int64_t row, std::int64_t col) {
    using pack = drx::kernel::pack<T>;
    constexpr detail::source s = operand(M, I);
    if constexpr (s.kind == detail::source_kind::register_) {
      return registers[s.index];
    } else if constexpr (s.kind == detail::source_kind::literal) {
      return static_cast<T>(s.number) - pack{};
    } else if constexpr (s.from.last() == 1) {
      return detail::get<3 * M + I>(pointers)[row_start(s.from, row)] - pack{};
    } else {
      return drx::kernel::load(detail::get<3 * M + I>(pointers) + row_start(s.from, row) + col);
    }
  }
  template <int M, class T>
  DRX_HOST static void compute_pack(drx::kernel::pack<T>* registers, const pointers_type& pointers, std::int64_t row, std::int64_t col) {
    constexpr const primitive* p = C::tape.entries[entry(M)].prim;
    if constexpr (p != &prim::matmul) {
      const drx::kernel::pack<T> x = load_pack<T, M, 0>(registers, pointers, row, col);
      if constexpr (arity(M) == 1) {
        if constexpr (p == &prim::neg) registers[M] = -x;
        else if constexpr (p == &prim::tanh && drx::kernel::has_pack_tanh<T>) registers[M] = drx::kernel::tanh(x);
        else registers[M] = x;
      } else {
        const drx::kernel::pack<T> y = load_pack<T, M, 1>(registers, pointers, row, col);
        if constexpr (p == &prim::add) registers[M] = x + y;
        else if constexpr (p == &prim::sub) registers[M] = x - y;
        else registers[M] = x * y;
      }
    }
  }
  template <int M, class T>
  DRX_HOST static void save_pack(const drx::kernel::pack<T>* registers, T* const* out, std::int64_t row, std::int64_t col) {
    if constexpr (C::plan.stored[result(M)]) drx::kernel::save(out[M] + row * columns + col, registers[M]);
  }
  /// All entries for one pack of the product, then what leaves the loop: it may take an operand's place.
  template <class T, int... M>
  DRX_HOST static void compute_packs(drx::kernel::pack<T> product, const pointers_type& pointers, T* const* out, std::int64_t row, std::int64_t col,
                                     std::integer_sequence<int, M...>) {
    drx::kernel::pack<T> registers[count];
    registers[0] = product;
    (compute_pack<M, T>(registers, pointers, row, col), ...);
    (save_pack<M, T>(registers, out, row, col), ...);
  }
  /// Where operands in memory and results begin.
  template <class T>
  struct pack_operands {
    pointers_type pointers{};
    T* out[count] = {};

    template <int... M, int... K>
    pack_operands(frame& f, std::integer_sequence<int, M...>, std::integer_sequence<int, K...>)
        : out{(C::plan.stored[result(M)] ? reinterpret_cast<T*>(store_address<M>(f)) : nullptr)...} {
      const auto point = [&]<int Q>(std::integral_constant<int, Q>) {
        if constexpr (Q % 3 < arity(Q / 3)) {
          constexpr detail::source s = operand(Q / 3, Q % 3);
          if constexpr (s.kind == detail::source_kind::memory) detail::get<Q>(pointers) = elements<T, C, s.value>(f);
        }
      };
      (point(std::integral_constant<int, K>{}), ...);
    }
  };
  /// The sums over the loop's rows: of a result, or of what lies in memory, perhaps with a weight for each row.
  static constexpr int sums = now.sums;
  static constexpr int sum_entry(int j) { return C::plan.members[now.first_member + count + j]; }
  static constexpr bool weighted(int j) { return C::tape.entries[sum_entry(j)].prim == &prim::matmul; }
  static constexpr int summed(int j) { return C::operand(sum_entry(j), 0); }
  template <class T>
  struct sum_operands {
    const T* from[sums == 0 ? 1 : sums];
    const T* weights[sums == 0 ? 1 : sums];
    T* totals[sums == 0 ? 1 : sums];
    template <int... J>
    sum_operands(frame& f, std::integer_sequence<int, J...>)
        : from{memory_of<J>(f)...}, weights{weights_of<J>(f)...}, totals{elements<T, C, C::result(sum_entry(J), 0)>(f)...} {}
    template <int J>
    static const T* memory_of(frame& f) {
      if constexpr (C::plan.group_of[summed(J)] == 1 + Step) return nullptr;
      else return elements<const T, C, summed(J)>(f);
    }
    template <int J>
    static const T* weights_of(frame& f) {
      if constexpr (weighted(J)) return elements<const T, C, C::operand(sum_entry(J), 1)>(f);
      else return nullptr;
    }
  };
  /// One pack of the loop: its sums are added to `total`, then what leaves the loop is stored.
  template <class T, int... M, int... J>
  DRX_HOST static void add_packs(drx::kernel::pack<T>* total, const pack_operands<T>& at, const sum_operands<T>& of, std::int64_t row, std::int64_t col,
                                 std::integer_sequence<int, M...>, std::integer_sequence<int, J...>) {
    drx::kernel::pack<T> registers[count];
    (compute_pack<M, T>(registers, at.pointers, row, col), ...);
    const auto add = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
      drx::kernel::pack<T> x;
      if constexpr (C::plan.group_of[summed(K)] == 1 + Step) x = registers[C::plan.member_of[summed(K)]];
      else x = drx::kernel::load(of.from[K] + row * columns + col);
      if constexpr (weighted(K)) total[K] += of.weights[K][row] * x;
      else total[K] += x;
    };
    (add(std::integral_constant<int, J>{}), ...);
    (save_pack<M, T>(registers, at.out, row, col), ...);
  }
  /// Several rows at a time, so that sums stay in registers for them. They begin anew from 128 to 128 rows, since long chains of additions
  /// lose digits.
  template <class T>
  static void run_with_sums(frame& f) {
    constexpr int height = static_cast<int>(rows), part = 128, whole = height / part, rest = height % part;
    constexpr std::int64_t width = columns < 512 ? columns : 512;
    const pack_operands<T> at(f, std::make_integer_sequence<int, count>{}, std::make_integer_sequence<int, 3 * count>{});
    const sum_operands<T> of(f, std::make_integer_sequence<int, sums>{});
    for (std::int64_t first = 0; first < columns; first += width) {
      const std::int64_t end = first + width < columns ? first + width : columns;
      for (int k = 0; k < whole; ++k) add_part<T, part, width>(at, of, k * part, first, end);
      if constexpr (rest > 0) add_part<T, rest, width>(at, of, whole * part, first, end);
    }
  }
  /// Rows from `begin` on, columns from `first` on.
  template <class T, int Rows, std::int64_t Width>
  static void add_part(const pack_operands<T>& operands, const sum_operands<T>& all_sums, int begin, std::int64_t first, std::int64_t end) {
    constexpr int band = 8, whole = Rows / band, rest = Rows % band;
    const pack_operands<T> at = operands;  // of our own, so that no store can change them
    const sum_operands<T> of = all_sums;
    alignas(64) T sum[sums][Width] = {};
    for (int k = 0; k < whole; ++k) add_rows<T, band, Width>(sum, at, of, begin + k * band, first, end);
    if constexpr (rest > 0) add_rows<T, rest, Width>(sum, at, of, begin + whole * band, first, end);
    for (int j = 0; j < sums; ++j)
      for (std::int64_t col = first; col < end; ++col) of.totals[j][col] = begin == 0 ? sum[j][col - first] : of.totals[j][col] + sum[j][col - first];
  }
  template <class T, int Rows, std::int64_t Width>
  DRX_HOST static void add_rows(T (*sum)[Width], const pack_operands<T>& at, const sum_operands<T>& of, int row, std::int64_t first,
                                std::int64_t end) {
    for (std::int64_t col = first; col < end; col += drx::kernel::pack_width<T>) {
      drx::kernel::pack<T> total[sums];
      for (int j = 0; j < sums; ++j) total[j] = drx::kernel::load(sum[j] + (col - first));
      DRX_UNROLL
      for (int r = 0; r < Rows; ++r)
        add_packs<T>(total, at, of, row + r, col, std::make_integer_sequence<int, count>{}, std::make_integer_sequence<int, sums>{});
      for (int j = 0; j < sums; ++j) drx::kernel::save(sum[j] + (col - first), total[j]);
    }
  }
  /// Takes the product's packs from its registers.
  template <class T>
  struct pack_epilogue {
    pack_operands<T> operands;
    DRX_HOST void operator()(int row, int col, drx::kernel::pack<T> value) const {
      compute_packs<T>(value, operands.pointers, operands.out, row, col, std::make_integer_sequence<int, count>{});
    }
  };
  /// The same for functions whose tables would push the product out of its registers: beside the next tile's products, or whole tiles.
  template <class T>
  struct packs_of_tile_epilogue : pack_epilogue<T> {
    using takes_tiles = void;
    using beside_products = void;
    template <int Cols>
    [[gnu::noinline]] void finish(const T* tile, int row, int height, int col) const {
      const pack_operands<T> at = this->operands;
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < Cols; c += drx::kernel::pack_width<T>)
          compute_packs<T>(drx::kernel::load(tile + r * Cols + c), at.pointers, at.out, row + r, col + c, std::make_integer_sequence<int, count>{});
    }
  };

  /// The loop over one finished tile of the product: `height` rows from `row` on, Cols columns from `col` on.
  template <int Cols, class T, int... M, int... K>
  [[gnu::noinline]] static void run_tile(frame& f, const T* tile, int row, int height, int col, std::integer_sequence<int, M...>,
                                         std::integer_sequence<int, K...>) {
    pointers_type bases{};
    auto base = [&]<int Q>(std::integral_constant<int, Q>) {
      constexpr int m = Q / 3, i = Q % 3;
      if constexpr (i < arity(m)) {
        constexpr detail::source s = operand(m, i);
        if constexpr (s.kind == detail::source_kind::memory) {
          detail::get<Q>(bases) = elements<element_of<C, s.value>, C, s.value>(f) + (s.from.last() == 1 ? 0 : col);
        } else if constexpr (s.kind == detail::source_kind::tile) {
          detail::get<Q>(bases) = tile;
        }
      }
    };
    (base(std::integral_constant<int, K>{}), ...);
    constexpr std::int64_t widths[] = {static_cast<std::int64_t>(sizeof(element_of<C, result(M)>))...};
    std::byte* const first[] = {(C::plan.stored[result(M)] ? store_address<M>(f) + col * widths[M] : nullptr)...};
    const auto at_row = [&](int r) __attribute__((always_inline)) {
      pointers_type pointers = bases;
      auto move = [&]<int Q>(std::integral_constant<int, Q>) {
        constexpr int m = Q / 3, i = Q % 3;
        if constexpr (i < arity(m)) {
          constexpr detail::source s = operand(m, i);
          if constexpr (s.kind == detail::source_kind::memory) {
            detail::get<Q>(pointers) += row_start(s.from, row + r);
          } else if constexpr (s.kind == detail::source_kind::tile) {
            detail::get<Q>(pointers) += r * Cols;
          }
        }
      };
      (move(std::integral_constant<int, K>{}), ...);
      return pointers;
    };
    detail::register_file<std::integer_sequence<int, M...>, begun_numbers<M, drx::kernel::most_tile_rows * Cols>...> kept;
    if constexpr (in_halves)
      for (int r = 0; r < height; ++r) begin_row<Cols, M...>(at_row(r), 0, 0, kept, r * Cols);
    for (int r = 0; r < height; ++r) {
      pointers_type pointers = at_row(r);
      point_to_begun<M...>(pointers, kept, r * Cols);
      std::byte* const out[] = {(C::plan.stored[result(M)] ? first[M] + (row + r) * columns * widths[M] : nullptr)...};
      run_elements<Cols, in_halves, M...>(out, pointers, 0, 0);
    }
  }
  struct tile_epilogue {
    using takes_tiles = void;
    frame& f;
    template <int Cols, class T>
    void finish(const T* tile, int row, int height, int col) const {
      run_tile<Cols>(f, tile, row, height, col, std::make_integer_sequence<int, count>{}, std::make_integer_sequence<int, 3 * count>{});
    }
  };
  static void run_product(frame& f) {
    constexpr int e = entry(0), x = C::operand(e, 0), y = C::operand(e, 1);
    constexpr plan::product_extents p = plan::extents_of(C::tape, C::tape.entries[e]);
    using T = element_of<C, result(0)>;
    const auto run_with = [&](const auto& epilogue) {
      drx::kernel::gemm<T, static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), p.tx, p.ty>(
          elements<const T, C, x>(f), elements<const T, C, y>(f), epilogue);
    };
    if constexpr (in_packs) {
      const pack_operands<T> operands(f, std::make_integer_sequence<int, count>{}, std::make_integer_sequence<int, 3 * count>{});
      if constexpr (in_halves) run_with(packs_of_tile_epilogue<T>{{operands}});
      else run_with(pack_epilogue<T>{operands});
    } else {
      run_with(tile_epilogue{f});
    }
  }

  template <int... M, int... K>
  static void run(frame& f, std::integer_sequence<int, M...> entries, std::integer_sequence<int, K...> operands) {
    if constexpr (after_product) {
      run_product(f);
    } else if constexpr (sums > 0) {
      run_with_sums<element_of<C, result(0)>>(f);
    } else if constexpr (short_rows) {
      constexpr std::int64_t band = columns < 512 ? 512 / columns : 1, rest = rows % band;
      for (std::int64_t r = 0; r < rows - rest; r += band) run_band<band>(f, r, entries, operands);
      if constexpr (rest > 0) run_band<rest>(f, rows - rest, entries, operands);
    } else {
      for (std::int64_t r = 0; r < rows; ++r) {
        pointers_type pointers{};
        auto point = [&]<int Q>(std::integral_constant<int, Q>) {
          constexpr int m = Q / 3, i = Q % 3;
          if constexpr (i < arity(m)) {
            constexpr detail::source s = operand(m, i);
            if constexpr (s.kind == detail::source_kind::memory) {
              detail::get<Q>(pointers) = elements<element_of<C, s.value>, C, s.value>(f) + row_start(s.from, r);
            }
          }
        };
        (point(std::integral_constant<int, K>{}), ...);
        std::byte* const out[] = {(C::plan.stored[result(M)] ? store_address<M>(f) : nullptr)...};
        run_row<columns, M...>(out, pointers, r);
      }
    }
  }
  /// N elements of row r.
  template <std::int64_t N, int... M>
  DRX_INLINE static void run_row(std::byte* const* out, const pointers_type& pointers, std::int64_t r) {
    constexpr bool halved = in_halves && N >= 64;
    if constexpr (halved || (ranged<M> || ...)) {
      constexpr std::int64_t size = 512, rest = N % size;
      for (std::int64_t first = 0; first < N - rest; first += size) run_chunk<size, halved, M...>(out, pointers, r, first);
      if constexpr (rest > 0) run_chunk<rest, halved, M...>(out, pointers, r, N - rest);
    } else {
      run_elements<N, false, M...>(out, pointers, r, 0);
    }
  }
  template <std::int64_t N, bool Halves, int... M>
  DRX_INLINE static void run_chunk(std::byte* const* out, const pointers_type& pointers, std::int64_t r, std::int64_t first) {
    if constexpr (!Halves) {
      run_elements<N, false, M...>(out, pointers, r, first);
    } else {
      detail::register_file<std::integer_sequence<int, M...>, begun_numbers<M, N>...> kept;
      begin_row<N, M...>(pointers, r, first, kept, 0);
      pointers_type with_begun = pointers;
      with_begun.first = first;
      point_to_begun<M...>(with_begun, kept, 0);
      run_elements<N, true, M...>(out, with_begun, r, first);
    }
  }
  /// N elements of row r from `first` on.
  template <std::int64_t N, bool Halves, int... M>
  DRX_INLINE static void run_elements(std::byte* const* out, const pointers_type& pointers, std::int64_t r, std::int64_t first) {
    if constexpr ((ranged<M> || ...)) {
      run_ranged<N, Halves, M...>(out, pointers, r, first);
    } else {
      DRX_INDEPENDENT
      for (std::int64_t i = first; i < first + N; ++i) {
        registers_type registers;
        ((detail::get<M>(registers) = value<M, false, Halves>(registers, pointers, r, i)), ...);
        (store<M>(out[M], registers, r * columns + i), ...);
      }
    }
  }

  /// Whether the result of entry M lies where the loop reads an operand.
  template <int M>
  static constexpr bool in_place = [] {
    if (!C::plan.stored[result(M)]) return false;
    const plan::location to = C::plan.where[result(M)];
    for (int m = 0; m < count; ++m)
      for (int i = 0; i < arity(m); ++i) {
        const detail::source s = operand(m, i);
        if (s.kind != detail::source_kind::memory) continue;
        const plan::location from = C::plan.where[s.value];
        if (from.space == to.space && from.offset == to.offset) return true;
      }
    return false;
  }();
  template <int M, std::int64_t N>
  struct kept_chunk {
    element_of<C, result(M)> elements[in_place<M> ? N : 1];
  };

  /// N elements of row r from `first`: fast, and again in exact forms if an operand was out of their range.
  template <std::int64_t N, bool Halves, int... M>
  DRX_INLINE static void run_ranged(std::byte* const* out, const pointers_type& pointers, std::int64_t r, std::int64_t first) {
    detail::register_file<std::integer_sequence<int, M...>, kept_chunk<M, N>...> kept;
    auto keep = [&]<int K>(std::integral_constant<int, K>, bool back) {
      if constexpr (in_place<K>) {
        auto* at = reinterpret_cast<element_of<C, result(K)>*>(out[K]) + r * columns + first;
        auto* copy = detail::get<K>(kept).elements;
        std::memcpy(back ? at : copy, back ? copy : at, sizeof(detail::get<K>(kept).elements));
      }
    };
    (keep(std::integral_constant<int, M>{}, false), ...);
    std::uint32_t far4 = 0;
    std::uint64_t far8 = 0;
    auto note = [&]<int K>(std::integral_constant<int, K>, const registers_type& registers, std::int64_t i) {
      if constexpr (ranged<K>) {
        const bool far = out_of_range<K>(registers, pointers, r, i);
        if constexpr (sizeof(element_of<C, result(K)>) == 4) {
          far4 |= static_cast<std::uint32_t>(far);
        } else {
          far8 |= static_cast<std::uint64_t>(far);
        }
      }
    };
    DRX_INDEPENDENT
    for (std::int64_t i = first; i < first + N; ++i) {
      registers_type registers;
      ((detail::get<M>(registers) = value<M, false, Halves>(registers, pointers, r, i)), ...);
      (note(std::integral_constant<int, M>{}, registers, i), ...);
      (store<M>(out[M], registers, r * columns + i), ...);
    }
    if ((far4 | far8) == 0) return;
    (keep(std::integral_constant<int, M>{}, true), ...);
    for (std::int64_t i = first; i < first + N; ++i) {
      registers_type registers;
      ((detail::get<M>(registers) = value<M, true>(registers, pointers, r, i)), ...);
      (store<M>(out[M], registers, r * columns + i), ...);
    }
  }
  template <int M>
  DRX_INLINE static std::byte* store_address(const frame& f) {
    if constexpr (C::plan.stored[result(M)]) {
      return address<C, result(M)>(f);
    } else {
      return nullptr;
    }
  }
  template <int M, class Registers>
  DRX_INLINE static void store(std::byte* out, const Registers& registers, std::int64_t at) {
    if constexpr (C::plan.stored[result(M)]) reinterpret_cast<element_of<C, result(M)>*>(out)[at] = detail::get<M>(registers);
  }
  static void run(frame& f) {
    run(f, std::make_integer_sequence<int, count>{}, std::make_integer_sequence<int, 3 * count>{});
  }
};

}  // namespace drx::run
