// drx/run/member_exchange.hpp: messages from members to members: each rank sends to each other one what its members are to get.
#pragma once

#include <drx/run/buffer.hpp>
#include <drx/run/executor.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace drx::run {

/// Moves pieces of `bytes` bytes between members, which lie on the ranks in blocks.
class member_exchange {
 public:
  struct block {
    std::int64_t begin, end;
    [[nodiscard]] bool holds(std::int64_t member) const { return member >= begin && member < end; }
  };
  /// Pieces are numbered by member: each has `pieces`. route(to, from, get) calls get(member, piece, source, its piece) for what members
  /// of the block `to` get from those of the block `from`, ascending by member and piece. Who gets nothing gets zeros.
  /// `values`: of this rank's members, replaced by what they get.
  template <class Route>
  void run(communicator& c, const std::int64_t* boundaries, std::byte* values, std::int64_t pieces, std::int64_t bytes, Route&& route) {
    const auto ranks = static_cast<std::size_t>(c.size()), own = static_cast<std::size_t>(c.rank());
    const block mine{boundaries[own], boundaries[own + 1]}, all{0, boundaries[ranks]};
    for (auto* list : {&send_bytes_, &send_at_, &receive_bytes_, &receive_at_}) list->assign(ranks, 0);
    const auto owner = [&](std::int64_t member) {
      return static_cast<std::size_t>(std::upper_bound(boundaries + 1, boundaries + ranks, member) - (boundaries + 1));
    };
    route(all, mine, [&](std::int64_t m, std::int64_t, std::int64_t, std::int64_t) { send_bytes_[owner(m)] += bytes; });
    route(mine, all, [&](std::int64_t, std::int64_t, std::int64_t from, std::int64_t) { receive_bytes_[owner(from)] += bytes; });
    for (std::size_t r = 1; r < ranks; ++r) {
      send_at_[r] = send_at_[r - 1] + send_bytes_[r - 1];
      receive_at_[r] = receive_at_[r - 1] + receive_bytes_[r - 1];
    }
    const std::int64_t received = receive_at_.back() + receive_bytes_.back();
    out_.grow(static_cast<std::size_t>(send_at_.back() + send_bytes_.back()) + 1);
    in_.grow(static_cast<std::size_t>(received) + 1);
    const auto copy = [&](std::byte* to, const std::byte* from) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); };
    const auto piece = [&](std::int64_t member, std::int64_t k) { return values + ((member - mine.begin) * pieces + k) * bytes; };
    at_ = send_at_;
    route(all, mine, [&](std::int64_t m, std::int64_t, std::int64_t from, std::int64_t k) {
      std::int64_t& at = at_[owner(m)];
      copy(out_.data() + at, piece(from, k));
      at += bytes;
    });
    std::memcpy(in_.data() + receive_at_[own], out_.data() + send_at_[own], static_cast<std::size_t>(send_bytes_[own]));
    sent_.clear();
    received_.clear();
    for (std::size_t r = 0; r < ranks; ++r) {
      if (r == own) continue;
      if (send_bytes_[r] > 0) sent_.push_back({static_cast<int>(r), out_.data() + send_at_[r], send_bytes_[r]});
      if (receive_bytes_[r] > 0) received_.push_back({static_cast<int>(r), in_.data() + receive_at_[r], receive_bytes_[r]});
    }
    if (ranks > 1) c.exchange(sent_, received_);
    const std::int64_t here = (mine.end - mine.begin) * pieces * bytes;
    if (received < here) std::memset(values, 0, static_cast<std::size_t>(here));
    at_ = receive_at_;
    route(mine, all, [&](std::int64_t m, std::int64_t k, std::int64_t from, std::int64_t) {
      std::int64_t& at = at_[owner(from)];
      copy(piece(m, k), in_.data() + at);
      at += bytes;
    });
  }

 private:
  std::vector<std::int64_t> send_bytes_, send_at_, receive_bytes_, receive_at_, at_;  // by rank
  buffer out_, in_;
  std::vector<message> sent_, received_;
};

}  // namespace drx::run
