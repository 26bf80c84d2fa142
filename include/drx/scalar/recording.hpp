// drx/scalar/recording.hpp: the memory of the local tape, with operations and partial derivatives, and the reverse
// sweep.
//
// A statement is one word: the numbers of two operands, or of one and a mark. Partial derivatives lie on a stack of
// their own, in the order of the statements, so that the sweep goes through all memory once, backwards; those of sums
// and differences are 1 or -1 and are not stored. A wide statement (a dot product, a matrix product) keeps its operands
// there too. All of it lies in memory that the caller gives; nothing is allocated, and no state is global.
#pragma once

#include <drx/scalar/arithmetic.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace drx::ad {

/// Thrown at the end of a recording that did not fit. Recording goes on without writing, so that the error tells how
/// much memory is needed.
class tape_overflow : public std::length_error {
 public:
  tape_overflow(std::size_t capacity, std::size_t needed, std::size_t bytes)
      : std::length_error("drx: a local tape of " + std::to_string(capacity) + " statements was given, " +
                          std::to_string(needed) + " are needed: give drx::ad::arena(" + std::to_string(bytes) +
                          "), or a local_tape of this capacity"),
        needed_statements(needed),
        needed_bytes(bytes) {}
  std::size_t needed_statements, needed_bytes;
};

/// Memory for local tapes, allocated once and used again and again.
class arena {
 public:
  explicit arena(std::size_t bytes)
      : memory_(allocated(bytes), {bytes < huge ? std::align_val_t{64} : std::align_val_t{huge}}), bytes_(bytes) {}
  [[nodiscard]] std::span<std::byte> memory() const { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::size_t huge = std::size_t{1} << 21;
  struct release {
    std::align_val_t alignment;
    void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
  };
  static std::byte* allocated(std::size_t bytes) {
    if (bytes < huge) return static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}));
    auto* const memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{huge}));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    madvise(memory, bytes / huge * huge,
            MADV_HUGEPAGE);  // the sweep through a tape of 20 MB in small pages takes a fourth longer
#endif
    return memory;
  }
  std::unique_ptr<std::byte, release> memory_;
  std::size_t bytes_;
};

namespace detail {

struct statement {
  static constexpr std::uint32_t none = ~std::uint32_t{0}, leaf = none - 1, unary = none - 2, wide = none - 3,
                                 ternary = none - 4, same = none - 5, negated = none - 6, lanes = none - 7,
                                 marks = none - 16;
  static constexpr std::uint32_t sum = 1u << 31, difference = sum | 1u << 30,
                                 most = 1u << 30;  // flags of a; numbers stay below
  std::uint32_t a, b;  // b: an operand's number, or a mark; in a wide statement, a is its size on the stack;
                       // with three operands, the other two are in the word before
};

/// One operand of a wide statement: many variables.
struct wide_operand {
  enum form_kind : std::uint32_t { passive, contiguous, listed };
  std::uint32_t form = passive, first = 0;  // contiguous: the number of its first variable
};
struct wide_header {
  enum what_kind : std::uint32_t {
    linear,   // y = sum p_i a_i + sum q_i b_i: m of a, k of b
    total,    // y = sum a_i: m of a
    product,  // C = A B: m x k and k x n; results are the last m * n variables
    axpy,     // y_i + s x_i: a = x, b = y, m of each; s is variable n, its value the first on the stack
    lower     // y = A x: A is m x m, lower triangular, by rows; results are the last m variables
  };
  std::uint32_t what = linear, m = 0, k = 0, n = 0;
  wide_operand a, b;
};

/// Whether the cotangent x is zero. For packs it is not tested: to test all lanes costs more than to propagate zeros.
template <class T>
DRX_FN constexpr bool all_zero([[maybe_unused]] const T& x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x == 0;
  } else if constexpr (requires { x.tape; }) {
    return !x.tape && all_zero(x.value);
  } else if constexpr (requires { x.tangent; }) {
    bool zero = all_zero(x.value);
    for (const auto& t : x.tangent) zero = zero && all_zero(t);
    return zero;
  } else {
    return false;
  }
}
/// cotangent * partial: zero where the cotangent is.
template <class T>
DRX_FN constexpr T pulled(const T& cotangent, const T& partial) {
  if constexpr (std::is_floating_point_v<T>) {
    return cotangent * partial;  // a zero cotangent does not come here
  } else {
    return times(cotangent, partial);
  }
}

}  // namespace detail

