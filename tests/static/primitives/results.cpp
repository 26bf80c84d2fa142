// The type of each primitive's result: shapes, element types, placements.
#include <drx/drx.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

namespace {

struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};

template <class T, std::int64_t... E>
using A = drx::array<T, E...>;
template <class X, class P>
using at = drx::placed<X, P>;
template <class X>
X of();

// IS(expression, type). No expression here is evaluated.
#define IS(expression, ...) static_assert(std::same_as<decltype(expression), __VA_ARGS__>)
#define COMMA ,
using v3 = A<float, 3>;
using m34 = A<float, 3, 4>;
using i3 = A<std::int32_t, 3>;
using b3 = A<bool, 3>;
using d3 = A<double, 3>;
using scalar = A<float>;

// Arithmetic: NumPy's broadcasting, one element type, literals take the array's.
IS(of<v3>() + of<v3>(), v3);
IS(of<v3>() * 2, v3);
IS(0.5 * of<v3>(), v3);
IS(of<v3>() - of<scalar>(), v3);
IS(of<i3>() / 2, i3);
IS(-of<i3>(), i3);
IS((of<m34>() + of<A<float, 4>>()), m34);
IS((of<A<float, 3, 1>>() + of<A<float, 4>>()), m34);
IS((of<A<float, 3, 1>>() * of<A<float, 1, 4>>()), m34);
IS(drx::max(of<v3>(), 0), v3);
IS(drx::min(of<v3>(), of<v3>()), v3);
IS(drx::maximum(of<v3>(), 0), v3);
IS(drx::minimum(of<m34>(), of<scalar>()), m34);
IS(of<v3>() % 2, v3);
IS(drx::mod(7, of<i3>()), i3);

// Comparisons: of bool.
IS(of<v3>() < of<v3>(), b3);
IS(of<v3>() >= 0, b3);
IS(of<i3>() == 1, b3);
IS(of<i3>() != of<i3>(), b3);
IS(!of<b3>(), b3);
IS(of<b3>() && of<b3>(), b3);
IS(drx::where(of<b3>(), of<v3>(), 0), v3);
IS(drx::where(of<A<bool, 4>>(), of<m34>(), of<scalar>()), m34);

// Casts and elementary functions.
IS(drx::cast<double>(of<v3>()), d3);
IS(drx::cast<int>(of<b3>()), i3);
IS(drx::stop_gradient(of<v3>()), v3);
IS(drx::exp(of<v3>()), v3);
IS(drx::tanh(of<d3>()), d3);
IS(drx::abs(of<i3>()), i3);
IS(drx::pow(of<v3>(), 2), v3);
IS(drx::exp2(of<v3>()), v3);
IS(drx::cbrt(of<d3>()), d3);
IS(drx::sinh(of<v3>()), v3);
IS(drx::cosh(of<v3>()), v3);
IS(drx::asinh(of<v3>()), v3);
IS(drx::acosh(of<v3>()), v3);
IS(drx::atanh(of<v3>()), v3);
IS(drx::asin(of<v3>()), v3);
IS(drx::acos(of<v3>()), v3);
IS(drx::atan(of<v3>()), v3);
IS(drx::atan2(of<v3>(), of<scalar>()), v3);
IS(drx::atan2(1, of<d3>()), d3);
IS(drx::erf(of<v3>()), v3);
IS(drx::erfc(of<v3>()), v3);
IS(drx::lgamma(of<v3>()), v3);
IS(drx::digamma(of<v3>()), v3);
IS(drx::polygamma<2>(of<v3>()), v3);
IS(drx::round(of<v3>()), v3);
IS(drx::gelu(of<v3>()), v3);
IS(drx::softplus(of<v3>()), v3);
IS(drx::isnan(of<v3>()), b3);
IS(drx::isinf(of<v3>()), b3);
IS(drx::isfinite(of<d3>()), b3);
IS(drx::gelu_tanh(of<d3>()), d3);
IS(drx::fma(of<A<float, 3, 1>>(), of<A<float, 4>>(), 1), m34);
IS(drx::fma(of<scalar>(), 2, of<v3>()), v3);

