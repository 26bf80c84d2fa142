// language_model/text.hpp: the texts of many owners: read from a file, divided into training and held-out text, cut
// into pieces for the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace language_model {

/// A letter is a printable ASCII character or the end of a line: `letters` of them, numbered from 0. A byte that is
/// neither is taken for a question mark.
inline constexpr int letters = 96;
[[nodiscard]] std::uint8_t letter_of(char byte);
[[nodiscard]] char byte_of(std::uint8_t letter);

/// A text, as letters.
using letter_string = std::vector<std::uint8_t>;

struct owner {
  std::string name;
  letter_string train, held_out;
};

/// Reads a file of lines `name, tab, text`; all lines of one name are the text of one owner, by first appearance. The
/// last part of each text is held out. Throws file_error if a line has no tab, or if a text is so short that one of its
/// two parts does not have `shortest` letters.
[[nodiscard]] std::vector<owner> read_owners(const std::filesystem::path& path, double held_out, std::size_t shortest);

/// CRC-32 of all names and texts.
[[nodiscard]] std::uint32_t checksum(const std::vector<owner>& owners);

/// Copies `to.size()` letters of the text from position `from` on, as the numbers that the model reads.
void copy_letters(const letter_string& text, std::size_t from, std::span<std::int32_t> to);

/// The first letters of pieces of context + 1 letters that overlap by half, so that the second halves of the pieces, in
/// which the model is scored, cover the text. `most`: so many at most, evenly over the text.
[[nodiscard]] std::vector<std::size_t> pieces(std::size_t length, int context, std::size_t most = SIZE_MAX);

}  // namespace language_model
