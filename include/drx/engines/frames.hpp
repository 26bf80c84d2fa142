// drx/engines/frames.hpp: the frames by which a worker talks to an engine: a header with a length and a checksum, a
// JSON document, and the bytes that it names.
#pragma once

#include <drx/core/sentence.hpp>
#include <drx/engines/served_program.hpp>

#include <boost/crc.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx::engines {

/// A frame that is damaged, or ends in the middle.
class damaged_frame : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A document and the bytes that belong to it.
struct packet {
  nlohmann::ordered_json head;
  std::vector<bytes> blobs;
};

namespace detail {

static_assert(std::endian::native == std::endian::little, "drx: workers send numbers as they lie in memory");

/// The CRC-32 of zlib, gzip and PNG.
inline std::uint32_t crc32(std::span<const std::byte> data) {
  boost::crc_32_type sum;
  sum.process_bytes(data.data(), data.size());
  return sum.checksum();
}

struct frame_header {
  char magic[4] = {'d', 'r', 'x', '1'};
  std::uint32_t checksum = 0;  // of the payload
  std::uint64_t length = 0;    // of the payload
};
static_assert(sizeof(frame_header) == 16);

/// Refuses documents whose lists are in lists more often than any request's: what reads them would run out of stack.
inline bool require_flat(int depth, nlohmann::ordered_json::parse_event_t, const nlohmann::ordered_json&) {
  constexpr int most = 32;
  if (depth > most) throw damaged_frame(error::sentence({"drx: a frame's document has more than ", most, " levels"}));
  return true;
}

/// Reads up to `size` bytes; fewer only at the end of the input.
inline std::size_t read_some(int descriptor, std::byte* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(descriptor, to + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw damaged_frame(std::string("drx: a frame cannot be read: ") + std::strerror(errno));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}
inline void write_all(int descriptor, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t n = ::write(descriptor, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::runtime_error(std::string("drx: a frame cannot be written: ") + std::strerror(errno));
    data = data.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace detail

/// A packet as the payload of a frame: the length of the document (4 bytes), the document, whose "blobs" lists the
/// lengths of what follows, then these bytes.
inline bytes payload_of(packet p) {
  p.head["blobs"] = nlohmann::ordered_json::array();
  std::size_t size = 0;
  for (const bytes& b : p.blobs) {
    p.head["blobs"].push_back(b.size());
    size += b.size();
  }
  const std::string text = p.head.dump();
  const auto length = static_cast<std::uint32_t>(text.size());
  bytes all(sizeof length + text.size() + size);
  std::byte* at = all.data();
  const auto add = [&](const void* from, std::size_t n) {
    if (n > 0) std::memcpy(at, from, n);
    at += n;
  };
  add(&length, sizeof length);
  add(text.data(), text.size());
  for (const bytes& b : p.blobs) add(b.data(), b.size());
  return all;
}
/// The packet of a payload; throws damaged_frame.
inline packet packet_of(std::span<const std::byte> payload) {
  std::uint32_t length = 0;
  if (payload.size() < sizeof length) throw damaged_frame("drx: a frame has no document");
  std::memcpy(&length, payload.data(), sizeof length);
  std::size_t at = sizeof length;
  if (length > payload.size() - at)
    throw damaged_frame(error::sentence({"drx: a frame of ", payload.size(), " bytes has a document of ", length}));
  packet p;
  const auto* text = reinterpret_cast<const char*>(payload.data() + at);
  p.head = nlohmann::ordered_json::parse(text, text + length, detail::require_flat, false);
  if (!p.head.is_object()) throw damaged_frame("drx: a frame's document is no JSON object");
  at += length;
  const auto blobs = p.head.find("blobs");
  if (blobs != p.head.end()) {
    if (!blobs->is_array()) throw damaged_frame("drx: a frame's \"blobs\" is no list");
    for (const auto& n : *blobs) {
      if (!n.is_number_unsigned() || n.get<std::uint64_t>() > payload.size() - at)
        throw damaged_frame("drx: a frame's \"blobs\" are longer than the frame: " + n.dump());
      const auto size = n.get<std::size_t>();
      p.blobs.emplace_back(payload.begin() + static_cast<std::ptrdiff_t>(at),
                           payload.begin() + static_cast<std::ptrdiff_t>(at + size));
      at += size;
    }
  }
  if (at != payload.size())
    throw damaged_frame(error::sentence({"drx: a frame has ", payload.size() - at, " bytes that it does not name"}));
  return p;
}

/// Writes a packet to a file descriptor.
inline void write_packet(int descriptor, packet p) {
  const bytes payload = payload_of(std::move(p));
  detail::frame_header header;
  header.checksum = detail::crc32(payload);
  header.length = payload.size();
  detail::write_all(descriptor, std::as_bytes(std::span(&header, 1)));
  detail::write_all(descriptor, payload);
}
/// Reads a packet from a file descriptor; none at the end of the input. Throws damaged_frame.
inline std::optional<packet> read_packet(int descriptor) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  constexpr std::size_t step = std::size_t{1} << 24;  // a damaged length must not ask for all memory at once
  detail::frame_header header, expected;
  const std::size_t got = detail::read_some(descriptor, reinterpret_cast<std::byte*>(&header), sizeof header);
  if (got == 0) return {};
  if (got < sizeof header)
    throw damaged_frame(error::sentence({"drx: the input ends after ", got, " bytes of a frame's 16"}));
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0)
    throw damaged_frame("drx: a frame does not begin with drx1");
  if (header.length > most) throw damaged_frame(error::sentence({"drx: a frame of ", header.length, " bytes"}));
  bytes payload;
  for (std::uint64_t left = header.length; left > 0;) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(left, step));
    payload.resize(payload.size() + now);
    if (detail::read_some(descriptor, payload.data() + payload.size() - now, now) < now)
      throw damaged_frame(
          error::sentence({"drx: the input ends in the middle of a frame of ", header.length, " bytes"}));
    left -= now;
  }
  if (detail::crc32(payload) != header.checksum)
    throw damaged_frame(
        error::sentence({"drx: a frame of ", header.length, " bytes is damaged: its checksum differs"}));
  return packet_of(payload);
}

}  // namespace drx::engines