// Reductions over axes.
IS(drx::sum(of<m34>()), scalar);
IS(drx::sum<0>(of<m34>()), A<float, 4>);
IS(drx::max<1>(of<m34>()), v3);
IS(drx::min<-1>(of<m34>()), v3);
IS((drx::sum<0, 2>(of<A<float, 2, 4, 3>>())), A<float, 4>);
IS(drx::mean(of<v3>()), scalar);
IS(drx::mean(of<i3>()), A<double>);
IS(drx::argmax(of<v3>()), A<std::int32_t>);
IS(drx::sum<0>(of<m34>(), drx::keepdims), A<float, 1, 4>);
IS(drx::argmin(of<m34>(), drx::keepdims), A<std::int32_t, 3, 1>);
IS(drx::norm<1>(of<m34>()), v3);
IS(drx::var(of<i3>(), drx::ddof<1>), A<double>);
IS(drx::stddev<0>(of<m34>(), drx::keepdims, drx::ddof<2>), A<float, 1, 4>);

// Products.
IS(drx::matmul(of<m34>(), of<A<float, 4, 5>>()), A<float, 3, 5>);
IS(drx::matmul(of<m34>(), of<A<float, 4>>()), v3);
IS(drx::matmul(of<v3>(), of<m34>()), A<float, 4>);
IS(drx::matmul(of<v3>(), of<v3>()), scalar);
IS(drx::dot(of<v3>(), of<v3>()), scalar);
IS(drx::matmul(of<A<float, 7, 3, 4>>(), of<A<float, 4, 5>>()), A<float, 7, 3, 5>);
IS(drx::matmul(of<A<float, 7, 3, 4>>(), of<A<float, 7, 4, 5>>()), A<float, 7, 3, 5>);
IS(drx::matmul(of<A<float, 2, 1, 3, 4>>(), of<A<float, 7, 4, 5>>()), A<float, 2, 7, 3, 5>);

IS((drx::einsum<"ij,jk->ki">(of<m34>(), of<A<float, 4, 5>>())), A<float, 5, 3>);
IS(drx::einsum<"...ii">(of<A<int, 2, 3, 3>>()), A<int, 2>);
IS(drx::outer(of<m34>(), of<v3>()), A<float, 12, 3>);

// Linear algebra: matrices are the last two axes.
using m44 = A<float, 7, 4, 4>;
IS(drx::cholesky(of<m44>()), m44);
IS(drx::inverse(of<m44>()), m44);
IS(drx::diagonal(of<m34>()), v3);
IS(drx::diagonal(of<A<bool, 2, 5, 4>>()), A<bool, 2, 4>);
IS(drx::diagonal_matrix(of<i3>()), A<std::int32_t, 3, 3>);
IS(drx::diagonal_matrix(of<m34>()), A<float, 3, 4, 4>);
IS(drx::determinant(of<m44>()), A<float, 7>);
IS(drx::tril<1>(of<A<bool, 2, 5, 4>>()), A<bool, 2, 5, 4>);
IS(drx::triu(of<m34>()), m34);
IS(drx::eigh(of<m44>()), std::pair<A<float, 7, 4>, m44>);
IS(drx::qr(of<A<float, 2, 4, 3>>()), std::pair<A<float, 2, 4, 3>, A<float, 2, 3, 3>>);
IS(drx::svd(of<A<float, 2, 4, 3>>()), std::tuple<A<float, 2, 4, 3>, A<float, 2, 3>, A<float, 2, 3, 3>>);
IS(drx::svd(of<m34>()), std::tuple<A<float, 3, 3>, v3, m34>);
IS(drx::logdet(of<A<double, 4, 4>>()), A<double>);
IS(drx::solve(of<m44>(), of<A<float, 4>>()), A<float, 7, 4>);
IS(drx::solve(of<A<float, 4, 4>>(), of<A<float, 7, 4, 2>>()), A<float, 7, 4, 2>);
IS(drx::triangular_solve<drx::upper>(of<m44>(), of<A<float, 4, 2>>()), A<float, 7, 4, 2>);
IS(drx::triangular_solve<drx::from_right>(of<m44>(), of<A<float, 2, 4>>()), A<float, 7, 2, 4>);

