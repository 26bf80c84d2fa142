#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <sstream>
#include <type_traits>

namespace examples {
namespace {

/// Refuses what is not a number of type T in the range. (CLI::Range lets nan pass.)
template <class T>
CLI::Validator from_to(T low, T high, const std::string& range) {
  return {[=](std::string& text) {
            T value{};
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool good = error == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
            if (good) return std::string();
            return fmt::format("'{}' is not a {} from {}", text, std::is_integral_v<T> ? "whole number" : "number",
                               range);
          },
          ""};
}

CLI::Validator validator(check accepts) {
  return {[accepts = std::move(accepts)](std::string& text) { return accepts ? accepts(text) : std::string(); }, ""};
}

}  // namespace

command_line::command_line(std::string name, std::string description)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(std::move(description), name_)) {
  app_->get_formatter()->column_width(26);
}
command_line::command_line(command_line&&) noexcept = default;
command_line::~command_line() = default;

template <class T>
void command_line::record(const char* option, const T& value) {
  std::string key(option + 2);
  std::ranges::replace(key, '-', '_');
  recorders_.push_back([key, &value](nlohmann::ordered_json& all) {
    if constexpr (std::is_same_v<T, std::filesystem::path>)
      all[key] = value.string();
    else
      all[key] = value;
  });
}

template <class T>
void command_line::ranged(const char* option, T& value, T low, T high, const char* what) {
  const std::string range = fmt::format("{} to {}", low, high);
  const std::string help = fmt::format("{} ({}; default {})", what, range, value);
  app_->add_option(option, value, help)->check(from_to(low, high, range))->type_name("N");
  record(option, value);
}
void command_line::number(const char* option, int& value, int low, int high, const char* what) {
  ranged(option, value, low, high, what);
}
void command_line::number(const char* option, std::uint64_t& value, std::uint64_t low, std::uint64_t high,
                          const char* what) {
  ranged(option, value, low, high, what);
}
void command_line::number(const char* option, double& value, double low, double high, const char* what) {
  ranged(option, value, low, high, what);
}
void command_line::choice(const char* option, int& value, const char* what, check accepts) {
  app_->add_option(option, value, what)->check(validator(std::move(accepts)))->type_name("N");
  record(option, value);
}
void command_line::text(const char* option, std::string& value, const char* type, const char* what, check accepts) {
  app_->add_option(option, value, fmt::format("{} (default {})", what, value))
      ->type_name(type)
      ->check(validator(std::move(accepts)));
  record(option, value);
}
void command_line::text(const char* option, std::filesystem::path& value, const char* type, const char* what) {
  app_->add_option(option, value, fmt::format("{} (default {})", what, value.string()))->type_name(type);
  record(option, value);
}
void command_line::flag(const char* option, bool& value, const char* what) { app_->add_flag(option, value, what); }

std::optional<stop> command_line::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    const int code = app_->exit(error, out, out);
    return stop{code == 0 ? 0 : 2, out.str()};
  }
  return std::nullopt;
}

nlohmann::ordered_json command_line::chosen() const {
  nlohmann::ordered_json all;
  for (const auto& record : recorders_) record(all);
  return all;
}

}  // namespace examples
