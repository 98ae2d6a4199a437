// SPDX-License-Identifier: Apache-2.0
// kiln_program_build() in the example's application, on a driver that dies on its own binaries.
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/driver/ladder.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// The driver, and the folder in which the application runs and keeps its overlay.
class DropIn {
 public:
  DropIn() : driver_(computing_device("")) {}

  // Runs the application. Returns its exit code, or 128 and the signal that ended it.
  int start(const std::string &faults) {
    driver_.rewrite(computing_device("") + faults);
    std::string command = "cd " + driver_.path("") + " && exec env -u OPENCL_LAYERS";
    for (const auto &[name, value] : driver_.environment()) {
      if (value) command += " " + name + "=" + *value;
    }
    command += " timeout 60 " KILN_DROP_IN " > out 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream file(driver_.path("out"));
    output_.assign(std::istreambuf_iterator<char>(file), {});
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // How many of the two programs were loaded so.
  int loaded(const std::string &rung) const {
    return count("\"rung\": \"" + rung + "\", \"recomp");
  }
  int count(const std::string &text) const {
    int found = 0;
    for (auto at = output_.find(text); at != std::string::npos; at = output_.find(text, at + 1)) {
      ++found;
    }
    return found;
  }
  const std::string &output() const { return output_; }

 private:
  ScriptedDriver driver_;
  std::string output_;
};

}  // namespace

TEST_CASE("A driver that dies on what the drop-in keeps is given the source from then on") {
  KILN_NEEDS_POCL();
  const auto [way, at] = GENERATE(values<std::pair<std::string, std::string>>(
      {{"segv", "clCreateProgramWithBinary"}, {"abort", "clBuildProgram"}}));
  INFO(way << " in " << at);
  DropIn application;
  const std::string faults = fault(at, way, "form = \"binary\"");
  int deaths = 0;
  for (int i = 0; i < 5; ++i) deaths += application.start(faults) == 0 ? 0 : 1;
  CHECK(deaths > 0);
  CHECK(deaths < 5);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(application.start(faults) == 0);
    INFO(application.output());
    CHECK(application.loaded("source") == 2);
    CHECK(application.count("\"outcome\": \"quarantined\"") >= 2);
    CHECK(application.count("0 results wrong") == 1);
  }
}

TEST_CASE("The drop-in's second start loads what its first one built") {
  KILN_NEEDS_POCL();
  DropIn application;
  REQUIRE(application.start("") == 0);
  INFO(application.output());
  CHECK(application.count("0 results wrong") == 1);
  REQUIRE(application.start("") == 0);
  CHECK(application.loaded("exact") == 2);
  CHECK(application.count("0 results wrong") == 1);
}
