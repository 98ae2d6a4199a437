// SPDX-License-Identifier: Apache-2.0
// Each fault of a driver ends with right values from a lower rung, a report that names the
// fault, and a next start that is fast.
#include <nlohmann/json.hpp>

#include "tests/driver/ladder.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr char kOnBinary[] = "form = \"binary\"\n";
constexpr char kStored[] = "the driver's binary was stored in the overlay";

struct Row {
  const char *name;
  std::string faults;
  const char *reason;
};

// A start that loads from `rung` because of what the report says of `failing`, and stores what
// was compiled; the next, after the fault, finds that. Without an overlay nothing else happens.
void check_row(const Row &row, const std::string &failing, const std::string &rung) {
  const std::string overlay = machine().new_overlay();
  const Start first = machine().start_with(row.faults, machine().full(), with(overlay));
  INFO(row.name << ": " << first.child.reason() << first.report);
  CHECK(first.outcome(failing) == "failed");
  CHECK(holds(first.reason(failing), row.reason));
  CHECK(first.rung == rung);
  CHECK(first.right);
  CHECK(first.has_note(kStored));
  CHECK(first.notice(KILN_NOTICE_STORED) == kStored);
  CHECK(first.notice(KILN_NOTICE_DEATH) == "-");
  bool noticed = false;
  for (const Notice &notice : first.notices) {
    noticed = noticed || (notice.kind == KILN_NOTICE_RUNG && notice.text == first.reason(failing));
  }
  CHECK(noticed);
  const Start next = machine().start_with("", machine().full(), with(overlay));
  INFO("next: " << next.child.reason() << next.report);
  CHECK(next.rung == "overlay");
  CHECK(next.right);
  CHECK_FALSE(next.recompiled);
  const Start bare = machine().start_with(row.faults, machine().full(), with(""));
  INFO("without an overlay: " << bare.child.reason() << bare.report);
  CHECK(holds(bare.reason(failing), row.reason));
  CHECK(bare.rung == rung);
  CHECK(bare.right);
}

}  // namespace

TEST_CASE("each fault of a binary ends with right values from IL, stored for the next start") {
  KILN_NEEDS_POCL();
  const std::string create = "clCreateProgramWithBinary";
  const Row rows[] = {
      {"NULL with success", fault(create, "null"), "the driver reported success without a program"},
      {"program with error", fault(create, "program_with_error", "code = -42"),
       "clCreateProgramWithBinary returned CL_INVALID_BINARY (-42)"},
      {"status success, code failed", fault(create, "error", "code = -42"),
       "clCreateProgramWithBinary returned CL_INVALID_BINARY (-42)"},
      {"status failed, code success", fault(create, "status_failed", "code = -42"),
       "clCreateProgramWithBinary's binary status returned CL_INVALID_BINARY (-42)"},
      {"-30 instead of -42", fault(create, "error", "code = -30"),
       "clCreateProgramWithBinary returned CL_INVALID_VALUE (-30)"},
      {"failure only at build",
       fault("clBuildProgram", "error", kOnBinary + std::string("code = -11")),
       "clBuildProgram returned CL_BUILD_PROGRAM_FAILURE (-11)"},
      {"failure only at clCreateKernel",
       fault("clCreateKernel", "error", kOnBinary + std::string("code = -46")),
       "kernel triple: clCreateKernel returned CL_INVALID_KERNEL_NAME (-46)"},
      {"a kernel that is NULL with success", fault("clCreateKernel", "null", kOnBinary),
       "kernel triple: clCreateKernel reported success without a result"},
      {"build success with failed status", fault("clBuildProgram", "lie", kOnBinary),
       "clBuildProgram reported success, but the build status is -2"},
      {"no kernels", fault(create, "empty"),
       "kernel triple: clCreateKernel returned CL_INVALID_KERNEL_NAME (-46)"},
      {"wrong argument count", fault("clGetKernelInfo", "wrong_arguments", kOnBinary),
       "kernel triple has 3 arguments instead of 2"},
      {"no answer on arguments", fault("clGetKernelInfo", "error", kOnBinary),
       "clGetKernelInfo returned CL_OUT_OF_RESOURCES (-5)"},
  };
  for (const Row &row : rows) check_row(row, "exact", "il");
}

