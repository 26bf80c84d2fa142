// drx/run/data/member_exchange.hpp: messages between members: each rank sends one to each other rank, with the values
// for that rank's members.
#pragma once

#include <drx/run/data/buffer.hpp>
#include <drx/run/data/executor.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace drx::run {

/// The members from `begin` to `end` - 1.
struct member_range {
  std::int64_t begin, end;
  [[nodiscard]] bool holds(std::int64_t member) const { return member >= begin && member < end; }
};

/// One transfer. `values` has `pieces` values of each of this rank's members; received values replace them. With
/// `sources`, member m receives the pieces of member sources[m], and zeros if that is no member. Without them, member
/// m's piece k goes to member k as its piece m.
struct member_transfer {
  std::byte* values = nullptr;
  std::int64_t pieces = 0, bytes = 0;  // pieces of a member; bytes of a piece
  const std::int64_t* sources = nullptr;

  /// Calls get(member, piece, source, its piece) for each piece that a member in the range `to` receives from a member
  /// in the range `from`, ascending by member and piece.
  template <class Get>
  void each(member_range to, member_range from, Get&& get) const {
    for (std::int64_t m = to.begin; m < to.end; ++m) {
      if (!sources) {
        for (std::int64_t k = from.begin; k < from.end; ++k) get(m, k, k, m);
      } else if (from.holds(sources[m])) {
        for (std::int64_t k = 0; k < pieces; ++k) get(m, k, sources[m], k);
      }
    }
  }
};

/// Moves pieces of values between members; each rank has a contiguous range of members.
class member_exchange {
 public:
  /// Makes all transfers at once, with one message to each rank.
  void run(communicator& c, const std::int64_t* boundaries, const std::vector<member_transfer>& transfers) {
    if (c.size() == 1) {
      for (const member_transfer& x : transfers) run_here(x, boundaries[1] - boundaries[0]);
      return;
    }
    const auto ranks = static_cast<std::size_t>(c.size()), own = static_cast<std::size_t>(c.rank());
    const member_range mine{boundaries[own], boundaries[own + 1]}, all{0, boundaries[ranks]};
    for (auto* list : {&send_bytes_, &send_at_, &receive_bytes_, &receive_at_}) list->assign(ranks, 0);
    const auto owner = [&](std::int64_t member) {
      return static_cast<std::size_t>(std::upper_bound(boundaries + 1, boundaries + ranks, member) - (boundaries + 1));
    };
    const auto count = [&](const member_transfer& x) {
      x.each(all, mine,
             [&](std::int64_t m, std::int64_t, std::int64_t, std::int64_t) { send_bytes_[owner(m)] += x.bytes; });
      x.each(mine, all, [&](std::int64_t, std::int64_t, std::int64_t from, std::int64_t) {
        receive_bytes_[owner(from)] += x.bytes;
      });
    };
    for (const member_transfer& x : transfers) count(x);
    for (std::size_t r = 1; r < ranks; ++r) {
      send_at_[r] = send_at_[r - 1] + send_bytes_[r - 1];
      receive_at_[r] = receive_at_[r - 1] + receive_bytes_[r - 1];
    }
    out_.grow(static_cast<std::size_t>(send_at_.back() + send_bytes_.back()) + 1);
    in_.grow(static_cast<std::size_t>(receive_at_.back() + receive_bytes_.back()) + 1);
    const auto piece = [&](const member_transfer& x, std::int64_t member, std::int64_t k) {
      return x.values + ((member - mine.begin) * x.pieces + k) * x.bytes;
    };
    const auto pack = [&](const member_transfer& x) {
      x.each(all, mine, [&](std::int64_t m, std::int64_t, std::int64_t from, std::int64_t k) {
        std::int64_t& at = at_[owner(m)];
        std::memcpy(out_.data() + at, piece(x, from, k), static_cast<std::size_t>(x.bytes));
        at += x.bytes;
      });
    };
    at_ = send_at_;
    for (const member_transfer& x : transfers) pack(x);
    std::memcpy(in_.data() + receive_at_[own], out_.data() + send_at_[own], static_cast<std::size_t>(send_bytes_[own]));
    send_and_receive(c, own);
    const auto unpack = [&](const member_transfer& x) {
      std::int64_t missing = (mine.end - mine.begin) * x.pieces;
      x.each(mine, all, [&](std::int64_t, std::int64_t, std::int64_t, std::int64_t) { --missing; });
      if (missing > 0) std::memset(x.values, 0, static_cast<std::size_t>((mine.end - mine.begin) * x.pieces * x.bytes));
      x.each(mine, all, [&](std::int64_t m, std::int64_t k, std::int64_t from, std::int64_t) {
        std::int64_t& at = at_[owner(from)];
        std::memcpy(piece(x, m, k), in_.data() + at, static_cast<std::size_t>(x.bytes));
        at += x.bytes;
      });
    };
    at_ = receive_at_;
    for (const member_transfer& x : transfers) unpack(x);
  }

 private:
  /// A transfer among n members of one rank: from a copy of all values.
  void run_here(const member_transfer& x, std::int64_t n) {
    const std::int64_t member = x.pieces * x.bytes;
    if (n * member == 0) return;
    out_.grow(static_cast<std::size_t>(n * member));
    std::memcpy(out_.data(), x.values, static_cast<std::size_t>(n * member));
    for (std::int64_t m = 0; m < n; ++m) {
      std::byte* const to = x.values + m * member;
      if (!x.sources) {
        for (std::int64_t k = 0; k < n; ++k)
          std::memcpy(to + k * x.bytes, out_.data() + k * member + m * x.bytes, static_cast<std::size_t>(x.bytes));
      } else if (member_range{0, n}.holds(x.sources[m])) {
        std::memcpy(to, out_.data() + x.sources[m] * member, static_cast<std::size_t>(member));
      } else {
        std::memset(to, 0, static_cast<std::size_t>(member));
      }
    }
  }
  void send_and_receive(communicator& c, std::size_t own) {
    sent_.clear();
    received_.clear();
    for (std::size_t r = 0; r < send_bytes_.size(); ++r) {
      if (r == own) continue;
      if (send_bytes_[r] > 0) sent_.push_back({static_cast<int>(r), out_.data() + send_at_[r], send_bytes_[r]});
      if (receive_bytes_[r] > 0)
        received_.push_back({static_cast<int>(r), in_.data() + receive_at_[r], receive_bytes_[r]});
    }
    c.exchange(sent_, received_);
  }
  std::vector<std::int64_t> send_bytes_, send_at_, receive_bytes_, receive_at_, at_;  // by rank
  buffer out_, in_;
  std::vector<message> sent_, received_;
};

}  // namespace drx::run
