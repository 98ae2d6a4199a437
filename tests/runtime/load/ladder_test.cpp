// SPDX-License-Identifier: Apache-2.0
// The ladder against a driver that misbehaves in every way that was seen: each fault is a
// miss of its rung, is named, and loses no OpenCL object.
#include <functional>
#include <thread>

#include "kiln/listing.h"
#include "tests/runtime/fake/load.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

const char *create_call(kiln_rung rung) {
  if (rung == KILN_RUNG_EXACT) return "clCreateProgramWithBinary";
  return rung == KILN_RUNG_IL ? "clCreateProgramWithIL" : "clCreateProgramWithSource";
}

// A fault of the driver, and the reason it must give; {create} stands for the call.
struct DriverFault {
  const char *name;
  std::function<void(Script &)> set;
  std::string reason;
};

const std::vector<DriverFault> &driver_faults() {
  static const std::vector<DriverFault> faults = {
      {"NULL with success", [](Script &s) { s.create_object = false; },
       "the driver reported success without a program"},
      {"NULL with -30", [](Script &s) { s.create_object = false, s.create_code = -30; },
       "{create} returned CL_INVALID_VALUE (-30)"},
      {"a program together with an error", [](Script &s) { s.create_code = -42; },
       "{create} returned CL_INVALID_BINARY (-42)"},
      {"a code without a name", [](Script &s) { s.create_code = -7777; },
       "{create} returned -7777"},
      {"a build that fails", [](Script &s) { s.build_code = -11, s.log = "k.cl:1: no\n"; },
       "clBuildProgram returned CL_BUILD_PROGRAM_FAILURE (-11)"},
      {"a stale binary seen at build", [](Script &s) { s.build_code = -42; },
       "clBuildProgram returned CL_INVALID_BINARY (-42)"},
      {"success with a status of failure", [](Script &s) { s.build_status = CL_BUILD_ERROR; },
       "clBuildProgram reported success, but the build status is -2"},
      {"success with nothing built", [](Script &s) { s.build_status = CL_BUILD_NONE; },
       "clBuildProgram reported success, but the build status is -1"},
      {"success with a library in place of an executable",
       [](Script &s) { s.binary_type = CL_PROGRAM_BINARY_TYPE_LIBRARY; },
       "clBuildProgram reported success, but the program is not an executable: its binary type is "
       "2"},
      {"a program without the kernel",
       [](Script &s) { s.kernel_object = false, s.kernel_code = -46; },
       "kernel k: clCreateKernel returned CL_INVALID_KERNEL_NAME (-46)"},
      {"a kernel together with an error", [](Script &s) { s.kernel_code = -45; },
       "kernel k: clCreateKernel returned CL_INVALID_PROGRAM_EXECUTABLE (-45)"},
      {"no kernel with success", [](Script &s) { s.kernel_object = false; },
       "kernel k: clCreateKernel reported success without a result"},
      {"a kernel that answers nothing", [](Script &s) { s.kernel_info_code = -5; },
       "clGetKernelInfo returned CL_OUT_OF_RESOURCES (-5)"},
      {"another number of arguments", [](Script &s) { s.arguments = 3; },
       "kernel k has 3 arguments instead of 2"},
      {"a log of absurd size", [](Script &s) { s.build_code = -11, s.log_size = std::size_t(-1); },
       "clBuildProgram returned CL_BUILD_PROGRAM_FAILURE (-11)"},
  };
  return faults;
}

std::string expected(const DriverFault &fault, kiln_rung rung) {
  std::string text = "failed: " + fault.reason;
  const std::size_t mark = text.find("{create}");
  return mark == std::string::npos ? text : text.replace(mark, 8, create_call(rung));
}

std::size_t find(const packs::Bytes &bytes, const std::string &text) {
  const auto at = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  REQUIRE(at != bytes.end());
  return static_cast<std::size_t>(at - bytes.begin());
}

}  // namespace