TEST_CASE("each fault of IL under a stale binary ends with right values from source") {
  KILN_NEEDS_POCL();
  const std::string stale = "[platform.device.binary]\nrevision = 1\n";
  const std::string create = "clCreateProgramWithIL";
  const std::string on_il = "form = \"il\"\n";
  const Row rows[] = {
      {"refused", fault(create, "error"),
       "clCreateProgramWithIL returned CL_OUT_OF_RESOURCES (-5)"},
      {"NULL with success", fault(create, "null"), "the driver reported success without a program"},
      {"program with error", fault(create, "program_with_error"),
       "clCreateProgramWithIL returned CL_OUT_OF_RESOURCES (-5)"},
      {"accepted and then empty", fault(create, "empty"),
       "kernel triple: clCreateKernel returned CL_INVALID_KERNEL_NAME (-46)"},
      {"failure at build", fault("clBuildProgram", "error", on_il + "code = -11"),
       "clBuildProgram returned CL_BUILD_PROGRAM_FAILURE (-11)"},
      {"wrong argument count", fault("clGetKernelInfo", "wrong_arguments", on_il),
       "kernel triple has 3 arguments instead of 2"},
  };
  for (const Row &row : rows) {
    const std::string overlay = machine().new_overlay();
    const Start first = machine().start_with(stale + row.faults, machine().full(), with(overlay));
    INFO(row.name << ": " << first.child.reason() << first.report);
    CHECK(holds(first.reason("exact"), "CL_INVALID_BINARY (-42)"));
    CHECK(first.outcome("il") == "failed");
    CHECK(holds(first.reason("il"), row.reason));
    CHECK(first.rung == "source");
    CHECK(first.right);
    CHECK(first.has_note(kStored));
    const Start next = machine().start_with(stale + row.faults, machine().full(), with(overlay));
    INFO("next: " << next.child.reason() << next.report);
    CHECK(next.rung == "overlay");
    CHECK(next.right);
  }
}

TEST_CASE("a build that fails on every rung is an error with a reason for each, and its log") {
  KILN_NEEDS_POCL();
  const std::string overlay = machine().new_overlay();
  const std::string faults = fault("clBuildProgram", "error", "code = -11\nlog = \"out of luck\"");
  const Start failed = machine().start_with(faults, machine().full(), with(overlay));
  INFO(failed.child.reason() << failed.report);
  CHECK(failed.rung == "error");
  CHECK(holds(failed.error, "no rung could load program triple"));
  for (const char *const rung : {"exact", "il", "source"}) {
    CHECK(failed.reason(rung) == "clBuildProgram returned CL_BUILD_PROGRAM_FAILURE (-11)");
  }
  CHECK(holds(failed.report, "out of luck"));
  CHECK(failed.notice(KILN_NOTICE_NOT_LOADED) == failed.error);
  const Start next = machine().start_with("", machine().full(), with(overlay));
  CHECK(next.rung == "exact");  // a refusal in good order is tried again
  CHECK(next.right);
}

TEST_CASE("a driver without the entry point for IL computes from source, and the report says so") {
  KILN_NEEDS_POCL();
  std::string old = computing_device("il = \"SPIR-V_1.0\"\nextensions = \"cl_khr_il_program\"\n");
  const std::string version = "OpenCL 3.0 scripted";
  old.replace(old.find(version), version.size(), "OpenCL 1.2 scripted");
  const std::string overlay = machine().new_overlay();
  machine().driver().rewrite(
      "absent = [\"clCreateProgramWithIL\", \"clCreateProgramWithILKHR\"]\n" + old);
  const Start first = start(machine().driver(), machine().base(), with(overlay));
  INFO(first.child.reason() << first.report);
  CHECK(first.outcome("il") == "failed");
  CHECK(first.reason("il") == "the driver has no clCreateProgramWithIL");
  CHECK(first.rung == "source");
  CHECK(first.right);
  const Start next = start(machine().driver(), machine().base(), with(overlay));
  CHECK(next.rung == "overlay");
  CHECK(next.right);
}

TEST_CASE("IL that declares what the device does not report is skipped, and the report says what") {
  KILN_NEEDS_POCL();
  const std::string asked = "extensions = \"cl_khr_spirv_queries\"\n";
  const auto started = [&](const std::string &rest) {
    return machine().start_with(rest, machine().base(), with(""));
  };
  const Start lacking = started(asked + "spirv_capabilities = [4, 16, 66]\n");
  INFO(lacking.child.reason() << lacking.report);
  CHECK(lacking.outcome("il") == "skipped");
  CHECK(lacking.reason("il") ==
        "the module needs the SPIR-V capability Kernel, which the device lacks");
  CHECK(lacking.rung == "source");
  CHECK(lacking.right);
  CHECK(started(asked + "spirv_capabilities = [4, 6]\n").rung == "il");
  CHECK(started(asked).rung == "il");                         // no answer
  CHECK(started("spirv_capabilities = [4]\n").rung == "il");  // it is not asked
}

