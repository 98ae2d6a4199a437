// SPDX-License-Identifier: Apache-2.0
// What real drivers do and nobody expects, played by the scripted driver: the rows that the
// host's own drivers cannot show.
#include <csignal>
#include <fstream>

#include <nlohmann/json.hpp>

#include "builder/inspect/pack_json.hpp"
#include "kiln/kiln.h"
#include "kiln/packs/pack.hpp"
#include "tests/driver/ladder.hpp"

using namespace kiln::test;
using kiln::builder::ProcessEnd;

namespace {

constexpr unsigned kCheckedLoads = KILN_LOAD_CHECK_RECOMPILED;

// A pack of one driver, met by the next: both are the lines of one device.
Start update(const std::string &from, const std::string &to, unsigned flags = kCheckedLoads) {
  const ScriptedDriver driver(computing_device(from));
  const std::string pack = build_pack(driver, triple_program());
  driver.rewrite(computing_device(to));
  return start(driver, pack, flags);
}

// Flips a bit in the stored bytes of the only binary of a pack.
void damage_binary(const std::string &path) {
  std::shared_ptr<const kiln::packs::Pack> pack;
  kiln::packs::Contents contents;
  REQUIRE(kiln::packs::Pack::open_file(path.c_str(), &pack).ok());
  REQUIRE(kiln::packs::read_contents(pack, &contents).ok());
  const auto described = kiln::builder::describe_pack(*pack, contents);
  const auto &blob = described["targets"][0]["binaries"][0]["blob"];
  const std::streamoff at =
      blob["offset"].get<std::streamoff>() + blob["stored_size"].get<std::streamoff>() / 2;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 1));
  REQUIRE(file.good());
}

}  // namespace

TEST_CASE("a corrupt binary that would kill the driver never reaches it") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(computing_device("[platform.device.binary]\ncorrupt = \"segv\""));
  const std::string pack = build_pack(driver, triple_program());
  const std::size_t before = driver.calls("clCreateProgramWithBinary");
  damage_binary(pack);
  const Start started = start(driver, pack);
  INFO(started.child.reason() << started.report);
  CHECK(driver.calls("clCreateProgramWithBinary") == before);
  CHECK(started.rung == "source");
  CHECK(started.right);
}

TEST_CASE("NEO takes another GPU's binary with success, and has recompiled it") {
  KILN_NEEDS_POCL();
  const Start started =
      update("[platform.device.binary]\nmodel = \"skl\"",
             "[platform.device.binary]\nmodel = \"tgllp\"\nother_model = \"recompile\"");
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK(started.recompiled);
  CHECK(started.right);
}

TEST_CASE("NEO takes the binary of a GPU of its group as it is, and it comes back verbatim") {
  KILN_NEEDS_POCL();
  const Start started = update("[platform.device.binary]\nmodel = \"skl\"",
                               "[platform.device.binary]\nmodel = \"kbl\"\n"
                               "accepts = [\"skl\", \"cfl\"]\nother_model = \"recompile\"");
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK_FALSE(started.recompiled);
  CHECK(started.right);
}

TEST_CASE("a rollback of NEO ends the process in clBuildProgram with code 1") {
  KILN_NEEDS_POCL();
  const Start started = update("",
                               "[platform.device.binary]\nrevision = 20\n"
                               "other_revision = \"exit\"\nat = \"build\"");
  CHECK(started.child.end == ProcessEnd::exited);
  CHECK(started.child.code == 1);
}

TEST_CASE("a rollback of rusticl aborts the process") {
  KILN_NEEDS_POCL();
  const Start started =
      update("", "[platform.device.binary]\nrevision = 22\nother_revision = \"abort\"");
  CHECK(started.child.end == ProcessEnd::signalled);
  CHECK(started.child.code == SIGABRT);
}

TEST_CASE("a driver update with every name unchanged is refused, and the source computes") {
  KILN_NEEDS_POCL();
  const Start started = update("", "[platform.device.binary]\nrevision = 8");
  INFO(started.child.reason() << started.report);
  CHECK(holds(started.reason("exact"), "CL_INVALID_BINARY"));
  CHECK(started.rung == "source");
  CHECK(started.right);
}

TEST_CASE("Apple says -30 for a binary of the system before") {
  KILN_NEEDS_POCL();
  const Start started = update("", "[platform.device.binary]\nrevision = 8\nrefusal = -30");
  INFO(started.child.reason() << started.report);
  CHECK(holds(started.reason("exact"), "CL_INVALID_VALUE (-30)"));
  CHECK(started.right);
}

TEST_CASE("Mali dies inside clCreateProgramWithBinary") {
  KILN_NEEDS_POCL();
  const Start started = update("", "[[fault]]\nat = \"clCreateProgramWithBinary\"\ndo = \"segv\"");
  CHECK(started.child.end == ProcessEnd::signalled);
  CHECK(started.child.code == SIGSEGV);
}

TEST_CASE("a binary that the builder takes is machine code also where that comes late") {
  KILN_NEEDS_POCL();
  const std::string late = "[platform.device.binary]\nlate = true";
  const Start started = update(late, late);
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK_FALSE(started.recompiled);  // a stub would be compiled here
  CHECK(started.right);
}

TEST_CASE("rusticl 22.3 dies when the binary's size is asked before a build, and nobody asks") {
  KILN_NEEDS_POCL();
  const std::string dies =
      "[[fault]]\nat = \"clGetProgramInfo\"\nquery = \"CL_PROGRAM_BINARY_SIZES\"\n"
      "unbuilt = true\ndo = \"abort\"";
  const Start started = update(dies, dies);
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK(started.right);
}

TEST_CASE("AMD takes IL that it does not support, and the program is empty") {
  KILN_NEEDS_POCL();
  const std::string amd =
      "il = \"SPIR-V_1.0\"\n[[fault]]\nat = \"clCreateProgramWithIL\"\ndo = \"empty\"";
  const Start started = update(amd, amd, KILN_LOAD_NO_BINARY);
  INFO(started.child.reason() << started.report);
  CHECK(holds(started.reason("il"), "kernel triple"));
  CHECK(started.rung == "source");
  CHECK(started.right);
}

TEST_CASE("a device that says it has images and refuses them still loads and computes") {
  KILN_NEEDS_POCL();
  const std::string refuses =
      "images = true\n[[fault]]\nat = \"clCreateImage\"\ndo = \"error\"\ncode = -10";
  const Start started = update(refuses, refuses);
  CHECK(started.rung == "exact");
  CHECK(started.right);
}

TEST_CASE("an Adreno 740 refuses the binary of a 730, and its own pack misses that target") {
  KILN_NEEDS_POCL();
  const auto adreno = [](const std::string &model) {
    return "[[platform]]\nname = \"QUALCOMM Snapdragon(TM)\"\n[[platform.device]]\n"
           "forward = true\nname = \"QUALCOMM Adreno(TM) " +
           model + "\"\nvendor = \"QUALCOMM\"\nversion = \"OpenCL 3.0 Adreno(TM) " + model +
           "\"\ndriver_version = \"OpenCL 3.0 QUALCOMM build: commit unknown Compiler "
           "E031.45.02.06\"\n";
  };
  const ScriptedDriver driver(adreno("730"));
  const std::string pack = build_pack(driver, triple_program());
  CHECK(start(driver, pack).rung == "exact");
  driver.rewrite(adreno("740"));
  const Start started = start(driver, pack);
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "source");
  CHECK(started.right);
  const auto report = nlohmann::json::parse(started.report);
  CHECK(holds(report["nearest"]["target"], "730"));
  CHECK(report["nearest"]["differs"][0]["field"] == "model");
}
