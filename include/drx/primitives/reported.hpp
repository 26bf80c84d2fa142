// drx/primitives/reported.hpp: one mistake, one error. What the compiler has complained about goes through every
// operation without another word: clang goes on with the type that a deleted function returns. Each function says so
// where it is, by one of these: of arguments alone, or with a type, or types, as template arguments.
#pragma once

#include <drx/core/errors.hpp>

// clang-format off
#define DRX_SILENT(name) \
  template <auto..., class... X> requires error::AnyReported<X...> error::reported name(const X&...);
#define DRX_SILENT_OF_TYPE(name) \
  template <class, auto..., class... X> requires error::AnyReported<X...> error::reported name(const X&...);
#define DRX_SILENT_OF_TYPES(name) \
  template <class..., class X> requires error::AnyReported<X> error::reported name(const X&); \
  template <class..., class X, class Y> requires error::AnyReported<X, Y> error::reported name(const X&, const Y&);
#define DRX_SILENT_OPERATOR(op) \
  template <class A, class B> requires AnyReported<A, B> reported operator op(const A&, const B&);

namespace drx::error {
DRX_SILENT_OPERATOR(+) DRX_SILENT_OPERATOR(-) DRX_SILENT_OPERATOR(*) DRX_SILENT_OPERATOR(/) DRX_SILENT_OPERATOR(%)
DRX_SILENT_OPERATOR(<) DRX_SILENT_OPERATOR(<=) DRX_SILENT_OPERATOR(>) DRX_SILENT_OPERATOR(>=)
DRX_SILENT_OPERATOR(+=) DRX_SILENT_OPERATOR(-=) DRX_SILENT_OPERATOR(*=) DRX_SILENT_OPERATOR(/=)
DRX_SILENT_OPERATOR(==) DRX_SILENT_OPERATOR(!=) DRX_SILENT_OPERATOR(&&) DRX_SILENT_OPERATOR(||)
template <Reported A> reported operator-(const A&);
template <Reported A> reported operator!(const A&);
}  // namespace drx::error

#undef DRX_SILENT_OPERATOR
// clang-format on
