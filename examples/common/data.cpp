#include "data.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "files.hpp"
#include "random.hpp"

namespace examples {
namespace {

constexpr int most_classes = 1000;
constexpr std::size_t most_columns = 10'000;  // a hundred times what the examples' data have

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The lines of a text, counted from 1, without their ends (LF or CR LF).
struct line_reader {
  std::string_view rest;
  std::size_t number = 0;

  bool next(std::string_view& line) {
    if (rest.empty()) return false;
    const auto end = rest.find('\n');
    line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    return true;
  }
};

/// A field as a message shows it: its first bytes, and only those that a terminal prints.
std::string shown(std::string_view field) {
  constexpr std::size_t most = 40;
  std::string text(field.substr(0, most));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return field.size() > most ? text + "..." : text;
}

/// Calls visit(column, field) for each field; returns the number of fields.
template <class Visit>
std::size_t for_each_field(std::string_view line, Visit visit) {
  for (std::size_t column = 0;; ++column) {
    const auto end = line.find(',');
    visit(column, trim(line.substr(0, end)));
    if (end == std::string_view::npos) return column + 1;
    line.remove_prefix(end + 1);
  }
}

struct columns {
  std::vector<std::string> names;
  std::size_t label = 0;
  std::optional<std::size_t> client;
};

class csv_parser {
 public:
  csv_parser(const std::filesystem::path& path, schema expected) : path_(path), expected_(expected) {}

  dataset parse(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // the byte order mark that spreadsheets put first
    if (text.empty()) throw file_error(path_, "is empty");
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    if (!text.ends_with('\n'))
      throw file_error(path_, lines + 1,
                       "the last line has no end: the file is cut short (or only lacks its last newline)");
    lines_.rest = text;
    std::string_view line;
    lines_.next(line);
    read_header(line);
    const std::size_t shortest =
        2 * columns_.names.size();  // bytes of a row: a digit and what follows it in each column
    const std::size_t rows = std::min(lines, text.size() / shortest);
    data_.y.reserve(rows);
    data_.x.reserve(rows * data_.features);
    while (lines_.next(line)) read_row(line);
    if (data_.y.empty()) throw file_error(path_, "has a header but no rows");
    data_.classes = expected_.classes != 0 ? expected_.classes : std::ranges::max(data_.y) + 1;
    return std::move(data_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { throw file_error(path_, lines_.number, what); }

  void read_header(std::string_view line) {
    bool label_seen = false;
    std::unordered_set<std::string_view> seen;
    for_each_field(line, [&](std::size_t column, std::string_view name) {
      if (column >= most_columns) fail(fmt::format("the header names more than {} columns", most_columns));
      if (name.empty()) fail(fmt::format("column {} has no name", column + 1));
      if (!seen.insert(name).second) fail(fmt::format("two columns are named '{}'", shown(name)));
      columns_.names.emplace_back(name);
      if (name == "label")
        columns_.label = column, label_seen = true;
      else if (name == "client")
        columns_.client = column;
      else
        data_.feature_names.emplace_back(name);
    });
    if (!label_seen) fail("the header names no column 'label'");
    data_.features = data_.feature_names.size();
    if (data_.features == 0) fail("the header names no features beside 'label' and 'client'");
    if (expected_.features != 0 && data_.features != expected_.features)
      fail(fmt::format("the model takes {} features, the header names {}", expected_.features, data_.features));
  }

  void read_row(std::string_view line) {
    const std::size_t expected = columns_.names.size();
    const std::size_t found = for_each_field(line, [&](std::size_t column, std::string_view field) {
      if (column >= expected) return;
      if (column == columns_.label)
        data_.y.push_back(label(field));
      else if (column == columns_.client)
        data_.client.push_back(client(field));
      else
        data_.x.push_back(number(field, column));
    });
    if (found != expected) fail(fmt::format("expected {} columns, found {}", expected, found));
  }

  float number(std::string_view field, std::size_t column) const {
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    const auto bad = [&](std::string_view why) {
      fail(fmt::format("column '{}': '{}' is {}", shown(columns_.names[column]), shown(field), why));
    };
    if (error == std::errc::invalid_argument || end != field.data() + field.size()) bad("not a number");
    if (error == std::errc() && !std::isfinite(value)) bad("not finite");
    if (error != std::errc() || std::abs(value) > double{std::numeric_limits<float>::max()}) bad("out of range");
    return static_cast<float>(value);
  }

  int label(std::string_view field) const {
    const int classes = expected_.classes != 0 ? expected_.classes : most_classes;
    int value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc::invalid_argument || end != field.data() + field.size())
      fail(fmt::format("label '{}' is not a whole number", shown(field)));
    if (error != std::errc() || value < 0 || value >= classes)
      fail(fmt::format("label {} is not from 0 to {}", shown(field), classes - 1));
    return value;
  }

  int client(std::string_view field) {
    if (field.empty()) fail("no client is named");
    const auto [place, added] = clients_.try_emplace(std::string(field), static_cast<int>(clients_.size()));
    if (added) data_.client_names.emplace_back(field);
    return place->second;
  }

  std::filesystem::path path_;
  schema expected_;
  line_reader lines_;
  columns columns_;
  std::unordered_map<std::string, int> clients_;
  dataset data_;
};

std::uint64_t hash_row(const dataset& data, std::size_t row, std::uint64_t seed) {
  std::uint64_t key = mix(mix(seed) ^ static_cast<std::uint64_t>(purpose::split));
  for (const float value : data.row(row)) key = mix(key ^ std::bit_cast<std::uint32_t>(value));
  return mix(key ^ static_cast<std::uint64_t>(data.y[row]));
}

template <class T>
std::uint32_t continue_crc(std::uint32_t crc, const std::vector<T>& values) {
  if (values.empty()) return crc;  // zlib takes a null pointer to mean: start anew
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(values.data()), values.size() * sizeof(T)));
}

}  // namespace

dataset read_csv(const std::filesystem::path& path, schema expected) {
  return csv_parser(path, expected).parse(read_file(path));
}

dataset take(const dataset& data, std::span<const std::size_t> rows) {
  dataset some;
  some.features = data.features;
  some.classes = data.classes;
  some.client_names = data.client_names;
  some.feature_names = data.feature_names;
  some.x.reserve(rows.size() * data.features);
  some.y.reserve(rows.size());
  for (const std::size_t i : rows) {
    const auto x = data.row(i);
    some.x.insert(some.x.end(), x.begin(), x.end());
    some.y.push_back(data.y[i]);
    if (!data.client.empty()) some.client.push_back(data.client[i]);
  }
  return some;
}

train_and_test split(const dataset& data, double test_fraction, std::uint64_t seed) {
  std::vector<std::size_t> train, test;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const bool testing = static_cast<double>(hash_row(data, i, seed) >> 11) * 0x1p-53 < test_fraction;
    (testing ? test : train).push_back(i);
  }
  if (train.empty() || test.empty())
    throw std::invalid_argument(
        fmt::format("{} rows are too few to set {} of them aside for testing", data.rows(), test_fraction));
  return {take(data, train), take(data, test)};
}

std::uint32_t checksum(const dataset& data) {
  return continue_crc(continue_crc(continue_crc(0, data.x), data.y), data.client);
}

}  // namespace examples
