#include <drx/scalar/differentiate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ad = drx::ad;

static long allocations = 0;
[[gnu::noinline]] void* operator new(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

/// Forward and reverse mode of one function of three numbers, and the second order of both.
template <class F>
void check_modes(const char* name, F f, std::array<double, 3> x) {
  CAPTURE(std::string(name));
  const auto forward = ad::value_and_gradient<ad::forward>(f, x);
  const auto reverse = ad::value_and_gradient<ad::reverse>(f, x);
  CHECK(forward.value == doctest::Approx(f(x)).epsilon(1e-14));
  CHECK(reverse.value ==
        doctest::Approx(forward.value).epsilon(1e-15));  // -march=native fuses multiply-adds here and there
  for (std::size_t i = 0; i < 3; ++i) CHECK(reverse.gradient[i] == doctest::Approx(forward.gradient[i]).epsilon(1e-13));
  const auto h = ad::hessian(f, x);
  const auto again = ad::jacobian<ad::reverse>([&](const auto& v) { return ad::gradient<ad::reverse>(f, v); }, x);
  const auto mixed = ad::jacobian<ad::forward>([&](const auto& v) { return ad::gradient<ad::forward>(f, v); }, x);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(h[i][k] == doctest::Approx(mixed[i][k]).epsilon(1e-12));
      CHECK(again[i][k] == doctest::Approx(mixed[i][k]).epsilon(1e-12));
    }
}
#define CHECK_MODES(expression)                                  \
  check_modes(#expression,                                       \
              [](const auto& v) {                                \
                using std::max, std::min, std::abs, std::lgamma; \
                auto [x, y, z] = v;                              \
                return expression;                               \
              },                                                 \
              {0.7, -0.3, 1.2})

/// Recursion, loops and branches on values.
template <class S>
S fibonacci_like(const S& a, const S& b, int n) {
  if (n == 0) return a;
  if (a > 2) return fibonacci_like(b, S(a / b), n - 1);
  return fibonacci_like(b, S(a + b * b), n - 1);
}

template <class V>
auto part(const V& v, std::size_t first, std::size_t n) {
  return std::span<const std::remove_cvref_t<decltype(v[0])>>(v.data() + first, n);
}

std::vector<double> numbers(std::size_t n, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x(n);
  for (double& v : x) v = uniform(random);
  return x;
}

}  // namespace

TEST_CASE("both modes, first and second order") {
  CHECK_MODES(x * y + z);
  CHECK_MODES(2 * x - y / z + 1 - (3 - x) * (z - 1) / 2);
  CHECK_MODES(-x / (y + 2) + 4 / z);
  CHECK_MODES(exp(x) * sin(y) + cos(z) * log(z + 1));
  CHECK_MODES(tanh(x * y) + sqrt(z) * atan(y) + erf(x) + cbrt(z));
  CHECK_MODES(pow(x, y) + pow(z, 3) + pow(2.0, y) + hypot(x, y) + atan2(y, z));
  CHECK_MODES(max(x, y) * min(y, z) + abs(y) * fabs(z) + max(x, 0.5) + fma(x, y, z));
  CHECK_MODES(log1p(x) * expm1(y) + asin(y) + acos(y) + acosh(z) + asinh(x) + atanh(y));
  CHECK_MODES(lgamma(z) + sinh(x) * cosh(y) + tan(x) + log2(z) + log10(x) + exp2(y) + erfc(z));
  CHECK_MODES(floor(x) * y + ad::select(x > y, x * z, y) + fibonacci_like(x, z, 6));
}

TEST_CASE("edges: a cotangent that is zero stays zero") {
  const auto f = [](const auto& v) { return v[1] * ad::sqrt(v[0]); };
  const auto g = ad::gradient<ad::reverse>(f, std::array{0.0, 0.0});
  CHECK(g[1] == 0);
  CHECK(g[0] == 0);
  CHECK(ad::gradient<ad::reverse>([](const auto& v) { return ad::max(v[0], v[1]); }, std::array{1.0, 1.0})[0] == 0.5);
  CHECK(ad::gradient<ad::reverse>([](const auto& v) { return ad::abs(v[0]); }, std::array{0.0})[0] == 0);
  CHECK(ad::gradient<ad::reverse>([](const auto&) { return 2.0; }, std::array{1.0})[0] == 0);
  CHECK(ad::gradient<ad::reverse>([](const auto& v) { return v[0]; }, std::array{1.0, 1.0})[0] == 1);
}

