// drx/tracing/constants.hpp: traces of values that are computed from constants.
#pragma once

#include <drx/tracing/builder.hpp>

namespace drx {

/// A trace of values that are computed from constants which have met no traced value. Its tape has no inputs; it is
/// written anew where its values are used (emit::resolve), by a trace that adopts it and frees it.
///
/// A region whose arguments are all constants does not know which regions contain it, until it uses a value of theirs.
/// It is taken to be inner to all whose depth is known. Where two regions of unknown depth meet, the trace is useless:
/// after the end of the outer one it is traced again, with a depth that only the regions around it undercut.
class constants_trace {
 public:
  static constexpr constants_trace& open() {
    return *new constants_trace;  // drx: allocated here: something is computed of constants only and never used. Use or remove it; outside of traced lambdas, write it inside
  }
  /// Opens a trace of constants that lives as long as the trace `by`.
  static constexpr constants_trace& open(tracing_context& by) {
    constants_trace& opened = open();
    adopt(by, opened.context_);
    return opened;
  }
  constants_trace(const constants_trace&) = delete;
  constants_trace& operator=(const constants_trace&) = delete;
  constexpr ~constants_trace() {
    for (tracing_builder* b : regions_) delete b;
  }

  constexpr tracing_context& context() { return context_; }
  constexpr tracing_builder& entries() { return entries_; }
  /// Opens a region that lives as long as this trace, since a finished first attempt (is_ambiguous) may refer to it.
  constexpr tracing_builder& open_region() {
    regions_.push_back(new tracing_builder(context_));  // drx: allocated here: something is computed of constants only and never used. Use or remove it; outside of traced lambdas, write it inside
    return *regions_.back();
  }

  /// Makes the trace of constants, with all that it has adopted, live as long as the other of the two traces.
  static constexpr void adopt(tracing_context& by, tracing_context& constants) {
    tracing_context *mine = last_adopter(by), *its = last_adopter(constants);
    if (mine == its) return;
    if (!its->constants_) std::swap(mine, its);
    if (!its->constants_) return;
    its->constants_->adopter_ = mine;
    mine->adopted_.push_back(its->constants_);
  }

  [[nodiscard]] constexpr bool is_ambiguous() const { return ambiguous_; }
  constexpr void set_depth_by(const constants_trace& first_attempt) { depth_ = first_attempt.around_ + 1; }
  /// Whether the regions of x are inner to those of y. Two regions of unknown depth make both traces ambiguous.
  static constexpr bool is_inner(constants_trace& x, constants_trace& y) {
    if (!x.is_known() && !y.is_known()) x.ambiguous_ = y.ambiguous_ = true;
    if (x.is_known() && x.depth_ == y.depth_)
      throw "drx: of two loops over constants it is not known which is the inner one; let one meet a traced value";
    if (x.is_known() && !y.is_known()) y.around_ = x.depth_ > y.around_ ? x.depth_ : y.around_;
    if (y.is_known() && !x.is_known()) x.around_ = y.depth_ > x.around_ ? y.depth_ : x.around_;
    return !x.is_known() || (y.is_known() && x.depth_ > y.depth_);
  }

 private:
  constexpr constants_trace() : context_(this), entries_(context_) {}
  [[nodiscard]] constexpr bool is_known() const { return depth_ > 0; }
  static constexpr tracing_context* last_adopter(tracing_context& of) {
    tracing_context* c = &of;
    while (c->constants_ && c->constants_->adopter_) c = c->constants_->adopter_;
    return c;
  }

  tracing_context context_;
  tracing_builder entries_;
  vec<tracing_builder*> regions_;
  tracing_context* adopter_ = nullptr;
  bool ambiguous_ = false;
  int depth_ = 0;   // the depth among regions of constants, once it is known
  int around_ = 0;  // the largest depth that was met while the own one was not known
};

constexpr tracing_context::~tracing_context() {
  for (constants_trace* c : adopted_) delete c;
}

}  // namespace drx
