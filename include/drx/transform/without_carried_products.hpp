// drx/transform/without_carried_products.hpp: a program compiled as it is written, even where its loops could carry
// products.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/transform/program.hpp>

namespace drx {
namespace detail {

/// t with its loops set not to carry products where they left the choice to the program, in regions too.
constexpr tape with_products_computed(tape t) {
  for (entry& e : t.entries) {
    if (e.prim == &prim::scan) {
      prim::rules::scan::view loop(e);
      if (loop.products == loop_products::by_program) loop.products = loop_products::computed;
      e.attrs = loop.make();
    }
    for (tape& r : e.regions) r = with_products_computed(r);
  }
  return t;
}

}  // namespace detail

/// P without loops that carry products in place of matrices, except those with the option carry_products; to be
/// compiled or shown:
///     auto run = session.compile<drx::without_carried_products<Step>>();
template <Program P>
struct without_carried_products : P {
#if defined(DRX_NATIVE_TRACING)  // an executable traces P itself: P::tape() would be constant evaluation
  static constexpr drx::tape make() { return detail::with_products_computed(P::make()); }
#else
  static constexpr drx::tape make() { return detail::with_products_computed(P::tape().thaw()); }
#endif
  static constexpr const auto& tape() { return frozen<without_carried_products>::value; }
};

}  // namespace drx