TEST_CASE("sizes known at run time; arenas; results in place") {
  const auto f = [](const auto& x) {
    std::remove_cvref_t<decltype(x[0])> product = 1;
    for (const auto& v : x) product *= v + 2;
    return product;
  };
  const auto x = numbers(100);
  const double y = f(x);
  const ad::arena memory(1 << 16);
  const auto r = ad::value_and_gradient(f, x, memory);
  CHECK(r.value == doctest::Approx(y));
  const auto forward = ad::gradient<ad::forward>(f, x);
  std::vector<double> g(100);
  CHECK(ad::value_and_gradient_into(g, f, x) == r.value);
  CHECK(ad::value_and_gradient_into<ad::forward>(g, f, x) == doctest::Approx(y));
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(r.gradient[i] == doctest::Approx(y / (x[i] + 2)));
    CHECK(forward[i] == doctest::Approx(r.gradient[i]));
    CHECK(g[i] == forward[i]);
  }
  CHECK(ad::gradient(f, std::vector<double>{}).empty());
}

TEST_CASE("what does not fit says how much is needed") {
  const auto f = [](const auto& x) {
    auto y = x[0];
    for (int i = 0; i < 1000; ++i) y = y * x[1];
    return y;
  };
  const std::array x{1.0, 0.999};
  const ad::arena small(1000);
  std::size_t bytes = 0;
  try {
    ad::gradient<ad::reverse>(f, x, small);
    CHECK(false);
  } catch (const ad::tape_overflow& e) {
    CHECK(e.needed_statements == 1002);
    bytes = e.needed_bytes;
    const std::string sentence = e.what();
    CHECK(sentence == "drx: a local tape of 30 statements was given, 1002 are needed: give drx::ad::arena(" +
                          std::to_string(bytes) + "), or a local_tape of this capacity");
  }
  CHECK(ad::gradient<ad::reverse>(f, x, ad::arena(bytes))[0] == doctest::Approx(std::pow(0.999, 1000)));
  CHECK_THROWS_AS(ad::gradient<ad::reverse>(f, x, ad::arena(bytes - 32)), ad::tape_overflow);
  CHECK_THROWS_AS(ad::gradient<ad::reverse>(f, x, ad::arena(0)), ad::tape_overflow);
  const auto wide = [](const auto& v) { return ad::dot(v, v) + ad::sum(v); };
  CHECK_THROWS_AS(ad::gradient(wide, numbers(100), ad::arena(100 * 32)), ad::tape_overflow);
  CHECK_THROWS_AS(ad::gradient(wide, numbers(100), ad::arena(350 * 32)), ad::tape_overflow);
}

TEST_CASE("no allocation") {
  const auto f = [](const auto& x) {
    auto y = x[0];
    for (const auto& v : x) y = y * tanh(v) + ad::dot(x, x);
    return y;
  };
  const auto dynamic = numbers(30);
  std::array<double, 30> x{}, g{};
  std::copy(dynamic.begin(), dynamic.end(), x.begin());
  const ad::arena memory(1 << 20);
  const long before = allocations;
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    sum += ad::value_and_gradient(f, x).value + ad::value_and_gradient(f, x, memory).value;
    sum += ad::value_and_gradient_into(g, f, dynamic, memory);
    sum += ad::hessian(f, x, memory)[0][1];
  }
  CHECK(allocations == before);
  CHECK(std::isfinite(sum));
}

TEST_CASE("wide statements against loops") {
  const auto x = numbers(60);
  const auto check = [&](auto wide, auto loops) {
    const ad::arena memory(1 << 20);
    const auto a = ad::value_and_gradient(wide, x, memory), b = ad::value_and_gradient(loops, x, memory);
    CHECK(a.value == doctest::Approx(b.value));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(a.gradient[i] == doctest::Approx(b.gradient[i]));
    const auto c = ad::value_and_gradient<ad::forward>(wide, x);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(c.gradient[i] == doctest::Approx(b.gradient[i]));
    CHECK(wide(x) == doctest::Approx(a.value));
  };
  check([](const auto& v) { return ad::sum(v) * ad::sum(part(v, 0, 10)); },
        [](const auto& v) {
          auto s = v[0], t = v[0];
          for (std::size_t i = 1; i < 60; ++i) s += v[i];
          for (std::size_t i = 1; i < 10; ++i) t += v[i];
          return s * t;
        });
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{41}})
    check([n](const auto& v) { return 1e9 * ad::prod(part(v, 3, n)) * v[1]; },
          [n](const auto& v) {
            auto y = v[1];
            for (std::size_t i = 0; i < n; ++i) y *= v[3 + i];
            return 1e9 * y;
          });
}

