#include <drx/run/data/node_list.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

using drx::run::node;
using drx::run::node_list;

namespace {

constexpr std::int64_t node_bytes = 256;  // room for the text of a tree

/// Nodes hold the text of the tree that they are: a leaf its number, others their parts in brackets.
void combine(std::byte* left, const std::byte* right) {
  const auto text = [](const std::byte* p) { return std::string(reinterpret_cast<const char*>(p)); };
  const std::string both = "(" + text(left) + " " + text(right) + ")";
  REQUIRE(both.size() < static_cast<std::size_t>(node_bytes));
  std::memcpy(left, both.c_str(), both.size() + 1);
}
void write(std::byte* to, std::int64_t leaf) {
  const std::string text = std::to_string(leaf);
  std::memcpy(to, text.c_str(), text.size() + 1);
}

/// The nodes that members [begin, end) make, pushed one by one, as text.
struct pushed {
  std::vector<std::byte> memory;
  node_list nodes;
  pushed(std::int64_t begin, std::int64_t end)
      : memory(node_list::capacity(end - begin) * static_cast<std::size_t>(node_bytes)),
        nodes(memory.data(), node_bytes) {
    for (std::int64_t i = begin; i < end; ++i) {
      write(nodes.next(), i);
      nodes.push({0, i}, combine);
    }
  }
  [[nodiscard]] std::string text(int i) const { return reinterpret_cast<const char*>(nodes.data(i)); }
};

}  // namespace

TEST_CASE("neighbours that make up a larger subtree are joined, in their order") {
  const pushed p(2, 9);
  REQUIRE(p.nodes.size() == 3);
  CHECK(p.text(0) == "(2 3)");
  CHECK(p.text(1) == "((4 5) (6 7))");
  CHECK(p.text(2) == "8");
  CHECK(p.nodes.at(1).level == 2);
  CHECK(p.nodes.at(1).position == 1);
}

TEST_CASE("the nodes of a range are those that its members make") {
  for (std::int64_t begin = 0; begin < 20; ++begin)
    for (std::int64_t end = begin; end < 40; ++end) {
      const node_list range = node_list::of_range(begin, end);
      const pushed p(begin, end);
      CHECK(node_list::count_of_range(begin, end) == range.size());
      CHECK(static_cast<std::size_t>(range.size()) <= node_list::capacity(end - begin));
      REQUIRE(range.size() == p.nodes.size());
      for (int i = 0; i < range.size(); ++i) {
        CHECK(range.at(i).level == p.nodes.at(i).level);
        CHECK(range.at(i).position == p.nodes.at(i).position);
      }
    }
}

TEST_CASE("a node that is part of the last one already is only joined with it") {
  pushed p(0, 3);
  REQUIRE(p.nodes.size() == 2);
  CHECK(p.nodes.awaits({0, 3}));
  CHECK_FALSE(p.nodes.awaits({0, 4}));
  CHECK_FALSE(p.nodes.awaits({1, 1}));
  p.nodes.push_joined(combine);  // what the caller has added to leaf 2 is in it
  REQUIRE(p.nodes.size() == 1);
  CHECK(p.nodes.at(0).level == 2);
  CHECK(p.text(0) == "((0 1) 2)");
}

TEST_CASE("what is left at the right end is folded into the first node") {
  pushed p(0, 7);
  p.nodes.finish(combine);
  REQUIRE(p.nodes.size() == 1);
  CHECK(p.text(0) == "(((0 1) (2 3)) ((4 5) 6))");
}

TEST_CASE("a node may lie in memory of the caller") {
  std::vector<std::byte> own(node_list::capacity(2) * node_bytes), other(node_bytes);
  node_list nodes(own.data(), node_bytes);
  write(other.data(), 0);
  nodes.push({0, 0}, other.data(), combine);
  write(nodes.next(), 1);
  nodes.push({0, 1}, combine);
  REQUIRE(nodes.size() == 1);
  CHECK(nodes.data(0) == other.data());
  CHECK(std::string(reinterpret_cast<const char*>(other.data())) == "(0 1)");
}
