// drx/run/member_exchange.hpp: messages from members to members: each rank sends to each other one what its members are to get.
#pragma once

#include <drx/run/buffer.hpp>
#include <drx/run/executor.hpp>

#include <cstring>
#include <vector>

namespace drx::run {

/// Moves pieces of `bytes` bytes between members, which lie on the ranks in blocks.
class member_exchange {
 public:
  /// Pieces are numbered by member: `pieces` to each. route(member, piece, from, from_piece) says which one a member gets there;
  /// from -1: zeros. `values`: of this rank's members, replaced by what they get.
  template <class Route>
  void run(communicator& c, const std::int64_t* boundaries, std::byte* values, std::int64_t pieces, std::int64_t bytes, Route&& route) {
    const auto ranks = static_cast<std::size_t>(c.size());
    const std::int64_t first = boundaries[c.rank()], end = boundaries[c.rank() + 1], total = boundaries[ranks];
    for (auto* list : {&send_bytes_, &send_at_, &receive_bytes_, &receive_at_}) list->assign(ranks, 0);
    const auto owner = [&](std::int64_t member) {
      std::size_t r = 0;
      while (member >= boundaries[r + 1]) ++r;
      return r;
    };
    // In the order of the members that get them, on both sides.
    const auto each = [&](std::int64_t begin, std::int64_t stop, auto&& f) {
      for (std::int64_t m = begin; m < stop; ++m)
        for (std::int64_t k = 0; k < pieces; ++k) {
          std::int64_t from = -1, at = 0;
          route(m, k, from, at);
          f(m, k, from, at);
        }
    };
    each(0, total, [&](std::int64_t m, std::int64_t, std::int64_t from, std::int64_t) {
      if (from < 0) return;
      if (from >= first && from < end) send_bytes_[owner(m)] += bytes;
      if (m >= first && m < end) receive_bytes_[owner(from)] += bytes;
    });
    for (std::size_t r = 1; r < ranks; ++r) {
      send_at_[r] = send_at_[r - 1] + send_bytes_[r - 1];
      receive_at_[r] = receive_at_[r - 1] + receive_bytes_[r - 1];
    }
    out_.grow(static_cast<std::size_t>(send_at_.back() + send_bytes_.back()) + 1);
    in_.grow(static_cast<std::size_t>(receive_at_.back() + receive_bytes_.back()) + 1);
    const auto piece = [&](std::int64_t member, std::int64_t k) { return values + ((member - first) * pieces + k) * bytes; };
    at_ = send_at_;
    each(0, total, [&](std::int64_t m, std::int64_t, std::int64_t from, std::int64_t k) {
      if (from < first || from >= end) return;
      std::int64_t& at = at_[owner(m)];
      std::memcpy(out_.data() + at, piece(from, k), static_cast<std::size_t>(bytes));
      at += bytes;
    });
    const auto own = static_cast<std::size_t>(c.rank());
    std::memcpy(in_.data() + receive_at_[own], out_.data() + send_at_[own], static_cast<std::size_t>(send_bytes_[own]));
    sent_.clear();
    received_.clear();
    for (std::size_t r = 0; r < ranks; ++r) {
      if (r == own) continue;
      if (send_bytes_[r] > 0) sent_.push_back({static_cast<int>(r), out_.data() + send_at_[r], send_bytes_[r]});
      if (receive_bytes_[r] > 0) received_.push_back({static_cast<int>(r), in_.data() + receive_at_[r], receive_bytes_[r]});
    }
    if (ranks > 1) c.exchange(sent_, received_);
    at_ = receive_at_;
    each(first, end, [&](std::int64_t m, std::int64_t k, std::int64_t from, std::int64_t) {
      if (from < 0) {
        std::memset(piece(m, k), 0, static_cast<std::size_t>(bytes));
        return;
      }
      std::int64_t& at = at_[owner(from)];
      std::memcpy(piece(m, k), in_.data() + at, static_cast<std::size_t>(bytes));
      at += bytes;
    });
  }

 private:
  std::vector<std::int64_t> send_bytes_, send_at_, receive_bytes_, receive_at_, at_;  // by rank
  buffer out_, in_;
  std::vector<message> sent_, received_;
};

}  // namespace drx::run
