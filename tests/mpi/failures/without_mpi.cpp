// Compiled without MPI and launched by mpirun: each process says that it is alone.
#include <drx/run.hpp>

int main(int argc, char** argv) {
  drx::session session(argc, argv);
  return session.ranks() == 1 ? 0 : 1;
}
