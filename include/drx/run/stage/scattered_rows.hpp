// drx/run/stage/scattered_rows.hpp: adds scattered rows to an array in place, with the bits of adding the whole array
// that scatter makes of them, most of which is zeros.
// Tested by tests/unit/run/scattered_sums.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/run/kernels/all.hpp>
#include <drx/run/stage/written_pieces.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace drx::run {

/// Whether entry e scatters whole rows: elements along the first axis, none of several arrays.
template <class C>
constexpr bool are_scattered_rows(int e) {
  if (C::tape.entries[e].prim != &prim::scatter) return false;
  const prim::rules::scatter::view scattered(C::attributes(e));
  return scattered.axis == 0 && scattered.batch == 0 && C::values[C::result(e, 0)].shape.size() > 0;
}
/// Whether the scatters among these entries have rows of one width, and write less than their array has: else they are
/// added as usual.
template <class C>
constexpr bool are_worth_it(const vec<int>& entries) {
  constexpr std::int64_t most = 2048;
  std::int64_t rows = 0, all = 0;
  for (const int e : entries)
    if (C::tape.entries[e].prim == &prim::scatter) {
      const std::int64_t own = C::values[C::result(e, 0)].shape[0];
      if (rows > 0 && own != all) return false;
      rows += C::values[C::operand(e, 0)].shape.size();
      all = own;
    }
  return rows > 0 && rows <= all && rows <= most;
}

/// The sum of the scatters `Entries.of`, entries in the order of their steps.
template <class C, const auto& Entries>
struct scattered_rows {
  static constexpr int array = C::result(Entries.of[0], 0);
  using T = element_of<C, array>;
  static constexpr int count = sizeof Entries.of / sizeof(int);
  static constexpr std::int64_t width = detail::scattering<C, Entries.of[0]>::behind;
  static constexpr std::int64_t most_rows = [] {
    std::int64_t n = 0;
    for (const int e : Entries.of) n += C::values[C::operand(e, 0)].shape.size();
    return n;
  }();

  static constexpr std::int64_t rows = C::values[array].shape[0];
  /// The rows of a piece of the array: enough for a line of the cache.
  static constexpr std::int64_t rows_of_piece =
      std::max<std::int64_t>(1, machine::cache_line / (width * static_cast<std::int64_t>(sizeof(T))));
  /// Whether there are so few pieces that the whole array is added as soon.
  static constexpr bool is_added_whole = rows <= 2 * most_rows * rows_of_piece;
  using pieces_of_array = written_pieces<T, rows * width, rows_of_piece * width>;

  /// Writes the sum to an array, or adds it to the numbers there.
  [[gnu::noinline]] static void run(const frame& f, std::byte* to, bool add) {
    T* whole = reinterpret_cast<T*>(to);
    if (!add) return scatter(f, whole);
    T* totals = elements<T, C, array>(f);  // the first scatter's place, where nothing lies that the others read
    scatter(f, totals);
    detail::add_row<C::values[array].shape.size()>(whole, totals);
  }
  /// The same for an array of which only some pieces are written. Each row is added once, the sum of what comes there,
  /// so that the numbers have the same bits as the sum of two arrays.
  [[gnu::noinline]] static void run(const frame& f, pieces_of_array to, bool add) {
    if (!add) {
      to.clear();
      return for_each(f, [&](std::int64_t at, const T* update) { to.template add_to<width>(at, update); });
    }
    T* const room = elements<T, C, array>(f);  // the first scatter's place, where nothing lies that the others read
    rows_met met;
    for_each(f, [&](std::int64_t at, const T* update) {
      const auto [place, is_new] = met.place_of(at / width);
      const T*& sum = met.sums[place];
      if (is_new) {
        sum = update;
        return;
      }
      T* const own = room + place * width;
      if (sum != own) sum = std::copy_n(sum, width, own) - width;
      detail::add_row<width>(own, update);
    });
    for (int place = 0; place < met.count; ++place) to.template add_to<width>(met.rows[place] * width, met.sums[place]);
  }

 private:
  static void scatter(const frame& f, T* to) {
    std::memset(to, 0, static_cast<std::size_t>(C::bytes(array)));
    unroll<count>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int e = Entries.of[K], i = C::operand(e, 0), u = C::operand(e, 1);
      detail::add_updates<detail::scattering<C, e>>(to, elements<const element_of<C, i>, C, i>(f),
                                                    elements<const T, C, u>(f));
    });
  }
  /// Calls f(the row's first element, update) for each of the scatters' updates.
  template <class F>
  static void for_each(const frame& f, F visit) {
    unroll<count>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int e = Entries.of[K];
      const T* updates = elements<const T, C, C::operand(e, 1)>(f);
      detail::scattering<C, e>::for_each(elements<const element_of<C, C::operand(e, 0)>, C, C::operand(e, 0)>(f),
                                         [&](std::int64_t at, std::int64_t from) { visit(at, updates + from); });
    });
  }
  /// The different rows among the updates', in the order in which they are met.
  struct rows_met {
    static constexpr std::int64_t all = C::values[array].shape[0];
    static constexpr bool each_has_a_place = all <= 8 * most_rows;
    static constexpr std::uint32_t capacity =
        each_has_a_place ? static_cast<std::uint32_t>(all) : std::bit_ceil(static_cast<std::uint32_t>(2 * most_rows));
    std::int64_t rows[most_rows];
    const T* sums[most_rows];       // of each row's updates
    std::int16_t places[capacity];  // by row, or a hash table
    int count = 0;

    rows_met() { std::memset(places, 0xff, sizeof places); }
    /// The place of a row, and whether it is a new one.
    DRX_INLINE std::pair<std::int64_t, bool> place_of(std::int64_t row) {
      std::uint32_t at = static_cast<std::uint32_t>(row);
      if constexpr (each_has_a_place) {
        if (places[at] >= 0) return {places[at], false};
      } else {
        at = at * 2654435769U >> (32 - std::countr_zero(capacity));
        for (; places[at] >= 0; at = (at + 1) % capacity)
          if (rows[places[at]] == row) return {places[at], false};
      }
      places[at] = static_cast<std::int16_t>(count);
      rows[count] = row;
      return {count++, true};
    }
  };
};

}  // namespace drx::run
