#include "text.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <map>

#include "../common/files.hpp"

namespace language_model {
namespace {

constexpr char first_printable = ' ', last_printable = '~';
constexpr std::uint8_t end_of_line = letters - 1;

template <class Bytes>
std::uint32_t add_to_crc(std::uint32_t crc, const Bytes& bytes) {
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::uint8_t letter_of(char byte) {
  if (byte == '\n') return end_of_line;
  if (byte < first_printable || byte > last_printable) byte = '?';
  return static_cast<std::uint8_t>(byte - first_printable);
}

char byte_of(std::uint8_t letter) {
  return letter == end_of_line ? '\n' : static_cast<char>(first_printable + static_cast<char>(letter));
}

std::vector<owner> read_owners(const std::filesystem::path& path, double held_out, std::size_t shortest) {
  const std::string file = examples::read_file(path);
  std::vector<owner> owners;
  std::map<std::string_view, std::size_t> number;
  std::string_view rest = file;
  for (std::size_t line_number = 1; !rest.empty(); ++line_number) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto tab = line.find('\t');
    if (tab == std::string_view::npos) throw examples::file_error(path, line_number, "has no tab after a name");
    const auto [at, is_new] = number.try_emplace(line.substr(0, tab), owners.size());
    if (is_new) owners.push_back({.name = std::string(at->first), .train = {}, .held_out = {}});
    auto& text = owners[at->second].train;
    for (const char byte : line.substr(tab + 1)) text.push_back(letter_of(byte));
    text.push_back(end_of_line);
  }
  if (owners.empty()) throw examples::file_error(path, "is empty");
  for (auto& [name, train, last] : owners) {
    const auto kept = static_cast<std::ptrdiff_t>(static_cast<double>(train.size()) * (1 - held_out));
    last.assign(train.begin() + kept, train.end());
    train.resize(static_cast<std::size_t>(kept));
    if (std::min(train.size(), last.size()) < shortest)
      throw examples::file_error(path, fmt::format("the text of {} is too short: {} letters to train on, {} held out; "
                                                   "the model needs {} of both",
                                                   name, train.size(), last.size(), shortest));
  }
  return owners;
}

std::uint32_t checksum(const std::vector<owner>& owners) {
  std::uint32_t crc = 0;
  for (const auto& o : owners) crc = add_to_crc(add_to_crc(add_to_crc(crc, o.name), o.train), o.held_out);
  return crc;
}

void copy_letters(const letter_string& text, std::size_t from, std::span<std::int32_t> to) {
  std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(from), to.size(), to.begin());
}

std::vector<std::size_t> pieces(std::size_t length, int context, std::size_t most) {
  const auto step = static_cast<std::size_t>(context) / 2, needed = static_cast<std::size_t>(context) + 1;
  const std::size_t count = length < needed ? 0 : (length - needed) / step + 1, taken = std::min(count, most);
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < taken; ++i) first.push_back(i * count / taken * step);
  return first;
}

}  // namespace language_model
