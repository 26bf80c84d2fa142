#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <examples/common/data.hpp>
#include <vector>

#include "folder.hpp"

namespace {

std::string read_error(std::string_view content, examples::schema expected = {}) {
  const test_folder folder;
  return what_is_thrown(folder,
                        [&] { static_cast<void>(examples::read_csv(folder.file("d.csv", content), expected)); });
}

examples::dataset squares(std::size_t rows) {
  examples::dataset data;
  data.features = 1;
  data.classes = 2;
  for (std::size_t i = 0; i < rows; ++i) {
    data.x.push_back(static_cast<float>(i * i));
    data.y.push_back(static_cast<int>(i % 2));
  }
  return data;
}

}  // namespace

TEST_CASE("examples: a table is read as it stands") {
  const test_folder folder;
  const auto data =
      examples::read_csv(folder.file("d.csv",
                                     "\xef\xbb\xbf"
                                     "a,client,label,b\r\n0.5,N1, 2 ,-1e3\r\n.25,N2,0,7\r\n1e-60,N1,1,0\r\n"));
  CHECK(data.x == std::vector{0.5f, -1000.0f, 0.25f, 7.0f, 0.0f, 0.0f});
  CHECK(data.y == std::vector{2, 0, 1});
  CHECK(data.client == std::vector{0, 1, 0});
  CHECK(data.client_names == std::vector<std::string>{"N1", "N2"});
  CHECK(data.feature_names == std::vector<std::string>{"a", "b"});
  CHECK(data.rows() == 3);
  CHECK(data.features == 2);
  CHECK(data.classes == 3);
  CHECK(data.row(1)[1] == 7.0f);
}

TEST_CASE("examples: a bad table is refused with file, line and reason") {
  CHECK(read_error("") == "d.csv: is empty");
  CHECK(read_error("label,x\n") == "d.csv: has a header but no rows");
  CHECK(read_error("label,x\n1,2\n1,3") ==
        "d.csv:3: the last line has no end: the file is cut short (or only lacks its last newline)");
  CHECK(read_error("y,x\n1,2\n") == "d.csv:1: the header names no column 'label'");
  CHECK(read_error("label,client\n1,2\n") == "d.csv:1: the header names no features beside 'label' and 'client'");
  CHECK(read_error("label,x,x\n1,2,3\n") == "d.csv:1: two columns are named 'x'");
  CHECK(read_error("label,,x\n1,2,3\n") == "d.csv:1: column 2 has no name");
  CHECK(read_error("label,x\n1,2\n1\n") == "d.csv:3: expected 2 columns, found 1");
  CHECK(read_error("label,x\n1,2,3\n") == "d.csv:2: expected 2 columns, found 3");
  CHECK(read_error("label,x\n1,2\n\n") == "d.csv:3: label '' is not a whole number");
  CHECK(read_error("label,x\n1,two\n") == "d.csv:2: column 'x': 'two' is not a number");
  CHECK(read_error("label,x\n1,2.5.1\n") == "d.csv:2: column 'x': '2.5.1' is not a number");
  CHECK(read_error("label,x\n1,\n") == "d.csv:2: column 'x': '' is not a number");
  CHECK(read_error("label,x\n1,nan\n") == "d.csv:2: column 'x': 'nan' is not finite");
  CHECK(read_error("label,x\n1,-inf\n") == "d.csv:2: column 'x': '-inf' is not finite");
  CHECK(read_error("label,x\n1,1e39\n") == "d.csv:2: column 'x': '1e39' is out of range");
  CHECK(read_error("label,x\n1.5,0\n") == "d.csv:2: label '1.5' is not a whole number");
  CHECK(read_error("label,x\n-1,0\n") == "d.csv:2: label -1 is not from 0 to 999");
  CHECK(read_error("label,client,x\n1,,0\n") == "d.csv:2: no client is named");
  CHECK(read_error("label,x\n2,0\n", {1, 2}) == "d.csv:2: label 2 is not from 0 to 1");
  CHECK(read_error("label,x\n1,0\n", {2, 2}) == "d.csv:1: the model takes 2 features, the header names 1");
  CHECK(read_error("label,x\n1," + std::string(1000, 'y') + "\n") ==
        "d.csv:2: column 'x': '" + std::string(40, 'y') + "...' is not a number");
  CHECK(read_error("label,x\n1,\x1b[2J\n") == "d.csv:2: column 'x': '?[2J' is not a number");
  const test_folder folder;
  const auto missing = [&] { static_cast<void>(examples::read_csv(folder.path / "none.csv")); };
  CHECK(what_is_thrown(folder, missing) == "none.csv: cannot be read: No such file or directory");
}

TEST_CASE("examples: a table that is far too large is refused soon, and takes no memory") {
  std::string wide = "label";
  for (int i = 1; i < 1'000'000; ++i) wide += fmt::format(",x{}", i);
  CHECK(read_error(wide + "\n") == "d.csv:1: the header names more than 10000 columns");
  CHECK(read_error("label,x\n" + wide + "\n") == "d.csv:2: label 'label' is not a whole number");
  CHECK(read_error("label,x\n1,2" + std::string(2'000'000, ',') + "\n") ==
        "d.csv:2: expected 2 columns, found 2000002");
  std::string header = "label";
  for (int i = 1; i < 10'000; ++i) header += fmt::format(",x{}", i);
  CHECK(read_error(header + std::string(10'000'000, '\n')) == "d.csv:2: label '' is not a whole number");
}

TEST_CASE("examples: the split counts each row once, follows the seed and not the order of rows") {
  const auto data = squares(1000);
  const auto [train, test] = examples::split(data, 0.25, 7);
  auto all = train.x;
  all.insert(all.end(), test.x.begin(), test.x.end());
  std::ranges::sort(all);
  CHECK(all == data.x);
  CHECK(test.rows() > 200);
  CHECK(test.rows() < 300);
  CHECK(train.classes == 2);
  CHECK(examples::split(data, 0.25, 8).test.x != test.x);

  std::vector<std::size_t> backwards(data.rows());
  for (std::size_t i = 0; i < backwards.size(); ++i) backwards[i] = backwards.size() - 1 - i;
  auto reversed = examples::split(examples::take(data, backwards), 0.25, 7).test.x;
  std::ranges::reverse(reversed);
  CHECK(reversed == test.x);

  const test_folder folder;
  CHECK(what_is_thrown(folder, [] { static_cast<void>(examples::split(squares(1), 0.5, 1)); }) ==
        "1 rows are too few to set 0.5 of them aside for testing");
}

TEST_CASE("examples: the checksum sees every value") {
  auto data = squares(10);
  const auto before = examples::checksum(data);
  CHECK(before != 0);
  data.x[9] += 1;
  CHECK(examples::checksum(data) != before);
}
