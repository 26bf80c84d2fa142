#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <algorithm>
#include <string>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;
using drx::tensor;

namespace {
struct clients : drx::placement<clients> {};
template <drx::meta::literal L, class... A>
concept has = requires(const A&... a) { drx::einsum<L>(a...); };
template <class A, class B>
concept has_outer = requires(const A& a, const B& b) { drx::outer(a, b); };

/// One operand's letters, `...` written as digits: 9 its last axis.
std::string labels_of(std::string part, int rank) {
  part.erase(std::remove(part.begin(), part.end(), ' '), part.end());
  const auto dots = part.find("...");
  if (dots == std::string::npos) return part;
  const int axes = rank - static_cast<int>(part.size()) + 3;
  std::string digits;
  for (int k = axes; k > 0; --k) digits += static_cast<char>('0' + 10 - k);
  return part.replace(dots, 3, digits);
}
/// The definition: for each assignment of numbers to labels, the product of the operands' elements is added to the
/// result's.
tensor by_hand(const std::string& spec, const std::vector<tensor>& x, tensor y) {
  const auto arrow = spec.find("->");
  std::vector<std::string> in;
  std::string rest = spec.substr(0, arrow), labels;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto comma = rest.find(',');
    in.push_back(labels_of(rest.substr(0, comma), x[k].type.shape.rank));
    if (comma != std::string::npos) rest = rest.substr(comma + 1);
    for (char c : in.back())
      if (labels.find(c) == std::string::npos) labels += c;
  }
  const std::string out = labels_of(spec.substr(arrow + 2), y.type.shape.rank);
  std::vector<std::int64_t> extent(labels.size(), 1), at(labels.size(), 0);
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t i = 0; i < in[k].size(); ++i) {
      auto& n = extent[labels.find(in[k][i])];
      n = std::max(n, x[k].type.shape[static_cast<int>(i)]);
    }
  auto element = [&](const tensor& t, const std::string& names) {
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto n = t.type.shape[static_cast<int>(i)];
      flat = flat * n + (n == 1 ? 0 : at[labels.find(names[i])]);
    }
    return flat;
  };
  for (bool more = true; more;) {
    double product = 1;
    for (std::size_t k = 0; k < x.size(); ++k) product *= x[k].data<double>()[element(x[k], in[k])];
    y.data<double>()[element(y, out)] += product;
    more = false;
    for (std::size_t l = labels.size(); l > 0 && !more; --l) {
      more = ++at[l - 1] < extent[l - 1];
      if (!more) at[l - 1] = 0;
    }
  }
  return y;
}
/// The result has the type Y, and is what the definition says; `with_arrow` where the letters have no result.
template <drx::meta::literal L, class Y, class... A>
void check(const char* with_arrow = L.text) {
  CAPTURE(with_arrow);
  static constexpr auto f = [](auto... x) { return drx::einsum<L>(x...); };
  using P = program<f, A...>;
  static_assert(std::is_same_v<typename P::result, Y>);
  const drx::tape t = P::tape().thaw();
  harness::random r(1);
  harness::tensors x;
  for (int i : t.inputs) x.push_back(harness::random_tensor(t.values[i], {}, r));
  CHECK(harness::close(interpreter::run(t, x)[0], by_hand(with_arrow, x, tensor(t.values[t.outputs[0]]))));
  harness::check_program<P>();
}
template <std::int64_t... E>
using d = array<double, E...>;
}  // namespace

TEST_CASE("products of matrices in all layouts, batches, inner and outer products") {
  check<"ij,jk->ik", d<2, 4>, d<2, 3>, d<3, 4>>();
  check<"ij,kj->ki", d<4, 2>, d<2, 3>, d<4, 3>>();
  check<"ji,jk->ki", d<4, 2>, d<3, 2>, d<3, 4>>();
  check<"bij,bjk->bik", d<2, 2, 2>, d<2, 2, 3>, d<2, 3, 2>>();
  check<"bij,jk->kbi", d<2, 3, 2>, d<3, 2, 4>, d<4, 2>>();
  check<"ibj,jkb->bki", d<2, 3, 2>, d<2, 2, 3>, d<3, 3, 2>>();
  check<"i,i->", d<>, d<3>, d<3>>();
  check<"i,j->ij", d<3, 2>, d<3>, d<2>>();
  check<"i,j->ji", d<2, 3>, d<3>, d<2>>();
  check<"bi,bi->b", d<2>, d<2, 3>, d<2, 3>>();
  check<"ij,ij->ij", d<2, 3>, d<2, 3>, d<2, 3>>();
  check<"abcd,cdef->abef", d<2, 1, 3, 2>, d<2, 1, 2, 3>, d<2, 3, 3, 2>>();
  check<"abc,cab->", d<>, d<2, 1, 3>, d<3, 2, 1>>();
}

