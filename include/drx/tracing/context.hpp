// drx/tracing/context.hpp: the context of a trace: one for a function of the user and all regions in it.
#pragma once

#include <drx/tape/builder.hpp>

namespace drx {

class tracing_builder;  // drx/tracing/builder.hpp
class constants_trace;  // drx/tracing/constants.hpp

namespace detail {
/// The kind of region that is being traced.
enum class region_kind : std::int8_t { loop, member, branch, parallel, function };
}  // namespace detail

/// Says in which function, body of a map, branch and axes the code that is being traced stands.
class tracing_context {
 public:
  /// The regions around the code that is being traced; null where there is none of that kind.
  struct place {
    tracing_builder* function = nullptr;     // the whole program
    tracing_builder* member_body = nullptr;  // the innermost body of a map
    tracing_builder* branch = nullptr;       // the innermost branch
    bool parallel = false;                   // whether the function of one member of a pmap is being traced
  };

  constexpr tracing_context() = default;
  constexpr explicit tracing_context(constants_trace* constants) : constants_(constants) {}
  tracing_context(const tracing_context&) = delete;
  tracing_context& operator=(const tracing_context&) = delete;
  constexpr ~tracing_context();  // drx/tracing/constants.hpp

  [[nodiscard]] constexpr const place& now() const { return now_; }
  /// The trace of constants that has this context; null where a function of the user has it.
  [[nodiscard]] constexpr constants_trace* constants() const { return constants_; }
  /// The number of builders that were opened before.
  constexpr int next_serial() { return opened_++; }

  /// The function of one of the axis's members, whatever loop or branch of it is being traced; null where no map around
  /// the code has that name.
  [[nodiscard]] constexpr tracing_builder* member_of_axis(const placement_info* name) const {
    for (int i = axes_.size() - 1; i >= 0; --i)
      if (axes_[i].name == name) return axes_[i].member;
    return nullptr;
  }

 private:
  friend class region_scope;
  friend class constants_trace;
  struct named_axis {
    const placement_info* name = nullptr;
    tracing_builder* member = nullptr;
  };
  place now_;
  vec<named_axis> axes_;
  constants_trace* constants_ = nullptr;
  vec<constants_trace*> adopted_;
  int opened_ = 0;
};

/// Enters a region; the destructor restores the place in which the context was before.
class region_scope {
 public:
  /// `axis` is the name by which collectives in the region know its members, or null.
  constexpr region_scope(tracing_context& context, tracing_builder& region, detail::region_kind kind,
                         const placement_info* axis)
      : context_(context), before_(context.now_), has_axis_(axis != nullptr) {
    using detail::region_kind;
    tracing_context::place& now = context.now_;
    if (kind == region_kind::function) now.function = &region;
    if (kind == region_kind::member) now.member_body = &region;
    if (kind == region_kind::branch) now.branch = &region;
    if (kind == region_kind::parallel) now.parallel = true;
    if (axis) context.axes_.push_back({axis, &region});
  }
  region_scope(const region_scope&) = delete;
  region_scope& operator=(const region_scope&) = delete;
  constexpr ~region_scope() {
    context_.now_ = before_;
    if (has_axis_) context_.axes_.pop_back();
  }

 private:
  tracing_context& context_;
  const tracing_context::place before_;
  const bool has_axis_;
};

}  // namespace drx
