// Stan Math's functions of matrices, over the whole batch. The tape's memory is kept from call to call.
#include <stan/math/rev/mat.hpp>

#include "inputs.hpp"

#include <memory>
#include <span>

namespace mlp {

namespace {

template <int R, int C>
using matrix = Eigen::Matrix<double, R, C, C == 1 ? Eigen::ColMajor : Eigen::RowMajor>;

class stan_side {
 public:
  explicit stan_side(const inputs& in)
      : x_(Eigen::Map<const matrix<batch, features>>(in.x.data())),
        y_(Eigen::Map<const matrix<batch, 1>>(in.y.data())) {}

  void call(const inputs& in, answer& out) {
    using namespace stan::math;
    const matrix_v w1 = Eigen::Map<const matrix<features, hidden>>(in.model.w1).cast<var>();
    const row_vector_v b1 = Eigen::Map<const matrix<1, hidden>>(in.model.b1).cast<var>();
    const vector_v w2 = Eigen::Map<const matrix<hidden, 1>>(in.model.w2).cast<var>();
    var b2 = in.model.b2;
    const matrix_v h = tanh(stan::math::add(multiply(x_, w1), rep_matrix(b1, batch)));
    const vector_v error = subtract(stan::math::add(multiply(h, w2), b2), y_);
    var loss = dot_self(error) / batch;
    loss.grad();
    out.value = loss.val();
    Eigen::Map<matrix<features, hidden>>(out.gradient.w1) = w1.adj();
    Eigen::Map<matrix<1, hidden>>(out.gradient.b1) = b1.adj();
    Eigen::Map<matrix<hidden, 1>>(out.gradient.w2) = w2.adj();
    out.gradient.b2 = b2.adj();
    recover_memory();
  }

 private:
  Eigen::MatrixXd x_;
  Eigen::VectorXd y_;
};

}  // namespace

void add_stan(bench::suite& suite, const inputs& in) {
  auto side = std::make_shared<stan_side>(in);
  auto out = std::make_shared<answer>();
  suite.add({.row = "value and gradient",
             .name = "Stan Math",
             .call = [&in, side, out] { side->call(in, *out); },
             .result =
                 [out] {
                   return bench::numbers(
                       std::span(reinterpret_cast<const double*>(out.get()), sizeof(answer) / sizeof(double)));
                 }});
}

}  // namespace mlp
