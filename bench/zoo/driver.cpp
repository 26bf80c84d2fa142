// bench/zoo/driver.cpp: runs a program of the zoo: zoo_NAME FOLDER. It reads the arguments from FOLDER, writes its
// results there as doubles, then takes orders from its input: a number of calls, which it answers with the seconds of
// one.
#include "driver.hpp"

#include <drx/run.hpp>

#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "%s FOLDER: called by bench/zoo/run\n", argv[0]);
    return 2;
  }
  drx::session session(argc, argv);
  const auto program = zoo::make(argv[1], session.executor(), session.communicator());
  const auto numbers = program->numbers();
  if (session.root()) {
    std::ofstream(std::string(argv[1]) + "/drx.f64", std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(8 * numbers.size()));
    std::printf("%.17g\n", program->temporaries(session.threads()));
    std::fflush(stdout);
  }
  // Other ranks have no input: they hear from rank 0 how many calls there are.
  for (;;) {
    int asked = 0;
    if (session.root() && std::scanf("%d", &asked) != 1) asked = 0;
    double calls = asked;
    session.communicator().all_sum(&calls, 1);
    if (calls < 1) return 0;
    const double seconds = program->seconds(static_cast<int>(calls));
    if (session.root()) {
      std::printf("%.9g\n", seconds);
      std::fflush(stdout);
    }
  }
}
