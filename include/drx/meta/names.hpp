// drx/meta/names.hpp: the name of a type as text, without its namespaces.
#pragma once

#include <drx/config.hpp>

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

}  // namespace drx::meta
