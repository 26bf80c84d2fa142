// bench/zoo/program.cpp: one program of the zoo, with its arguments read from files: ZOO_HEADER is its header and
// ZOO_NAMESPACE its namespace. This file holds neither Kokkos nor MPI, so that compiling it takes what the program
// costs.
#include "driver.hpp"
#include ZOO_HEADER

#include <drx/run/call/compiled.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace {

using program = ZOO_NAMESPACE::Program;

std::vector<char> bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Reads the leaves of the arguments, one file each, in their order.
struct reader {
  std::string folder;
  drx::communicator& ranks;
  int next = 0;

  [[nodiscard]] std::vector<char> leaf() { return bytes_of(folder + "/" + std::to_string(next++)); }

  template <class X>
  drx::host_t<X> argument(std::type_identity<X>) {
    drx::host_t<X> x{};
    drx::structure<drx::host_t<X>>::visit(x, [&](auto* p, const drx::shape& s) {
      const auto from = leaf();
      if (from.size() != static_cast<std::size_t>(s.size()) * sizeof(*p))
        throw std::runtime_error("argument " + std::to_string(next - 1) + " has another size than the program takes");
      std::memcpy(p, from.data(), from.size());
    });
    return x;
  }
  template <class S, class P>
  drx::partitions<drx::canonical_t<S>, P> argument(std::type_identity<drx::placed<S, P>>) {
    constexpr drx::leaf_types<S> types;
    auto owner = std::make_shared<std::vector<drx::buffer>>();
    std::vector<std::byte*> data;
    std::vector<std::int64_t> blocks;
    for (int i = 0; i < drx::leaf_count<S>; ++i) {
      const auto from = leaf();
      const std::int64_t each = types[i].shape.size() * drx::byte_size(types[i].type);
      const std::int64_t members = static_cast<std::int64_t>(from.size()) / each;
      if (blocks.empty()) blocks = drx::even_blocks(members, ranks.size());
      if (blocks.back() != members || members * each != static_cast<std::int64_t>(from.size()))
        throw std::runtime_error("argument " + std::to_string(next - 1) + " has another size than its members");
      const auto rank = static_cast<std::size_t>(ranks.rank());
      const std::int64_t begin = blocks[rank] * each, size = (blocks[rank + 1] - blocks[rank]) * each;
      owner->emplace_back(static_cast<std::size_t>(size));
      if (size > 0) std::memcpy(owner->back().data(), from.data() + begin, static_cast<std::size_t>(size));
      data.push_back(owner->back().data());
    }
    return {blocks, ranks.rank(), {}, data, owner};
  }
};

template <class... X>
auto read_all(reader r, std::type_identity<std::tuple<X...>>) {
  return std::tuple{r.argument(std::type_identity<X>{})...};  // braces: from left to right
}

/// Appends all numbers of a result; of a placed one, those of all ranks.
struct appender {
  drx::communicator& ranks;
  std::vector<double> all{};

  template <class X>
  void append(const X& x) {
    drx::structure<X>::visit(x, [&](const auto* p, const drx::shape& s) { all.insert(all.end(), p, p + s.size()); });
  }
  template <class... X>
  void append(const std::tuple<X...>& x) {
    std::apply([&](const auto&... each) { (append(each), ...); }, x);
  }
  template <class X, class Y>
  void append(const std::pair<X, Y>& x) {
    append(x.first), append(x.second);
  }
  template <class S, class P>
  void append(const drx::partitions<S, P>& x) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const auto& begin = x.boundaries();
    int i = 0;
    const S types{};
    drx::structure<S>::visit(types, [&](const auto* p, const drx::shape& s) {
      using number = std::remove_cvref_t<decltype(*p)>;
      const auto* own = reinterpret_cast<const number*>(x.leaf(i++));
      std::vector<double> leaf(static_cast<std::size_t>(begin.back() * s.size()));
      std::copy_n(own, (begin[rank + 1] - begin[rank]) * s.size(), leaf.begin() + begin[rank] * s.size());
      std::vector<std::int64_t> bytes, offset;
      for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
        offset.push_back(8 * s.size() * begin[r]);
        bytes.push_back(8 * s.size() * (begin[r + 1] - begin[r]));
      }
      ranks.all_gather(reinterpret_cast<std::byte*>(leaf.data()), bytes, offset);
      all.insert(all.end(), leaf.begin(), leaf.end());
    });
  }
};

class timed final : public zoo::timed {
 public:
  timed(const std::string& folder, drx::executor& threads, drx::communicator& ranks)
      : ranks_(ranks),
        program_(threads, ranks, {.subnormals = drx::subnormals::flushed}),  // as JAX does
        arguments_(read_all({folder, ranks}, std::type_identity<program::inputs>{})) {}
  std::vector<double> numbers() override {
    call();
    appender numbers{ranks_};
    numbers.append(result_);
    return numbers.all;
  }
  double seconds(int calls) override {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
  }
  [[nodiscard]] double temporaries(int threads) const override {
    return static_cast<double>(program_.server_bytes() + threads * program_.thread_bytes());
  }

 private:
  void call() {
    std::apply([&](const auto&... x) { program_.call(result_, x...); }, arguments_);
  }
  drx::communicator& ranks_;
  drx::compiled<program> program_;
  decltype(read_all(std::declval<reader>(), std::type_identity<program::inputs>{})) arguments_;
  drx::compiled<program>::result result_{};
};

}  // namespace

std::unique_ptr<zoo::timed> zoo::make(const std::string& folder, drx::executor& threads, drx::communicator& ranks) {
  return std::make_unique<::timed>(folder, threads, ranks);
}
