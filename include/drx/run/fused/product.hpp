// drx/run/fused/product.hpp: a matrix product and the fused loop that reads it, which runs over each tile as soon as
// that is finished. If all entries are plain arithmetic, the loop takes the packs from the product's registers.
// Tested by tests/unit/run/products.cpp and tests/unit/run/results_over_arguments.cpp.
#pragma once

#include <drx/run/fused/elements.hpp>
#include <drx/run/fused/packs.hpp>
#include <drx/run/gemm/gemm.hpp>

namespace drx::run {

template <class Loop>
struct fused_product {
  using C = typename Loop::code;
  using pointers_type = typename Loop::pointers_type;
  using elements_of = fused_elements<Loop>;
  using packs = fused_packs<Loop>;
  template <class T>
  using pack_operands = typename packs::template operands<T>;

  /// An epilogue that takes the product's packs from its registers.
  template <class T>
  struct pack_epilogue {
    pack_operands<T> operands;
    DRX_HOST_INLINE void operator()(int row, int col, pack<T> value) const {
      packs::template compute_packs<T>(value, operands.pointers, operands.out, row, col, typename Loop::entries{});
    }
  };
  /// The same for functions whose tables would push the product out of its registers: it runs beside the next tile's
  /// products, or on whole tiles.
  template <class T>
  struct packs_of_tile_epilogue : pack_epilogue<T> {
    using takes_tiles = void;
    using beside_products = void;
    template <int Cols>
    [[gnu::noinline]] void finish(const T* tile, int row, int height, int col) const {
      const pack_operands<T> at = this->operands;
      constexpr int width = pack_width<T>, in_row = Cols / width;
      packs::template compute_all<T>(
          height * in_row,
          [&](std::int64_t i) __attribute__((always_inline)) {
            return typename packs::position{row + i / in_row, col + i % in_row * width};
          },
          [&](std::int64_t i) __attribute__((always_inline)) { return load(tile + i * width); }, at.pointers, at.out);
    }
  };

  /// The loop over one finished tile of the product: `height` rows from `row` on, Cols columns from `col` on.
  template <int Cols, class T, int... M, int... K>
  [[gnu::noinline]] static void run_tile(frame& f, const T* tile, int row, int height, int col,
                                         std::integer_sequence<int, M...>, std::integer_sequence<int, K...>) {
    pointers_type bases{};
    auto base = [&]<int Q>(std::integral_constant<int, Q>) {
      constexpr detail::source s = Loop::operand(Q / 3, Q % 3);
      if constexpr (s.kind == detail::source_kind::memory) {
        detail::get<Q>(bases) = elements<element_of<C, s.value>, C, s.value>(f) + (s.from.last() == 1 ? 0 : col);
      } else {
        detail::get<Q>(bases) = tile;
      }
    };
    (base(std::integral_constant<int, K>{}), ...);
    constexpr std::int64_t widths[] = {static_cast<std::int64_t>(sizeof(element_of<C, Loop::result(M)>))...};
    std::byte* const first[] = {
        (C::plan.stored[Loop::result(M)] ? Loop::template store_address<M>(f) + col * widths[M] : nullptr)...};
    const auto at_row = [&](int r) __attribute__((always_inline)) {
      pointers_type pointers = bases;
      auto move = [&]<int Q>(std::integral_constant<int, Q>) {
        constexpr detail::source s = Loop::operand(Q / 3, Q % 3);
        if constexpr (s.kind == detail::source_kind::memory) {
          detail::get<Q>(pointers) += Loop::row_start(s.from, row + r);
        } else {
          detail::get<Q>(pointers) += r * Cols;
        }
      };
      (move(std::integral_constant<int, K>{}), ...);
      return pointers;
    };
    detail::register_file<std::integer_sequence<int, M...>,
                          typename elements_of::template begun_numbers<M, most_tile_rows * Cols>...>
        kept;
    if constexpr (Loop::in_halves)
      for (int r = 0; r < height; ++r) elements_of::template begin_row<Cols, M...>(at_row(r), 0, 0, kept, r * Cols);
    for (int r = 0; r < height; ++r) {
      pointers_type pointers = at_row(r);
      elements_of::point_to_begun(pointers, kept, r * Cols);
      std::byte* const out[] = {
          (C::plan.stored[Loop::result(M)] ? first[M] + (row + r) * Loop::columns * widths[M] : nullptr)...};
      elements_of::template run_elements<Cols, Loop::in_halves, M...>(out, pointers, 0, 0);
    }
  }
  struct tile_epilogue {
    using takes_tiles = void;
    frame& f;
    template <int Cols, class T>
    void finish(const T* tile, int row, int height, int col) const {
      run_tile<Cols>(f, tile, row, height, col, typename Loop::entries{}, typename Loop::operands{});
    }
  };
  static void run(frame& f) {
    constexpr int e = Loop::entry(0), x = C::operand(e, 0), y = C::operand(e, 1);
    constexpr plan::product_extents p = plan::extents_of(C::tape.view(), C::tape.entries[e]);
    using T = element_of<C, Loop::result(0)>;
    const auto run_with = [&](const auto& epilogue) {
      gemm<T, static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), p.tx, p.ty>(
          elements<const T, C, x>(f), elements<const T, C, y>(f), epilogue);
    };
    if constexpr (packs::in_packs) {
      const pack_operands<T> operands(f, typename Loop::entries{}, typename Loop::operands{});
      if constexpr (Loop::in_halves)
        run_with(packs_of_tile_epilogue<T>{{operands}});
      else
        run_with(pack_epilogue<T>{operands});
    } else {
      run_with(tile_epilogue{f});
    }
  }
};

}  // namespace drx::run