namespace {
/// The product of x and its gradient by drx::ad::prod: exact where no product of factors needs rounding.
template <class T>
void check_exact_product(const std::vector<T>& x) {
  static const ad::arena memory(1 << 17);
  T y = 1;
  for (const T& v : x) y *= v;
  std::vector<T> expected(x.size(), 1), g(x.size()), loops(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x.size(); ++k)
      if (k != i) expected[i] *= x[k];
  CHECK(ad::value_and_gradient_into(g, [](const auto& v) { return ad::prod(v); }, x, memory) == y);
  CHECK(g == expected);
  // in another order on the tape, one of them a constant
  CHECK(ad::value_and_gradient_into(
            g,
            [](const auto& v) {
              std::vector<std::remove_cvref_t<decltype(v[0])>> turned(v.rbegin(), v.rend());
              turned.push_back(1);
              return ad::prod(turned);
            },
            x, memory) == y);
  CHECK(g == expected);
}
/// Powers of two, whose product stays near one.
template <class T>
std::vector<T> powers_of_two(std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = i % 3 == 0 ? T(4) : i % 3 == 1 ? T(-0.5) : T(0.5);
  return x;
}
}  // namespace

TEST_CASE_TEMPLATE("a product of any length; zeros, infinity, NaN", T, double, float) {
  for (std::size_t n = 0; n <= 70; ++n) check_exact_product(powers_of_two<T>(n));
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{15}, std::size_t{16}, std::size_t{53}})
    for (std::size_t i = 0; i < n; ++i) {
      auto x = powers_of_two<T>(n);
      x[i] = 0;
      check_exact_product(x);
      x[n / 2] = 0;
      check_exact_product(x);
    }
  check_exact_product(std::vector<T>(40));
  check_exact_product(powers_of_two<T>(1000));
  const auto gradient = [](const std::vector<T>& x) {
    return ad::gradient(([](const auto& v) { return ad::prod(v); }), x);
  };
  auto x = powers_of_two<T>(35);
  x[20] = std::numeric_limits<T>::infinity();
  auto g = gradient(x);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::isfinite(g[i]) == (i == 20));
  x[3] = 0;  // 0 times infinity
  g = gradient(x);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::isnan(g[i]) == (i != 3 && i != 20));
  CHECK(std::isinf(g[3]));
  CHECK(g[20] == 0);
  x[20] = std::numeric_limits<T>::quiet_NaN();
  g = gradient(x);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::isnan(g[i]) == (i != 20));
}

TEST_CASE("a long product rounds as one of a loop does, in another order; second order") {
  auto x = numbers(1000);
  for (double& v : x) v = 1 + v / 8;
  const ad::arena memory(1 << 18);
  std::vector<double> g(1000), loops(1000);
  const auto loop = [](const auto& v) {
    auto y = v[0];
    for (std::size_t i = 1; i < v.size(); ++i) y *= v[i];
    return y;
  };
  const double y = ad::value_and_gradient_into(g, [](const auto& v) { return ad::prod(v); }, x, memory);
  CHECK(y == doctest::Approx(ad::value_and_gradient_into(loops, loop, x, memory)).epsilon(1e-13));
  for (std::size_t i = 0; i < 1000; ++i) CHECK(g[i] == doctest::Approx(loops[i]).epsilon(1e-13));
  std::array<double, 19> few{};
  std::copy_n(x.begin(), 19, few.begin());
  few[5] = 0;
  const auto h = ad::hessian([](const auto& v) { return ad::prod(v); }, few), expected = ad::hessian(loop, few);
  for (std::size_t i = 0; i < 19; ++i)
    for (std::size_t k = 0; k < 19; ++k) CHECK(h[i][k] == doctest::Approx(expected[i][k]).epsilon(1e-13));
}

