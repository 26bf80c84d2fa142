#include <doctest/doctest.h>
#include <zip.h>

#include <cstdlib>
#include <cstring>
#include <examples/common/files.hpp>
#include <examples/common/progress.hpp>
#include <examples/common/run_info.hpp>
#include <examples/fedavg/metrics.hpp>
#include <examples/common/npz.hpp>
#include <examples/fedavg/options.hpp>

#include "folder.hpp"

namespace {

std::string member(const std::filesystem::path& archive, const char* name) {
  zip_t* const opened = ::zip_open(archive.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, nullptr);
  REQUIRE(opened != nullptr);
  zip_file_t* const file = ::zip_fopen(opened, name, 0);
  REQUIRE(file != nullptr);
  std::string bytes(4096, '\0');
  bytes.resize(static_cast<std::size_t>(::zip_fread(file, bytes.data(), bytes.size())));
  ::zip_fclose(file);
  ::zip_discard(opened);
  return bytes;
}

const std::string metrics_header = "round,train_loss,test_loss,test_accuracy,seconds,bytes_reduced\n";

}  // namespace

TEST_CASE("an .npz file holds .npy files, and numpy opens it where it is installed") {
  const test_folder folder;
  const auto path = folder.path / "m.npz";
  const std::vector<float> w{1, 2, 3, 4, 5, 6.5f}, b{-1, 0};
  examples::write_npz(path, {{"w", {3, 2}, w}, {"b", {2}, b}, {"s", {}, std::span(b).first(1)}});
  const std::string bytes = member(path, "w.npy");
  REQUIRE(bytes.size() == 128 + 24);
  CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(bytes.substr(10, 59) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }");
  CHECK(bytes[127] == '\n');
  CHECK(std::memcmp(bytes.data() + 128, w.data(), 24) == 0);
  CHECK(member(path, "b.npy").find("'shape': (2,), }") != std::string::npos);

  const std::string first = examples::read_file(path);
  examples::write_npz(path, {{"w", {3, 2}, w}, {"b", {2}, b}, {"s", {}, std::span(b).first(1)}});
  CHECK(examples::read_file(path) == first);

  if (std::system("python3 -c 'import numpy' 2>/dev/null") != 0) return;
  const std::string check = "m = numpy.load('" + path.string() +
                            "'); assert m['w'].tolist() == [[1, 2], [3, 4], [5, 6.5]]; " +
                            "assert m['b'].tolist() == [-1, 0] and m['s'] == -1 and m['w'].dtype == 'f4'";
  CHECK(std::system(("python3 -c \"import numpy; " + check + "\"").c_str()) == 0);
}

TEST_CASE("fedavg: an array that does not fit its shape, or a folder that is not there, is refused") {
  const test_folder folder;
  const std::vector<float> w{1, 2};
  CHECK(what_is_thrown(folder, [&] { examples::write_npz(folder.path / "m.npz", {{"w", {2, 3}, w}}); }) ==
        "array 'w' of shape (2, 3) needs 6 values, has 2");
  CHECK(what_is_thrown(folder, [&] {
          examples::write_npz(folder.path / "none" / "m.npz", {{"w", {2}, w}});
        }).starts_with("none/m.npz: cannot be written: "));
}

TEST_CASE("fedavg: metrics continue after the checkpoint's round") {
  const test_folder folder;
  const auto path = folder.path / "metrics.csv";
  const fedavg::metrics_row rows[] = {
      {0, 2.5, 2.25, 0.125, 0, 0}, {1, 1.5, 1.75, 0.5, 0.25, 1000}, {2, 1, 1.25, 0.75, 0.5, 2000}};
  {
    fedavg::metrics_writer writer(path);
    for (const auto& row : rows) writer.append(row);
    writer.sync();
  }
  const std::string whole =
      metrics_header + "0,2.5,2.25,0.125,0.000,0\n1,1.5,1.75,0.5,0.250,1000\n2,1,1.25,0.75,0.500,2000\n";
  CHECK(examples::read_file(path) == whole);
  folder.file("metrics.csv", whole + "3,0.9,1.2,0.8");  // cut short by a crash
  {
    fedavg::metrics_writer writer(path, 1);
    CHECK(writer.last() == rows[1]);
    writer.append(rows[2]);
  }
  CHECK(examples::read_file(path) == whole);
  const auto resume = [&](std::uint64_t round) {
    return what_is_thrown(folder, [&] { fedavg::metrics_writer(path, round); });
  };
  CHECK(resume(5) == "metrics.csv: ends at round 2, before the checkpoint's round 5");
  CHECK(resume(2).empty());
  folder.file("metrics.csv", metrics_header);
  CHECK(resume(1) == "metrics.csv: ends at round (none), before the checkpoint's round 1");
  folder.file("metrics.csv", "a,b\n");
  CHECK(resume(1) == "metrics.csv:1: is not the header of a metrics file");
}

TEST_CASE("fedavg: a line of progress") {
  CHECK(examples::progress_line(30, 60, "test accuracy 91.2%", 2.5) ==
        "[###############...............] round 30/60, test accuracy 91.2%, 1:15 left");
  CHECK(examples::progress_line(60, 60, "test accuracy 100.0%", 2.5) ==
        "[##############################] round 60/60, test accuracy 100.0%, 0:00 left");
}

TEST_CASE("fedavg: run.json says what ran, where, with which options") {
  const auto info = examples::run_info(fedavg::chosen({}), {"Open MPI v4.1.4, package: Debian", "OpenMP", 2, 4});
  CHECK(info["mpi"] == "Open MPI v4.1.4");
  CHECK(info["ranks"] == 2);
  CHECK(info["options"]["rate"] == 0.1);
  CHECK(info["options"]["data"] == "digits");
  CHECK(info["date"].get<std::string>().size() == 20);
}
