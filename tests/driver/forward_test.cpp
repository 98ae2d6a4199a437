// SPDX-License-Identifier: Apache-2.0
// The scripted driver itself, as an application sees it through Kiln: what it forwards, and
// what it does with binaries of others.
#include <csignal>

#include "kiln/kiln.h"
#include "tests/driver/ladder.hpp"

using namespace kiln::test;

namespace {

constexpr unsigned kChecked = KILN_LOAD_CHECK_RECOMPILED;

// A pack of the good device, then a start with the rules of [platform.device.binary].
Start start_with_binary_rules(const std::string &rules, unsigned flags = kChecked) {
  const ScriptedDriver driver(computing_device(""));
  const std::string pack = build_pack(driver, triple_program());
  driver.rewrite(computing_device("[platform.device.binary]\n" + rules));
  return start(driver, pack, flags);
}

}  // namespace

TEST_CASE("a scripted device computes right values from source, IL and its own binary") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(computing_device("il = \"SPIR-V_1.0\""));
  const std::string pack = build_pack(driver, triple_program());
  const struct {
    unsigned flags;
    const char *rung;
  } rungs[] = {{kChecked, "exact"},
               {KILN_LOAD_NO_BINARY, "il"},
               {KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL, "source"}};
  for (const auto &expected : rungs) {
    const Start started = start(driver, pack, expected.flags);
    INFO(started.child.reason() << started.report);
    CHECK(started.rung == expected.rung);
    CHECK(started.right);
    CHECK_FALSE(started.recompiled);
  }
}

TEST_CASE("a binary of another model, driver or revision is refused with -42 by default") {
  KILN_NEEDS_POCL();
  for (const char *const rule :
       {"model = \"another\"", "driver_version = \"2.0\"", "revision = 7"}) {
    const Start started = start_with_binary_rules(rule);
    INFO(rule << started.child.reason() << started.report);
    CHECK(holds(started.reason("exact"), "CL_INVALID_BINARY"));
    CHECK(started.rung == "source");
    CHECK(started.right);
  }
}

TEST_CASE("a refusal has the code and the place that the script says") {
  KILN_NEEDS_POCL();
  const struct {
    const char *at;
    const char *function;
  } places[] = {{"create", "clCreateProgramWithBinary"},
                {"build", "clBuildProgram"},
                {"kernel", "clCreateKernel"}};
  for (const auto &place : places) {
    const Start started = start_with_binary_rules("revision = 7\nrefusal = -30\nat = \"" +
                                                  std::string(place.at) + "\"");
    INFO(place.at << started.child.reason() << started.report);
    CHECK(holds(started.reason("exact"), place.function));
    CHECK(holds(started.reason("exact"), "CL_INVALID_VALUE (-30)"));
    CHECK(started.rung == "source");
    CHECK(started.right);
  }
}

TEST_CASE("a silent recompilation succeeds in every status and shows in the binary") {
  KILN_NEEDS_POCL();
  for (const char *const rule : {"model = \"another\"\nother_model = \"recompile\"",
                                 "driver_version = \"2.0\"\nother_driver = \"recompile\"",
                                 "revision = 7\nother_revision = \"recompile\""}) {
    const Start started = start_with_binary_rules(rule);
    INFO(rule << started.child.reason() << started.report);
    CHECK(started.rung == "exact");
    CHECK(started.right);
    CHECK(started.recompiled);
  }
}

TEST_CASE("a stale binary that is accepted natively comes back verbatim") {
  KILN_NEEDS_POCL();
  const Start started = start_with_binary_rules("revision = 7\nother_revision = \"accept\"");
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK(started.right);
  CHECK_FALSE(started.recompiled);
}

TEST_CASE("a stale binary that computes wrong values looks like success") {
  KILN_NEEDS_POCL();
  const Start started = start_with_binary_rules("model = \"x\"\nother_model = \"wrong\"");
  INFO(started.child.reason() << started.report);
  CHECK(started.rung == "exact");
  CHECK_FALSE(started.recompiled);
  CHECK_FALSE(started.right);
}

TEST_CASE("a stale binary ends the process where the script says") {
  KILN_NEEDS_POCL();
  const struct {
    const char *response;
    kiln::builder::ProcessEnd end;
    int code;
  } deaths[] = {{"segv", kiln::builder::ProcessEnd::signalled, SIGSEGV},
                {"abort", kiln::builder::ProcessEnd::signalled, SIGABRT},
                {"exit", kiln::builder::ProcessEnd::exited, 1}};
  for (const auto &death : deaths) {
    for (const char *const at : {"create", "build", "kernel"}) {
      const Start started =
          start_with_binary_rules("revision = 7\nother_revision = \"" +
                                  std::string(death.response) + "\"\nat = \"" + at + "\"");
      INFO(death.response << " at " << at << started.child.reason());
      CHECK(started.child.end == death.end);
      CHECK(started.child.code == death.code);
    }
  }
}

TEST_CASE("a binary without source inside cannot be recompiled and is refused") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(computing_device("[platform.device.binary]\nsource = false"));
  const std::string pack = build_pack(driver, triple_program());
  driver.rewrite(
      computing_device("[platform.device.binary]\nrevision = 7\nother_revision = \"recompile\""));
  const Start started = start(driver, pack, kChecked);
  CHECK(holds(started.reason("exact"), "CL_INVALID_BINARY"));
  CHECK(started.right);
}

TEST_CASE("the log counts the calls of every process") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(computing_device(""));
  const std::string pack = build_pack(driver, triple_program());
  const std::size_t before = driver.calls("clCreateProgramWithBinary");
  start(driver, pack);
  start(driver, pack);
  CHECK(driver.calls("clCreateProgramWithBinary") == before + 2);
}

TEST_CASE("a mistake in a script ends the process and says where it is") {
  const struct {
    const char *script;
    const char *message;
  } mistakes[] = {
      {"nonsense = 1\n", "unknown key nonsense"},
      {"[[platform]]\nname = 5\n", ".platform[0].name must be a string"},
      {"[[platform]]\n[[platform.device]]\nvender = \"x\"\n",
       ".platform[0].device[0]: unknown key vender"},
      {"[[platform]]\n[[platform.device]]\ndevice_uuid = \"12\"\n", "32 hexadecimal digits"},
      {"[[platform]]\n[[platform.device]]\nfails = [\"vender\"]\n", "unknown key vender"},
      {"[[fault]]\nat = \"clNothing\"\ndo = \"segv\"\n", "unknown function clNothing"},
      {"[[fault]]\nat = \"clFinish\"\ndo = \"dance\"\n", "unknown word dance"},
      {"[[fault]]\nat = \"clFinish\"\ndo = \"lie\"\n", "lie cannot happen in clFinish"},
      {"absent = [\"clNothing\"]\n", "unknown function clNothing"},
      {"real = \n", "script.toml:1: "},
      {"real = \"libnothing.so\"\n[[platform]]\n[[platform.device]]\nforward = true\n",
       "real: libnothing.so"},
  };
  for (const auto &mistake : mistakes) {
    const ScriptedDriver driver(mistake.script);
    const Start started = start(driver, "no.kiln");
    INFO(mistake.script << started.child.output);
    CHECK(started.child.end == kiln::builder::ProcessEnd::exited);
    CHECK(started.child.code == 120);
    CHECK(holds(started.child.output, "kiln test driver: "));
    CHECK(holds(started.child.output, mistake.message));
  }
}