TEST_CASE("a healthy driver takes the exact binary, built as it was", "[ladder]") {
  reset_fake();
  {
    const FakeLoad load(written(fake_contents()));
    CHECK(load.status == KILN_OK);
    CHECK(load.rung() == KILN_RUNG_EXACT);
    CHECK(load.reason(KILN_RUNG_OVERLAY) == "skipped: no overlay");
    CHECK(load.reason(KILN_RUNG_EXACT) == "loaded");
    CHECK(load.reason(KILN_RUNG_SOURCE) == "-");
    CHECK_FALSE(fake().binary.built_with);
    CHECK(mentions(load.json(), "\"rung\": \"exact\", \"recompiled\": null"));
    CHECK(mentions(load.json(), "\"nearest\": null"));
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a program's hash is of its sources and options, not of its binaries", "[ladder]") {
  reset_fake();
  const auto hash = [](const packs::Contents &contents, const char *program) {
    const FakeLoad load(written(contents));
    CHECK(kiln_loader_program_hash(load.loader, nullptr) == 0);
    return kiln_loader_program_hash(load.loader, program);
  };
  packs::Contents contents = fake_contents();
  const std::uint64_t number = hash(contents, "p");
  CHECK(number != 0);
  CHECK(hash(contents, "absent") == 0);
  contents.targets.clear();
  CHECK(hash(contents, "p") == number);
  contents.programs[0].variants[0].hash[0] = 2;  // which is of its source and options
  CHECK(hash(contents, "p") != number);
}

TEST_CASE("every fault of a driver is a miss, is named, and the ladder goes on", "[ladder]") {
  reset_fake();
  const packs::Bytes pack = written(fake_contents());
  for (const DriverFault &fault : driver_faults()) {
    CAPTURE(fault.name);
    reset_fake();
    fault.set(fake().binary);
    {
      const FakeLoad load(pack);
      CHECK(load.status == KILN_OK);
      CHECK(load.rung() == KILN_RUNG_IL);
      CHECK(load.reason(KILN_RUNG_EXACT) == expected(fault, KILN_RUNG_EXACT));
    }
    CHECK(fake().live == 0);
    fault.set(fake().il);
    {
      const FakeLoad load(pack);
      CHECK(load.rung() == KILN_RUNG_SOURCE);
      CHECK(load.reason(KILN_RUNG_IL) == expected(fault, KILN_RUNG_IL));
    }
    CHECK(fake().live == 0);
    fault.set(fake().source);
    {
      const FakeLoad load(pack);
      CHECK(load.status == KILN_ERROR_NO_RUNG);
      CHECK(load.rung() == KILN_RUNG_ERROR);
      CHECK(load.program == nullptr);
      CHECK(load.reason(KILN_RUNG_SOURCE) == expected(fault, KILN_RUNG_SOURCE));
      CHECK(mentions(load.error.message, expected(fault, KILN_RUNG_SOURCE).substr(8)));
      CHECK(mentions(load.json(), "\"rung\": \"error\""));
      CHECK(mentions(load.json(), "k.cl:1: no") == !fake().source.log.empty());
    }
    CHECK(fake().live == 0);
  }
}

TEST_CASE("a refused binary status is a miss although the call succeeded", "[ladder]") {
  reset_fake();
  const packs::Bytes pack = written(fake_contents());
  fake().binary.binary_status = CL_INVALID_BINARY;
  {
    const FakeLoad load(pack);
    CHECK(load.rung() == KILN_RUNG_IL);
    CHECK(load.reason(KILN_RUNG_EXACT) ==
          "failed: clCreateProgramWithBinary's binary status returned CL_INVALID_BINARY (-42)");
  }
  CHECK(fake().live == 0);
}

TEST_CASE("IL and source get their options, and IL only what is defined for it", "[ladder]") {
  reset_fake();
  const packs::Bytes pack = written(fake_contents());
  {
    const FakeLoad il(pack, KILN_LOAD_NO_BINARY);
    CHECK(il.reason(KILN_RUNG_EXACT) == "skipped: switched off");
    CHECK(fake().il.built_with == "-cl-mad-enable");
    const FakeLoad source(pack, KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL);
    CHECK(source.rung() == KILN_RUNG_SOURCE);
    CHECK(fake().source.built_with == "-cl-std=CL1.2 -DX=1 -cl-mad-enable");
    const FakeLoad none(pack, KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE);
    CHECK(none.status == KILN_ERROR_NO_RUNG);
    CHECK(none.reason(KILN_RUNG_SOURCE) == "skipped: switched off");
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a load that requires a binary compiles nothing, and says what is missing", "[ladder]") {
  reset_fake();
  packs::Contents contents = fake_contents();
  const packs::Bytes pack = written(contents);
  CHECK(FakeLoad(pack, KILN_LOAD_REQUIRE_EXACT).rung() == KILN_RUNG_EXACT);
  {
    const FakeLoad load(pack, KILN_LOAD_REQUIRE_FINAL);
    CHECK(load.rung() == KILN_RUNG_ERROR);
    CHECK(load.reason(KILN_RUNG_EXACT) == "failed: it is not known whether its binary is final");
    CHECK(load.reason(KILN_RUNG_IL) == "skipped: a binary is required");
    CHECK(std::string(load.error.message) ==
          "no rung could load program p, variant v; overlay: no overlay; exact: it is not known "
          "whether its binary is final; IL: a binary is required; source: a binary is required");
  }
  packs::Finish &finish = contents.targets[0].binaries[0].finish;
  finish.finality = packs::Finality::no;
  finish.why_not = "a fault";
  CHECK(FakeLoad(written(contents), KILN_LOAD_REQUIRE_FINAL).reason(KILN_RUNG_EXACT) ==
        "failed: its binary is not final: a fault");
  finish = {packs::Finality::yes};
  CHECK(FakeLoad(written(contents), KILN_LOAD_REQUIRE_FINAL).rung() == KILN_RUNG_EXACT);
  fake().binary.binary = "another binary";
  for (const unsigned flag : {KILN_LOAD_REQUIRE_EXACT, KILN_LOAD_REQUIRE_FINAL}) {
    const FakeLoad load(pack, flag);
    CHECK(load.status == KILN_ERROR_NO_RUNG);
    CHECK(load.reason(KILN_RUNG_EXACT) == "failed: the driver recompiled the binary");
  }
  reset_fake();
  CHECK(FakeLoad(pack, KILN_LOAD_NO_EXACT).rung() == KILN_RUNG_IL);
  CHECK(fake().live == 0);
}

TEST_CASE("a load begins at the rung that is named", "[ladder]") {
  const auto above = [](const char *name) {
    unsigned flags = 0;
    return runtime::leave_out_above(name, &flags) ? flags : ~0u;
  };
  CHECK(above("exact") == KILN_LOAD_NO_OVERLAY);
  CHECK(above("intermediate") == (KILN_LOAD_NO_OVERLAY | KILN_LOAD_NO_EXACT));
  CHECK(above("il") == (KILN_LOAD_NO_OVERLAY | KILN_LOAD_NO_BINARY));
  CHECK(above("source") == (KILN_LOAD_NO_OVERLAY | KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL));
  for (const char *unknown : {"", "overlay", "error"}) CHECK(above(unknown) == ~0u);
}

TEST_CASE("a device that cannot take a form skips it", "[ladder]") {
  reset_fake();
  const packs::Bytes pack = written(fake_contents());
  const auto il_reason = [&] { return FakeLoad(pack, KILN_LOAD_NO_BINARY).reason(KILN_RUNG_IL); };
  fake().il_version = "";
  CHECK(il_reason() == "skipped: the device takes no SPIR-V");
  fake().il_version = "SPIR-V_0.9";
  CHECK(il_reason() == "skipped: the device takes SPIR-V up to 0.9, the module is 1.0");
  fake().il_version = "SPIR-V_1.0";
  CHECK(il_reason() == "loaded");
  fake().has_il_function = false;
  CHECK(il_reason() == "failed: the driver has no clCreateProgramWithIL");
  fake().has_khr_il_function = true;
  CHECK(il_reason() == "loaded");
  fake().compiler = false;
  fake().il_version = "";
  const FakeLoad none(pack, KILN_LOAD_NO_BINARY);
  CHECK(none.status == KILN_ERROR_NO_RUNG);
  CHECK(none.reason(KILN_RUNG_SOURCE) == "skipped: the device has no compiler");
}

TEST_CASE("a 32-bit device gets the module for 32 bits", "[ladder]") {
  reset_fake();
  const packs::Bytes pack = written(fake_contents());
  fake().address_bits = 32;
  const FakeLoad load(pack, KILN_LOAD_CHECK_RECOMPILED);
  CHECK(load.reason(KILN_RUNG_EXACT) ==
        "missed: no target of the pack has this device's binary key");
  CHECK(load.rung() == KILN_RUNG_IL);
  CHECK(
      mentions(load.json(), "{\"field\": \"address_bits\", \"pack\": \"64\", \"device\": \"32\"}"));
}

TEST_CASE("what the pack does not have is missed", "[ladder]") {
  reset_fake();
  packs::Contents contents = fake_contents();
  packs::Variant &variant = contents.programs[0].variants[0];
  contents.targets[0].binaries.clear();
  variant.il32.reset();
  CHECK(FakeLoad(written(contents)).reason(KILN_RUNG_EXACT) ==
        "missed: the target has no binary of this variant");
  variant.il64.reset();
  const FakeLoad source(written(contents));
  CHECK(source.reason(KILN_RUNG_IL) == "missed: the pack has no SPIR-V for 64-bit addresses");
  CHECK(source.rung() == KILN_RUNG_SOURCE);
  variant.il32 = packs::BlobSource(bytes_of("narrow"));
  variant.source.reset();
  const FakeLoad none(written(contents));
  CHECK(none.reason(KILN_RUNG_SOURCE) == "missed: the pack has no source");
  CHECK(none.status == KILN_ERROR_NO_RUNG);
}

TEST_CASE("another driver version is no exact target, and the report says what differs",
          "[ladder]") {
  reset_fake();
  const packs::Bytes pack = written(fake_contents());
  fake().driver_version = "7.2";
  const FakeLoad load(pack);
  CHECK(load.rung() == KILN_RUNG_IL);
  CHECK(mentions(load.json(),
                 "\"nearest\": {\"target\": \"Fake device (driver 7.1)\", \"differs\": "
                 "[{\"field\": \"driver_version\", \"pack\": \"7.1\", "
                 "\"device\": \"7.2\"}]}"));
}

TEST_CASE("of all targets the nearest is named, and of two the pack's first", "[ladder]") {
  reset_fake();
  const packs::Contents plain = fake_contents();
  const auto nearest = [](const packs::Bytes &pack) {
    const std::string json = FakeLoad(pack).json();
    const std::size_t at = json.find("\"nearest\": {\"target\": \"");
    INFO(json);
    REQUIRE(at != std::string::npos);
    const std::size_t begin = at + 23;
    return json.substr(begin, json.find('"', begin) - begin);
  };
  const auto add = [&](packs::Contents *contents, const std::string &driver,
                       const std::string &more) {
    packs::Target target = plain.targets[0];
    const std::size_t at = target.key.find("driver_version=7.1\n");
    REQUIRE(at != std::string::npos);
    target.key.replace(at, 18, "driver_version=" + driver);
    target.key += more;
    target.identity = {{"device_name", more.empty() ? "near" : "far"}, {"driver_version", driver}};
    contents->targets.push_back(target);
  };
  // A pack has its targets in the order of their keys' hashes: the near one comes anywhere.
  for (const char *driver : {"1", "2", "3", "4", "5", "6", "8", "9"}) {
    packs::Contents contents = plain;
    contents.targets.clear();
    for (const char *far : {"a", "b", "c"}) add(&contents, far, "z=1\ny=1\n");
    add(&contents, driver, "");
    for (const char *far : {"d", "e", "f"}) add(&contents, far, "z=1\ny=1\n");
    CHECK(nearest(written(contents)) == "near (driver " + std::string(driver) + ")");
    add(&contents, "10", "");
    const packs::Bytes both = written(contents);
    std::shared_ptr<const packs::Pack> pack;
    REQUIRE(packs::Pack::open_memory({both.data(), both.size()}, &pack).ok());
    std::string first;
    for (std::size_t i = 0; first.empty() && i < pack->target_count(); ++i) {
      packs::TargetRef target;
      REQUIRE(pack->target(i, &target).ok());
      if (target.fact("device_name") == "near") first = target.fact("driver_version");
    }
    CHECK(nearest(both) == "near (driver " + first + ")");
  }
}

TEST_CASE("a damaged or empty blob never reaches the driver", "[ladder]") {
  reset_fake();
  packs::Bytes pack = written(fake_contents());
  ++pack[find(pack, "the binary")];
  const FakeLoad damaged(pack);
  CHECK(damaged.rung() == KILN_RUNG_IL);
  CHECK(damaged.reason(KILN_RUNG_EXACT).find("failed: ") == 0);
  CHECK(mentions(damaged.reason(KILN_RUNG_EXACT), "hash"));
  packs::Contents contents = fake_contents();
  contents.targets[0].binaries[0].blob = packs::BlobSource(packs::Bytes());
  const FakeLoad empty(written(contents));
  CHECK(empty.rung() == KILN_RUNG_IL);
  CHECK(empty.reason(KILN_RUNG_EXACT) == "failed: the pack's blob is empty");
}

TEST_CASE("a driver's own binary after the build tells whether it recompiled", "[ladder]") {
  reset_fake();
  const packs::Bytes pack = written(fake_contents());
  const auto recompiled = [&] {
    const std::string json = FakeLoad(pack, KILN_LOAD_CHECK_RECOMPILED).json();
    const std::size_t at = json.find("\"recompiled\": ") + 14;
    return json.substr(at, json.find(',', at) - at);
  };
  CHECK(recompiled() == "false");
  fake().binary.binary = "the Binary";
  CHECK(recompiled() == "true");
  fake().binary.binary = "the binary and more";
  CHECK(recompiled() == "true");
  fake().binary.binary = "";  // the driver gives none out
  CHECK(recompiled() == "null");
  CHECK(fake().live == 0);
}

TEST_CASE("what is not in the pack or not for the device has a status of its own", "[ladder]") {
  reset_fake();
  packs::Contents contents = fake_contents();
  contents.programs[0].variants[0].requirements = {"extension:cl_fake"};
  const packs::Bytes pack = written(contents);
  const auto check = [&](kiln_status status, const char *message, const char *program,
                         const char *variant) {
    const FakeLoad load(pack, 0, program, variant);
    CHECK(load.status == status);
    CHECK(load.error.message == std::string(message));
    CHECK(load.report != nullptr);
    CHECK(load.rung() == KILN_RUNG_ERROR);
    CHECK(load.json().find("{\"schema\": 1, \"program\": \"") == 0);
  };
  check(KILN_ERROR_NOT_IN_PACK, "the pack has no program q", "q", nullptr);
  check(KILN_ERROR_NOT_IN_PACK, "the pack has no program ", "", nullptr);
  check(KILN_ERROR_NOT_IN_PACK, "program p has no variant w", "p", "w");
  check(KILN_ERROR_REQUIREMENT,
        "program p has no variant that this device can run; v needs the extension cl_fake", "p",
        nullptr);
  check(KILN_ERROR_REQUIREMENT,
        "program p, variant v needs the extension cl_fake, which this device lacks", "p", "v");
  fake().extensions = "cl_fake";
  fake().il_version = "";
  CHECK(FakeLoad(pack).status == KILN_OK);
}

TEST_CASE("a program and its report may be used from several threads", "[ladder]") {
  reset_fake();
  {
    const FakeLoad load(written(fake_contents()));
    std::vector<std::thread> threads;
    std::vector<kiln_status> statuses(8, KILN_ERROR_OPENCL);
    std::vector<const char *> texts(8, nullptr);
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      threads.emplace_back([&, i] {
        kiln_kernel *kernel = nullptr;
        statuses[i] =
            kiln_kernel_create(load.program, i % 2 == 0 ? "k" : nullptr, &kernel, nullptr);
        texts[i] = kiln_report_json(load.report);
        kiln_kernel_release(kernel);
      });
    }
    for (std::thread &thread : threads) thread.join();
    CHECK(statuses == std::vector<kiln_status>(8, KILN_OK));
    CHECK(texts == std::vector<const char *>(8, texts[0]));
  }
  CHECK(fake().live == 0);
}
