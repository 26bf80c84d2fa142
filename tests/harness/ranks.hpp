// For tests under mpirun: doctest, and the number of this rank. Every rank must reach every collective call of a case.
#pragma once

#include <doctest/doctest.h>
#ifdef DRX_HAS_MPI
#include <mpi.h>
#endif

namespace drx {
class session;
}

namespace harness {
/// The session that main holds; include <drx/backend/session.hpp> to use it.
drx::session& session();

#ifdef DRX_HAS_MPI
inline MPI_Comm world() {  // the harness's own: its messages never meet those of the code under test
  static MPI_Comm comm = [] {
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    return c;
  }();
  return comm;
}
inline int rank() {
  int r;
  MPI_Comm_rank(world(), &r);
  return r;
}
inline int size() {
  int n;
  MPI_Comm_size(world(), &n);
  return n;
}
#else
inline int rank() { return 0; }
inline int size() { return 1; }
#endif
}  // namespace harness
