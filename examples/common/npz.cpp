#include "npz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <bit>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "files.hpp"

namespace examples {

namespace {

static_assert(std::endian::native == std::endian::little, "the .npy header below says little-endian");

/// An array as a .npy file: magic, version 1.0, a header padded so that the values start at a multiple of 64 bytes.
std::string npy(const npz_array& array) {
  const std::string trailing = array.shape.size() == 1 ? "," : "";
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}",
                                   fmt::join(array.shape, ", "), trailing);
  constexpr std::size_t preamble = 10;
  header.append(63 - (preamble + header.size()) % 64, ' ') += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes.append(header).append(reinterpret_cast<const char*>(array.values.data()), array.values.size_bytes());
}

}  // namespace

void write_npz(const std::filesystem::path& path, const std::vector<npz_array>& arrays) {
  std::vector<std::string> members;  // libzip reads them only when the archive is closed
  for (const auto& array : arrays) {
    const auto count = std::accumulate(array.shape.begin(), array.shape.end(), std::size_t{1}, std::multiplies<>());
    if (count != array.values.size())
      throw std::invalid_argument(fmt::format("array '{}' of shape ({}) needs {} values, has {}", array.name,
                                              fmt::join(array.shape, ", "), count, array.values.size()));
    members.push_back(npy(array));
  }
  zip_error_t error;
  ::zip_error_init(&error);
  const auto cannot = [&](const char* why) { return file_error(path, fmt::format("cannot be written: {}", why)); };
  // In memory, so that the file is written as all others are.
  std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> buffer(::zip_source_buffer_create(nullptr, 0, 0, &error),
                                                                ::zip_source_free);
  if (!buffer) throw cannot(::zip_error_strerror(&error));
  ::zip_source_keep(buffer.get());  // the archive frees it once, and so does `buffer`
  std::unique_ptr<zip_t, void (*)(zip_t*)> owner(::zip_open_from_source(buffer.get(), ZIP_TRUNCATE, &error),
                                                 ::zip_discard);
  zip_t* const archive = owner.get();
  if (archive == nullptr) {
    ::zip_source_free(buffer.get());
    throw cannot(::zip_error_strerror(&error));
  }
  const auto fail = [&] { throw cannot(::zip_strerror(archive)); };
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t* const source = ::zip_source_buffer(archive, members[i].data(), members[i].size(), 0);
    if (source == nullptr) fail();
    const zip_int64_t index = ::zip_file_add(archive, (arrays[i].name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      ::zip_source_free(source);
      fail();
    }
    const auto entry = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t date_1980 = (1 << 5) | 1;  // the earliest that a zip can hold
    if (::zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) != 0 ||
        ::zip_file_set_dostime(archive, entry, 0, date_1980, 0) != 0)
      fail();
  }
  if (::zip_close(archive) != 0) fail();
  static_cast<void>(owner.release());  // zip_close has freed it
  zip_stat_t about;
  if (::zip_source_stat(buffer.get(), &about) != 0 || ::zip_source_open(buffer.get()) != 0)
    throw cannot(::zip_error_strerror(::zip_source_error(buffer.get())));
  std::string bytes(about.size, '\0');
  const zip_int64_t got = ::zip_source_read(buffer.get(), bytes.data(), bytes.size());
  ::zip_source_close(buffer.get());
  if (got != static_cast<zip_int64_t>(bytes.size())) throw cannot("the archive in memory cannot be read");
  write_atomically(path, bytes);
}

}  // namespace examples
