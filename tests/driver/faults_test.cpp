// SPDX-License-Identifier: Apache-2.0
// What the scripted driver can be told to do really happens; ladder_faults_test.cpp has the faults
// that end a rung.
#include <csignal>

#include <nlohmann/json.hpp>

#include "tests/driver/ladder.hpp"

using namespace kiln::test;
using kiln::builder::ProcessEnd;

namespace {

// A device that takes all three forms, with its pack, and a start with faults.
class Faulty {
 public:
  Faulty() : driver_(computing_device(kIl)), pack_(build_pack(driver_, triple_program())) {}

  Start start_with(const std::string &faults, unsigned flags = 0,
                   std::chrono::milliseconds timeout = std::chrono::seconds(60)) const {
    driver_.rewrite(computing_device(kIl + faults));
    return start(driver_, pack_, flags, timeout);
  }

  const ScriptedDriver &driver() const { return driver_; }

 private:
  static inline const std::string kIl = "il = \"SPIR-V_1.0\"\n";
  ScriptedDriver driver_;
  std::string pack_;
};

const Faulty &faulty() {
  static const Faulty made;
  return made;
}

}  // namespace

TEST_CASE("a call on any kind of object comes to the driver, and can be the death of it") {
  KILN_NEEDS_POCL();
  for (const char *const at :
       {"clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clCreateProgramWithBinary",
        "clBuildProgram", "clCreateKernel", "clSetKernelArg", "clEnqueueNDRangeKernel",
        "clEnqueueMapBuffer", "clReleaseEvent", "clReleaseMemObject", "clReleaseKernel",
        "clReleaseProgram", "clReleaseCommandQueue", "clReleaseContext"}) {
    const Start started = faulty().start_with(fault(at, "segv"));
    INFO(at << ": " << started.child.reason());
    CHECK(started.child.end == ProcessEnd::signalled);
    CHECK(started.child.code == SIGSEGV);
  }
}

TEST_CASE("a driver aborts, exits with the script's code, or never returns") {
  KILN_NEEDS_POCL();
  const auto aborted = faulty().start_with(fault("clBuildProgram", "abort"));
  CHECK(aborted.child.end == ProcessEnd::signalled);
  CHECK(aborted.child.code == SIGABRT);
  const auto gone = faulty().start_with(fault("clBuildProgram", "exit"));
  CHECK(gone.child.end == ProcessEnd::exited);
  CHECK(gone.child.code == 1);
  const auto with_code = faulty().start_with(fault("clBuildProgram", "exit", "code = 7"));
  CHECK(with_code.child.end == ProcessEnd::exited);
  CHECK(with_code.child.code == 7);
  const auto hung =
      faulty().start_with(fault("clBuildProgram", "hang"), 0, std::chrono::milliseconds(1500));
  CHECK(hung.child.end == ProcessEnd::timed_out);
}

TEST_CASE("a fault is limited to a form, a kernel, a text, a device or the nth call") {
  KILN_NEEDS_POCL();
  const struct {
    const char *condition;
    bool happens;  // to the binary, the first program that is built
  } rows[] = {{"form = \"binary\"", true},
              {"form = \"source\"", false},
              {"kernel = \"triple\"", true},
              {"kernel = \"double\"", false},
              {"text = \"factor * i\"", true},
              {"text = \"nowhere\"", false},
              {"device = \"Scripted GPU\"", true},
              {"device = \"Scripted\"", false},
              {"nth = 1", true},
              {"nth = 2", false},
              {"unbuilt = true", true},
              {"query = \"CL_PROGRAM_SOURCE\"", false}};
  for (const auto &row : rows) {
    const Start started = faulty().start_with(fault("clBuildProgram", "error", row.condition));
    INFO(row.condition << started.child.reason() << started.report);
    CHECK((started.rung == "exact") == !row.happens);
  }
}

TEST_CASE("a fault with a marker happens to one process alone") {
  KILN_NEEDS_POCL();
  const std::string once = fault("clBuildProgram", "segv", "once = \"{folder}/died\"");
  CHECK(faulty().start_with(once).child.code == SIGSEGV);
  const Start second = faulty().start_with(once);
  CHECK(second.rung == "exact");
  CHECK(second.right);
}

TEST_CASE("a forced recompilation shows in the bytes alone") {
  KILN_NEEDS_POCL();
  const Start started = faulty().start_with(fault("clCreateProgramWithBinary", "recompile"),
                                            KILN_LOAD_CHECK_RECOMPILED);
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK(started.recompiled);
  CHECK(started.right);
}

TEST_CASE("a launch that is skipped computes nothing and says success") {
  KILN_NEEDS_POCL();
  const Start started = faulty().start_with(fault("clEnqueueNDRangeKernel", "skip"));
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK_FALSE(started.right);
}

TEST_CASE("a slow compiler takes the time that the script says") {
  KILN_NEEDS_POCL();
  const Start started =
      faulty().start_with(fault("clBuildProgram", "slow", "form = \"binary\"\nmilliseconds = 300"));
  REQUIRE(started.rung == "exact");
  CHECK(nlohmann::json::parse(started.report)["milliseconds"] >= 300);
  CHECK(started.right);
}

TEST_CASE("a driver whose binaries are reported empty or huge still loads") {
  KILN_NEEDS_POCL();
  for (const char *const size : {"0", "1", "1099511627776"}) {
    const Start started = faulty().start_with(
        fault("clGetProgramInfo", "wrong_size",
              "query = \"CL_PROGRAM_BINARY_SIZES\"\nsize = " + std::string(size)),
        KILN_LOAD_CHECK_RECOMPILED);
    INFO(size << started.child.reason() << started.report);
    CHECK(started.rung == "exact");
    CHECK(started.right);
  }
}

TEST_CASE("a device that has IL but lacks the entry point takes source") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(computing_device("il = \"SPIR-V_1.0\""));
  const std::string pack = build_pack(driver, triple_program());
  std::string old = computing_device("il = \"SPIR-V_1.0\"\nextensions = \"cl_khr_il_program\"");
  const std::string version = "OpenCL 3.0 scripted";
  old.replace(old.find(version), version.size(), "OpenCL 1.2 scripted");
  driver.rewrite("absent = [\"clCreateProgramWithIL\", \"clCreateProgramWithILKHR\"]\n" + old);
  const Start started = start(driver, pack, KILN_LOAD_NO_BINARY);
  INFO(started.child.reason() << started.report);
  CHECK(holds(started.reason("il"), "clCreateProgramWithIL"));
  CHECK(started.rung == "source");
  CHECK(started.right);
}

TEST_CASE("an entry point that is null where the version promises it kills the caller") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(computing_device("il = \"SPIR-V_1.0\""));
  const std::string pack = build_pack(driver, triple_program());
  driver.rewrite("absent = [\"clCreateProgramWithIL\"]\n" +
                 computing_device("il = \"SPIR-V_1.0\""));
  CHECK(start(driver, pack, KILN_LOAD_NO_BINARY).child.code == SIGSEGV);
}

TEST_CASE("an extension query that fails leaves a device without extensions") {
  KILN_NEEDS_POCL();
  const Start started = faulty().start_with(
      fault("clGetDeviceInfo", "error", "query = \"CL_DEVICE_EXTENSIONS\"\ncode = -30"));
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "il");  // the key is another: nothing is exact
  CHECK(started.right);
}
