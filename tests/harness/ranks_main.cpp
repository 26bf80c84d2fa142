// main() of every test that runs on Kokkos and MPI: all ranks run all cases, and agree on what failed.
#define DOCTEST_CONFIG_IMPLEMENT
#include "ranks.hpp"

#include <drx/backend/session.hpp>

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace {
std::ostringstream quiet;  // what a rank other than 0 prints; shown when something fails there

#ifdef DRX_HAS_MPI
int worst(int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, harness::world());
  return all;
}
#else
int worst(int mine) { return mine; }
#endif

// Ends each case together. A failure is shown at once: should another rank now wait forever, the reason is on the
// screen.
struct agree : doctest::IReporter {
  const doctest::TestCaseData* current = nullptr;
  int passed = 0, failed = 0;
  explicit agree(const doctest::ContextOptions&) {}

  void show() {
    if (harness::rank() != 0 && !quiet.str().empty())
      std::cerr << "--- rank " << harness::rank() << " of " << harness::size() << ":\n" << quiet.str() << std::flush;
    quiet.str("");
  }
  void log_assert(const doctest::AssertData& a) override {
    if (a.m_failed) show();
  }
  void test_case_exception(const doctest::TestCaseException&) override { show(); }
  void test_case_start(const doctest::TestCaseData& test) override {
    current = &test;
    quiet.str("");
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    bool here = stats.failure_flags != 0;
    if (here) show();
    const bool anywhere = worst(here) != 0;
    ++(anywhere ? failed : passed);
    if (anywhere && !here && harness::rank() == 0)
      std::cout << current->m_file.c_str() << ": '" << current->m_name << "' failed on another rank\n";
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {
    if (harness::rank() == 0) std::cout << "on all ranks: " << passed << " passed, " << failed << " failed\n";
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_REPORTER("agree", 1, agree);

int run(int argc, char** argv) {
  doctest::Context context(argc, argv);
  context.setOption("reporters", "console,agree");  // in this order: the console's text is there when agree shows it
  context.setOption("no-colors", true);             // mpirun looks like a terminal
  if (harness::rank() != 0) context.setCout(&quiet);
  const char* wanted = std::getenv("DRX_TEST_RANKS");
  if (wanted && std::atoi(wanted) != harness::size()) {
    std::cerr << "meant for " << wanted << " ranks, but started with " << harness::size() << '\n';
    return 1;
  }
  return worst(context.run());
}

drx::session* running = nullptr;
}  // namespace

drx::session& harness::session() { return *running; }

int main(int argc, char** argv) {
  drx::session session(argc, argv);
  running = &session;
  return run(argc, argv);
}
