// Runs programs on tensors: on an executor and a communicator, and on the plain interpreter beside it.
#pragma once

#include <doctest/doctest.h>
#include <drx/run/compiled.hpp>
#include <drx/run/oracle.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace harness {

using drx::abstract_value;
using drx::tensor;
using tensors = std::vector<tensor>;

/// What inputs hold. The numbers of nested members differ from parent to parent, and some have none.
struct sample {
  std::int64_t members = 5;    // of placements at the top
  double low = -1, high = 1;   // of floating inputs
  std::int64_t below = 5;      // integer inputs are in [0, below)
  std::int64_t nested = 6;     // nested placements have fewer members than this
  std::uint64_t seed = 1;
};
inline std::int64_t nested_members(const sample& s, std::int64_t path) { return (path * 7 + 3) % s.nested; }

inline tensor random_tensor(const abstract_value& type, const sample& s, std::mt19937_64& r, std::int64_t count, std::int64_t path = 0) {
  tensor x(type);
  if (type.depth > 0) {
    for (std::int64_t m = 0; m < count; ++m)
      x.members.push_back(random_tensor(type.of_member(), s, r, nested_members(s, path * 5 + m), path * 5 + m));
    return x;
  }
  drx::visit_dtype(type.type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        x.data<T>()[i] = static_cast<T>(std::uniform_real_distribution<double>(s.low, s.high)(r));
      } else {
        x.data<T>()[i] = static_cast<T>(static_cast<std::int64_t>(r() >> 1) % (std::is_same_v<T, bool> ? 2 : s.below));
      }
    }
  });
  return x;
}
template <class Program>
tensors random_inputs(const sample& s) {
  std::mt19937_64 r(s.seed);
  tensors in;
  const drx::tape t = Program::tape().thaw();
  for (int i : t.inputs) in.push_back(random_tensor(t.values[i], s, r, s.members));
  return in;
}

// ---- between tensors and what compiled programs take and return ----

namespace detail {
template <class S>
inline constexpr int depth = 0;
template <class S, class P>
inline constexpr int depth<drx::placed<S, P>> = 1 + depth<S>;

inline void gather(const tensor& x, std::size_t level, std::vector<std::vector<std::int64_t>>& offsets, std::vector<std::byte>& bytes) {
  if (x.type.depth == 0) {
    bytes.insert(bytes.end(), x.bytes.begin(), x.bytes.end());
    return;
  }
  if (level > 0) offsets[level - 1].push_back(offsets[level - 1].back() + static_cast<std::int64_t>(x.members.size()));
  for (const tensor& m : x.members) gather(m, level + 1, offsets, bytes);
}
template <class X>
struct host {
  static auto make(const drx::communicator&, const std::vector<std::int64_t>*, const tensor* in) {
    return drx::oracle::from_tensors<X>({in, in + drx::leaf_count<X>});
  }
};
template <class S, class P>
struct host<drx::placed<S, P>> {
  using type = drx::canonical_t<drx::placed<S, P>>;
  static auto make(const drx::communicator& c, const std::vector<std::int64_t>* blocks, const tensor* in) {
    const auto rank = static_cast<std::size_t>(c.rank());
    const auto b = blocks ? *blocks : drx::even_blocks(static_cast<std::int64_t>(in->members.size()), c.size());
    auto owner = std::make_shared<drx::detail::owned_leaves>();
    std::vector<std::byte*> data;
    std::vector<std::vector<std::int64_t>> offsets;
    for (int i = 0; i < drx::leaf_count<S>; ++i) {
      offsets.assign(static_cast<std::size_t>(depth<S>), {0});
      tensor own(in[i].type);
      own.members.assign(in[i].members.begin() + b[rank], in[i].members.begin() + b[rank + 1]);
      std::vector<std::byte> bytes;
      gather(own, 0, offsets, bytes);
      owner->leaf.emplace_back(bytes.size() + 1);
      std::copy(bytes.begin(), bytes.end(), owner->leaf.back().data());
      data.push_back(owner->leaf.back().data());
    }
    return drx::partitions<typename type::member, P>(b, c.rank(), offsets, data, owner);
  }
};

template <class X>
void unpack(const drx::host_t<X>& x, tensors& out);
inline tensor members_of(const abstract_value& type, std::int64_t first, std::int64_t count, std::size_t level,
                         const std::vector<const std::vector<std::int64_t>*>& offsets, const std::byte* data) {
  tensor x(type);
  const auto size = static_cast<std::size_t>(type.shape.size() * drx::byte_size(type.type));
  for (std::int64_t m = first; m < first + count; ++m) {
    if (type.depth == 1) {
      tensor one(type.of_member());
      std::copy_n(data + static_cast<std::size_t>(m) * size, size, one.bytes.data());
      x.members.push_back(std::move(one));
    } else {
      const auto& at = *offsets[level];
      const auto k = static_cast<std::size_t>(m);
      x.members.push_back(members_of(type.of_member(), at[k], at[k + 1] - at[k], level + 1, offsets, data));
    }
  }
  return x;
}
template <class X>
struct reader {
  template <class V>
  static void read(const V& x, tensors& out) {
    drx::structure<V>::visit(x, [&](const auto* p, const drx::shape& s) {
      tensor t(abstract_value(drx::dtype_of<std::remove_cvref_t<decltype(*p)>>, s));
      if (!t.bytes.empty()) std::memcpy(t.bytes.data(), p, t.bytes.size());
      out.push_back(std::move(t));
    });
  }
};
template <class S, class P>
struct reader<drx::placed<S, P>> {
  template <class V>
  static void read(const V& x, tensors& out) {
    constexpr drx::leaf_types<drx::placed<S, P>> types;
    std::vector<const std::vector<std::int64_t>*> offsets;
    for (int k = 0; k < depth<S>; ++k) offsets.push_back(&x.offsets(k));
    for (int i = 0; i < drx::leaf_count<S>; ++i) out.push_back(members_of(types[i], 0, x.local(), 0, offsets, x.leaf(i)));
  }
};
template <class... X>
struct reader<std::tuple<X...>> {
  template <class V>
  static void read(const V& x, tensors& out) {
    std::apply([&](const auto&... part) { (reader<X>::read(part, out), ...); }, x);
  }
};
template <class X, class Y>
struct reader<std::pair<X, Y>> {
  template <class V>
  static void read(const V& x, tensors& out) {
    reader<X>::read(x.first, out);
    reader<Y>::read(x.second, out);
  }
};
}  // namespace detail

