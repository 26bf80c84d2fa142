#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <examples/common/files.hpp>
#include <examples/common/folder_lock.hpp>
#include <examples/common/output.hpp>
#include <examples/common/start.hpp>
#include <memory>

#include "folder.hpp"

namespace {

std::string read_error(const test_folder& folder, const char* name, std::uintmax_t limit = examples::largest_file) {
  return what_is_thrown(folder, [&] { static_cast<void>(examples::read_file(folder.path / name, limit)); });
}

std::size_t files_in(const test_folder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path), {}));
}

}  // namespace

TEST_CASE("examples: only a regular file of a size that fits is read") {
  const test_folder folder;
  folder.file("five", "12345");
  std::filesystem::create_directory(folder.path / "folder");
  std::filesystem::create_symlink("/dev/zero", folder.path / "endless");
  std::filesystem::create_symlink("five", folder.path / "link");
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0666) == 0);
  CHECK(examples::read_file(folder.path / "link") == "12345");
  CHECK(examples::read_file(folder.path / "five", 5) == "12345");
  CHECK(read_error(folder, "five", 4) == "five: has 5 bytes, more than the 4 that are read");
  CHECK(read_error(folder, "folder") == "folder: is a folder, not a file");
  CHECK(read_error(folder, "endless") == "endless: is a device or a pipe: only a regular file is read");
  CHECK(read_error(folder, "pipe") == "pipe: is a device or a pipe: only a regular file is read");
  folder.file("huge", "");
  std::filesystem::resize_file(folder.path / "huge", examples::largest_file + 1);
  CHECK(read_error(folder, "huge") == "huge: has 1073741825 bytes, more than the 1073741824 that are read");
}

TEST_CASE("examples: a file that is written replaces a link and leaves nothing else") {
  const test_folder folder;
  const auto victim = folder.file("victim", "untouched");
  std::filesystem::create_symlink(victim, folder.path / "result");
  std::filesystem::create_symlink(victim, folder.path / "result.part");
  const mode_t before = ::umask(027);
  examples::write_atomically(folder.path / "result", "new");
  ::umask(before);
  CHECK(examples::read_file(victim) == "untouched");
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder.path / "result")));
  CHECK(examples::read_file(folder.path / "result") == "new");
  CHECK(std::filesystem::status(folder.path / "result").permissions() == std::filesystem::perms{0640});
  CHECK(files_in(folder) == 3);
  std::filesystem::create_directory(folder.path / "folder");
  const auto onto_folder = [&] { examples::write_atomically(folder.path / "folder", "new"); };
  CHECK(what_is_thrown(folder, onto_folder) == "folder: cannot be written: Is a directory");
  CHECK(files_in(folder) == 4);
}

TEST_CASE("examples: one run at a time holds a folder") {
  const test_folder folder;
  const auto out = folder.path / "a" / "b";
  const auto claim = [&] { const examples::folder_lock lock(out); };
  {
    const examples::folder_lock lock(out);
    const std::string refused = what_is_thrown(folder, claim);
    CHECK(refused.starts_with("a/b: is in use by process " + std::to_string(::getpid()) + " on "));
    CHECK(refused.ends_with(": wait for its end, or take another folder"));
  }
  CHECK(what_is_thrown(folder, claim).empty());
  const auto on_file = [&] { const examples::folder_lock lock(folder.file("f", "")); };
  CHECK(what_is_thrown(folder, on_file) == "f: is no folder and cannot be made one: Not a directory");
  const auto nameless = [&] { const examples::folder_lock lock(""); };
  CHECK(what_is_thrown(folder, nameless) == "'': names no folder");

  std::filesystem::remove(out / ".lock");
  std::filesystem::create_symlink(folder.file("victim", "untouched"), out / ".lock");
  CHECK(what_is_thrown(folder, claim).starts_with("a/b/.lock: cannot be written: "));
  CHECK(examples::read_file(folder.path / "victim") == "untouched");
  std::filesystem::remove(out / ".lock");
  REQUIRE(::mkfifo((out / ".lock").c_str(), 0666) == 0);
  CHECK(what_is_thrown(folder, claim) == "a/b/.lock: is not a regular file");
}

TEST_CASE("examples: who takes a folder removes what killed runs left of files, and nothing else") {
  const test_folder folder;
  folder.file(".checkpoint.0123456789abcdef.part", "half");
  for (const char* name : {"checkpoint.part", ".checkpoint.part", ".0123456789abcdef.part", ".x.0123456789ABCDEF.part"})
    folder.file(name, "kept");
  const examples::folder_lock lock(folder.path);
  CHECK_FALSE(std::filesystem::exists(folder.path / ".checkpoint.0123456789abcdef.part"));
  CHECK(files_in(folder) == 5);
}

TEST_CASE("examples: what cannot be printed is lost, and throws nothing") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> full(std::fopen("/dev/full", "w"), std::fclose);
  REQUIRE(full);
  examples::print(full.get(), "text\n");
  CHECK(std::ferror(full.get()) != 0);
}

TEST_CASE("examples: more threads than Kokkos has places for are refused, also from the environment") {
  CHECK(examples::most_threads() >= 16);
  CHECK(examples::most_threads() <= 512);
  for (const char* name : {"OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"}) {
    const char* const found = std::getenv(name);
    const std::string before = found ? found : "";
    for (const char* number : {"513", "99999999999999999999"}) {
      ::setenv(name, number, 1);
      const auto refused = examples::too_many_threads_in_environment("fedavg", 0);
      REQUIRE(refused);
      CHECK(refused->code == 2);
      CHECK(refused->text.starts_with(std::string("fedavg: ") + name + "=" + number + " is more than "));
      CHECK_FALSE(examples::too_many_threads_in_environment("fedavg", 1));
    }
    ::setenv(name, "2,2", 1);
    CHECK_FALSE(examples::too_many_threads_in_environment("fedavg", 0));
    found ? ::setenv(name, before.c_str(), 1) : ::unsetenv(name);
  }
}
