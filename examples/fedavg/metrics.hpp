// fedavg/metrics.hpp: metrics.csv, one line per round.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace fedavg {

struct metrics_row {
  std::uint64_t round = 0;
  double train_loss = 0, test_loss = 0, test_accuracy = 0;
  double seconds = 0;               ///< training time since round 0
  std::uint64_t bytes_reduced = 0;  ///< sent and received by reductions since round 0
  bool operator==(const metrics_row&) const = default;
};

class metrics_writer {
 public:
  /// Starts an empty file.
  explicit metrics_writer(const std::filesystem::path& path);

  /// Continues a file after the round of a checkpoint; later rows (and one cut short by a crash) are dropped, because
  /// they are computed again. Throws file_error if the file does not reach that round.
  metrics_writer(const std::filesystem::path& path, std::uint64_t checkpointed_round);

  void append(const metrics_row& row);

  /// Forces all rows to the disk: to be called before a checkpoint of the same round is written.
  void sync();

  /// The last row kept or written.
  [[nodiscard]] const std::optional<metrics_row>& last() const { return last_; }

 private:
  struct close_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void open();

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, close_file> file_;
  std::optional<metrics_row> last_;
};

}  // namespace fedavg
