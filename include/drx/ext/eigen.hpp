// drx/ext/eigen.hpp: Eigen's matrices and vectors of fixed size as inputs of programs, and drx's arrays as Eigen maps.
// Nothing is copied where the layouts agree: row-major, as in drx's arrays, or a vector.
#pragma once

#include <drx/core/structure.hpp>

#include <Eigen/Core>

#include <stdexcept>
#include <string>

namespace drx {
namespace detail {

/// The array type that stands for a dense Eigen type of fixed size: of rank 1 for a vector, row or column.
template <class M>
struct eigen_shape {
  static constexpr bool fixed = M::RowsAtCompileTime != Eigen::Dynamic && M::ColsAtCompileTime != Eigen::Dynamic;
  static constexpr shape value = M::ColsAtCompileTime == 1   ? make_shape(M::RowsAtCompileTime)
                                 : M::RowsAtCompileTime == 1 ? make_shape(M::ColsAtCompileTime)
                                                             : make_shape(M::RowsAtCompileTime, M::ColsAtCompileTime);
};
template <class M>
concept EigenDense = std::is_base_of_v<Eigen::DenseBase<std::remove_const_t<M>>, std::remove_const_t<M>>;

template <class M>
struct eigen_structure {
  using element = typename M::Scalar;
  static_assert(
      eigen_shape<M>::fixed,
      "drx: an Eigen matrix of dynamic size; in a program's types sizes are fixed: Eigen::Matrix<float, 3, 4, "
      "Eigen::RowMajor>, or copy with drx::to_array<drx::array<float, 3, 4>>(m)");
  static_assert(eigen_shape<M>::value.rank == 1 || M::IsRowMajor,
                "drx: a column-major Eigen matrix; drx's arrays are row-major: declare it Eigen::Matrix<float, 3, 4, "
                "Eigen::RowMajor>, or copy with drx::to_array(m)");
  static constexpr int leaves = 1;
  using canonical = array_of<element, eigen_shape<M>>;
  using traced = canonical;
  using host = canonical;
  static constexpr void types(abstract_value* out) { structure<canonical>::types(out); }
  static constexpr void refs(const canonical& x, traced_ref* out) { *out = x.ref(); }
  static constexpr traced bind(const traced_ref* in) { return traced(*in); }
  template <class X, class F>
  static void visit(X& x, F&& f) {
    f(x.data(), canonical::shape);
  }
};

}  // namespace detail

template <Element T, int R, int C, int Options>
struct structure<Eigen::Matrix<T, R, C, Options, R, C>>
    : detail::eigen_structure<Eigen::Matrix<T, R, C, Options, R, C>> {};
/// Memory held elsewhere, without strides.
template <class M, int Options>
struct structure<Eigen::Map<M, Options>> : detail::eigen_structure<Eigen::Map<M, Options>> {};

namespace detail {
template <class A>
struct eigen_of;
template <class T, std::int64_t N>
struct eigen_of<array<T, N>> {
  using type = Eigen::Matrix<T, static_cast<int>(N), 1>;
};
template <class T>
struct eigen_of<array<T>> {
  using type = Eigen::Matrix<T, 1, 1>;
};
template <class T, std::int64_t R, std::int64_t C>
struct eigen_of<array<T, R, C>> {  // Eigen refuses row-major columns and column-major rows
  using type =
      Eigen::Matrix<T, static_cast<int>(R), static_cast<int>(C), C == 1 && R != 1 ? Eigen::ColMajor : Eigen::RowMajor>;
};
}  // namespace detail

/// The array's own elements, seen as an Eigen matrix; a column vector for rank 1.  drx::as_eigen(a) *= 2;
template <class T, std::int64_t... E>
  requires(sizeof...(E) <= 2)
auto as_eigen(array<T, E...>& a) {
  return Eigen::Map<typename detail::eigen_of<array<T, E...>>::type>(a.data());
}
template <class T, std::int64_t... E>
  requires(sizeof...(E) <= 2)
auto as_eigen(const array<T, E...>& a) {
  return Eigen::Map<const typename detail::eigen_of<array<T, E...>>::type>(a.data());
}
template <class T, std::int64_t... E>
  requires(sizeof...(E) <= 2)
auto as_eigen(const array<T, E...>&&) = delete;  // drx: the array is gone before its map is used; give it a name

/// A copy of any Eigen expression, of whatever layout. Throws std::invalid_argument where the sizes differ.
template <class A, class M>
  requires(Array<A> && detail::EigenDense<M>)
A to_array(const M& m) {
  static_assert(
      A::rank <= 2 && std::is_same_v<typename A::value_type, typename M::Scalar>,
      "drx::to_array: the array's rank is over 2, or its element type is not the matrix's (use m.cast<float>())");
  using target = typename detail::eigen_of<A>::type;
  constexpr int rows = target::RowsAtCompileTime, cols = target::ColsAtCompileTime;
  const bool lies = A::rank < 2 && m.rows() == cols && m.cols() == rows;  // a row for an array of rank 1
  if (!lies && (m.rows() != rows || m.cols() != cols))
    throw std::invalid_argument("drx::to_array: the matrix is " + std::to_string(m.rows()) + " x " +
                                std::to_string(m.cols()) + ", the array " + std::to_string(rows) + " x " +
                                std::to_string(cols));
  A a;
  using any = Eigen::Matrix<typename M::Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<any>(a.data(), m.rows(), m.cols()) = m;
  return a;
}
/// A copy of an Eigen expression of fixed size; vectors become arrays of rank 1.
template <class M>
  requires(detail::EigenDense<M> && detail::eigen_shape<M>::fixed)
auto to_array(const M& m) {
  return drx::to_array<array_of<typename M::Scalar, detail::eigen_shape<M>>>(m);
}

}  // namespace drx
