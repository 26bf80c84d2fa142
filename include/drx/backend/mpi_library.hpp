// drx/backend/mpi_library.hpp: the lifetime of MPI.
#pragma once

#include <drx/backend/mpi_departures.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

namespace drx {

/// Starts MPI if the application has not, and finalizes it in that case.
class mpi_library {
 public:
  mpi_library(int& argc, char** argv) {
    int running = 0, ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (ended) throw std::logic_error("drx::session: MPI has been finalized already");
    if (running) return;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    owns_ = true;
  }
  mpi_library(const mpi_library&) = delete;
  mpi_library& operator=(const mpi_library&) = delete;
  /// When an exception unwinds it, MPI_Finalize, which waits for other ranks, comes after main, so that the exception
  /// is caught and reported first.
  ~mpi_library() {
    if (!owns_ || !mpi_runs()) return;
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 && (std::uncaught_exceptions() > exceptions_ || mpi_departures::open_ends() > 0)) {
      std::atexit([] {
        std::fflush(nullptr);
        if (mpi_runs()) MPI_Finalize();
      });
    } else {
      MPI_Finalize();
    }
  }

 private:
  bool owns_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace drx
