// What the tables of functions share that are compared with JAX: rows, and how they are printed.
#pragma once

#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>
#include <drx/transform/differentiate.hpp>

#include "compiled.hpp"
#include "harness/json.hpp"

#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace prim = drx::prim;
using drx::builder;
using drx::dtype;
using drx::tape;
using drx::tensor;
using drx::vec;
using tensors = std::vector<tensor>;

namespace {
constexpr int count = 24;
struct maker {
  std::function<tape(dtype)> make;
  tensors (*compiled)(const tensors&) =
      nullptr;  // in double: value, jvp, vjp and second derivative at x, the cotangent and v
};

struct row {
  const char* name;
  double low, high;    // of all operands
  const char* python;  // of x, y, z; jnp, lax, jax and special (jax.scipy.special) are there
  maker make;
  double slack = 1;  // times the tolerances: where JAX itself is less accurate
};
std::mt19937_64 engine(11);
tensor random(const drx::abstract_value& type, double low, double high) {
  tensor x(type);
  drx::visit_dtype(type.type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < x.size(); ++i)
      x.data<T>()[i] = static_cast<T>(std::uniform_real_distribution<double>(low, high)(engine));
  });
  return x;
}
void print(const char* key, const tensors& all, const char* behind) {
  std::printf("\"%s\":[", key);
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::printf("%s[", k ? "," : "");
    drx::visit_dtype(all[k].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < all[k].size(); ++i) {
        if (i) std::printf(",");
        harness::print_number(static_cast<double>(all[k].data<T>()[i]));
      }
    });
    std::printf("]");
  }
  std::printf("]%s", behind);
}
tensors joined(tensors a, const tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void record(const row& r, dtype type, bool first) {
  const tape t = r.make.make(type);
  const int n = t.inputs.size();
  tensors x, v, ct;
  for (int i : t.inputs) {
    x.push_back(random(t.values[i], r.low, r.high));
    v.push_back(random(t.values[i], -1, 1));
  }
  ct.push_back(random(t.values[t.outputs[0]], -1, 1));
  const vec<bool> moving(n, true);
  const tape reverse = drx::transform::pullback(t, moving, {true});
  vec<bool> only_x(n, true);
  only_x.push_back(false);
  const tensors forward = drx::interpreter::run(drx::transform::jvp(t, moving), joined(x, v));
  const tensors second = drx::interpreter::run(drx::transform::jvp(reverse, only_x), joined(joined(x, ct), v));
  std::printf("%s{\"name\":\"%s\",\"python\":\"%s\",\"slack\":%g,\"type\":\"%s\",", first ? "[" : ",\n", r.name,
              r.python, r.slack, type == dtype::float64 ? "float64" : "float32");
  print("x", x, ",");
  print("v", v, ",");
  print("ct", ct, ",");
  print("value", {forward[0]}, ",");
  print("jvp", {forward[1]}, ",");
  print("vjp", drx::interpreter::run(reverse, joined(x, ct)), ",");
  print("second", {second.begin() + n, second.end()}, "");
  if (r.make.compiled && type == dtype::float64) {
    const tensors also = r.make.compiled(joined(joined(x, ct), v));
    std::printf(",\"compiled\":{");
    print("value", {also[0]}, ",");
    print("jvp", {also[1]}, ",");
    print("vjp", {also.begin() + 2, also.begin() + 2 + n}, ",");
    print("second", {also.begin() + 2 + n, also.end()}, "}");
  }
  std::printf("}");
}

/// Every row in both types.
template <std::size_t N>
void print_table(const row (&table)[N]) {
  bool first = true;
  for (const row& r : table)
    for (const dtype type : {dtype::float64, dtype::float32}) {
      record(r, type, first);
      first = false;
    }
  std::printf("]\n");
}
}  // namespace
