#include <drx/ext/eigen_scalar.hpp>

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace ad = drx::ad;

TEST_CASE("Eigen's matrices of duals and variables") {
  const auto f = [](const auto& x) {
    using S = typename std::remove_cvref_t<decltype(x)>::Scalar;
    Eigen::Matrix<S, 3, 3> a = x * x.transpose();
    a.diagonal().array() += 2.0;
    const Eigen::Matrix<S, 3, 1> y = a.ldlt().solve(Eigen::Matrix<S, 3, 1>(x * 2));
    const Eigen::Matrix3d c = Eigen::Matrix3d::Identity() * 3;
    return S(y.dot(x) + (c * a).trace() + y.norm() + ad::matmul(a, a).sum() + ad::matmul(c, y).squaredNorm());
  };
  const Eigen::Vector3d x(0.3, -0.8, 1.1);
  const auto forward = ad::value_and_gradient<ad::forward>(f, x), reverse = ad::value_and_gradient<ad::reverse>(f, x);
  CHECK(forward.value == doctest::Approx(f(x)));
  CHECK(reverse.value == doctest::Approx(f(x)));
  for (int i = 0; i < 3; ++i) {
    Eigen::Vector3d h = Eigen::Vector3d::Zero();
    h[i] = 1e-6;
    CHECK(forward.gradient[i] == doctest::Approx((f(Eigen::Vector3d(x + h)) - f(Eigen::Vector3d(x - h))) / 2e-6));
    CHECK(reverse.gradient[i] == doctest::Approx(forward.gradient[i]));
  }
}

TEST_CASE("sizes known at run time, and products as one statement") {
  const auto f = [](const auto& x) { return ad::exp(x.squaredNorm() / 20); };
  Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(20, -1, 1);
  const auto r = ad::value_and_gradient(f, x);
  CHECK((r.gradient - r.value * x / 10).norm() < 1e-14);
  const auto on_arena = ad::value_and_gradient(f, x, ad::arena(1 << 16));
  CHECK(on_arena.gradient == r.gradient);

  ad::local_tape<double, 4000> tape;
  Eigen::Matrix<ad::var<double>, Eigen::Dynamic, Eigen::Dynamic> a(20, 20), b(20, 20);
  for (int i = 0; i < 400; ++i) a.data()[i] = variable(tape, i * 0.1);
  for (int i = 0; i < 400; ++i) b.data()[i] = variable(tape, 1 - i * 0.01);
  const auto c = ad::matmul(a, b);
  tape.require_complete();
  CHECK(tape.now().count == 1200);
  CHECK(c(3, 5).value == doctest::Approx((a * b)(3, 5).value));
}
