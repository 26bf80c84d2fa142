// common/run_info.hpp: run.json and --info: the program, its build and its machine.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace examples {

/// The facts that only a running session knows.
struct environment {
  std::string mpi;      ///< MPI_Get_library_version
  std::string backend;  ///< name of Kokkos' default execution space
  int ranks = 1;
  int threads = 1;  ///< of each rank
};

[[nodiscard]] nlohmann::ordered_json run_info(const nlohmann::ordered_json& options, const environment& environment);

}  // namespace examples
