// SPDX-License-Identifier: Apache-2.0
// main() of the Catch2 tests: 0 all passed, 1 something failed, 2 nothing was selected or wrong
// usage, 77 nothing failed and something was skipped. Catch2's own exit code is the number of
// failures, which may be 77 as well.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/catch.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

int skips = 0;
unsigned failed = 0;

#if __has_include(<catch2/catch_all.hpp>)
struct Listener : Catch::EventListenerBase {
  using EventListenerBase::EventListenerBase;
  void assertionEnded(const Catch::AssertionStats &stats) override {
    failed += stats.assertionResult.isOk() ? 0 : 1;
  }
};
#else
struct Listener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  bool assertionEnded(const Catch::AssertionStats &stats) override {
    failed += stats.assertionResult.isOk() ? 0 : 1;
    return false;  // the messages of INFO are not used up
  }
};
#endif
CATCH_REGISTER_LISTENER(Listener)

}  // namespace

namespace kiln::test {

void record_skip(const std::string &reason) {
  ++skips;
  std::printf("SKIP: %s\n", reason.c_str());
  std::fflush(stdout);
}

void skip_all(const std::string &reason) {
  record_skip(reason);
  std::exit(failed != 0 ? 1 : kExitSkipped);
}

unsigned failures() { return failed; }

}  // namespace kiln::test

int main(int argc, char **argv) {
  Catch::Session session;
  if (session.applyCommandLine(argc, argv) != 0) return 2;
#if !__has_include(<catch2/catch_all.hpp>)
  auto &warnings =
      session.configData().warnings;  // Catch2 3 fails by itself where none is selected
  warnings = static_cast<Catch::WarnAbout::What>(warnings | Catch::WarnAbout::NoTests);
#endif
  const int result = session.run();
  if (result == 2 && failed == 0) return 2;
  if (result != 0 || failed != 0) return 1;
  return skips == 0 ? 0 : kiln::test::kExitSkipped;
}
