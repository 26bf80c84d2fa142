// Prints inputs and outputs of a few programs, on the plain interpreter and compiled, as JSON; run.py computes the same
// from the inputs with JAX.
// options: -O0
#include <drx/algorithms.hpp>
#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include "../../examples/language_model/transformer.hpp"
#include "harness/call.hpp"
#include "harness/json.hpp"

#include <cmath>
#include <cstdio>
#include <random>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;
using drx::tensor;

namespace {
struct clients : drx::placement<clients> {};

// name, then leaf by leaf the inputs and the outputs, members as rows
void print(const tensor& x) {
  std::printf("[");
  for (std::size_t m = 0; m < x.members.size(); ++m) {
    if (m) std::printf(",");
    print(x.members[m]);
  }
  if (x.type.depth == 0)
    drx::visit_dtype(x.type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < x.size(); ++i) {
        if (i) std::printf(",");
        harness::print_number(static_cast<double>(x.data<T>()[i]));
      }
    });
  std::printf("]");
}
void print(const char* key, const std::vector<tensor>& leaves) {
  std::printf("\"%s\":[", key);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    std::printf("%s{\"shape\":[", i ? "," : "");
    if (leaves[i].type.depth) std::printf("%zu%s", leaves[i].members.size(), leaves[i].type.shape.rank ? "," : "");
    for (int axis = 0; axis < leaves[i].type.shape.rank; ++axis)
      std::printf("%s%lld", axis ? "," : "", static_cast<long long>(leaves[i].type.shape[axis]));
    std::printf("],\"data\":");
    print(leaves[i]);
    std::printf("}");
  }
  std::printf("]");
}

std::mt19937 engine(7);
const char* separator = "{";

/// Random elements: between -1 and 1 where floating, of 0, 1, 2 where integers; `shape_them` of the former.
template <class Program, class F>
void record(const char* name, std::size_t members, F shape_them) {
  const drx::tape t = Program::tape().thaw();
  auto fill = [&](auto self, tensor& x) -> void {
    if (x.type.depth) x.members.assign(members, tensor(x.type.of_member()));
    for (tensor& m : x.members) self(self, m);
    if (x.type.depth == 0)
      drx::visit_dtype(x.type.type, [&]<class T>(T) {
        for (std::int64_t i = 0; i < x.size(); ++i)
          x.data<T>()[i] = std::is_floating_point_v<T>
                               ? static_cast<T>(shape_them(static_cast<double>(engine()) * 0x1p-31 - 1))
                               : static_cast<T>(engine() % 3);
      });
  };
  std::vector<tensor> inputs;
  for (int i : t.inputs) {
    inputs.emplace_back(t.values[i]);
    fill(fill, inputs.back());
  }
  std::printf("%s\"%s\":{", separator, name);
  separator = ",\n";
  print("inputs", inputs);
  std::printf(",");
  print("outputs", interpreter::run(t, inputs));
  std::printf(",");
  print("compiled", harness::run_serial<Program>(inputs));
  std::printf("}");
}
double as_it_is(double x) { return x; }

// ---- the programs ----

using model = std::tuple<array<double, 4, 5>, array<double, 5>, array<double, 5, 3>, array<double, 3>>;
using images = array<double, 6, 4>;
using labels = array<std::int32_t, 6>;

constexpr auto mlp = [](auto m, auto x, auto y) {
  const auto& [w1, b1, w2, b2] = m;
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(drx::tanh(drx::matmul(x, w1) + b1), w2) + b2, y));
};
constexpr auto mlp_slope = [](auto m, auto x, auto y) { return drx::value_and_grad(mlp)(m, x, y); };
constexpr auto mlp_slope_along = [](auto m, auto v, auto x, auto y) {
  const auto g = drx::grad(mlp)(m, x, y);
  return drx::sum(std::get<0>(g) * std::get<0>(v)) + drx::sum(std::get<1>(g) * std::get<1>(v)) +
         drx::sum(std::get<2>(g) * std::get<2>(v)) + drx::sum(std::get<3>(g) * std::get<3>(v));
};
constexpr auto mlp_curvature = [](auto m, auto v, auto x, auto y) { return drx::grad(mlp_slope_along)(m, v, x, y); };

// Local SGD on every client, the mean of the models, the clients' mean loss after it; its slope in model and rate.
constexpr auto step = [](auto m, auto rate, auto x, auto y) {
  const auto g = drx::grad(mlp)(m, x, y);
  return std::tuple{std::get<0>(m) - rate * std::get<0>(g), std::get<1>(m) - rate * std::get<1>(g),
                    std::get<2>(m) - rate * std::get<2>(g), std::get<3>(m) - rate * std::get<3>(g)};
};
constexpr auto local_sgd = [](auto m, auto rate, auto x, auto y) {
  return drx::fori_loop<3>(m, [=](auto local) { return step(local, rate, x, y); });
};
constexpr auto after_round = [](auto m, auto rate, auto xs, auto ys) {
  const auto all = [](auto v) { return drx::broadcast<clients>(v); };
  const auto mean_model = drx::reduce_mean(drx::map(local_sgd, all(m), all(rate), xs, ys));
  return drx::reduce_mean(drx::map(mlp, all(mean_model), xs, ys));
};
constexpr auto tuned = [](auto m, auto rate, auto xs, auto ys) {
  return drx::value_and_grad<0, 1>(after_round)(m, rate, xs, ys);
};

