// Prints tensors as JSON: nested lists, members outermost.
#pragma once

#include <drx/core/tensor.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace harness {

/// Prints a number as Python's json reads it, with NaN and Infinity.
inline void print_number(double x) {
  if (std::isnan(x)) {
    std::printf("NaN");
  } else if (std::isinf(x)) {
    std::printf(x < 0 ? "-Infinity" : "Infinity");
  } else {
    std::printf("%.17g", x);
  }
}
/// Prints the elements of all tensors in one list; placed tensors are skipped.
inline void print_numbers(const std::vector<drx::tensor>& all) {
  const char* separator = "[";
  for (const drx::tensor& x : all)
    drx::visit_dtype(x.type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; x.type.depth == 0 && i < x.size(); ++i, separator = ",") {
        std::printf("%s", separator);
        print_number(static_cast<double>(x.data<T>()[i]));
      }
    });
  std::printf(*separator == '[' ? "[]" : "]");
}

}  // namespace harness
