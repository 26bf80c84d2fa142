// common/on_all_ranks.hpp: work whose failure on one rank ends all of them, with one message.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <drx/backend/session.hpp>
#include <optional>
#include <string_view>

#include "output.hpp"

namespace examples {

/// Runs something that every rank does alone, such as reading a file. If it fails anywhere, the first rank where it did
/// prints the reason, and it returns nothing on any rank.
template <class Action>
auto on_all_ranks(drx::session& session, std::string_view program, Action action) {
  std::optional<decltype(action())> result;
  std::string problem;
  try {
    result = action();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  std::vector<double> failed(static_cast<std::size_t>(session.ranks()));
  failed[static_cast<std::size_t>(session.rank())] = result ? 0 : 1;
  session.communicator().all_sum(failed.data(), session.ranks());
  const auto first = std::ranges::find(failed, 1.0);
  if (first == failed.end()) return result;
  if (first - failed.begin() == session.rank()) print(stderr, fmt::format("{}: {}\n", program, problem));
  return decltype(result)();
}

}  // namespace examples