constexpr auto weighted = [](auto xs, auto ws) { return drx::sum(drx::sin(drx::reduce_weighted_mean(xs, ws))); };
constexpr auto weighted_slope = [](auto xs, auto ws) { return drx::value_and_grad<0, 1>(weighted)(xs, ws); };

constexpr auto extremes = [](auto x, auto c, auto xs) {
  return drx::sum(drx::max<1>(x) * c) + drx::min(x) * drx::max(c) +
         drx::sum(drx::reduce_max(xs) * drx::reduce_min(xs)) + drx::sum(drx::reduce_max(xs));
};
constexpr auto extremes_slope = [](auto x, auto c, auto xs) {
  return drx::value_and_grad<0, 1, 2>(extremes)(x, c, xs);
};

constexpr auto functions = [](auto x) {  // 0.1 < x < 0.9
  return drx::sum(drx::exp(x) + drx::log(x) * drx::sqrt(x) + drx::tanh(x) * drx::sigmoid(x) +
                  drx::sin(x) * drx::cos(x) + drx::tan(x) + drx::log1p(x) * drx::expm1(x) + drx::rsqrt(x) +
                  drx::pow(x, x) + drx::abs(x - 0.5) + drx::relu(0.3 - x) + drx::where(x > 0.4, x * x, 1 / x)) +
         drx::logsumexp(x) * drx::sum(drx::log_softmax(x) * x);
};
constexpr auto functions_slope = [](auto x) { return drx::value_and_grad(functions)(x); };
constexpr auto functions_slope_sum = [](auto x) { return drx::sum(drx::grad(functions)(x) * x); };
constexpr auto functions_curvature = [](auto x) { return drx::grad(functions_slope_sum)(x); };

constexpr auto recurrence = [](auto h0, auto w, auto xs) {
  const auto [h, ys] = drx::scan(
      [=](auto h1, auto x) {
        const auto h2 = drx::tanh(drx::matmul(w, h1) + x);
        return std::pair{h2, drx::sum(h2 * x)};
      },
      h0, xs);
  return drx::sum(h) + drx::sum(ys * ys);
};
constexpr auto recurrence_slope = [](auto h, auto w, auto xs) {
  return drx::value_and_grad<0, 1, 2>(recurrence)(h, w, xs);
};
constexpr auto recurrence_slope_sum = [](auto h, auto w, auto xs) {
  return drx::sum(drx::grad<1>(recurrence)(h, w, xs) * w);
};
constexpr auto recurrence_curvature = [](auto h, auto w, auto xs) {
  return drx::grad<1>(recurrence_slope_sum)(h, w, xs);
};

constexpr auto moved = [](auto x, auto y) {
  const auto part = drx::slice<drx::range<1, 4>, drx::range<0, 5, 2>>(x);
  const auto joined = drx::concatenate<1>(part, drx::transpose(drx::reshape<2, 3>(y)));
  return drx::sum(drx::sin(drx::pad<drx::padding<1, 2>, drx::padding<0, 1, 1>>(joined) + 0.5) * 2);
};
constexpr auto moved_slope = [](auto x, auto y) { return drx::value_and_grad<0, 1>(moved)(x, y); };

constexpr auto cubes = [](auto a, auto xs) {
  return drx::reduce_mean(
      drx::map([](auto b, auto x) { return drx::sin(b * b * b * x); }, drx::broadcast<clients>(a), xs));
};
constexpr auto first = [](auto a, auto xs) { return drx::grad(cubes)(a, xs); };
constexpr auto second = [](auto a, auto xs) { return drx::grad(first)(a, xs); };
constexpr auto orders = [](auto a, auto xs) {
  return std::tuple{cubes(a, xs), first(a, xs), second(a, xs), drx::grad(second)(a, xs)};
};

constexpr language_model::sizes small{.width = 8, .heads = 2, .context = 5, .layers = 2, .letters = 4};
constexpr auto transformer_slope = [](auto m, auto texts) {
  return drx::value_and_grad(language_model::mean_loss<small>)(m, texts);
};

constexpr auto bits = [](auto key, auto i) {
  const auto keys = drx::split<3>(key);
  const auto last = drx::index<2>(keys);
  return std::tuple{keys,
                    drx::fold_in(key, i),
                    drx::random_key(i),
                    drx::random_bits<std::int32_t, 3, 5>(last),
                    drx::random_bits<std::int64_t, 7>(last),
                    drx::permutation<100>(last),
                    drx::permutation<2000>(last),
                    drx::uniform<float, 50>(last, -1, 3),
                    drx::uniform<double, 50>(last),
                    drx::cast<float>(drx::bernoulli<50>(last, 0.3f)),
                    drx::cast<float>(drx::bernoulli<50>(last, 0.3))};
};
constexpr auto normal = [](auto key) { return drx::normal<double, 2000>(key); };
constexpr auto draws = [](auto key) {
  const auto logits = drx::sin(drx::reshape<3, 4>(drx::iota<array<double, 12>>()));
  return std::tuple{drx::exponential<double, 2000>(key), drx::gumbel<double, 2000>(key), drx::categorical(key, logits),
                    drx::categorical<100, 3>(key, logits)};
};
constexpr auto normal_float = [](auto key) { return drx::normal<float, 2000>(key); };
}  // namespace

