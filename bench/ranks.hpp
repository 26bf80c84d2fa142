// bench/ranks.hpp: a workload's sides on several ranks, of which the root alone reports. All must make as many calls,
// so that each side says how many iterations a repetition has.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {

/// The arguments of a rank: those of the root, and others that write nothing where the root does.
struct arguments_of_rank {
  int count;

  arguments_of_rank(int argc, char** argv, int rank) : count(argc), words_(argv, argv + argc) {
    if (rank != 0) {
      for (std::size_t i = 1; i < words_.size(); ++i)
        if (words_[i].starts_with("--benchmark_out="))
          words_[i] = "--benchmark_out=/dev/null";
        else if (words_[i - 1] == "--data")
          words_[i] += "-of-rank-" + std::to_string(rank);
      if (!std::freopen("/dev/null", "w", stdout)) std::exit(1);
    }
    for (std::string& word : words_) values_.push_back(word.data());
    values_.push_back(nullptr);
  }
  char** values() { return values_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> values_;
};

}  // namespace bench
