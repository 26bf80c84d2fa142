// bench/zoo/driver.hpp: what the driver, which starts Kokkos and MPI, knows of a program.
#pragma once

#include <drx/run/data/executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zoo {

/// A program that is ready to run.
class timed {
 public:
  virtual ~timed() = default;
  /// All numbers of the result of a call.
  virtual std::vector<double> numbers() = 0;
  /// The seconds that a call takes, in the mean over so many.
  virtual double seconds(int calls) = 0;
  /// Bytes of workspaces.
  [[nodiscard]] virtual double temporaries(int threads) const = 0;
};

/// The program that is compiled into this executable; its arguments lie in the folder, one file for each leaf.
std::unique_ptr<timed> make(const std::string& folder, drx::executor& threads, drx::communicator& ranks);

}  // namespace zoo
