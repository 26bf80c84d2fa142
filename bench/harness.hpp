// bench/harness.hpp: the common part of the C++ sides of every workload. Each side first writes its numbers, which
// bench/run compares, then Google Benchmark times them in turns. bench/twin.py is the same for sides in Python.
//
//   bench::suite suite(argc, argv);
//   suite.add({.row = "64 clients", .name = "drx", .call = [&] { f(in, out); },
//              .result = [&] { return bench::numbers(out); },
//              .counters = {{"temp_bytes", 1024}}});
//   return suite.run();
#pragma once

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// A hash of a counter (lowbias32). It needs no state, so that numpy makes the same numbers in one vector expression
/// (twin.py).
constexpr std::uint32_t hash(std::uint32_t stream, std::uint32_t i) {
  std::uint32_t h = i + stream * 0x9e3779b9u;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

/// A number in [-1, 1), exact in float: 24 bits of the hash.
constexpr float uniform(std::uint32_t stream, std::uint32_t i) {
  return static_cast<float>(hash(stream, i) >> 8) * 0x1p-23f - 1.0f;
}

/// Numbers 0 to n - 1 of a stream, times `scale`.
template <class T>
void fill(T* to, std::size_t n, std::uint32_t stream, T scale) {
  for (std::size_t i = 0; i < n; ++i) to[i] = scale * static_cast<T>(uniform(stream, static_cast<std::uint32_t>(i)));
}

/// The bytes of the heap in use: a side takes the difference after its first call.
inline std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// A number, or the numbers of a range, as the harness compares them.
template <class T>
std::vector<double> numbers(const T& of) {
  if constexpr (std::is_arithmetic_v<T>)
    return {static_cast<double>(of)};
  else {
    std::vector<double> all;
    for (const auto& x : of) all.push_back(static_cast<double>(x));
    return all;
  }
}

/// One way to compute a row. Sides of one row must agree; a side without a result must be among "bounds" in
/// workload.json.
struct side {
  std::string row;   ///< what is computed, such as "64 clients"; no '/'
  std::string name;  ///< who computes it; no '/'
  std::function<void()> call;
  std::function<std::vector<double>()> result{};  ///< the numbers of the last call
  std::map<std::string, double> counters{};       ///< reported beside the time: "temp_bytes", "compile_s"
  int iterations = 0;                             ///< calls in one repetition; 0: as many as fill the least time
};

class suite {
 public:
  /// Removes --check (write the results, time nothing) and --data DIR from the arguments; the rest is Google
  /// Benchmark's.
  suite(int& argc, char** argv) {
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
      if (argv[i] == std::string_view("--check"))
        check_ = true;
      else if (argv[i] == std::string_view("--data") && i + 1 < argc)
        data_ = argv[++i];
      else
        argv[kept++] = argv[i];
    }
    argc = kept;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) std::exit(2);
  }

  void add(side s) { sides_.push_back(std::move(s)); }

  /// The right numbers of a row, from plain slow code: every side is compared with them, or, without them, with "drx".
  void reference(const std::string& row, const std::vector<double>& values) const {
    if (check_) write(row, "reference", values);
  }
  /// Whether results are wanted and not times, for references that take long.
  bool checking() const { return check_; }
  /// The folder shared with the Python twins, for inputs that no formula gives.
  const std::filesystem::path& data() const { return data_; }

  int run() {
    for (const side& s : sides_)
      if (check_) {
        s.call();
        write(s.row, s.name, s.result ? s.result() : std::vector<double>{});
      } else {
        auto* timed = benchmark::RegisterBenchmark((s.row + "/" + s.name).c_str(), [&s](benchmark::State& state) {
          for (auto _ : state) {
            s.call();
            benchmark::ClobberMemory();
          }
          for (const auto& [name, value] : s.counters) state.counters[name] = value;
        });
        timed->UseRealTime();
        if (s.iterations > 0) timed->Iterations(s.iterations);
      }
    if (!check_) benchmark::RunSpecifiedBenchmarks();
    return 0;
  }

 private:
  void write(const std::string& row, const std::string& name, const std::vector<double>& values) const {
    std::filesystem::create_directories(data_ / row);
    std::ofstream file(data_ / row / (name + ".f64"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(double)));
    if (!file.flush()) {
      std::fprintf(stderr, "cannot write the results of %s under %s\n", name.c_str(), data_.c_str());
      std::exit(1);
    }
  }

  bool check_ = false;
  std::filesystem::path data_ = ".";
  std::vector<side> sides_;
};

}  // namespace bench
