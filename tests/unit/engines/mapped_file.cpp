// Members' values in .npy and raw files.
#include <doctest/doctest.h>
#include <drx/engines/mapped_file.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace {
using drx::abstract_value;
using drx::dtype;

/// A file that is there as long as the object.
struct file {
  std::string path = [] {
    char name[] = "/tmp/drx_mapped_file_XXXXXX";
    const int descriptor = ::mkstemp(name);
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    return std::string(name);
  }();
  explicit file(const std::string& content) { std::ofstream(path, std::ios::binary) << content; }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() { std::remove(path.c_str()); }
};
std::string raw(const std::vector<float>& x) {
  return {reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float)};
}
std::string npy(std::string header, const std::vector<float>& x) {
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() % 256) +
         static_cast<char>(header.size() / 256) + header + raw(x);
}
std::vector<float> numbers(std::span<const std::byte> bytes) {
  std::vector<float> x(bytes.size() / sizeof(float));
  if (!x.empty()) std::memcpy(x.data(), bytes.data(), bytes.size());
  return x;
}
const abstract_value pair_of_floats(dtype::float32, drx::make_shape(2));
const std::vector<float> six{1, 2, 3, 4, 5, 6};
}  // namespace

TEST_CASE("members of raw and .npy files") {
  const file plain(raw(six)), numpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", six));
  for (const auto* f : {&plain, &numpy}) {
    const drx::engines::mapped_file mapped(f->path);
    CHECK(numbers(mapped.members(pair_of_floats, 0, 3)) == six);
    CHECK(numbers(mapped.members(pair_of_floats, 1, 1)) == std::vector<float>{3, 4});
    CHECK(mapped.members(pair_of_floats, 3, 0).empty());
    CHECK_THROWS_WITH(std::ignore = mapped.members(pair_of_floats, 2, 2),
                      ("drx: " + f->path + ": it has 3 members of f32[2]; asked for are 2 from 2 on").c_str());
    CHECK_THROWS(std::ignore = mapped.members(pair_of_floats, -1, 1));
  }
}

TEST_CASE("files that do not fit are refused with their name") {
  const auto refuses = [](const std::string& header, const std::string& why) {
    const file f(npy(header, six));
    const drx::engines::mapped_file mapped(f.path);
    CHECK_THROWS_WITH(std::ignore = mapped.members(pair_of_floats, 0, 1), ("drx: " + f.path + ": " + why).c_str());
  };
  refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }",
          "its elements are '<f8'; the program takes <f4");
  refuses("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2), }",
          "its elements are '>f4'; the program takes <f4");
  refuses("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", "it is in Fortran order");
  refuses("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
          "its shape is (2,3,); the program takes members of f32[2] along axis 0");
  refuses("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }",
          "its shape is (6,); the program takes members of f32[2] along axis 0");
  refuses("{}", "its elements are ; the program takes <f4");
  CHECK_THROWS_WITH(drx::engines::mapped_file("/no/such/file"), "drx: /no/such/file: No such file or directory");
  CHECK_THROWS_WITH(drx::engines::mapped_file("/tmp"), "drx: /tmp: it is no regular file");
  const file cut("\x93NUMPY\x01");
  CHECK_THROWS_WITH(std::ignore = drx::engines::mapped_file(cut.path).members(pair_of_floats, 0, 0),
                    ("drx: " + cut.path + ": its .npy header is cut off").c_str());
}