// Convolutions and pooling: channels are the last axis.
IS(drx::conv1d(of<A<float, 7, 5, 3>>(), of<A<float, 2, 3, 6>>()), A<float, 7, 4, 6>);
IS(drx::conv2d<drx::same>(of<A<float, 7, 5, 5, 3>>(), of<A<float, 2, 2, 3, 6>>()), A<float, 7, 5, 5, 6>);
IS(drx::conv2d<drx::strides<2 COMMA 1>>(of<A<int, 5, 5, 3>>(), of<A<int, 2, 2, 3, 6>>()), A<int, 2, 4, 6>);
IS(drx::max_pool<drx::window<2 COMMA 2>>(of<A<int, 7, 5, 4, 3>>()), A<int, 7, 2, 2, 3>);
IS(drx::avg_pool<drx::window<2>>(of<A<float, 5, 4, 3>>()), A<float, 5, 2, 3>);

// Layout.
IS((drx::reshape<2, 6>(of<m34>())), A<float, 2, 6>);
IS(drx::reshape<>(of<A<float, 1>>()), scalar);
IS(drx::transpose(of<m34>()), A<float, 4, 3>);
IS((drx::transpose<2, 0, 1>(of<A<float, 2, 3, 4>>())), A<float, 4, 2, 3>);
IS((drx::broadcast_to<2, 3>(of<v3>())), A<float, 2, 3>);
IS((drx::slice<1, 3>(of<v3>())), A<float, 2>);
IS(drx::expand_dims<-1>(of<v3>()), A<float, 3, 1>);
IS(drx::squeeze(of<A<int, 1, 3, 1>>()), i3);
IS((drx::tile<2, 1>(of<v3>())), A<float, 2, 3>);
IS((drx::repeat<2, -1>(of<m34>())), A<float, 3, 8>);
IS(drx::linspace<v3>(0, of<scalar>()), v3);
IS(drx::concatenate(of<m34>(), of<m34>()), A<float, 6, 4>);
IS((drx::one_hot<float, 10>(of<i3>())), A<float, 3, 10>);
IS((drx::identity<A<float, 3, 3>>()), A<float, 3, 3>);
IS(drx::softmax(of<m34>()), m34);
IS(drx::softmax_cross_entropy(of<m34>(), of<i3>()), v3);

// Random numbers.
using key = drx::prng_key;
IS(drx::random_key(1), key);
IS(drx::random_key(of<A<std::int64_t>>()), key);
IS(drx::fold_in(of<key>(), 3), key);
IS(drx::split<5>(of<key>()), A<std::int32_t, 5, 2>);
IS((drx::random_bits<std::int64_t, 3>(of<key>())), A<std::int64_t, 3>);
IS((drx::uniform<float, 3, 4>(of<key>(), -1, of<A<float, 4>>())), m34);
IS((drx::normal<double, 3>(of<key>())), d3);
IS(drx::bernoulli<3>(of<key>(), of<scalar>()), b3);
IS((drx::exponential<double, 3>(of<key>())), d3);
IS((drx::gumbel<float, 3, 4>(of<key>())), m34);
IS(drx::categorical(of<key>(), of<m34>()), i3);
IS((drx::categorical<7, 3>(of<key>(), of<m34>())), A<std::int32_t, 7, 3>);
IS(drx::permutation<7>(of<key>()), A<std::int32_t, 7>);
IS(drx::erfinv(of<m34>()), m34);
// Parts and elements at traced positions.
using position = A<std::int32_t>;
IS((drx::dynamic_slice<2, 1>(of<m34>(), of<position>(), 3)), A<float, 2, 1>);
IS(drx::dynamic_slice<2>(of<m34>(), of<position>()), A<float, 2, 4>);
IS(drx::update_slice(of<m34>(), of<A<float, 1, 4>>(), of<position>()), m34);
IS(drx::index(of<m34>(), of<position>()), A<float, 4>);
IS(drx::index(of<m34>(), of<position>(), of<A<std::int64_t>>()), scalar);
IS(drx::take(of<m34>(), of<i3>()), m34);
IS((drx::take<1>(of<m34>(), of<A<std::int64_t, 2, 5>>())), A<float, 3, 2, 5>);
IS(drx::take<-1>(of<m34>(), 2), v3);
IS(drx::take_along<0>(of<m34>(), of<A<std::int32_t, 7, 4>>()), A<float, 7, 4>);
IS(drx::scatter_add<1>(of<m34>(), of<A<std::int32_t, 9>>(), of<A<float, 3, 9>>()), m34);

