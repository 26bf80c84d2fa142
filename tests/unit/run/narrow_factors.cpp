// Members' products of rows with vectors read rows of 16 bits as they are: the bits are those of the numbers that these
// are cast to, which are not stored.
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/thread_executor.hpp"

using drx::array;
using drx::bfloat16;
using drx::float16;
using drx::program;

namespace {
struct rows : drx::placement<rows> {};

/// A logistic regression over rows that are cast to T: value, gradient and each row's loss.
template <class T>
constexpr auto logistic = [](auto w, auto data) {
  auto row_loss = [](auto v, auto r) {
    auto [x, y] = r;
    auto z = drx::dot(drx::cast<T>(x), v);
    return drx::max(z, 0) + drx::log1p(drx::exp(-drx::abs(z))) - y * z;
  };
  auto losses = [=](auto v) { return drx::map(row_loss, drx::broadcast<rows>(v), data); };
  return std::pair{drx::value_and_grad([=](auto v) { return drx::reduce_mean(losses(v)); })(w), losses(w)};
};
/// The same where something else reads the cast rows.
template <class T>
constexpr auto with_another_reader = [](auto w, auto data) {
  auto of_row = [](auto v, auto r) {
    auto [x, y] = r;
    auto wide = drx::cast<T>(x);
    return drx::dot(wide, v) * y + drx::max(wide);
  };
  return drx::value_and_grad([=](auto v) { return drx::reduce_mean(drx::map(of_row, drx::broadcast<rows>(v), data)); })(
      w);
};
template <auto F, class X, class T, int N>
using regression = program<F, array<T, N>, drx::placed<std::tuple<array<X, N>, drx::scalar<T>>, rows>>;

/// The casts to numbers of more than 16 bits in bodies for blocks.
template <class Program>
int casts_in_blocks() {
  const drx::tape t = drx::plan::lowered_t<Program>::tape.thaw();
  int n = 0;
  for (const drx::entry& e : t.entries)
    if (e.prim == &drx::prim::stage)
      for (int i = 1; i < e.regions.size(); ++i)
        for (const drx::entry& x : e.regions[i].entries) n += drx::plan::is_widening(e.regions[i], x);
  return n;
}
/// Compares with the plain interpreter on one thread, and the bits on several with it.
template <class Half, class T, int N>
void check_regression() {
  CAPTURE(N);
  using Narrow = regression<logistic<T>, Half, T, N>;
  const std::vector<std::int64_t> members{0, 1, 7, 8, 31, 33, 256, 263, 304, 1031};
  harness::check_run<Narrow>({}, members);
  drx::single_rank c;
  drx::serial_executor alone;
  harness::thread_executor three(3);
  drx::compiled<Narrow> on_one(alone, c), on_three(three, c);
  for (std::int64_t n : members) {
    CAPTURE(n);
    const harness::tensors in = harness::random_inputs<Narrow>({.members = n});
    CHECK(harness::same_bits(harness::call(on_three, c, in), harness::call(on_one, c, in)));
  }
}
/// Whether a block's dot products run before the last products of the one in front.
template <class Program>
bool blocks_overlap() {
  using C = drx::run::code_of<Program>;
  for (int e = 0; e < C::sizes.entries; ++e)
    if (C::tape.entries[e].prim == &drx::prim::stage && drx::run::steps_ahead<C>(e) > 0) return true;
  return false;
}
/// x, or each of its members, as floats.
drx::tensor as_floats(const drx::tensor& x) {
  if (x.type.depth == 0) return drx::to_floats(x);
  drx::tensor y = x;
  y.type = x.type.with_type(drx::detail::computed_type(x.type.type));
  for (drx::tensor& m : y.members) m = as_floats(m);
  return y;
}
/// The same program over rows of float gives the same bits for their casts.
template <class Half, int N>
void check_bits() {
  CAPTURE(N);
  using Narrow = regression<logistic<float>, Half, float, N>;
  using Wide = regression<logistic<float>, float, float, N>;
  drx::single_rank c;
  drx::serial_executor alone;
  drx::compiled<Narrow> narrow(alone, c);
  drx::compiled<Wide> wide(alone, c);
  for (std::int64_t n : {1, 8, 33, 263, 1031}) {
    CAPTURE(n);
    const harness::tensors in = harness::random_inputs<Narrow>({.members = n});
    harness::tensors cast = in;
    for (drx::tensor& x : cast) x = as_floats(x);
    CHECK(harness::same_bits(harness::call(wide, c, cast), harness::call(narrow, c, in)));
  }
}
}  // namespace

TEST_CASE_TEMPLATE("a regression over rows of 16 bits", Half, bfloat16, float16) {
  check_regression<Half, float, 100>();
  check_bits<Half, 24>();
  check_bits<Half, 100>();
}
TEST_CASE("a regression in double over rows of 16 bits") { check_regression<bfloat16, double, 40>(); }

TEST_CASE_TEMPLATE("the cast rows of a block are not stored", Half, bfloat16, float16) {
  using Narrow = regression<logistic<float>, Half, float, 100>;
  CHECK(casts_in_blocks<Narrow>() == 0);
  CHECK(blocks_overlap<Narrow>());
  CHECK(drx::plan::lowered_t<Narrow>::plan.thread_bytes < 8 * 100 * static_cast<int>(sizeof(float)));
}

TEST_CASE("cast rows with other readers are stored") {
  using Program = regression<with_another_reader<float>, bfloat16, float, 100>;
  CHECK(casts_in_blocks<Program>() > 0);
  harness::check_run<Program>({}, {0, 1, 31, 70, 300});
}

TEST_CASE_TEMPLATE("matrices of 16 bits without members, times vectors", Half, bfloat16, float16) {
  static constexpr auto f = [](auto a, auto v, auto w) {
    auto m = drx::cast<float>(a);
    auto t = drx::transpose(m);
    return std::tuple{drx::matmul(m, v), drx::matmul(t, w), drx::matmul(drx::transpose(w), m),
                      drx::matmul(drx::transpose(v), t)};
  };
  using Program = program<f, array<Half, 40, 33>, array<float, 33, 1>, array<float, 40, 1>>;
  CHECK(drx::plan::lowered_t<Program>::plan.server_bytes < 40 * 33 * static_cast<int>(sizeof(float)));
  harness::check_run<Program>();
}
