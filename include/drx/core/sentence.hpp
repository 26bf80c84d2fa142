// drx/core/sentence.hpp: the text of an error, from words and numbers.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace drx::error {

/// A word or a number of a sentence.
class word {
 public:
  word(const char* text) : text_(text) {}
  word(std::string_view text) : text_(text) {}
  word(const std::string& text) : text_(text) {}
  template <std::integral T>
  word(T number) : number_(static_cast<std::int64_t>(number)), is_number_(true) {}

  void append_to(std::string& sentence) const { is_number_ ? sentence += std::to_string(number_) : sentence += text_; }

 private:
  std::string_view text_;
  std::int64_t number_ = 0;
  bool is_number_ = false;
};

/// The words one after the other. (Chains of + compile to several times the code at each place that throws.)
[[gnu::cold]] inline std::string sentence(std::initializer_list<word> words) {
  std::string text;
  for (const word& w : words) w.append_to(text);
  return text;
}

}  // namespace drx::error