TEST_CASE("dot, axpy and products of matrices against loops") {
  const auto x = numbers(60), constants = numbers(30, 2);
  const ad::arena memory(1 << 20);
  const auto check = [&](auto f) {
    for (int form = 0; form < 3; ++form) {  // contiguous variables, others, partly constants
      CAPTURE(form);
      const auto g = [&](const auto& v, auto wide) {
        using S = std::remove_cvref_t<decltype(v[0])>;
        std::array<S, 60> w;
        for (std::size_t i = 0; i < 60; ++i)
          w[i] = form == 0 ? v[i] : form == 1 ? S(v[59 - i] * 1.5) : i % 3 == 0 ? S(0.5) : v[i];
        return f(form == 0 ? part(v, 0, 60) : part(w, 0, 60), constants, wide);
      };
      const auto a = ad::value_and_gradient([&](const auto& v) { return g(v, std::true_type{}); }, x, memory);
      const auto b = ad::value_and_gradient([&](const auto& v) { return g(v, std::false_type{}); }, x, memory);
      const auto c = ad::value_and_gradient<ad::forward>([&](const auto& v) { return g(v, std::true_type{}); }, x);
      CHECK(a.value == doctest::Approx(b.value));
      for (std::size_t i = 0; i < x.size(); ++i) {
        CHECK(a.gradient[i] == doctest::Approx(b.gradient[i]));
        CHECK(c.gradient[i] == doctest::Approx(b.gradient[i]));
      }
    }
  };
  check([](const auto& v, const auto& c, auto wide) {
    const auto p = part(v, 0, 30), q = part(v, 30, 30);
    if constexpr (wide) return ad::dot(p, q) * ad::dot(p, c) + ad::dot(c, q);
    auto pq = v[0] * 0, pc = pq, cq = pq;
    for (std::size_t i = 0; i < 30; ++i) pq += p[i] * q[i], pc += p[i] * c[i], cq += c[i] * q[i];
    return pq * pc + cq;
  });
  check([](const auto& v, const auto& c, auto wide) {
    using S = std::remove_cvref_t<decltype(v[0])>;
    std::array<S, 30> y{};
    for (std::size_t i = 0; i < 30; ++i) y[i] = v[30 + i] * v[i];
    const auto step = [&](const auto& s, const auto& w) {
      if constexpr (wide) return ad::axpy(s, w, y);
      for (std::size_t i = 0; i < 30; ++i) y[i] += s * w[i];
    };
    step(v[3], part(v, 0, 30));
    step(2.0, part(v, 10, 30));
    step(v[7] * v[8], c);
    S sum = 0;
    for (std::size_t i = 0; i < 30; ++i) sum += y[i] * y[i];
    return sum;
  });
  check([](const auto& v, const auto& c, auto wide) {
    using S = std::remove_cvref_t<decltype(v[0])>;
    std::array<S, 15> ab{}, cb{};
    std::array<S, 10> abc{};
    const auto product = [&]<std::size_t M, std::size_t K, std::size_t N>(std::index_sequence<M, K, N>, const auto& a,
                                                                          const auto& b, auto& to) {
      if constexpr (wide) return ad::matmul<M, K, N>(a, b, to);
      for (std::size_t i = 0; i < M; ++i)
        for (std::size_t j = 0; j < N; ++j) {
          to[i * N + j] = 0;
          for (std::size_t l = 0; l < K; ++l) to[i * N + j] += a[i * K + l] * b[l * N + j];
        }
    };
    product(std::index_sequence<3, 6, 5>{}, part(v, 0, 18), part(v, 18, 30), ab);
    product(std::index_sequence<3, 6, 5>{}, part(c, 0, 18), part(v, 10, 30), cb);
    product(std::index_sequence<2, 5, 3>{}, part(c, 3, 10), ab, abc);
    S sum = cb[4] * cb[7];
    for (std::size_t i = 0; i < 6; ++i) sum += abc[i] * abc[i] * ab[i];
    product(std::index_sequence<3, 5, 1>{}, ab, part(c, 1, 5), abc);
    return sum + abc[0] * abc[2];
  });
}

