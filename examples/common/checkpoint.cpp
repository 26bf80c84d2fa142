// Layout, in the byte order of the machine: magic (8 bytes), version (u32), CRC-32 of the payload (u32), payload size
// (u64); payload: round (u64), then fingerprint, sizes and parameters, each as a count (u64) and its elements.
#include "checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "files.hpp"

namespace examples {

namespace {

constexpr std::string_view magic = "DRXCHECK";
constexpr std::uint32_t version = 1;
constexpr std::size_t header_size = magic.size() + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);

std::uint32_t crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Sequence>
void put_all(std::string& bytes, const Sequence& values) {
  put(bytes, std::uint64_t{values.size()});
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
}

class reader {
 public:
  reader(const std::filesystem::path& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }

  template <class Sequence>
  Sequence get_all() {
    const auto count = get<std::uint64_t>();
    using T = typename Sequence::value_type;
    if (count > bytes_.size() / sizeof(T)) fail();
    Sequence values(count, T{});
    const auto source = next(count * sizeof(T));
    if (count != 0) std::memcpy(values.data(), source.data(), source.size());
    return values;
  }

  void end() const {
    if (!bytes_.empty()) fail();
  }

 private:
  [[noreturn]] void fail() const { throw file_error(path_, "is damaged: the sizes in it contradict each other"); }

  std::string_view next(std::size_t count) {
    if (count > bytes_.size()) fail();
    const auto taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::filesystem::path path_;
  std::string_view bytes_;
};

std::string_view next_line(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

void check_fingerprint(const std::filesystem::path& path, std::string_view found, std::string_view expected) {
  while (!found.empty() || !expected.empty()) {
    const auto theirs = next_line(found), ours = next_line(expected);
    if (theirs != ours) throw file_error(path, fmt::format("belongs to a run with {}, this one has {}", theirs, ours));
  }
}

template <class T>
void save_as(const std::filesystem::path& path, const checkpoint_of<T>& state) {
  std::string payload;
  put(payload, state.round);
  put_all(payload, state.fingerprint);
  put_all(payload, state.sizes);
  put_all(payload, state.parameters);
  std::string bytes(magic);
  put(bytes, version);
  put(bytes, crc(payload));
  put(bytes, std::uint64_t{payload.size()});
  write_atomically(path, bytes + payload);
}

template <class T>
checkpoint_of<T> load_as(const std::filesystem::path& path, std::string_view fingerprint,
                         const std::vector<std::uint64_t>& sizes) {
  const std::string file = read_file(path);
  const std::string_view bytes = file;
  if (!bytes.starts_with(magic)) throw file_error(path, "is not a checkpoint of this program");
  if (bytes.size() < header_size)
    throw file_error(path, fmt::format("is cut short: {} bytes, expected at least {}", bytes.size(), header_size));
  reader header(path, bytes.substr(magic.size(), header_size - magic.size()));
  if (const auto found = header.get<std::uint32_t>(); found != version)
    throw file_error(path, fmt::format("has format version {}, expected {}", found, version));
  const auto expected_crc = header.get<std::uint32_t>();
  const auto payload = bytes.substr(header_size);
  if (const auto size = header.get<std::uint64_t>(); size != payload.size())
    throw file_error(path,
                     fmt::format("is cut short or has a tail: {} bytes of content, expected {}", payload.size(), size));
  if (const auto found = crc(payload); found != expected_crc)
    throw file_error(path, fmt::format("is damaged: checksum {:08x}, expected {:08x}", found, expected_crc));

  reader content(path, payload);
  checkpoint_of<T> state;
  state.round = content.get<std::uint64_t>();
  state.fingerprint = content.get_all<std::string>();
  state.sizes = content.get_all<std::vector<std::uint64_t>>();
  state.parameters = content.get_all<std::vector<T>>();
  content.end();
  check_fingerprint(path, state.fingerprint, fingerprint);
  if (state.sizes != sizes)
    throw file_error(path, fmt::format("holds a model of sizes {}, this one has {}", state.sizes, sizes));
  const auto total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  if (state.parameters.size() != total)
    throw file_error(path, fmt::format("holds {} parameters, expected {}", state.parameters.size(), total));
  return state;
}

}  // namespace

void save(const std::filesystem::path& path, const checkpoint& state) { save_as(path, state); }
void save_doubles(const std::filesystem::path& path, const checkpoint_of<double>& state) { save_as(path, state); }
checkpoint load(const std::filesystem::path& path, std::string_view fingerprint,
                const std::vector<std::uint64_t>& sizes) {
  return load_as<float>(path, fingerprint, sizes);
}
checkpoint_of<double> load_doubles(const std::filesystem::path& path, std::string_view fingerprint,
                                   const std::vector<std::uint64_t>& sizes) {
  return load_as<double>(path, fingerprint, sizes);
}

}  // namespace examples
