// shallow_water/basin.hpp: runs the programs on a basin, and collects what its strips hold.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <drx/backend/session.hpp>
#include <drx/run.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../common/random.hpp"
#include "eddies.hpp"

namespace shallow_water {

using types = programs<size>;
using placed_water = drx::partitions<water, strips>;
using placed_search = drx::partitions<types::search, strips>;
using numbers = std::vector<double>;  // of all strips, one after the other

/// The root of the mean square of what two waters differ in, in fields [first, end): the depth and two velocities.
inline double difference(const numbers& a, const numbers& b, std::size_t first, std::size_t end) {
  constexpr std::size_t of_field = size.rows * size.columns;
  double sum = 0;
  for (std::size_t strip = 0; strip < size.strips; ++strip) {
    const std::size_t start = 3 * strip * of_field;
    for (std::size_t k = start + first * of_field; k < start + end * of_field; ++k)
      sum += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return std::sqrt(sum / static_cast<double>(size.strips * (end - first) * of_field));
}
inline double depth_error(const numbers& a, const numbers& b) { return difference(a, b, 0, 1); }
inline double velocity_error(const numbers& a, const numbers& b) { return difference(a, b, 1, 3); }

/// What is thought of errors: standard deviations.
struct deviations {
  double depth, velocity;  // of the first guess
  double noise;            // of a reading
};

/// Water at the beginning of the readings, at their end, and after as long again.
struct forecast_of {
  numbers start, end, later;
  double mass_drift, energy_drift;  // relative, until the end
};

/// A step of the search: the water from which it was taken, and where it leads.
struct search_result {
  placed_water from;
  placed_search next;
  double cost;
  double misfit;  // mean square of a reading's, in units of the noise: 1 is as good as can be
};

/// A basin of which depths are read. All ranks make the same calls.
class basin {
 public:
  basin(drx::session& session, std::uint64_t seed, deviations of) : session_(session), of_(of) {
    const auto cells = session.place<strips>(size.strips, [&](std::int64_t strip) {
      examples::random_stream random(seed, examples::purpose::places, {static_cast<std::uint64_t>(strip)});
      types::places of_strip;
      for (auto& c : of_strip) c = static_cast<std::int32_t>(random.below(size.rows * size.columns));
      return of_strip;
    });
    places_ = cells;
    truth_ = place(true_eddies(seed));
    guess_ = place(guessed_eddies(seed));
    const auto result = observe_(truth_, places_);
    const auto& depths = std::get<1>(result);
    known_ = session.place<strips>(size.strips, [&](std::int64_t strip) {
      const std::int64_t here = strip - depths.first();
      examples::random_stream random(seed, examples::purpose::noise, {static_cast<std::uint64_t>(strip)});
      types::depths read = depths[here];
      for (double& d : read) d += of.noise * random.normal();
      return types::known{guess_[here], places_[here], read};
    });
  }

  /// The search at its beginning, or where saved numbers say.
  [[nodiscard]] placed_search first() const {
    return session_.place<strips>(size.strips, [](std::int64_t) { return types::search{}; });
  }
  [[nodiscard]] placed_search continued(const numbers& saved) const {
    return session_.place<strips>(size.strips, [&](std::int64_t strip) {
      types::search s;
      auto from = saved.begin() + strip * water::size;
      std::apply(
          [&](auto&... part) {
            (..., std::copy_n(std::exchange(from, from + size.strips * water::size), water::size, part.begin()));
          },
          s);
      return s;
    });
  }
  [[nodiscard]] numbers saved(const placed_search& s) const {
    numbers all;
    for (int part = 0; part < 3; ++part) {
      const auto one = whole<double>(s, part, water::size);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  [[nodiscard]] search_result step(const placed_search& at) {
    const auto [next, from, values] =
        search_(at, known_, types::expected{{of_.depth, of_.velocity, of_.velocity}, of_.noise});
    return {from.copy(), next.copy(), std::get<0>(values), std::get<1>(values) / (size.strips * types::depths::size)};
  }

  [[nodiscard]] forecast_of forecast(const placed_water& start) {
    forecast_of f{.start = whole(start), .end = {}, .later = {}, .mass_drift = 0, .energy_drift = 0};
    const auto [end, depths, sums] = observe_(start, places_);
    f.end = whole(end);
    f.mass_drift = sums.second.first / sums.first.first - 1;
    f.energy_drift = sums.second.second / sums.first.second - 1;
    const auto kept = end.copy();
    f.later = whole(std::get<0>(observe_(kept, places_)));
    return f;
  }

  [[nodiscard]] const placed_water& truth() const { return truth_; }
  [[nodiscard]] const placed_water& guess() const { return guess_; }
  [[nodiscard]] numbers whole(const placed_water& placed) const { return whole<double>(placed, 0, water::size); }

  /// The readings, as lines: step, row, column, depth.
  [[nodiscard]] std::string table_of_readings() const {
    const auto cells = whole<std::int32_t>(known_, 1, types::places::size);
    const auto depths = whole<double>(known_, 2, types::depths::size);
    std::string text = "step,row,column,depth\n";
    for (std::size_t k = 0; k < cells.size(); ++k)
      text += fmt::format("{},{},{},{:.3f}\n", k / size.readings % size.steps + 1,
                          static_cast<int>(k / types::places::size) * size.rows + cells[k] / size.columns,
                          cells[k] % size.columns, depths[k]);
    return text;
  }

 private:
  /// A leaf of all strips, one after the other, on every rank.
  template <class T, class S>
  [[nodiscard]] std::vector<T> whole(const drx::partitions<S, strips>& placed, int leaf, std::int64_t of_strip) const {
    std::vector<T> all(static_cast<std::size_t>(size.strips * of_strip));
    const std::int64_t one = of_strip * static_cast<std::int64_t>(sizeof(T));
    std::vector<std::int64_t> bytes, offsets;
    for (std::size_t r = 0; r + 1 < placed.boundaries().size(); ++r) {
      offsets.push_back(placed.boundaries()[r] * one);
      bytes.push_back((placed.boundaries()[r + 1] - placed.boundaries()[r]) * one);
    }
    auto* const data = reinterpret_cast<std::byte*>(all.data());
    std::copy_n(placed.leaf(leaf), placed.local() * one, data + placed.first() * one);
    session_.communicator().all_gather(data, bytes, offsets);
    return all;
  }
  placed_water place(const std::vector<eddy>& eddies) {
    return session_.place<strips>(size.strips, [&](std::int64_t strip) { return water_of(eddies, strip); });
  }

  drx::session& session_;
  deviations of_;
  drx::compiled<observation> observe_ = session_.compile<observation>();
  drx::compiled<search> search_ = session_.compile<search>();
  drx::partitions<types::places, strips> places_;
  placed_water truth_, guess_;
  drx::partitions<types::known, strips> known_;
};

}  // namespace shallow_water
