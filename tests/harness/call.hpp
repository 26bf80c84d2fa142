// Calls compiled programs on tensors.
#pragma once

#include <drx/core/tensor.hpp>
#include <drx/run/call/compiled.hpp>
#include <drx/run/check/interpreter.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace harness {

using drx::abstract_value;
using drx::tensor;
using tensors = std::vector<tensor>;

namespace detail {
template <class S>
inline constexpr int depth = 0;
template <class S, class P>
inline constexpr int depth<drx::placed<S, P>> = 1 + depth<S>;

inline void gather(const tensor& x, std::size_t level, std::vector<std::vector<std::int64_t>>& offsets,
                   std::vector<std::byte>& bytes) {
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
    return drx::interpreter::from_tensors<X>({in, in + drx::leaf_count<X>});
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
    for (int i = 0; i < drx::leaf_count<S>; ++i)
      out.push_back(members_of(types[i], 0, x.local(), 0, offsets, x.leaf(i)));
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

/// Calls a compiled program; each rank has its own range of placed inputs and results.
template <class Program, class Code>
tensors call(drx::compiled<Program, Code>& p, const drx::communicator& c, const tensors& in,
             const std::vector<std::int64_t>* blocks = nullptr) {
  return [&]<class... X>(std::type_identity<std::tuple<X...>>) {
    std::size_t at = 0;
    const auto next = [&](int leaves) { return in.data() + (at += static_cast<std::size_t>(leaves)) - leaves; };
    // (std::tuple{pair} would be a tuple of the pair's parts.)
    const std::tuple<decltype(detail::host<X>::make(c, blocks, in.data()))...> arguments{
        detail::host<X>::make(c, blocks, next(drx::leaf_count<X>))...};
    tensors out;
    detail::reader<typename Program::result>::read(std::apply([&](const auto&... x) { return p(x...); }, arguments),
                                                   out);
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

}  // namespace harness
