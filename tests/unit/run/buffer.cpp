#include <drx/run/data/buffer.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

using drx::buffer;

namespace {
bool is_aligned(const buffer& b, std::uintptr_t to) { return reinterpret_cast<std::uintptr_t>(b.data()) % to == 0; }
}  // namespace

TEST_CASE("a buffer is aligned, and stays where it is while it is large enough") {
  buffer b(100);
  CHECK(b.size() == 100);
  CHECK(is_aligned(b, 64));
  const std::byte* const before = b.data();
  b.grow(40);
  CHECK(b.data() == before);
  CHECK(b.size() == 100);
  b.grow(1000);
  CHECK(b.size() == 1000);
  CHECK(is_aligned(b, 64));
}

TEST_CASE("a large buffer begins with a page of two MiB") {
  constexpr std::size_t many = std::size_t{1} << 23;
  buffer b(many);
  CHECK(is_aligned(b, std::uintptr_t{1} << 21));
  b.data()[many - 1] = std::byte{1};
  CHECK(b.data()[many - 1] == std::byte{1});
}

TEST_CASE("a buffer moves its memory, and an empty one has none") {
  buffer a(10), none;
  CHECK(none.data() == nullptr);
  CHECK(none.size() == 0);
  std::byte* const memory = a.data();
  buffer b(std::move(a));
  CHECK(b.data() == memory);
  none = std::move(b);
  CHECK(none.data() == memory);
  CHECK(none.size() == 10);
}
