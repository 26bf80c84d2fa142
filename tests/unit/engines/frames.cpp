// Frames come back as they were written, and damage is noticed. (examples/engines/check.py damages those of a worker.)
#include <doctest/doctest.h>
#include <drx/engines/frames.hpp>

#include <string>

namespace {
using drx::engines::bytes;

/// What is read from the bytes that were written, all or some of them.
std::optional<drx::engines::packet> read_back(const bytes& data) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  drx::engines::detail::write_all(ends[1], data);
  ::close(ends[1]);
  struct closing {
    int descriptor;
    ~closing() { ::close(descriptor); }
  } const last{ends[0]};
  return drx::engines::read_packet(ends[0]);
}
bytes written(const drx::engines::packet& p) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  drx::engines::write_packet(ends[1], p);
  ::close(ends[1]);
  bytes all(4096);
  all.resize(drx::engines::detail::read_some(ends[0], all.data(), all.size()));
  ::close(ends[0]);
  return all;
}
bytes text(const std::string& s) {
  const auto* from = reinterpret_cast<const std::byte*>(s.data());
  return {from, from + s.size()};
}
}  // namespace

TEST_CASE("a packet comes back") {
  const drx::engines::packet p{{{"do", "map"}}, {text("one"), {}, text("three")}};
  const auto q = read_back(written(p));
  REQUIRE(q);
  CHECK(q->head["do"] == "map");
  CHECK(q->blobs == p.blobs);
  CHECK(!read_back({}));
}

TEST_CASE("the checksum is that of zlib") { CHECK(drx::engines::detail::crc32(text("123456789")) == 0xCBF43926U); }

TEST_CASE("each byte of a frame is needed, and none may be another") {
  const bytes good = written({{{"do", "map"}}, {text("one")}});
  for (std::size_t i = 1; i < good.size(); ++i)
    CHECK_THROWS_AS(read_back({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)}),
                    drx::engines::damaged_frame);
  for (std::size_t i = 0; i < good.size(); ++i) {
    bytes bad = good;
    bad[i] ^= std::byte{4};
    CHECK_THROWS_AS(read_back(bad), drx::engines::damaged_frame);
  }
}

TEST_CASE("a payload whose parts do not fit is refused") {
  const auto with_head = [](const std::string& head, std::size_t more) {
    bytes all(4);
    all[0] = static_cast<std::byte>(head.size());
    const bytes of = text(head);
    all.insert(all.end(), of.begin(), of.end());
    all.resize(all.size() + more);
    return all;
  };
  CHECK(drx::engines::packet_of(with_head(R"({"blobs":[2]})", 2)).blobs.size() == 1);
  for (const auto& [head, more] : {std::pair{R"({"blobs":[2]})", 1},
                                   {R"({"blobs":[2]})", 3},
                                   {R"({"blobs":[-1]})", 0},
                                   {R"({"blobs":7})", 0},
                                   {R"([1])", 0},
                                   {R"({"blobs":)", 0}})
    CHECK_THROWS_AS(drx::engines::packet_of(with_head(head, static_cast<std::size_t>(more))),
                    drx::engines::damaged_frame);
  CHECK_THROWS_WITH(drx::engines::packet_of(bytes(3)), "drx: a frame has no document");
}