TEST_CASE("of one operand: transposes, sums, traces and diagonals") {
  check<"ij->ji", d<3, 2>, d<2, 3>>();
  check<"ij->", d<>, d<2, 3>>();
  check<"ijk->ki", d<4, 2>, d<2, 3, 4>>();
  check<"ii->", d<>, d<3, 3>>();
  check<"ii->i", d<3>, d<3, 3>>();
  check<"iji->j", d<2>, d<3, 2, 3>>();
  check<"iii->i", d<2>, d<2, 2, 2>>();
  check<"ijij->ji", d<3, 2>, d<2, 3, 2, 3>>();
  check<"->", d<>, d<>>();
}

TEST_CASE("letters that one operand has, numbers, more operands, a missing result") {
  check<"ij,k->k", d<2>, d<2, 3>, d<2>>();
  check<"ii,ij->j", d<2>, d<3, 3>, d<3, 2>>();
  check<",ij->ij", d<2, 3>, d<>, d<2, 3>>();
  check<"i,ij,j->", d<>, d<2>, d<2, 3>, d<3>>();
  check<"ij,jk,kl->il", d<2, 2>, d<2, 3>, d<3, 2>, d<2, 2>>();
  check<"bi,bj,ijk->bk", d<2, 2>, d<2, 3>, d<2, 2>, d<3, 2, 2>>();
  check<"ij,jk", d<2, 4>, d<2, 3>, d<3, 4>>("ij,jk->ik");
  check<"ba", d<3, 2>, d<2, 3>>("ba->ab");
  check<"ii", d<>, d<2, 2>>("ii->");
  check<" i j , j -> i ", d<2>, d<2, 3>, d<3>>();
}

TEST_CASE("further axes, which broadcast") {
  check<"...ij,...jk->...ik", d<2, 3, 2, 2>, d<2, 1, 2, 3>, d<3, 3, 2>>();
  check<"...,...->...", d<2, 3>, d<2, 3>, d<3>>();
  check<"i...->...i", d<2, 3, 2>, d<2, 2, 3>>();
  check<"...i,i->...", d<4, 2>, d<4, 2, 3>, d<3>>();
  check<"...i,...i", d<2>, d<1, 3>, d<2, 3>>("...i,...i->...");
  check<"i...j,j->i...", d<2>, d<2, 3>, d<3>>();
}

TEST_CASE("no elements: sums of nothing") {
  static constexpr auto f = [](auto x, auto y) {
    return std::tuple{drx::einsum<"ij,jk->ik">(x, y), drx::einsum<"ii">(drx::matmul(drx::transpose(x), x))};
  };
  using P = program<f, d<2, 0>, d<0, 2>>;
  const auto [product, trace] = interpreter::call<P>(d<2, 0>{}, d<0, 2>{});
  for (double x : product) CHECK(x == 0);
  CHECK(trace == 0);
}

TEST_CASE("which letters and operands are taken") {
  using m23 = d<2, 3>;
  static_assert(has<"ij,jk->ik", array<int, 2, 3>, array<int, 3, 2>> && has<"ij", m23> && has<"i...", m23>);
  static_assert(!has<"ij,jk->ik", m23, m23> && !has<"ijk", m23> && !has<"i", m23> && !has<"ij->ii", m23> &&
                !has<"ij->k", m23>);
  static_assert(!has<"ij,", m23> && !has<"ij,ij", m23> && !has<"ij", m23, m23> && !has<"i1", m23> &&
                !has<"ij->i->j", m23> && !has<"ij-", m23>);
  static_assert(!has<"...ij->ij", d<2, 2, 3>> && !has<"ij->...ij", m23> && !has<"......", m23> && !has<"i..j", m23>);
  static_assert(!has<"ij,jk", m23, array<float, 3, 2>> && !has<"ij", array<bool, 2, 3>> &&
                !has<"ij", drx::placed<m23, clients>>);
  static_assert(has<"abcde,fgh->abcdefgh", d<1, 1, 1, 1, 2>, d<1, 1, 2>> &&
                !has<"abcde,fghi->abcdefghi", d<1, 1, 1, 1, 2>, d<1, 1, 1, 1>>);
  static_assert(has_outer<m23, d<>> && has_outer<array<int, 2>, array<int, 3>> && !has_outer<m23, array<float, 2>> &&
                !has_outer<array<bool, 2>, array<bool, 2>>);
}

TEST_CASE("a product of matrices is one, without a transpose") {
  constexpr auto f = [](auto x, auto y) { return drx::einsum<"kbi,kj->bij">(x, y); };
  const drx::tape t = program<f, d<5, 2, 3>, d<5, 4>>::tape().thaw();
  int products = 0, transposes = 0;
  for (const auto& e : t.entries) {
    products += e.prim == &drx::prim::matmul;
    transposes += e.prim == &drx::prim::transpose;
  }
  CHECK(products == 1);
  CHECK(transposes == 0);
}

TEST_CASE("the outer product") {
  constexpr auto f = [](auto x, auto y) { return drx::outer(x, y); };
  using P = program<f, d<2, 2>, d<3>>;
  const auto z = interpreter::call<P>(d<2, 2>{1, 2, 3, 4}, d<3>{1, 10, 100});
  static_assert(std::is_same_v<P::result, d<4, 3>>);
  for (int i = 0; i < 12; ++i) CHECK(z[i] == (i / 3 + 1) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 10 : 100));
  harness::check_program<P>();
}
