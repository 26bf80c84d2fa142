// drx/primitives/member_exchange.hpp: messages between members: each receives another one's value, or a slice of every
// member's. ppermute and all_to_all become these entries around maps.
#pragma once

#include <drx/primitives/collectives.hpp>
#include <drx/primitives/declarations.hpp>

namespace drx {
namespace prim::rules {
struct exchange {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "exchange: the operand is not placed there");
    return {t.operands[0]};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name) + ": " + list_of(a.ints); }
};
struct member_permute : exchange {  // placement
  using view = permute::view;
  static constexpr auto known = rules::known::sums;
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {permute::transposed(s, ct[0])};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static constexpr std::optional<std::int64_t> members(const tape&, const entry& e) { return view(e).members(); }
  static void evaluate(evaluation& v) { apply(v.in[0]->members, view(v.e).sources, v.out[0]); }
  static void apply(const std::vector<tensor>& from, int_list source, tensor& to) {
    if (from.size() != static_cast<std::size_t>(source.size()))
      throw std::invalid_argument("drx: ppermute of " + std::to_string(source.size()) + " members, but " +
                                  std::string(to.type.placements[0]->name) + " has " + std::to_string(from.size()));
    for (auto m : source) {
      if (m == permute::nobody) {
        to.members.emplace_back(to.type.of_member());
      } else {
        to.members.push_back(from[static_cast<std::size_t>(m)]);
      }
    }
  }
};
struct member_transpose : exchange {  // placement; values are [n, ...] at n members; y[j] at member i is x[i] at j
  struct view {                       // ints: {n}
    std::int64_t members;
    constexpr explicit view(std::int64_t n) : members(n) {}
    constexpr explicit view(int_list a) : members(a[0]) {}
    [[nodiscard]] constexpr attributes make(const placement_info* p) const {
      attributes a;
      a.placement = p;
      a.ints = {members};
      return a;
    }
  };
  static constexpr auto known = rules::known::handed_on;
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) { return jvp(s, ct); }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(
        s.b, s.b.add1(*s.e.prim, {emit::first_axes_exchanged(s.b, s.operands[0])}, s.e.attrs))};
  }
  static constexpr std::optional<std::int64_t> members(const tape&, const entry& e) { return view(e).members; }
  static void evaluate(evaluation& v) { apply(v.in[0]->members, view(v.e).members, v.out[0]); }
  static void apply(const std::vector<tensor>& from, std::int64_t n, tensor& to) {
    if (from.size() != static_cast<std::size_t>(n))
      throw std::invalid_argument("drx: all_to_all of " + std::to_string(n) + " members, but " +
                                  std::string(to.type.placements[0]->name) + " has " + std::to_string(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
      tensor y(to.type.of_member());
      const std::size_t row = y.bytes.size() / from.size();
      for (std::size_t j = 0; j < from.size() && row > 0; ++j)
        std::memcpy(y.bytes.data() + j * row, from[j].bytes.data() + i * row, row);
      to.members.push_back(std::move(y));
    }
  }
};
}  // namespace prim::rules

namespace prim {
template <class Rules>
constexpr primitive exchange_primitive(const char* name, drx::fold how) {
  return {.name = name,
          .type = Rules::type,
          .jvp = Rules::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .fold = how,
          .members = Rules::members,
          .known = Rules::known,
          .takes_halves = true};
}
inline constexpr primitive member_permute = exchange_primitive<rules::member_permute>("member_permute", fold::permute);
inline constexpr primitive member_transpose =
    exchange_primitive<rules::member_transpose>("member_transpose", fold::transpose);
}  // namespace prim
}  // namespace drx
