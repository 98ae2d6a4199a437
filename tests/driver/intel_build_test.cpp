// SPDX-License-Identifier: Apache-2.0
// Building for GPUs of Intel's shape: the SPIR-V in a binary stays out only if the driver takes the
// binary without it.
#include "builder/finish/intel_binary.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/machine/opened_device.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/driver/application.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("a binary that the driver does not take without its SPIR-V is packed with it") {
  KILN_NEEDS_POCL();
  // Each device's driver version says what it does with a binary without SPIR-V.
  std::string script = "[[platform]]\nname = \"Intel\"\n";
  for (const std::string response : {"accept", "refuse", "recompile", "segv"}) {
    script +=
        "[[platform.device]]\nforward = true\nname = \"Scripted Xe\"\n"
        "vendor = \"Intel(R) Corporation\"\nversion = \"OpenCL 3.0 NEO \"\ndriver_version = \"" +
        response + "\"\n[platform.device.binary]\nshape = \"intel\"\nwithout_spirv = \"" +
        response + "\"\n";
  }
  const ScriptedDriver driver(script);
  const std::string path = driver.path("out.kiln");
  const auto child = driver.run([&]() -> nlohmann::json {
    const auto listed = builder::list_devices();
    if (!listed.ok()) return listed.status().message;
    packs::Contents base = triple_program();
    base.programs[0].variants[0].il64.reset();
    base.programs[0].variants[0].il_version = 0;
    const auto result = builder::build_on_devices(base, *listed, {}, {}, nullptr);
    if (!result.failures.empty()) return result.failures[0].text;
    return packs::write_pack(result.contents, path).message;
  });
  INFO(child.reason());
  REQUIRE(child.ok());
  REQUIRE(child.answer == "");
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  REQUIRE(packs::Pack::open_file(path.c_str(), &pack).ok());
  REQUIRE(packs::read_contents(pack, &contents).ok());
  REQUIRE(contents.targets.size() == 4);
  for (const packs::Target &target : contents.targets) {
    CAPTURE(target.compiler);
    CHECK(target.profile == "intel");
    REQUIRE(target.binaries.size() == 1);
    const bool accepts = target.compiler == "accept";
    const packs::Finish &finish = target.binaries[0].finish;
    CHECK(finish.finisher == (accepts ? "intel-without-spirv 1" : ""));
    CHECK((finish.unfinished_size > target.binaries[0].blob.raw_size()) == accepts);
    packs::Bytes bytes;
    REQUIRE(target.binaries[0].blob.read(&bytes).ok());
    const bool has_spirv = builder::without_spirv({bytes.data(), bytes.size()}).has_value();
    CHECK(has_spirv == !accepts);
  }
}
