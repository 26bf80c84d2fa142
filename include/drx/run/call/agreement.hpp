// drx/run/call/agreement.hpp: the ranks' comparison at a call: of the members, and at some calls of the unplaced
// arguments.
// Tested by tests/mpi/failures/main.cpp.
#pragma once

#include <drx/core/dtype.hpp>
#include <drx/run/call/state.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace drx::run {

/// The first of n things that differs between ranks; n if none does. digest_of(k) is a hash of the first k.
template <class Digest>
std::int64_t first_difference(communicator& c, std::int64_t n, Digest&& digest_of) {
  std::int64_t same = 0, other = n + 1;  // the first `same` agree everywhere; among the first `other`, some differ
  while (other - same > 1) {
    const std::int64_t middle = same + (other - same) / 2;
    (c.all_equal(digest_of(middle), "which of several differ") ? same : other) = middle;
  }
  return same;
}

/// A number with as many digits as tell it apart, and its bits, which tell one NaN or zero from another.
inline std::string show_element(dtype type, std::span<const std::byte> element) {
  std::string text;
  visit_element(type, [&]<class T>(T x) {
    std::memcpy(&x, element.data(), sizeof(x));
    char number[32];
    if constexpr (is_half<T>) {
      std::snprintf(number, sizeof(number), "%.5g", static_cast<double>(static_cast<float>(x)));
    } else if constexpr (std::is_floating_point_v<T>) {
      std::snprintf(number, sizeof(number), "%.*g", std::numeric_limits<T>::max_digits10, static_cast<double>(x));
    } else {
      std::snprintf(number, sizeof(number), "%lld", static_cast<long long>(x));
    }
    text = number;
  });
  std::string bits;
  constexpr const char* digits = "0123456789abcdef";
  for (std::byte b : element) bits.insert(0, {digits[static_cast<int>(b) / 16], digits[static_cast<int>(b) % 16]});
  return text + " (0x" + bits + ")";
}

/// The calls of a program compare their inputs in one message of one number, so that ranks that disagree do not meet in
/// a collective. If it differs, the ranks find out why, and throw a sentence that names the difference, on all ranks.
class call_agreement {
 public:
  explicit call_agreement(std::int64_t fingerprint)
      : call_("a call of program " + std::to_string(fingerprint % five_digits)) {}

  /// The name of the call, for messages.
  [[nodiscard]] const std::string& name() const { return call_; }

  /// Throws on all ranks if they differ in the members of a placement at the top, or in an unplaced argument.
  /// (DRX_CHECK=0 leaves this out.)
  void require(const call_facts& facts, const call_state& s) {
    communicator& c = *s.runtime.communicator;
    if (facts.placements.empty() || c.size() == 1 || !c.checks_calls()) return;
    ++calls_;
    // At calls 1, 2, 4, 8, ... its part of the time goes to 0.
    const bool with_inputs = c.checks_arguments() || std::has_single_bit(calls_);
    meta::digest d;
    for (std::size_t p = 0; p < facts.placements.size(); ++p) {
      if (facts.placements[p].parent >= 0) continue;
      const membership& m = s.members[p];
      d.add(m.total);
      d.add(m.choice);
      for (int r = 1; r <= c.size(); ++r) d.add(m.boundaries[r]);
    }
    for (std::size_t i = 0; i < facts.inputs.size() && with_inputs; ++i)
      if (!facts.inputs[i].placed) d.add(bytes_of(facts, s, i));
    if (c.all_equal(d.value(), call_.c_str())) return;
    for (std::size_t p = 0; p < facts.placements.size(); ++p)
      if (facts.placements[p].parent < 0) name_difference(c, s.members[p], std::string(facts.placements[p].info->name));
    for (std::size_t i = 0; i < facts.inputs.size() && with_inputs; ++i)
      if (!facts.inputs[i].placed) name_difference(c, facts.inputs[i], bytes_of(facts, s, i));
    throw std::runtime_error("the ranks disagree in " + call_);  // (one of the above has thrown)
  }

 private:
  static constexpr std::int64_t five_digits = 100000;  // of a program's fingerprint, which tell it from others
  static std::span<const std::byte> bytes_of(const call_facts& facts, const call_state& s, std::size_t input) {
    return {s.slots[input], static_cast<std::size_t>(facts.inputs[input].bytes)};
  }
  [[gnu::cold]] void name_difference(communicator& c, const membership& m, const std::string& placement) const {
    c.require_equal(m.total, ("the number of " + placement + " in " + call_).c_str());
    c.require_equal(m.chosen ? 1 : 0, ("whether it is a subset of the " + placement + ", in " + call_ + ",").c_str());
    if (m.chosen) {
      const std::int64_t k = first_difference(c, m.total, [&](std::int64_t n) {
        meta::digest d;
        for (std::int64_t i = 0; i < n; ++i) d.add(m.chosen[i]);
        return d.value();
      });
      if (k < m.total)
        c.require_equal(m.chosen[k],
                        ("member " + std::to_string(k) + " of the subset of " + placement + " in " + call_).c_str());
    }
    for (int r = 0; r < c.size(); ++r)
      c.require_equal(m.boundaries[r + 1],
                      ("where the " + placement + " of rank " + std::to_string(r) + " end in " + call_).c_str());
  }
  [[gnu::cold]] void name_difference(communicator& c, const input_facts& x, std::span<const std::byte> data) const {
    const auto width = static_cast<std::size_t>(byte_size(x.type));
    const auto elements = static_cast<std::int64_t>(data.size() / width);
    const std::int64_t k = first_difference(c, elements, [&](std::int64_t n) {
      meta::digest d;
      d.add(data.first(static_cast<std::size_t>(n) * width));
      return d.value();
    });
    if (k < elements)
      c.require_same("argument " + std::to_string(x.argument) + ", leaf " + std::to_string(x.leaf) + ", element " +
                     std::to_string(k) + " in " + call_ + " is " +
                     show_element(x.type, data.subspan(static_cast<std::size_t>(k) * width, width)));
  }

  std::string call_;
  std::uint64_t calls_ = 0;  // the number that were compared, which is the same on all ranks, since all take part
};

}  // namespace drx::run
