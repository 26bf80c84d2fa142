// A folder for the files of one test, removed afterwards.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

struct test_folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("examples_test_" + std::to_string(::getpid()));

  test_folder() { std::filesystem::create_directories(path); }
  test_folder(const test_folder&) = delete;
  test_folder& operator=(const test_folder&) = delete;
  ~test_folder() { std::filesystem::remove_all(path); }

  std::filesystem::path file(std::string_view name, std::string_view content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return path / name;
  }
};

/// What `call` throws, without the folder's name in it; empty if it throws nothing.
template <class Call>
std::string what_is_thrown(const test_folder& folder, Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    std::string text = error.what();
    const std::string prefix = folder.path.string() + '/';
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }
  return {};
}
