// drx/tracing/builder.hpp: the builder of a function that is being traced.
#pragma once

#include <drx/tracing/context.hpp>

namespace drx {

/// A builder on which a function of the user is traced. Builders nest: while a region is traced its builder is the
/// innermost, and values of outer builders that are used in the region become captured inputs.
class tracing_builder : public builder {
 public:
  constexpr explicit tracing_builder(tracing_context& context) : context_(context), serial_(context.next_serial()) {}

  [[nodiscard]] constexpr tracing_context& context() const { return context_; }
  /// Whether all values of this tape are computed from constants.
  [[nodiscard]] constexpr bool of_constants() const { return context_.constants() && serial_ == 0; }
  /// Whether this builder was opened after b, which has the same context.
  [[nodiscard]] constexpr bool is_inside(const tracing_builder& b) const { return serial_ >= b.serial_; }

  /// The captured values of outer builders, in the order of the inputs made for them (after the explicit ones).
  [[nodiscard]] constexpr const vec<traced_ref>& captures() const { return captures_; }
  /// The number on this tape of an outer builder's value.
  constexpr int capture(const traced_ref& outer) {
    for (int i = 0; i < captures_.size(); ++i)
      if (captures_[i].from.tape == outer.from.tape && captures_[i].id == outer.id) return captured_[i];
    const int id = input(outer.from.tape->type(outer.id));
    captures_.push_back(outer);
    captured_.push_back(id);
    return id;
  }

 private:
  tracing_context& context_;
  int serial_;
  vec<traced_ref> captures_;
  vec<int> captured_;
};

}  // namespace drx
