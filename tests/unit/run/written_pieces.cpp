// An array of which only some pieces are written is the array that has zeros elsewhere, to the last bit.
#include <drx/run/stage/written_pieces.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace {
/// Rows of Row numbers, in an array of Size in pieces of Width, beside the same array with zeros elsewhere.
template <class T, std::int64_t Size, std::int64_t Width, std::int64_t Row>
struct both {
  using pieces = drx::run::written_pieces<T, Size, Width>;
  static constexpr auto unwritten = static_cast<T>(12345);  // that nobody must read
  std::vector<T> array = std::vector<T>(Size, unwritten), whole = std::vector<T>(Size, T{});
  std::vector<typename pieces::word> bits = std::vector<typename pieces::word>(pieces::words, 0x5555);
  pieces written{array.data(), bits.data()};

  both() { written.clear(); }
  both(const both&) = delete;
  both& operator=(const both&) = delete;
  void add_to(std::int64_t row, const std::vector<T>& numbers) {
    written.template add_to<Row>(row * Row, numbers.data());
    for (std::int64_t k = 0; k < Row; ++k)
      whole[static_cast<std::size_t>(row * Row + k)] += numbers[static_cast<std::size_t>(k)];
  }
  void add(const both& other) {
    written.add(other.written);
    for (std::size_t k = 0; k < whole.size(); ++k) whole[k] += other.whole[k];
  }
  void check() {
    written.fill();
    for (std::size_t k = 0; k < whole.size(); ++k) {
      REQUIRE(array[k] == whole[k]);
      if constexpr (std::is_floating_point_v<T>) REQUIRE(std::signbit(array[k]) == std::signbit(whole[k]));
    }
  }
};
template <class T, std::int64_t Size, std::int64_t Width, std::int64_t Row>
void check() {
  std::mt19937 random(Size * 7 + Width);
  std::uniform_int_distribution<std::int64_t> row(0, Size / Row - 1), number(-4, 4);
  const auto some = [&] {
    std::vector<T> numbers(Row);
    for (T& x : numbers) x = number(random) == 0 ? static_cast<T>(-0.0) : static_cast<T>(number(random));
    return numbers;
  };
  for (const int rows : {0, 1, 5, 40, 400, 4000}) {
    CAPTURE(rows);
    both<T, Size, Width, Row> left, right, all;
    for (int i = 0; i < rows; ++i) {
      left.add_to(row(random), some());
      right.add_to(row(random), some());
    }
    left.add(right);
    all.written.note_all();
    std::copy(all.whole.begin(), all.whole.end(), all.array.begin());
    all.add(left);
    right.check();
    left.check();
    left.add(all);  // a whole one on each side
    left.check();
    all.check();
  }
}
}  // namespace

TEST_CASE("rows that are pieces") {
  check<float, 1600, 16, 16>();
  check<double, 64 * 24, 24, 24>();
  check<float, 16, 16, 16>();
}
TEST_CASE("several rows to a piece, of which the last has fewer") {
  check<float, 1000, 15, 5>();
  check<double, 1001, 8, 1>();
  check<float, 64 * 16, 16, 1>();
}
TEST_CASE("whole numbers") { check<std::int32_t, 999, 3, 3>(); }