TEST_CASE("triangular products against loops; sums and differences have no partial derivatives on the tape") {
  const auto x = numbers(30), constants = numbers(21, 2);
  const ad::arena memory(1 << 20);
  const auto f = [&](const auto& v, auto wide, int form) {
    using S = std::remove_cvref_t<decltype(v[0])>;
    std::array<S, 30> w;
    for (std::size_t i = 0; i < 30; ++i)
      w[i] = form == 0 ? v[i] : form == 1 ? S(v[29 - i] * 1.5) : i % 3 == 0 ? S(0.5) : v[i];
    S sum = 0;
    const auto add = [&](const auto& a, const auto& b) {
      std::array<S, 6> y;
      if constexpr (wide) {
        ad::lower_matmul<6>(a, b, y);
      } else {
        for (std::size_t i = 0; i < 6; ++i) {
          y[i] = 0;
          for (std::size_t j = 0; j <= i; ++j) y[i] += a[i * (i + 1) / 2 + j] * b[j];
        }
      }
      for (std::size_t i = 0; i < 6; ++i) sum += (y[i] - v[i]) * y[i] - y[5];
    };
    add(part(w, 0, 21), part(w, 22, 6));
    add(part(constants, 0, 21), part(w, 3, 6));
    add(part(w, 5, 21), part(constants, 3, 6));
    return sum;
  };
  for (int form = 0; form < 3; ++form) {  // contiguous variables, others, partly constants
    const auto wide = [&](const auto& v) { return f(v, std::true_type{}, form); };
    const auto a = ad::value_and_gradient(wide, x, memory), c = ad::value_and_gradient<ad::forward>(wide, x);
    const auto b = ad::value_and_gradient([&](const auto& v) { return f(v, std::false_type{}, form); }, x, memory);
    CHECK(a.value == doctest::Approx(b.value));
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(a.gradient[i] == doctest::Approx(b.gradient[i]));
      CHECK(c.gradient[i] == doctest::Approx(b.gradient[i]));
    }
  }
}

TEST_CASE("products of matrices are short on the tape; higher orders go through them") {
  ad::local_tape<double, 4000> tape;
  std::vector<ad::var<double>> a, b, c(400);
  for (double v : numbers(400)) a.push_back(variable(tape, v));
  for (double v : numbers(400, 2)) b.push_back(variable(tape, v));
  ad::matmul<20, 20, 20>(a, b, c);
  tape.require_complete();
  CHECK(tape.now().count == 1200);
  const auto f = [](const auto& x) {
    auto y = x;
    ad::matmul<2, 2, 2>(x, x, y);
    ad::axpy(y[0], x, y);
    return ad::dot(y, x) * ad::sum(y);
  };
  const std::array x{0.3, -0.4, 0.8, 1.1};
  const auto h = ad::hessian(f, x),
             again = ad::jacobian([&](const auto& v) { return ad::gradient<ad::reverse>(f, v); }, x),
             backwards = ad::jacobian<ad::reverse>([&](const auto& v) { return ad::gradient<ad::reverse>(f, v); }, x);
  const std::array v{1.0, 2.0, -1.0, 0.5};
  const auto hv = ad::hessian_vector(f, x, v);
  const auto along = ad::directional([&](const auto& w) { return ad::gradient<ad::forward>(f, w); }, x, v);
  for (std::size_t i = 0; i < 4; ++i) {
    double product = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(h[i][k] == doctest::Approx(again[i][k]));
      CHECK(h[i][k] == doctest::Approx(backwards[i][k]));
      product += h[i][k] * v[k];
    }
    CHECK(hv.product[i] == doctest::Approx(product));
    CHECK(along.derivative[i] == doctest::Approx(product));
    CHECK(along.value[i] == doctest::Approx(hv.gradient[i]));
  }
}

TEST_CASE("Jacobians by both modes; constants among the outputs") {
  const auto f = [](const auto& x) {
    using S = std::remove_cvref_t<decltype(x[0])>;
    return std::array<S, 3>{x[0] * x[1], S(4), sin(x[19]) * x[0]};
  };
  std::array<double, 20> x{};
  std::iota(x.begin(), x.end(), 1.0);
  const auto a = ad::value_and_jacobian(f, x), b = ad::value_and_jacobian<ad::forward>(f, x);
  CHECK(a.value == b.value);
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 20; ++i) CHECK(a.jacobian[k][i] == doctest::Approx(b.jacobian[k][i]));
  CHECK(a.jacobian[0][1] == 1);
  CHECK(a.jacobian[2][19] == doctest::Approx(std::cos(20.0)));
}

TEST_CASE("derivatives within derivatives: levels") {
  // d/dx (x * d/dy (x + y)) on tapes within tapes, and of a captured variable.
  const auto f = [](const auto& x) {
    return x[0] * ad::gradient<ad::reverse>([&](const auto& y) { return x[0] + y[0]; }, std::array{1.0})[0];
  };
  CHECK(ad::gradient<ad::reverse>(f, std::array{1.0})[0] == 1);
  CHECK(ad::gradient<ad::forward>(f, std::array{1.0})[0] == 1);
  CHECK(ad::derivative([&](const auto& x) { return f(std::array{x}); }, 1.0) == 1);
}
