// drx/run/fused/conditions.hpp: the conditions that a fused loop reads from memory and stores there, as numbers as wide
// as those that it computes.
//
// A bool is a byte in memory. g++ takes the same number of elements for each vector of a loop, and those of the
// narrowest type decide: in a row of eight floats chosen by eight bools a vector is eight bytes, and the floats go by
// two. A loop over few elements hence reads its conditions from copies as wide as its numbers, and stores its own like
// that first.
// Tested by tests/unit/run/conditions.cpp.
#pragma once

#include <drx/run/fused/loop.hpp>
#include <drx/run/packs/pack.hpp>

#include <cstring>
#include <type_traits>

#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace drx::run {

template <class Loop>
struct fused_conditions {
  using C = typename Loop::code;

  static constexpr bool is_boolean(int value) { return C::values[value].type == dtype::boolean; }
  /// Bytes of the narrowest number of the loop that is not a bool; 0 if there is none.
  static constexpr std::int64_t width = [] {
    std::int64_t narrowest = 0;
    const auto note = [&](int value) {
      const std::int64_t bytes = byte_size(C::values[value].type);
      if (!is_boolean(value) && (narrowest == 0 || bytes < narrowest)) narrowest = bytes;
    };
    for (int m = 0; m < Loop::count; ++m) {
      note(Loop::result(m));
      const auto& operands = C::tape.entries[Loop::entry(m)].operands;
      for (int i = 0; i < operands.count; ++i) note(C::operand(Loop::entry(m), i));
    }
    return narrowest;
  }();
  using wide = std::conditional_t<width == 8, std::int64_t, std::int32_t>;

  /// The copies: of conditions in memory, and then of results.
  struct copies {
    int count = 0;
    int of_operand[3 * Loop::count] = {};  // -1 for operands that need none
    int of_result[Loop::count] = {};
  };
  static constexpr copies all = [] {
    copies c;
    for (int q = 0; q < 3 * Loop::count; ++q) {
      const int m = q / 3, i = q % 3;
      c.of_operand[q] = -1;
      if (i >= Loop::arity(m)) continue;
      const int e = Loop::entry(m);
      const detail::source s = Loop::operand(m, i);
      if (s.kind != detail::source_kind::memory || !is_boolean(s.value)) continue;
      if (!is_boolean(C::tape.entries[e].operands.count == 0 ? C::result(e, 0) : C::operand(e, i))) continue;
      if (!s.rearranged && !Loop::written_out(s) && Loop::is_one_in_row(s.from)) continue;
      c.of_operand[q] = Loop::pointers.own[q] ? c.count++ : c.of_operand[Loop::pointers.of[q]];
    }
    for (int m = 0; m < Loop::count; ++m)
      c.of_result[m] = C::plan.stored[Loop::result(m)] && is_boolean(Loop::result(m)) ? c.count++ : -1;
    return c;
  }();
  /// Entries of a loop from which on copies spare more than they cost. (A choice alone in rows of 16 floats took 4.9 ns
  /// without and 7.7 ns with them.)
  static constexpr int least_entries = 8;
  /// Whether a loop over N elements has copies: with as many elements as a vector has bytes, the vectors of its numbers
  /// are whole ones anyway, and with half as many half of one. What is left of a row behind those is computed one by
  /// one, which takes as long as a few of them. (clang takes the widest type for its vectors.)
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
  template <std::int64_t N>
  static constexpr bool copied = all.count > 0 && width >= 4 && Loop::count >= least_entries && (N >= 4) &&
                                 (2 * N < vector_bytes || (N % vector_bytes != 0 && N < 4 * vector_bytes));
#else
  template <std::int64_t N>
  static constexpr bool copied = false;
#endif

  /// The loop's operands with the copies of N elements, from `begin` on.
  template <std::int64_t N>
  struct pointers_type : Loop::pointers_type {
    wide (*copy)[N] = nullptr;
    std::int64_t begin = 0;

    template <int Q>
      requires(all.of_operand[Q] >= 0)
    DRX_INLINE bool condition(std::int64_t i) const {
      return copy[all.of_operand[Q]][i - begin] != 0;
    }
    template <int M>
      requires(all.of_result[M] >= 0)
    DRX_INLINE void store_condition(bool c, std::int64_t i) const {
      copy[all.of_result[M]][i - begin] = c;
    }
  };

  /// Converts Lanes numbers: written out, since g++ then takes an instruction for them, where it would go by the
  /// narrower type in a loop, and number by number in __builtin_convertvector. Of 64 bytes it takes one only if it is
  /// named: where vectors of 512 bits are preferred, 16 numbers went to bytes one by one.
  template <int Lanes, class From, class To>
  DRX_HOST_INLINE static void convert_pack(const From* __restrict from, To* __restrict to) {
#if defined(__AVX512F__) && !defined(__CUDACC__)
    if constexpr (Lanes * sizeof(wide) == 64) {
      if constexpr (std::is_same_v<From, wide>) {
        const __m512i x = _mm512_loadu_si512(from);  // (g++ 12 warns of the forms without a mask)
        const __m128i bytes = width == 8 ? _mm512_maskz_cvtepi64_epi8(0xff, x) : _mm512_maskz_cvtepi32_epi8(0xffff, x);
        std::memcpy(to, &bytes, Lanes);
      } else {
        __m128i bytes = _mm_setzero_si128();
        std::memcpy(&bytes, from, Lanes);
        _mm512_storeu_si512(
            to, width == 8 ? _mm512_maskz_cvtepu8_epi64(0xff, bytes) : _mm512_maskz_cvtepu8_epi32(0xffff, bytes));
      }
      return;
    }
#endif
    DRX_UNROLL
    for (int lane = 0; lane < Lanes; ++lane) to[lane] = static_cast<To>(from[lane]);
  }
  /// Converts N numbers, Lanes at a time and then fewer.
  template <std::int64_t N, int Lanes, class From, class To>
  DRX_HOST_INLINE static void convert(const From* __restrict from, To* __restrict to) {
    constexpr std::int64_t done = N / Lanes * Lanes;
    for (std::int64_t i = 0; i < done; i += Lanes) convert_pack<Lanes>(from + i, to + i);
    if constexpr (done < N) convert<N - done, Lanes / 2>(from + done, to + done);
  }
  /// Calls run(operands with copies) for the N elements of row r from `first` on: their conditions are read before, and
  /// its own are stored behind it.
  template <std::int64_t N, int... M, class Run>
  DRX_INLINE static void with_copies(std::byte* const* out, const typename Loop::pointers_type& pointers,
                                     std::int64_t r, std::int64_t first, Run run) {
    alignas(64) wide copy[all.count][N];
    constexpr int lanes = pack_width<std::conditional_t<width == 8, double, float>>;
    const auto read = [&]<int Q>(std::integral_constant<int, Q>) __attribute__((always_inline)) {
      if constexpr (all.of_operand[Q] >= 0)
        convert<N, lanes>(reinterpret_cast<const unsigned char*>(detail::get<Q>(pointers)) + first,
                          copy[all.of_operand[Q]]);
    };
    meta::for_each(typename Loop::operands{}, read);
    run(pointers_type<N>{{pointers}, copy, first});
    const auto save = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
      convert<N, lanes>(copy[all.of_result[K]], reinterpret_cast<unsigned char*>(out[K]) + r * Loop::columns + first);
    };
    meta::for_each(meta::indices_where<(all.of_result[M] >= 0)...>{}, save);
  }
};

}  // namespace drx::run
