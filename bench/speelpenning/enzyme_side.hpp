// The product for Enzyme and enzyme_twin.py: the compiler inside the Python package compiles and differentiates this.
#pragma once

extern int enzyme_dup;
template <class Result, class... Inputs>
Result __enzyme_autodiff(void*, Inputs...);

namespace speelpenning {

inline double product(const double* x) {
  double y = x[0];
  for (int i = 1; i < 1000; ++i) y *= x[i];
  return y;
}
template <class G, class X>
void product_gradient(G& gradient, const X& factors) {
  auto* g = reinterpret_cast<double*>(&gradient);
  for (int i = 0; i < 1000; ++i) g[i] = 0;
  __enzyme_autodiff<double>(reinterpret_cast<void*>(product), enzyme_dup, reinterpret_cast<const double*>(&factors), g);
}

}  // namespace speelpenning
