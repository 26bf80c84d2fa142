// common/command_line.hpp: options with ranges and defaults, which are checked and explained.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace examples {

/// Tells the program to stop with this exit code (0 after --help) and this text, printed by one rank only.
struct stop {
  int code;
  std::string text;
};

/// The reason why a text is refused; empty if it is accepted.
using check = std::function<std::string(const std::string& text)>;

class command_line {
 public:
  command_line(std::string name, std::string description);
  command_line(command_line&&) noexcept;
  ~command_line();

  /// An option with a value from low to high. Its default is the current value of `value`, which must outlive parse.
  void number(const char* option, int& value, int low, int high, const char* what);
  void number(const char* option, std::uint64_t& value, std::uint64_t low, std::uint64_t high, const char* what);
  void number(const char* option, double& value, double low, double high, const char* what);
  /// An option with one of a few numbers.
  void choice(const char* option, int& value, const char* what, check accepts);
  void text(const char* option, std::string& value, const char* type, const char* what, check accepts = {});
  void text(const char* option, std::filesystem::path& value, const char* type, const char* what);
  void flag(const char* option, bool& value, const char* what);

  /// Parses the arguments. The result is empty if all went well.
  [[nodiscard]] std::optional<stop> parse(int argc, const char* const* argv);

  /// All options with a value, as parsed.
  [[nodiscard]] nlohmann::ordered_json chosen() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  template <class T>
  void ranged(const char* option, T& value, T low, T high, const char* what);
  template <class T>
  void record(const char* option, const T& value);

  std::string name_;
  std::unique_ptr<CLI::App> app_;
  std::vector<std::function<void(nlohmann::ordered_json&)>> recorders_;
};

}  // namespace examples
