// common/place_rows.hpp: places a table's rows on the ranks: all of them, or each client's own.
#pragma once

#include <algorithm>
#include <drx/run.hpp>

#include "classifier.hpp"
#include "data.hpp"
#include "partition.hpp"

namespace examples {

template <class Row>
using placed_rows = drx::partitions<Row, rows>;
template <class Row>
using placed_rows_of_clients = drx::partitions<drx::placed<Row, rows>, clients>;

/// The boundaries of the ranks' clients: as even in rows as whole clients allow.
inline std::vector<std::int64_t> balanced(const partition& clients, int ranks) {
  std::vector<std::int64_t> boundaries{0};
  std::size_t client = 0;
  for (int r = 1; r < ranks; ++r) {
    const std::size_t wanted = clients.rows.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
    while (clients.first[client] < wanted) ++client;
    boundaries.push_back(static_cast<std::int64_t>(client));
  }
  boundaries.push_back(static_cast<std::int64_t>(clients.clients()));
  return boundaries;
}

/// Row i as a labelled_row.
template <class Row>
Row row_of(const dataset& data, std::size_t i) {
  Row r;
  std::ranges::copy(data.row(i), r.x.data());
  *r.y.data() = data.y[i];
  return r;
}

/// Places all rows, in even ranges over the ranks.
template <class Row>
placed_rows<Row> place_rows(drx::session& session, const dataset& data) {
  return session.place<rows>(static_cast<std::int64_t>(data.rows()),
                             [&](std::int64_t i) { return row_of<Row>(data, static_cast<std::size_t>(i)); });
}

/// Places each client with its rows.
template <class Row>
placed_rows_of_clients<Row> place_rows_of_clients(drx::session& session, const dataset& data, const partition& owners) {
  const auto load = [&](std::int64_t client) {
    std::vector<Row> held;
    for (const auto i : owners.rows_of(static_cast<std::size_t>(client))) held.push_back(row_of<Row>(data, i));
    return held;
  };
  return drx::place_nested<clients, rows>(session.communicator(), balanced(owners, session.ranks()), load);
}

}  // namespace examples