// ---- optimizers and schedules, beside optax ----

using point = array<double, 5>;
/// A hundred steps down a hilly slope, and the derivatives by where they start and by the rate.
template <auto O, auto Start>
constexpr auto descent = drx::value_and_grad<0, 1>([](auto x, auto rate) {
  auto last = drx::fori_loop<100>(std::pair{x, Start(x)}, [=](auto c) {
    auto [now, state] = c;
    return drx::step(O, now, state, now + 2 * drx::sin(3 * now) - 0.7, 0.01 + 0.005 * rate);
  });
  return drx::sum(drx::square(last.first));
});
constexpr auto stateless = [](auto) { return std::tuple{}; };
constexpr auto from_zero = [](auto x) { return 0 * x; };
constexpr auto from_a_tenth = [](auto x) { return 0 * x + 0.1; };
constexpr auto moments = [](auto x) { return std::tuple{0 * x, 0 * x, 0 * drx::sum(x)}; };
constexpr auto small_moments = [](auto x) { return std::tuple{0 * x + 1e-6, 0 * x + 1e-6, 0 * drx::sum(x)}; };
template <auto O, auto Start>
using descent_program = program<descent<O, Start>, point, double>;
constexpr auto schedules = [](auto t) {
  return std::tuple{drx::linear_schedule{0.1, 0.01, 50}(t), drx::exponential_decay{0.1, 0.5, 30}(t),
                    drx::warmup_cosine_decay{0.3, 20, 100, 0.05}(t)};
};
constexpr auto clipped = drx::grad([](auto x) { return drx::sum(drx::sin(drx::clip_by_global_norm(x, 0.7))); });

int main() {
  record<program<mlp_slope, model, images, labels>>("mlp", 0, as_it_is);
  record<program<mlp_curvature, model, model, images, labels>>("mlp_curvature", 0, as_it_is);
  record<program<tuned, model, double, placed<images, clients>, placed<labels, clients>>>("local_sgd", 4, as_it_is);
  record<program<weighted_slope, placed<array<double, 3>, clients>, placed<double, clients>>>(
      "weighted_mean", 5, [](double x) { return 1.5 + x; });
  record<program<extremes_slope, array<double, 4, 6>, array<double, 4>, placed<array<double, 3>, clients>>>(
      "max_ties", 7, [](double x) { return std::round(2 * x) / 2; });
  record<program<functions_slope, array<double, 9>>>("functions", 0, [](double x) { return 0.5 + 0.4 * x; });
  record<program<functions_curvature, array<double, 9>>>("functions_curvature", 0,
                                                         [](double x) { return 0.5 + 0.4 * x; });
  record<program<recurrence_slope, array<double, 3>, array<double, 3, 3>, array<double, 5, 3>>>("recurrence", 0,
                                                                                                as_it_is);
  record<program<recurrence_curvature, array<double, 3>, array<double, 3, 3>, array<double, 5, 3>>>(
      "recurrence_curvature", 0, as_it_is);
  record<program<moved_slope, array<double, 5, 5>, array<double, 6>>>("moved", 0, as_it_is);
  record<program<orders, double, placed<double, clients>>>("orders", 4, as_it_is);
  record<program<transformer_slope, language_model::transformer<small, double>, array<std::int32_t, 3, 6>>>(
      "transformer", 0, as_it_is);
  record<program<bits, drx::prng_key, std::int64_t>>("random_bits", 0, as_it_is);
  record<program<normal, drx::prng_key>>("random_normal", 0, as_it_is);
  record<program<normal_float, drx::prng_key>>("random_normal_float", 0, as_it_is);
  record<program<draws, drx::prng_key>>("random_draws", 0, as_it_is);
  record<descent_program<drx::sgd{}, stateless>>("sgd", 0, as_it_is);
  record<descent_program<drx::momentum{0.9}, from_zero>>("momentum", 0, as_it_is);
  record<descent_program<drx::nesterov{0.9}, from_zero>>("nesterov", 0, as_it_is);
  record<descent_program<drx::adam{}, moments>>("adam", 0, as_it_is);
  record<descent_program<drx::adamw{.decay = 0.1}, moments>>("adamw", 0, as_it_is);
  record<descent_program<drx::yogi{}, small_moments>>("yogi", 0, as_it_is);
  record<descent_program<drx::adagrad{}, from_a_tenth>>("adagrad", 0, as_it_is);
  record<program<schedules, array<double, 40>>>("schedules", 0, [](double x) { return 60 + 60 * x; });
  record<program<clipped, point>>("clip_by_global_norm", 0, as_it_is);
  std::printf("}\n");
}
