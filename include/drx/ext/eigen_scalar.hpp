// drx/ext/eigen_scalar.hpp: Eigen matrices of duals and of variables on a tape, and derivatives of functions of Eigen
// vectors.
#pragma once

#include <drx/scalar/differentiate.hpp>

#include <Eigen/Core>

namespace Eigen {

template <drx::ad::Active X>
struct NumTraits<X> : GenericNumTraits<X> {
  using Real = X;
  using NonInteger = X;
  using Nested = X;
  using Literal = drx::ad::real_t<X>;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 2,
    AddCost = 2,
    MulCost = 4
  };
  static Real epsilon() { return NumTraits<Literal>::epsilon(); }
  static Real dummy_precision() { return NumTraits<Literal>::dummy_precision(); }
  static Real highest() { return NumTraits<Literal>::highest(); }
  static Real lowest() { return NumTraits<Literal>::lowest(); }
  static Real infinity() { return NumTraits<Literal>::infinity(); }
  static Real quiet_NaN() { return NumTraits<Literal>::quiet_NaN(); }
  static int digits10() { return NumTraits<Literal>::digits10(); }
};

// Constants beside such scalars: plain numbers, and scalars of lower levels.
template <drx::ad::Active A, class B, class Op>
  requires drx::ad::Below<B, A>
struct ScalarBinaryOpTraits<A, B, Op> {
  using ReturnType = A;
};
template <class B, drx::ad::Active A, class Op>
  requires drx::ad::Below<B, A>
struct ScalarBinaryOpTraits<B, A, Op> {
  using ReturnType = A;
};

}  // namespace Eigen

namespace drx::ad {

namespace detail {
template <class X>
concept EigenVector = Numbers<X> && std::is_base_of_v<Eigen::EigenBase<X>, X> && bool(X::IsVectorAtCompileTime);

template <mode Mode, class F, class X, class... Memory>
auto value_and_gradient_of_vector(const F& f, const X& x, const Memory&... memory) {
  constexpr int rows = X::RowsAtCompileTime, cols = X::ColsAtCompileTime, size = X::SizeAtCompileTime;
  using T = typename X::Scalar;
  const auto on_map = [&f, n = x.size()](const auto& in) {
    using S = element_of<std::remove_cvref_t<decltype(in)>>;
    return f(Eigen::Map<const Eigen::Matrix<S, rows, cols>>(in.data(), rows == 1 ? 1 : n, rows == 1 ? n : 1));
  };
  std::conditional_t<size == Eigen::Dynamic, std::vector<T>,
                     std::array<T, static_cast<std::size_t>(size < 0 ? 0 : size)>>
      copy;
  if constexpr (size == Eigen::Dynamic) copy.resize(static_cast<std::size_t>(x.size()));
  for (Eigen::Index i = 0; i < x.size(); ++i) copy[static_cast<std::size_t>(i)] = x[i];
  const auto r = ad::value_and_gradient<Mode>(on_map, copy, memory...);
  using B = std::remove_cvref_t<decltype(r.gradient[0])>;
  using G = Eigen::Matrix<B, rows, cols>;
  return value_and_gradient_result<B, G>{
      r.value, G(Eigen::Map<const G>(r.gradient.data(), rows == 1 ? 1 : x.size(), rows == 1 ? x.size() : 1))};
}
}  // namespace detail

/// f(x) and its gradient, for an Eigen vector x; the gradient is one too. f receives an Eigen map of scalars. As for
/// std::array, it uses duals for at most 16 inputs, if their number is known while compiling, else a local tape.
template <mode Mode = mode::automatic, class F, detail::EigenVector X>
auto value_and_gradient(const F& f, const X& x) {
  return detail::value_and_gradient_of_vector<Mode>(f, x);
}
template <mode Mode = mode::automatic, class F, detail::EigenVector X>
auto value_and_gradient(const F& f, const X& x, const arena& memory) {
  return detail::value_and_gradient_of_vector<Mode>(f, x, memory);
}

/// a * b; for variables it is one statement on the tape, where Eigen's own product records each multiplication.
template <class A, class B, int M, int K, int L, int N, int OA, int MA, int NA, int OB, int MB, int NB>
auto matmul(const Eigen::Matrix<A, M, K, OA, MA, NA>& a, const Eigen::Matrix<B, L, N, OB, MB, NB>& b) {
  using S = detail::higher_t<A, B>;
  constexpr bool row_major = M == 1 || (bool(OA & Eigen::RowMajor) && N != 1);
  Eigen::Matrix<S, M, N, row_major ? int(Eigen::RowMajor) : int(Eigen::ColMajor)> c(a.rows(), b.cols());
  const auto m = static_cast<std::size_t>(a.rows()), k = static_cast<std::size_t>(a.cols()),
             n = static_cast<std::size_t>(b.cols());
  const auto of_a = [&](std::size_t i, std::size_t j) -> const A& {
    return a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  };
  const auto of_b = [&](std::size_t i, std::size_t j) -> const B& {
    return b(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  };
  if constexpr (row_major) {
    detail::matmul<S>(
        m, k, n, [&](std::size_t i) -> const A& { return of_a(i / k, i % k); },
        [&](std::size_t i) -> const B& { return of_b(i / n, i % n); },
        [&](std::size_t i) -> S& { return c.data()[i]; });
  } else {  // the transposed product, in the order of columns
    detail::matmul<S>(
        n, k, m, [&](std::size_t i) -> const B& { return of_b(i % k, i / k); },
        [&](std::size_t i) -> const A& { return of_a(i % m, i / m); },
        [&](std::size_t i) -> S& { return c.data()[i]; });
  }
  return c;
}

}  // namespace drx::ad
