// The factors, from a formula (harness.hpp, twin.py), and the function that adds a side.
#pragma once

#include <harness.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace speelpenning {

inline constexpr std::size_t count = 1000;
using vector = std::array<double, count>;

inline vector factors() {
  vector x;
  for (std::size_t i = 0; i < count; ++i)
    x[i] = 1 + 0.125 * static_cast<double>(bench::uniform(1, static_cast<std::uint32_t>(i)));
  return x;
}

template <class Call>
void add(bench::suite& suite, const char* name, Call call) {
  auto g = std::make_shared<vector>();
  suite.add({.row = "1000 variables",
             .name = name,
             .call = [g, call] { call(*g); },
             .result = [g] { return bench::numbers(*g); }});
}
void add_adolc(bench::suite&, const vector&);
void add_sacado(bench::suite&, const vector&);
void add_stan(bench::suite&, const vector&);

}  // namespace speelpenning
