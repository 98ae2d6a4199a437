// SPDX-License-Identifier: Apache-2.0
// The compilers for NVIDIA with the tools of this machine, and with programs in their place.
#include "builder/virtual/nvptx_compiler.hpp"

#include <cstdlib>
#include <filesystem>

#include "builder/virtual/virtual_devices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

// A program in place of ptxas, which runs these lines of shell for a compilation.
std::string ptxas_that(const test::TemporaryFolder &folder, const std::string &does) {
  const auto path = folder.write(
      "ptxas",
      "#!/bin/sh\n"
      "case $1 in\n"
      "  --version) echo 'Cuda compilation tools, release 12.4, V12.4.131'; exit;;\n"
      "  --help) echo \"values: 'sm_90','sm_90a','sm_100','compute_90','sm_75'\"; exit;;\n"
      "esac\n"
      "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n" +
          does + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

packs::Variant program_of(const std::string &source, std::uint32_t arguments = 1,
                          const std::string &options = "-cl-std=CL1.2") {
  packs::Variant variant;
  variant.name = "plain";
  variant.options = options;
  variant.kernels = {{"f", arguments}};
  variant.source = packs::BlobSource(packs::Bytes(source.begin(), source.end()));
  return variant;
}

const char *const kFill = "kernel void f(global int *a) { a[get_global_id(0)] = 3; }\n";

Result<VirtualDevice::Made> compiled(const NvptxTools &tools, const packs::Variant &variant,
                                     std::chrono::milliseconds timeout) {
  const auto device = nvptx_device(std::make_shared<const NvptxTools>(tools), "sm_90");
  if (!device.ok()) FAIL(device.status().message);
  return device->virtual_device->compile(variant, timeout, true);
}

}  // namespace

TEST_CASE("tools that are missing are named, with the package and the option") {
  const auto ptxas = find_nvptx_tools({"", "", "/nowhere/ptxas"});
  CHECK(ptxas.status().code == Code::not_found);
  CHECK(ptxas.status().message ==
        "no ptxas; tried /nowhere/ptxas; it is in NVIDIA's CUDA toolkit, such as the package "
        "nvidia-cuda-toolkit of Debian's non-free; KILN_PTXAS names it");
  const test::TemporaryFolder folder;
  const auto libclc = find_nvptx_tools({"", "/nowhere.bc", ptxas_that(folder, "")});
  if (libclc.status().message.find("no clang") != std::string::npos) {
    KILN_SKIP(libclc.status().message);
  }
  CHECK(libclc.status().message.starts_with(
      "no built-ins of libclc; tried /nowhere.bc; install a package such as libclc-"));
  const auto other = find_nvptx_tools({"", "", "/bin/true"});
  if (other.status().message.find("libclc") != std::string::npos) {
    KILN_SKIP(other.status().message);
  }
  CHECK(other.status().message == "/bin/true does not answer as ptxas does (exit status 0)");
}

TEST_CASE("a device that cannot be made code for is named, and the others are there") {
  const test::TemporaryFolder folder;
  const auto tools = find_nvptx_tools({"", "", ptxas_that(folder, "")});
  if (!tools.ok()) KILN_SKIP(tools.status().message);
  CHECK(tools->architectures == std::vector<std::string>{"sm_75", "sm_90", "sm_100"});
  CHECK(tools->driver == "525.60.13");
  const VirtualDevices targets = find_virtual_devices(
      {{"nvidia", {"sm_90", "sm_42", "sm_90", "sm_75"}}}, {"", "", tools->ptxas.string()});
  REQUIRE(targets.devices.size() == 2);
  CHECK(targets.devices[0].label() == "nvidia:sm_90");
  CHECK(targets.devices[1].label() == "nvidia:sm_75");
  REQUIRE(targets.failures.size() == 1);
  CHECK(targets.failures[0].message ==
        "nvidia:sm_42: " + tools->ptxas.string() +
            " makes no code for \"sm_42\"; it does for sm_75, sm_90, sm_100");
}

TEST_CASE("a virtual GPU of NVIDIA's has the binary key that a present one has") {
  const test::TemporaryFolder folder;
  auto tools = find_nvptx_tools({"", "", ptxas_that(folder, "")});
  if (!tools.ok()) KILN_SKIP(tools.status().message);
  const auto device = nvptx_device(std::make_shared<const NvptxTools>(*std::move(tools)), "sm_90");
  REQUIRE(device.ok());
  using runtime::Field;
  runtime::Identity h200;
  h200.set(Field::platform_name, "NVIDIA CUDA");
  h200.set(Field::device_name, "NVIDIA H200");
  h200.set(Field::device_vendor, "NVIDIA Corporation");
  h200.set(Field::device_version, "OpenCL 3.0 CUDA");
  h200.set(Field::address_bits, "64");
  h200.set(Field::driver_version, "580.159.04");
  h200.set(Field::compute_capability, "9.0");
  CHECK(device->description.key.text() == runtime::describe(h200).key.text());
  CHECK(device->description.profile == std::string("nvidia"));
}

TEST_CASE("a ptxas that lies, fails or hangs is named with what it did") {
  const test::TemporaryFolder folder;
  const auto tools = find_nvptx_tools({"", "", ptxas_that(folder, "")});
  if (!tools.ok()) KILN_SKIP(tools.status().message);
  using std::chrono::milliseconds;
  const auto ending = [&](const std::string &does, milliseconds timeout) {
    ptxas_that(folder, does);
    return compiled(*tools, program_of(kFill), timeout).status();
  };
  const milliseconds long_enough{60'000};
  CHECK(ending("exit 0", long_enough).message == "ptxas: it wrote no file program.cubin");
  CHECK(ending(": > $out", long_enough).message == "ptxas: it wrote an empty file program.cubin");
  CHECK(ending("echo text > $out", long_enough).message == "ptxas wrote no cubin");
  CHECK(ending("echo 'line 3: no such instruction' >&2; exit 255", long_enough).message ==
        "ptxas: exit status 255\nline 3: no such instruction\n");
  const Status hung = ending("sleep 600", milliseconds{3'000});
  CHECK(hung.code == Code::process);
  CAPTURE(hung.message);
  CHECK(hung.message.starts_with("ptxas: no end within "));
}

TEST_CASE("what clang and libclc make no code for is refused by name") {
  const test::TemporaryFolder folder;
  const auto tools = find_nvptx_tools({"", "", ptxas_that(folder, "exit 0")});
  if (!tools.ok()) KILN_SKIP(tools.status().message);
  const auto refusal = [&](const std::string &source, std::uint32_t arguments = 1) {
    return compiled(*tools, program_of(source, arguments), std::chrono::milliseconds{60'000})
        .status();
  };
  CHECK(refusal("kernel void f(global int *a) { printf(\"%d\", a[0]); }").message ==
        "neither the program nor libclc defines printf");
  CHECK(refusal("kernel void f(read_only image2d_t a) {}").message ==
        "f takes an argument of the type image2d_t, and clang makes no code for images and "
        "samplers");
  const Status half = refusal("kernel void f(global half *a) { a[0] = a[1] * a[2]; }");
  CHECK(half.code == Code::bad_input);
  CHECK(half.message.find("half") != std::string::npos);
  CHECK(refusal("kernel void f(global int *a) { a[0] = }").message.find("expected expression") !=
        std::string::npos);
}

TEST_CASE("real tools make a cubin, the same one each time, with the size that a kernel requires") {
  const char *ptxas = std::getenv("KILN_TEST_PTXAS");  // the laboratory's, if it is there
  const bool there = ptxas != nullptr && std::filesystem::exists(ptxas);
  const auto tools = find_nvptx_tools({"", "", there ? ptxas : ""});
  if (!tools.ok()) KILN_SKIP(tools.status().message);
  packs::Variant variant = program_of(
      "__attribute__((reqd_work_group_size(16, 4, 1)))\n"
      "kernel void f(global float *a, constant float *b, local float *c, uint n) {\n"
      "  c[get_local_id(0)] = native_exp(b[get_global_id(1)] / n);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  a[get_global_id(0)] = sin(c[0]) + get_global_offset(0) + get_work_dim();\n"
      "}\n",
      4);
  const auto first = compiled(*tools, variant, std::chrono::milliseconds{60'000});
  if (!first.ok()) FAIL(first.status().message);
  const auto second = compiled(*tools, variant, std::chrono::milliseconds{60'000});
  REQUIRE(second.ok());
  CHECK(first->binary == second->binary);
  const std::string cubin(first->binary.begin(), first->binary.end());
  // EIATTR_REQNTID of .nv.info: format 4, attribute 0x10, twelve bytes with the size.
  const std::string required{"\x04\x10\x0c\x00\x10\0\0\0\x04\0\0\0\x01\0\0\0", 16};
  CHECK(cubin.find(required) != std::string::npos);
}
