// drx/generate/symbols.hpp: the C++ names of primitives and placements, which a tape knows by their addresses.
#pragma once

#include <drx/tape/primitive.hpp>

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

namespace drx::generate {

/// A demangled name as C++ takes it: a function as template argument, "&(int models::f<2>(double))", becomes
/// "&models::f<2>".
inline std::string as_written(std::string name) {
  for (std::size_t at = 0; (at = name.find("&(", at)) != std::string::npos; ++at) {
    int angles = 0, parens = 0;
    std::size_t begin = at + 2, i = begin, arguments = 0;
    for (; i < name.size(); ++i) {
      const char c = name[i];
      if (c == '<') ++angles;
      if (c == '>') --angles;
      if (angles == 0 && c == ' ' && parens == 0) begin = i + 1;  // behind the type that it returns
      if (angles == 0 && c == '(' && parens++ == 0) arguments = i;
      if (angles == 0 && c == ')' && parens-- == 0) break;
    }
    if (arguments > begin && i < name.size()) name.replace(at + 1, i - at, name.substr(begin, arguments - begin));
  }
  return name;
}

/// The qualified name of the variable at an address, as the executable's symbols have it: drx::prim::add,
/// drx::placement_of<models::clients>. The executable is linked with -rdynamic. `what` is its name in messages:
/// std::runtime_error where the variable has no name that another file could use.
inline std::string symbol_at(const void* address, const std::string& what) {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_sname == nullptr || found.dli_saddr != address)
    throw std::runtime_error(
        what +
        " has no name outside of its file: define it in a namespace that is not anonymous, in a header "
        "(and link this executable with -rdynamic)");
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(found.dli_sname, nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? text.get() : found.dli_sname;
  if (name.find("lambda") != std::string::npos || name.find("{unnamed") != std::string::npos)
    throw std::runtime_error(what +
                             " is made of a lambda, which no other file can name: make it a struct with an operator()");
  return as_written(name);
}
inline std::string symbol_of(const primitive* p) { return symbol_at(p, "primitive `" + std::string(p->name) + "`"); }
inline std::string symbol_of(const placement_info* p) {
  return symbol_at(p, "placement `" + std::string(p->name) + "`");
}

}  // namespace drx::generate