TEST_CASE("machine code that comes only after clCreateKernel is what the overlay gets") {
  KILN_NEEDS_POCL();
  const std::string overlay = machine().new_overlay();
  const std::string late = "[platform.device.binary]\nlate = true\n";
  const Start first = machine().start_with(late, machine().base(), with(overlay));
  INFO(first.child.reason() << first.report);
  CHECK(first.rung == "il");
  CHECK(first.right);
  const Start next = machine().start_with(late, machine().base(), with(overlay));
  INFO("next: " << next.child.reason() << next.report);
  CHECK(next.rung == "overlay");
  CHECK_FALSE(next.recompiled);  // a stub would be compiled here
  CHECK(next.right);
}

TEST_CASE("a slow load that succeeds is a success, whatever the deadline") {
  KILN_NEEDS_POCL();
  const std::string slow =
      fault("clBuildProgram", "slow", kOnBinary + std::string("milliseconds = 60"));
  for (const std::uint32_t deadline : {0u, 40u}) {
    StartOptions options = with(machine().new_overlay());
    options.deadline = deadline;
    for (int i = 0; i < 2; ++i) {
      const Start started = machine().start_with(slow, machine().full(), options);
      INFO(started.child.reason() << started.report);
      CHECK(started.rung == "exact");
      CHECK(started.right);
    }
  }
}

TEST_CASE("a silent recompilation is reported, healed by the overlay, and looked for only once") {
  KILN_NEEDS_POCL();
  const std::string overlay = machine().new_overlay();
  const std::string stale =
      "[platform.device.binary]\nrevision = 1\nother_revision = \"recompile\"\n";
  const auto asked = [&] { return machine().driver().calls("clGetProgramInfo binary"); };
  const Start first = machine().start_with(stale, machine().full(), with(overlay));
  INFO(first.child.reason() << first.report);
  CHECK(first.rung == "exact");
  CHECK(first.recompiled);
  CHECK(first.right);
  CHECK(first.notice(KILN_NOTICE_RECOMPILED) == "the driver silently recompiled the binary");
  CHECK(first.has_note(kStored));
  const Start second = machine().start_with(stale, machine().full(), with(overlay));
  INFO("second: " << second.child.reason() << second.report);
  CHECK(second.rung == "overlay");
  CHECK_FALSE(second.recompiled);
  CHECK(second.notice(KILN_NOTICE_RECOMPILED) == "-");
  CHECK(second.right);
  const std::string before = snapshot(overlay);
  const std::size_t calls = asked();
  CHECK(calls > 0);
  const Start third = machine().start_with(stale, machine().full(), with(overlay));
  CHECK(third.rung == "overlay");
  CHECK(third.right);
  CHECK(asked() == calls);
  CHECK(snapshot(overlay) == before);
  // What was found out about the pack's binary stays known without the overlay's.
  forget_binaries(overlay);
  const Start again = machine().start_with(stale, machine().full(), with(overlay));
  INFO("again: " << again.report);
  CHECK(again.rung == "exact");
  CHECK(again.recompiled);
  CHECK(again.right);
}

TEST_CASE("a binary that the driver recompiles each time is healed once and then left alone") {
  KILN_NEEDS_POCL();
  const std::string overlay = machine().new_overlay();
  const std::string always = fault("clCreateProgramWithBinary", "recompile");
  CHECK(machine().start_with(always, machine().full(), with(overlay)).rung == "exact");
  CHECK(machine().start_with(always, machine().full(), with(overlay)).rung == "overlay");
  machine().start_with(always, machine().full(), with(overlay));
  const std::string before = snapshot(overlay);
  const Start later = machine().start_with(always, machine().full(), with(overlay));
  INFO(later.child.reason() << later.report);
  CHECK(later.rung == "overlay");
  CHECK(later.recompiled);
  CHECK(later.right);
  CHECK(snapshot(overlay) == before);
}

TEST_CASE("a driver that gives no usable binary is used without an overlay entry") {
  KILN_NEEDS_POCL();
  const std::string sizes = "query = \"CL_PROGRAM_BINARY_SIZES\"\n";
  const Row rows[] = {
      {"empty", fault("clGetProgramInfo", "wrong_size", sizes + "size = 0"),
       "not stored in the overlay: the driver's binary is empty"},
      {"huge", fault("clGetProgramInfo", "wrong_size", sizes + "size = 1099511627776"),
       "not stored in the overlay: the driver reports a binary of 1099511627776 bytes"},
      {"refused", fault("clGetProgramInfo", "error", sizes),
       "not stored in the overlay: clGetProgramInfo returned CL_OUT_OF_RESOURCES (-5)"},
  };
  for (const Row &row : rows) {
    const std::string overlay = machine().new_overlay();
    const Start started = machine().start_with(row.faults, machine().base(), with(overlay));
    INFO(row.name << ": " << started.child.reason() << started.report);
    CHECK(started.rung == "il");
    CHECK(started.right);
    CHECK(started.has_note(row.reason));
    CHECK(holds(started.notice(KILN_NOTICE_NOT_STORED), row.reason));
    CHECK(entries_in(overlay) == 0);
  }
}