/// Calls a compiled program; of placed inputs and results each rank has its block.
template <class Program>
tensors call(drx::compiled<Program>& p, const drx::communicator& c, const tensors& in, const std::vector<std::int64_t>* blocks = nullptr) {
  return [&]<class... X>(std::type_identity<std::tuple<X...>>) {
    std::size_t at = 0;
    const auto next = [&](int leaves) { return in.data() + (at += static_cast<std::size_t>(leaves)) - leaves; };
    const auto arguments = std::tuple{detail::host<X>::make(c, blocks, next(drx::leaf_count<X>))...};
    tensors out;
    detail::reader<typename Program::result>::read(std::apply([&](const auto&... x) { return p(x...); }, arguments), out);
    return out;
  }(std::type_identity<typename Program::inputs>{});
}
template <class Program>
tensors run(drx::executor& e, drx::communicator& c, const tensors& in, const drx::compile_options& options = {}) {
  drx::compiled<Program> p(e, c, options);
  return call(p, c, in);
}
template <class Program>
tensors run_serial(const tensors& in, const drx::compile_options& options = {}) {
  drx::serial_executor e;
  drx::single_rank c;
  return run<Program>(e, c, in, options);
}
template <class Program>
tensors run_plain(const tensors& in, const drx::compile_options& options = {}) {
  drx::oracle::member_counts counts;
  for (const auto& m : options.members) counts.push_back({m.placement, m.count});
  return drx::oracle::run(Program::tape().thaw(), in, counts);
}

// ---- comparing ----

/// Block `rank` of the members of each placed tensor.
inline tensors own_block(tensors all, const std::vector<std::int64_t>& blocks, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  for (tensor& x : all)
    if (x.type.depth > 0) x.members = {x.members.begin() + blocks[r], x.members.begin() + blocks[r + 1]};
  return all;
}
inline bool same_bits(const tensor& a, const tensor& b) {
  if (!(a.type == b.type) || a.members.size() != b.members.size() || a.bytes != b.bytes) return false;
  for (std::size_t m = 0; m < a.members.size(); ++m)
    if (!same_bits(a.members[m], b.members[m])) return false;
  return true;
}
inline bool same_bits(const tensors& a, const tensors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return false;
  return true;
}
/// The largest difference, over the largest element or 1; infinite where the types or counts differ.
inline double distance(const tensor& a, const tensor& b) {
  if (!(a.type == b.type) || a.members.size() != b.members.size() || a.bytes.size() != b.bytes.size()) return HUGE_VAL;
  double most = 0;
  for (std::size_t m = 0; m < a.members.size(); ++m) most = std::max(most, distance(a.members[m], b.members[m]));
  if (a.type.depth > 0) return most;
  drx::visit_dtype(a.type.type, [&]<class T>(T) {
    double scale = 1;
    for (std::int64_t i = 0; i < a.size(); ++i)
      if (const auto y = static_cast<double>(b.data<T>()[i]); std::isfinite(y)) scale = std::max(scale, std::abs(y));
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(a.data<T>()[i]), y = static_cast<double>(b.data<T>()[i]);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double d = std::abs(x - y) / scale;
      most = std::max(most, std::isnan(d) || !std::is_floating_point_v<T> ? HUGE_VAL : d);
    }
  });
  return most;
}
inline double tolerance(drx::dtype t) { return t == drx::dtype::float32 ? 1e-5 : 1e-12; }
inline void check_near(const tensors& got, const tensors& expected, double slack = 1) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].type == expected[i].type);
    CHECK(distance(got[i], expected[i]) <= slack * tolerance(got[i].type.type));
  }
}

/// The program on one thread against the plain interpreter, twice in the same workspace, for several numbers of members.
template <class Program>
void check_run(sample s = {}, std::vector<std::int64_t> members = {5, 0, 1, 2, 37}, const drx::compile_options& options = {}) {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<Program> p(e, c, options);
  for (std::int64_t n : members) {
    CAPTURE(n);
    s.members = n;
    ++s.seed;
    const tensors in = random_inputs<Program>(s), expected = run_plain<Program>(in, options);
    const tensors got = call(p, c, in);
    check_near(got, expected, 1 + static_cast<double>(n) / 32);
    CHECK_MESSAGE(same_bits(call(p, c, in), got), "the second call");
  }
}

}  // namespace harness
