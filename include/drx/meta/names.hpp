// drx/meta/names.hpp: the name of a type as text, without its namespaces; text as a template argument.
#pragma once

#include <drx/config.hpp>

#include <cstddef>
#include <string_view>

namespace drx::meta {

/// The unqualified name of T, as the compiler spells it: `clients` for `struct clients`.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = clients; ...]" (g++), "... [T = clients]" (clang)
  const auto start = text.find("T = ") + 4;
  auto stop = text.find(';', start);
  if (stop == std::string_view::npos) stop = text.rfind(']');
  text = text.substr(start, stop - start);
  const auto colons = text.rfind("::");
  return colons == std::string_view::npos ? text : text.substr(colons + 2);
}

/// A text as a template argument.
template <std::size_t N>
struct literal {
  char text[N] = {};
  constexpr literal(const char (&from)[N]) {  // (implicit: it is written as a string)
    for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
};

}  // namespace drx::meta
