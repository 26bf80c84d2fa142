// drx/backend/environment.hpp: the environment variables of drx.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace drx {

/// The settings from DRX_CHECK and DRX_STALL_WARN_S.
struct environment {
  bool compares_calls = true;      // DRX_CHECK=0: false
  bool compares_messages = false;  // DRX_CHECK=1: true
  double warn_after = 60;          // seconds of waiting

  /// Throws std::invalid_argument for a variable with a meaningless value.
  static environment read() {
    environment e;
    if (const std::string_view check = text_of("DRX_CHECK"); !check.empty()) {
      if (check != "0" && check != "1")
        throw std::invalid_argument("DRX_CHECK=" + std::string(check) + ": it must be 0 or 1");
      e.compares_calls = e.compares_messages = check == "1";
    }
    if (const std::string_view seconds = text_of("DRX_STALL_WARN_S"); !seconds.empty()) {
      char* end = nullptr;
      e.warn_after = std::strtod(seconds.data(), &end);
      if (*end != '\0' || !(e.warn_after > 0))
        throw std::invalid_argument("DRX_STALL_WARN_S=" + std::string(seconds) +
                                    ": it must be a positive number of seconds");
    }
    return e;
  }

 private:
  static std::string_view text_of(const char* name) {
    const char* text = std::getenv(name);
    return text ? text : "";
  }
};

}  // namespace drx
