// drx/primitives/shard_gather.hpp: communication along the axes of a mesh: among the shards of one member (each gets
// the values of all) and among the same shard of all members (each gets their sum). plan/shards/partitioner.hpp writes
// these entries, after all derivatives.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/gather.hpp>

namespace drx {
namespace prim::rules {
struct shard_gather {  // placement; members k n to (k + 1) n - 1 are a group
  struct view {        // ints: {n}
    std::int64_t shard_count;
    constexpr explicit view(int_list a) : shard_count(a[0]) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "shard_gather: the operand is not placed there");
    const abstract_value one = t.operands[0].of_member();
    return {one.with_shape(with_front(one.shape, view(t.attrs).shard_count)).placed_at(t.attrs.placement)};
  }
  static void evaluate(evaluation& v) { join(*v.in[0], view(v.e).shard_count, v.out[0]); }
  static void join(const tensor& placed, std::int64_t n, tensor& to) {
    const auto group = static_cast<std::size_t>(n);
    if (placed.members.size() % group != 0)
      throw std::invalid_argument("drx: members in groups of " + std::to_string(n) + " are " +
                                  std::to_string(placed.members.size()));
    for (std::size_t m = 0; m < placed.members.size(); ++m) {
      tensor all(to.type.of_member());
      all.bytes.clear();
      for (std::size_t k = 0; k < group; ++k) {
        const auto& part = placed.members[m / group * group + k].bytes;
        all.bytes.insert(all.bytes.end(), part.begin(), part.end());
      }
      to.members.push_back(std::move(all));
    }
  }
};
struct shard_sum {  // placement; members that are equal modulo n add up
  struct view {     // ints: {n}
    std::int64_t shards;
    constexpr explicit view(int_list a) : shards(a[0]) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "shard_sum: the operand is not placed there");
    return {t.operands[0]};
  }
  static void evaluate(evaluation& v) { apply(*v.in[0], view(v.e).shards, v.out[0]); }
  static void apply(const tensor& placed, std::int64_t n, tensor& to) {
    const auto shards = static_cast<std::size_t>(n);
    visit_dtype(to.type.type, [&]<class T>(T) {
      using wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
      for (std::size_t m = 0; m < placed.members.size(); ++m) {
        tensor y(to.type.of_member());
        for (std::int64_t i = 0; i < y.size(); ++i) {
          wide total{};
          for (std::size_t k = m % shards; k < placed.members.size(); k += shards)
            total = static_cast<wide>(total + static_cast<wide>(placed.members[k].data<T>()[i]));
          y.data<T>()[i] = static_cast<T>(total);
        }
        to.members.push_back(std::move(y));
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive shard_sum{.name = "shard_sum",
                                     .type = rules::shard_sum::type,
                                     .print = rules::gather::print,
                                     .evaluate = rules::shard_sum::evaluate,
                                     .fold = fold::shard_sum,
                                     .known = rules::known::sums};
inline constexpr primitive shard_gather{.name = "shard_gather",
                                        .type = rules::shard_gather::type,
                                        .print = rules::gather::print,
                                        .evaluate = rules::shard_gather::evaluate,
                                        .fold = fold::shards,
                                        .known = rules::known::sums,
                                        .takes_halves = true};
}  // namespace prim
namespace emit {
constexpr int shard_sum(builder& b, int x, std::int64_t shards, const placement_info* p) {
  attributes a;
  a.placement = p;
  a.ints = {shards};
  return b.add1(prim::shard_sum, {x}, a);
}
constexpr int shard_gather(builder& b, int x, std::int64_t n, const placement_info* p) {
  attributes a;
  a.placement = p;
  a.ints = {n};
  return b.add1(prim::shard_gather, {x}, a);
}
}  // namespace emit
}  // namespace drx
