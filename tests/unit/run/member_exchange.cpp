#include <drx/run/data/member_exchange.hpp>

#include <doctest/doctest.h>

#include <vector>

using drx::run::member_exchange;
using drx::run::member_transfer;

namespace {

constexpr std::int64_t members = 5;
constexpr std::int64_t boundaries[] = {0, members};

/// Each member gets the values of the one before it, the first none.
constexpr std::int64_t shift[members] = {-1, 0, 1, 2, 3};

member_transfer transfer(std::vector<double>& values, const std::int64_t* sources) {
  const auto pieces = static_cast<std::int64_t>(values.size()) / members;
  return {reinterpret_cast<std::byte*>(values.data()), pieces, static_cast<std::int64_t>(sizeof(double)), sources};
}

}  // namespace

TEST_CASE("transfers among one rank's members, several at once; who gets nothing has zeros") {
  std::vector<double> shifted(2 * members), transposed(members * members);
  for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] = static_cast<double>(i + 1);
  for (std::size_t i = 0; i < transposed.size(); ++i) transposed[i] = static_cast<double>(i);
  drx::single_rank rank;
  member_exchange exchange;
  exchange.run(rank, boundaries, {transfer(shifted, shift), transfer(transposed, nullptr)});
  CHECK(shifted == std::vector<double>{0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  for (std::size_t m = 0; m < members; ++m)
    for (std::size_t k = 0; k < members; ++k)
      CHECK(transposed[m * members + k] == static_cast<double>(k * members + m));
}