/// Statements over variables of type var<T>, in memory given by the caller. Variables are numbered in the order in
/// which they are made.
template <class T>
class recording {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  struct mark {
    std::uint32_t count, limit;
    T* top;
  };
  /// The memory of a statement: a word, a cotangent and two partial derivatives. A wide one takes the place of several.
  static constexpr std::size_t bytes_per_statement = sizeof(detail::statement) + 3 * sizeof(T);
  static constexpr std::size_t bytes_for(std::size_t statements) {
    return statements * bytes_per_statement + alignof(T) + sizeof(T);
  }

  DRX_FN explicit recording(std::span<std::byte> memory) {
    std::size_t n = memory.size() < bytes_for(0) ? 0 : (memory.size() - bytes_for(0)) / bytes_per_statement;
    if (n > detail::statement::most) n = detail::statement::most;
    limit_ = capacity_ = static_cast<std::uint32_t>(n);
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    cotangents_ = reinterpret_cast<T*>(memory.data() + (alignof(T) - at % alignof(T)) % alignof(T));
    if (n > 0) std::construct_at(cotangents_++);  // the sweep reads this one before the first
    top_ = cotangents_ + n;
    words_ = reinterpret_cast<detail::statement*>(top_ + 2 * n);
  }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  // ---- writing ----

