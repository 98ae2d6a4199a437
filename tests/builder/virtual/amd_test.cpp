// SPDX-License-Identifier: Apache-2.0
// The example of a described compiler, with the tools of this machine.
#include <filesystem>

#include "builder/process/run_tool.hpp"
#include "builder/virtual/described_compiler.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

TEST_CASE("clang and rocm-device-libs make a code object for an AMD GPU, which is never run") {
  if (!find_executable({"clang-15"})) KILN_SKIP("clang-15 is not installed");
  if (!std::filesystem::exists("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc")) {
    KILN_SKIP("rocm-device-libs is not installed");
  }
  const auto device =
      described_device(KILN_SOURCE_DIR "/manifests/virtual/amd.toml", "gfx908:sramecc+:xnack-");
  if (!device.ok()) FAIL(device.status().message);
  CHECK(device->description.profile == std::string("amd"));
  CHECK(device->description.key.text().find("device_name=gfx908:sramecc+:xnack-") !=
        std::string::npos);
  const std::string source =
      "kernel void f(global float *a) { a[get_global_id(0)] = sin(a[get_global_id(0)]) * N; }";
  packs::Variant variant;
  variant.options = "-DN=3";
  variant.kernels = {{"f", 1}};
  variant.source = packs::BlobSource(packs::Bytes(source.begin(), source.end()));
  const auto made =
      device->virtual_device->compile(variant, std::chrono::milliseconds{60'000}, true);
  if (!made.ok()) FAIL(made.status().message);
  const std::string code(made->binary.begin(), made->binary.end());
  REQUIRE(code.size() > 64);
  CHECK(
      code.starts_with("\x7f"
                       "ELF"));
  CHECK(static_cast<unsigned char>(code[18]) == 224);            // EM_AMDGPU
  CHECK((static_cast<unsigned char>(code[48]) & 0xff) == 0x30);  // EF_AMDGPU_MACH_AMDGCN_GFX908
  CHECK(code.find("f.kd") != std::string::npos);                 // the kernel's descriptor
}
