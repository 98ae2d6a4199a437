// SPDX-License-Identifier: Apache-2.0
// The compiler for Intel's GPUs, with a program in place of ocloc.
#include "builder/virtual/ocloc_compiler.hpp"

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

// Answers queries as version 22.43 does, and runs these lines of shell for a compilation.
std::string ocloc_that(const test::TemporaryFolder &folder, const std::string &does) {
  const auto path = folder.write("ocloc",
                                 "#!/bin/sh\n"
                                 "case $1:$2 in\n"
                                 "  query:OCL_DRIVER_VERSION)\n"
                                 "    printf '22.43.24595 \\0' > OCL_DRIVER_VERSION; exit;;\n"
                                 "  query:*) echo 'unknown' >&2; exit 1;;\n"
                                 "esac\n" +
                                     does + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

packs::Variant blur_variant() {
  const std::string source = "kernel void blur(global int *a) {}";
  packs::Variant variant;
  variant.options = "-cl-std=CL1.2 -DN=3";
  variant.kernels = {{"blur", 1}};
  variant.source = packs::BlobSource(packs::Bytes(source.begin(), source.end()));
  return variant;
}

}  // namespace

TEST_CASE("ocloc gets the source, the device, the options and the size of addresses") {
  const test::TemporaryFolder folder;
  const std::string path = ocloc_that(folder, "echo \"$@\" > program; cat program.cl >> program");
  const auto tool = find_ocloc(path);
  REQUIRE(tool.ok());
  CHECK(tool->driver_version == "22.43.24595");
  CHECK(tool->recipe == "virtual-ocloc 1, ocloc 22.43.24595");
  const auto shared = std::make_shared<const OclocTool>(*tool);
  const auto made = [&](const char *name) {
    const auto device = ocloc_device(shared, name);
    REQUIRE(device.ok());
    const auto binary =
        device->virtual_device->compile(blur_variant(), std::chrono::milliseconds{60'000}, true);
    if (!binary.ok()) FAIL(binary.status().message);
    return std::string(binary->binary.begin(), binary->binary.end());
  };
  const std::string common = "compile -q -file program.cl -output program -output_no_suffix ";
  const std::string source = "kernel void blur(global int *a) {}";
  CHECK(made("skl") == common + "-device skl -options -cl-std=CL1.2 -DN=3\n" + source);
  CHECK(made("bxt") == common + "-device bxt -options -cl-std=CL1.2 -DN=3 -32\n" + source);
  CHECK(made("tgllp") ==
        common + "-device tgllp -options -cl-std=CL1.2 -DN=3 -revision_id 1\n" + source);
  const auto unknown = ocloc_device(shared, "nosuch");
  CHECK(unknown.status().code == Code::bad_argument);
  CHECK(unknown.status().message.find("known are bdw, skl, kbl") != std::string::npos);
}

TEST_CASE("an ocloc that lies, fails or is missing is named with what it did") {
  const test::TemporaryFolder folder;
  const auto tool = find_ocloc(ocloc_that(folder, ""));
  REQUIRE(tool.ok());
  const auto device = ocloc_device(std::make_shared<const OclocTool>(*tool), "skl");
  REQUIRE(device.ok());
  const auto ending = [&](const std::string &does) {
    ocloc_that(folder, does);
    return device->virtual_device->compile(blur_variant(), std::chrono::milliseconds{60'000}, true)
        .status()
        .message;
  };
  CHECK(ending("exit 0") == "ocloc: it wrote no file program\n");
  CHECK(ending(": > program") == "ocloc: it wrote an empty file program\n");
  CHECK(ending("echo other > program") == "ocloc wrote no kernel blur");
  CHECK(ending("echo 'error: no such type'; exit 245") ==
        "ocloc: exit status 245\nerror: no such type\n");
  CHECK(find_ocloc("/nowhere/ocloc").status().message ==
        "no /nowhere/ocloc; it is in a package such as intel-opencl-icd of Debian 12 or "
        "intel-ocloc of later ones; --ocloc names it");
  CHECK(find_ocloc("/bin/true").status().message ==
        "/bin/true does not answer a query of OCL_DRIVER_VERSION (exit status 0)");
}
