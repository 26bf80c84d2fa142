#include "metrics.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

#include "../common/files.hpp"

namespace fedavg {

using namespace examples;

namespace {

constexpr std::string_view header = "round,train_loss,test_loss,test_accuracy,seconds,bytes_reduced\n";

std::string format(const metrics_row& row) {
  return fmt::format("{},{},{},{},{:.3f},{}\n", row.round, row.train_loss, row.test_loss, row.test_accuracy,
                     row.seconds, row.bytes_reduced);
}

template <class... T>
bool scan(std::string_view line, T&... values) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto field = [&](auto& value, char after) {
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || stop == end || *stop != after) return false;
    at = stop + 1;
    return true;
  };
  std::size_t left = sizeof...(T);
  return (field(values, --left == 0 ? '\n' : ',') && ...) && at == end;
}

std::optional<metrics_row> parse_row(std::string_view line) {
  metrics_row row;
  const bool good =
      scan(line, row.round, row.train_loss, row.test_loss, row.test_accuracy, row.seconds, row.bytes_reduced);
  return good ? std::optional(row) : std::nullopt;
}

}  // namespace

metrics_writer::metrics_writer(const std::filesystem::path& path) : path_(path) {
  write_atomically(path_, header);
  open();
}

metrics_writer::metrics_writer(const std::filesystem::path& path, std::uint64_t checkpointed_round) : path_(path) {
  const std::string text = read_file(path_);
  std::string_view rest = text;
  if (!rest.starts_with(header)) throw file_error(path_, 1, "is not the header of a metrics file");
  rest.remove_prefix(header.size());
  while (!rest.empty() && (!last_ || last_->round < checkpointed_round)) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);  // empty for a line without its end
    const auto row = parse_row(line);
    if (!row || row->round > checkpointed_round) break;
    last_ = row;
    rest.remove_prefix(line.size());
  }
  if (!last_ || last_->round != checkpointed_round)
    throw file_error(path_, fmt::format("ends at round {}, before the checkpoint's round {}",
                                        last_ ? fmt::to_string(last_->round) : "(none)", checkpointed_round));
  write_atomically(path_, std::string_view(text).substr(0, text.size() - rest.size()));
  open();
}

void metrics_writer::open() {
  const int opened = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);  // it was written just now
  file_.reset(opened < 0 ? nullptr : ::fdopen(opened, "ab"));
  if (!file_) throw file_error(path_, "cannot be written: " + std::generic_category().message(errno));
}

void metrics_writer::append(const metrics_row& row) {
  const std::string line = format(row);
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0)
    throw file_error(path_, "cannot be written: " + std::generic_category().message(errno));
  last_ = row;
}

void metrics_writer::sync() {
  if (::fsync(::fileno(file_.get())) != 0)
    throw file_error(path_, "cannot be written: " + std::generic_category().message(errno));
}

}  // namespace fedavg