// Folds along an axis, and orders.
IS(drx::flip<0>(of<m34>()), m34);
IS(drx::prod<0>(of<m34>()), A<float, 4>);
IS(drx::prod(of<i3>()), A<std::int32_t>);
IS(drx::cumsum<0>(of<m34>()), m34);
IS((drx::cumprod<-1, drx::direction::backward>(of<i3>())), i3);
IS(drx::sort(of<b3>()), b3);
IS(drx::argsort<0>(of<A<double, 3, 4>>()), A<std::int32_t, 3, 4>);

// Calls of ordinary C++.
constexpr auto norm = [](const auto& x) { return x[0] * x[0] + x[1] * x[1]; };
constexpr auto rows_and_one = [](const auto& x, const auto& n) { return std::tuple{x[0], std::array{x, x}, n * 2, 1}; };
IS(drx::call(norm, of<A<float, 2>>()), scalar);
IS(drx::call<drx::ad::reverse>(norm, of<A<double, 2>>()), A<double>);
IS(drx::call(rows_and_one, of<m34>(), of<A<std::int32_t>>()),
   std::tuple<A<float, 4>, A<float, 2, 3, 4>, scalar, scalar>);

// To a placement, within it, and back.
using placed_v3 = at<v3, clients>;
constexpr auto total = [](auto x) { return drx::sum(x); };
IS(drx::broadcast<clients>(of<v3>()), placed_v3);
IS(drx::map(total, of<placed_v3>()), at<scalar, clients>);
IS(of<placed_v3>() + of<placed_v3>(), placed_v3);
IS(2 * of<placed_v3>(), placed_v3);
IS(-of<placed_v3>(), placed_v3);
IS(drx::reduce_sum(of<placed_v3>()), v3);
IS(drx::reduce_mean(of<placed_v3>()), v3);
IS(drx::reduce_max(of<placed_v3>()), v3);
IS(drx::reduce_mean(of<at<i3, clients>>()), d3);
IS(drx::partition_index<clients>(), at<A<std::int64_t>, clients>);

// Placements nest: pupils in clients.
using nested = at<at<v3, pupils>, clients>;
constexpr auto class_mean = [](auto x) { return drx::reduce_mean(x); };
IS(drx::map([](auto x) { return drx::map(total, x); }, of<nested>()), at<at<scalar, pupils>, clients>);
IS(drx::map(class_mean, of<nested>()), placed_v3);
IS(drx::reduce_sum(drx::map(class_mean, of<nested>())), v3);
IS(of<nested>() + of<nested>(), nested);
IS(drx::map([](auto x) { return drx::broadcast<pupils>(x); }, of<placed_v3>()), nested);

// Loops.
IS(drx::fori_loop<4>(of<v3>(), [](auto x) { return x * 2; }), v3);
IS(drx::fori_loop<4>(of<v3>(), [](auto i, auto x) { return x * drx::cast<float>(i); }), v3);
IS(drx::fori_loop<4>(of<v3>(), [](auto x) { return x * 2; }, drx::keep_all), v3);
IS(drx::while_loop([](auto x) { return drx::sum(x) < 1; }, [](auto x) { return x * 2; }, of<v3>()), v3);
IS(drx::while_loop<9>([](auto x) { return drx::sum(x) < 1; }, [](auto i, auto x) { return x * drx::cast<float>(i); },
                      of<v3>()),
   v3);
IS(drx::cond(of<A<bool>>(), [](auto x) { return x; }, [](auto x) { return -x; }, of<v3>()), v3);
IS(drx::switch_case(
       of<A<int>>(), [] { return std::pair<v3, i3>(); }, [] { return std::pair<v3, i3>(); }),
   std::pair<v3, i3>);
IS(drx::scan([](auto c, auto x) { return std::pair{c + x, c * x}; }, of<scalar>(), of<v3>()), std::pair<scalar, v3>);
IS(drx::scan([](auto c, auto x) { return std::pair{c + x.first, std::pair{x.second, c}}; }, of<scalar>(),
             of<std::pair<v3, A<float, 3, 2>>>()),
   std::pair<scalar, std::pair<A<float, 3, 2>, v3>>);

}  // namespace