  DRX_FN std::uint32_t leaf() {
    if (count_ >= limit_) return overflow(1);
    words_[count_] = {0, detail::statement::leaf};
    return count_++;
  }
  /// Makes n inputs at once; returns the number of the first.
  DRX_FN std::uint32_t leaves(std::size_t n) {
    if (limit_ - count_ < n) return overflow(n);
    for (std::size_t i = 0; i < n; ++i) words_[count_ + i] = {0, detail::statement::leaf};
    count_ += static_cast<std::uint32_t>(n);
    return count_ - static_cast<std::uint32_t>(n);
  }
  DRX_FN std::uint32_t push(std::uint32_t a, const T& partial) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, detail::statement::unary};
    std::construct_at(top_++, partial);
    return count_++;
  }
  /// x or -x.
  DRX_FN std::uint32_t push_signed(std::uint32_t a, int sign) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, sign > 0 ? detail::statement::same : detail::statement::negated};
    return count_++;
  }
  /// The sum of the lanes, in all lanes.
  DRX_FN std::uint32_t push_sum_of_lanes(std::uint32_t a) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, detail::statement::lanes};
    return count_++;
  }
  /// a + b or a - b.
  DRX_FN std::uint32_t push_sum(std::uint32_t a, std::uint32_t b, int sign_of_b) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a | (sign_of_b > 0 ? detail::statement::sum : detail::statement::difference), b};
    return count_++;
  }
  DRX_FN std::uint32_t push(std::uint32_t a, std::uint32_t b, const T& by_a, const T& by_b) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, b};
    std::construct_at(top_, by_a);
    std::construct_at(top_ + 1, by_b);
    top_ += 2;
    return count_++;
  }
  DRX_FN std::uint32_t push(std::uint32_t a, std::uint32_t b, std::uint32_t c, const T& by_a, const T& by_b,
                            const T& by_c) {
    if (limit_ - count_ < 2) [[unlikely]]
      return overflow(2);
    words_[count_] = {b, c};
    words_[count_ + 1] = {a, detail::statement::ternary};
    std::construct_at(top_, by_a);
    std::construct_at(top_ + 1, by_b);
    std::construct_at(top_ + 2, by_c);
    top_ += 3;
    count_ += 2;
    return count_ - 1;
  }
  /// Room for a wide statement with several results, `values` and `numbers`; null where none is left.
  struct wide_room {
    T* values;
    std::uint32_t* numbers;
    std::uint32_t first_result;
  };
  DRX_FN wide_room push_wide(const detail::wide_header& h, std::size_t results, std::size_t values,
                             std::size_t numbers) {
    const std::size_t slots = wide_slots(values, numbers), taken = results + (slots + 1) / 2;
    if (limit_ - count_ < taken) return {nullptr, nullptr, overflow(taken)};
    std::memcpy(static_cast<void*>(top_), &h, sizeof(h));
    const wide_room room{top_ + header_slots, reinterpret_cast<std::uint32_t*>(top_ + header_slots + values), count_};
    top_ += slots;
    limit_ -= static_cast<std::uint32_t>((slots + 1) / 2);
    for (std::size_t i = 0; i + 1 < results; ++i) words_[count_++] = {0, detail::statement::leaf};
    words_[count_++] = {static_cast<std::uint32_t>(slots), detail::statement::wide};
    return room;
  }
  /// Where the values of such a statement will lie, to be written before it is pushed; null where no room is left.
  [[nodiscard]] DRX_FN T* wide_values(std::size_t results, std::size_t values, std::size_t numbers) const {
    return limit_ - count_ < results + (wide_slots(values, numbers) + 1) / 2 ? nullptr : top_ + header_slots;
  }
  /// Room for n objects of type U, to be made there, below all statements to come; null where none is left.
  template <class U>
  DRX_FN U* reserve(std::size_t n) {
    static_assert(std::is_trivially_copyable_v<U>);
    constexpr std::size_t padding = alignof(U) > alignof(T) ? alignof(U) - alignof(T) : 0;
    const std::size_t slots = slots_of(n * sizeof(U) + padding), taken = (slots + 1) / 2;
    if (limit_ - count_ < taken) {
      overflow(taken);
      return nullptr;
    }
    const auto at = reinterpret_cast<std::uintptr_t>(top_);
    U* const room =
        reinterpret_cast<U*>(reinterpret_cast<std::byte*>(top_) + (alignof(U) - at % alignof(U)) % alignof(U));
    top_ += slots;
    limit_ -= static_cast<std::uint32_t>(taken);
    return room;
  }

  [[nodiscard]] DRX_FN mark now() const { return {count_, limit_, top_}; }
  /// Forgets all that was recorded since the mark.
  DRX_FN void rewind(const mark& to) {
    if (lost_ > most_lost_) most_lost_ = lost_;
    lost_ = 0;
    count_ = to.count;
    limit_ = to.limit;
    top_ = to.top;
  }
  [[nodiscard]] DRX_FN std::size_t needed() const { return capacity_ + (lost_ > most_lost_ ? lost_ : most_lost_); }
  /// Throws tape_overflow if something did not fit; on a device, traps.
  DRX_FN void require_complete() const {
    if (needed() == capacity_) return;
#if defined(__CUDA_ARCH__)
    __trap();
#elif defined(__HIP_DEVICE_COMPILE__)
    abort();
#else
    throw tape_overflow(capacity_, needed(), bytes_for(needed()));
#endif
  }

  // ---- the sweep ----

  /// Sets the cotangents of all variables since `from` to zero.
  DRX_FN void clear(std::uint32_t from = 0) {
    for (std::uint32_t i = from; i < count_; ++i) std::construct_at(cotangents_ + i);
  }
  [[nodiscard]] DRX_FN T& cotangent(std::uint32_t i) { return cotangents_[i]; }

  /// Propagates cotangents from results to operands, back to the variable numbered `to`.
  DRX_FN void sweep(std::uint32_t to = 0) {
    using detail::statement;
    if (count_ <= to) return;
    T* const ct = cotangents_;
    const T* p = top_;
    const statement* word = words_ + count_;
    const statement* const end = words_ + to;
    // Most often a statement's operand is the result before it. Its cotangent then stays in a register: a load would
    // wait for the store.
    T* before = ct + (count_ - 1);
    T g = *before;
    do {
      const statement s = *--word;
      T next = *--before;
      const auto add = [&](std::uint32_t at, const T& term) {
        T* const place = ct + at;
        const T sum = *place + term;
        *place = sum;
        if (place == before) next = sum;
      };
      if (s.b < statement::marks && s.a < statement::sum) {
        p -= 2;
        if (!detail::all_zero(g)) {
          add(s.a, detail::pulled(g, p[0]));
          add(s.b, detail::pulled(g, p[1]));
        }
      } else if (s.b < statement::marks) {
        add(s.a & (statement::most - 1), g);
        add(s.b, s.a < statement::difference ? g : -g);
      } else if (s.b == statement::unary) {
        p -= 1;
        if (!detail::all_zero(g)) add(s.a, detail::pulled(g, p[0]));
      } else if (s.b == statement::ternary) {
        p -= 3;
        const statement t = *--word;
        --before;
        if (!detail::all_zero(g)) {
          ct[s.a] += detail::pulled(g, p[0]);
          ct[t.a] += detail::pulled(g, p[1]);
          ct[t.b] += detail::pulled(g, p[2]);
        }
        next = *before;
      } else if (s.b == statement::same) {
        add(s.a, g);
      } else if (s.b == statement::negated) {
        add(s.a, -g);
      } else if (s.b == statement::wide) {
        p -= s.a;
        sweep_wide(p, static_cast<std::uint32_t>(word - words_));
        next = *before;
      } else if (s.b == statement::lanes) {
        if constexpr (lane_count<T> > 1) add(s.a, static_cast<T>(sum_of_lanes(g)));
      }
      g = next;
    } while (word != end);
  }

 private:
  static constexpr std::size_t slots_of(std::size_t bytes) { return (bytes + sizeof(T) - 1) / sizeof(T); }
  static constexpr std::size_t header_slots = slots_of(sizeof(detail::wide_header));
  static constexpr std::size_t wide_slots(std::size_t values, std::size_t numbers) {
    return header_slots + values + slots_of(numbers * sizeof(std::uint32_t));
  }

  DRX_FN __attribute__((noinline)) std::uint32_t overflow(std::size_t statements) {
    limit_ = count_;  // nothing more is written, or later statements would miss operands
    lost_ += statements;
    return 0;
  }

  /// The address of the cotangent of variable i of an operand; null for a constant.
  DRX_FN T* place(const detail::wide_operand& o, const std::uint32_t* list, std::size_t i) const {
    const std::uint32_t at =
        o.form == detail::wide_operand::contiguous ? o.first + static_cast<std::uint32_t>(i) : list[i];
    return at == detail::statement::none ? nullptr : cotangents_ + at;
  }
  /// Adds term(i) to the cotangent of each variable of an operand.
  template <class Term>
  DRX_FN void scatter(const detail::wide_operand& o, const std::uint32_t* list, std::size_t n, Term term) {
    if (o.form == detail::wide_operand::contiguous) {
      T* const to = cotangents_ + o.first;
      for (std::size_t i = 0; i < n; ++i) to[i] += term(i);
    } else if (o.form == detail::wide_operand::listed) {
      for (std::size_t i = 0; i < n; ++i)
        if (list[i] != detail::statement::none) cotangents_[list[i]] += term(i);
    }
  }
  DRX_FN void sweep_wide(const T* p, std::uint32_t last) {
    using detail::wide_header, detail::wide_operand;
    wide_header h;
    std::memcpy(static_cast<void*>(&h), p, sizeof(h));
    p += header_slots;
    const auto list_of = [](const T* at) { return reinterpret_cast<const std::uint32_t*>(at); };
    if (h.what == wide_header::linear) {
      const T g = cotangents_[last];
      if (detail::all_zero(g)) return;
      if (h.a.form == wide_operand::contiguous && h.b.form == wide_operand::contiguous) {
        T *const a = cotangents_ + h.a.first, *const b = cotangents_ + h.b.first;
        for (std::size_t i = 0; i < h.m; ++i) {
          a[i] += detail::pulled(g, p[i]);
          b[i] += detail::pulled(g, p[h.m + i]);
        }
        return;
      }
      const std::uint32_t* list = list_of(p + h.m + h.k);
      scatter(h.a, list, h.m, [&](std::size_t i) { return detail::pulled(g, p[i]); });
      if (h.a.form == wide_operand::listed) list += h.m;
      scatter(h.b, list, h.k, [&](std::size_t i) { return detail::pulled(g, p[h.m + i]); });
    } else if (h.what == wide_header::total) {
      const T g = cotangents_[last];
      scatter(h.a, list_of(p), h.m, [&](std::size_t) { return g; });
    } else if (h.what == wide_header::axpy) {
      const T* g = cotangents_ + (last + 1 - h.m);
      const T s = p[0];
      const bool moving = h.n != detail::statement::none;
      const std::uint32_t* list = list_of(p + 1 + (moving ? h.m : 0));
      T by_s{};
      if (moving)
        for (std::size_t i = 0; i < h.m; ++i) by_s += g[i] * p[1 + i];
      scatter(h.a, list, h.m, [&](std::size_t i) { return g[i] * s; });
      if (h.a.form == wide_operand::listed) list += h.m;
      scatter(h.b, list, h.m, [&](std::size_t i) { return g[i]; });
      if (moving) cotangents_[h.n] += by_s;
    } else if (h.what == wide_header::lower) {
      sweep_lower(h, p, cotangents_ + (last + 1 - h.m));
    } else {
      const std::size_t m = h.m, k = h.k, n = h.n;
      const T* g = cotangents_ + (last + 1 - m * n);
      const T* a = p;
      const T* b = p + (h.b.form == wide_operand::passive ? 0 : m * k);
      const std::uint32_t* list = list_of(b + (h.a.form == wide_operand::passive ? 0 : k * n));
      if (h.a.form != wide_operand::passive) {  // G B^T
        scatter(h.a, list, m * k, [&](std::size_t at) {
          const T* row = g + at / k * n;
          const T* other = b + at % k * n;
          T sum{};
          for (std::size_t j = 0; j < n; ++j) sum += row[j] * other[j];
          return sum;
        });
        if (h.a.form == wide_operand::listed) list += m * k;
      }
      if (h.b.form == wide_operand::contiguous) {  // A^T G
        T* const to = cotangents_ + h.b.first;
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t l = 0; l < k; ++l)
            for (std::size_t j = 0; j < n; ++j) to[l * n + j] += a[i * k + l] * g[i * n + j];
      } else if (h.b.form == wide_operand::listed) {
        scatter(h.b, list, k * n, [&](std::size_t at) {
          T sum{};
          for (std::size_t i = 0; i < m; ++i) sum += a[i * k + at / n] * g[i * n + at % n];
          return sum;
        });
      }
    }
  }

  /// The sweep through y = A x, row by row.
  DRX_FN void sweep_lower(const detail::wide_header& h, const T* p, const T* g) {
    using detail::wide_operand;
    const std::size_t m = h.m, n = m * (m + 1) / 2;
    const T* x = p;
    const T* a = p + (h.a.form == wide_operand::passive ? 0 : m);
    const auto* of_a = reinterpret_cast<const std::uint32_t*>(a + (h.b.form == wide_operand::passive ? 0 : n));
    const std::uint32_t* of_x = of_a + (h.a.form == wide_operand::listed ? n : 0);
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t first = i * (i + 1) / 2;
      const T gi = g[i];
      if (h.a.form == wide_operand::contiguous) {
        T* const to = cotangents_ + h.a.first + first;
        for (std::size_t j = 0; j <= i; ++j) to[j] += gi * x[j];
      } else if (h.a.form == wide_operand::listed) {
        for (std::size_t j = 0; j <= i; ++j)
          if (of_a[first + j] != detail::statement::none) cotangents_[of_a[first + j]] += gi * x[j];
      }
      scatter(h.b, of_x, h.b.form == wide_operand::passive ? 0 : i + 1,
              [&](std::size_t j) { return gi * a[first + j]; });
    }
  }

  T* cotangents_ = nullptr;
  T* top_ = nullptr;  // the stack of partial derivatives
  detail::statement* words_ = nullptr;
  std::uint32_t count_ = 0, limit_ = 0, capacity_ = 0;  // wide statements lower the limit by their part of the stack
  std::size_t lost_ = 0, most_lost_ = 0;
};

}  // namespace drx::ad
