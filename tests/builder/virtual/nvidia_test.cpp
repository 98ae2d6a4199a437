// SPDX-License-Identifier: Apache-2.0
// The description of NVIDIA's GPUs, with the tools of this machine and with programs in their
// place.
#include <cstdlib>
#include <filesystem>

#include "builder/process/run_tool.hpp"
#include "builder/virtual/described_compiler.hpp"
#include "runtime/overlay/cuda_linker.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

bool has_clang_and_libclc() {
  return find_executable({"clang-15"}) &&
         std::filesystem::exists("/usr/lib/clc/nvptx64--nvidiacl.bc");
}

Result<DeviceInfo> device_of(const std::string &ptxas, const std::string &model = "sm_90") {
  setenv("KILN_CLANG", "clang-15", 1);
  setenv("KILN_PTXAS", ptxas.c_str(), 1);
  return described_device(KILN_SOURCE_DIR "/manifests/virtual/nvidia.toml", model);
}

// A program in place of ptxas of that version, which writes its arguments as its output.
std::string ptxas_of(const test::TemporaryFolder &folder, const std::string &version) {
  const auto path = folder.write(
      "ptxas",
      "#!/bin/sh\n"
      "case $1 in\n"
      "  --version) echo 'Cuda compilation tools, release 1.2, V" +
          version +
          "'; exit;;\n"
          "  --help) echo \"values: 'sm_90','sm_90a','sm_100','compute_90','sm_75'\"; exit;;\n"
          "esac\n"
          "echo \"ptxas info : Compiling entry function 'f' for 'sm_90'\" >&2\n"
          "echo 'ptxas info : Compile time = 1.804 ms' >&2\n"
          "all=$*; while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
          "echo $all > $out\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

Result<VirtualDevice::Made> compiled(const DeviceInfo &device, const std::string &source,
                                     const std::string &options = "-cl-std=CL1.2") {
  packs::Variant variant;
  variant.options = options;
  variant.kernels = {{"f", 1}};
  variant.source = packs::BlobSource(packs::Bytes(source.begin(), source.end()));
  return device.virtual_device->compile(variant, std::chrono::milliseconds{60'000}, true);
}

std::string text_of(const Result<VirtualDevice::Made> &made) {
  if (!made.ok()) FAIL(made.status().message);
  return {made->binary.begin(), made->binary.end()};
}

const char *const kFill = "kernel void f(global int *a) { a[get_global_id(0)] = 3; }\n";
const char *const kRequired =
    "__attribute__((reqd_work_group_size(16, 4, 1)))\n"
    "kernel void f(global float *a, constant float *b, local float *c, uint n) {\n"
    "  c[get_local_id(0)] = native_exp(b[get_global_id(1)] / n);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[get_global_id(0)] = sin(c[0]) + get_global_offset(0) + get_work_dim();\n"
    "}\n"
    "kernel void g(global int *a) { a[0] = 1; }\n";

}  // namespace

TEST_CASE("a virtual GPU of NVIDIA's has the binary key that a present one has") {
  if (!has_clang_and_libclc()) KILN_SKIP("clang-15 or libclc-15 is not installed");
  const auto device = device_of("none");
  if (!device.ok()) FAIL(device.status().message);
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
  CHECK(device->capabilities.compute_capability == 900);
  CHECK(device->label() == "nvidia:sm_90");
}

TEST_CASE("without ptxas the output is PTX with the size that a kernel requires") {
  if (!has_clang_and_libclc()) KILN_SKIP("clang-15 or libclc-15 is not installed");
  const auto device = device_of("none");
  if (!device.ok()) FAIL(device.status().message);
  CHECK(device->virtual_device->driver() == "495.29.05");
  const std::string ptx = text_of(compiled(*device, kRequired));
  CHECK(runtime::is_ptx({reinterpret_cast<const std::uint8_t *>(ptx.data()), ptx.size()}));
  const std::size_t f = ptx.find(".entry f("), g = ptx.find(".entry g(");
  REQUIRE(f < g);
  const std::size_t required = ptx.find("\n.reqntid 16, 4, 1\n{\n");
  CHECK((f < required && required < g));
  CHECK(ptx.find(".reqntid", required + 2) == std::string::npos);
  CHECK(ptx.find("%envreg9") != std::string::npos);  // get_work_dim(), which libclc has not
  CHECK(text_of(compiled(*device, kRequired)) == ptx);
}

TEST_CASE("ptxas gets the model and NVIDIA's options, and names the oldest driver") {
  if (!has_clang_and_libclc()) KILN_SKIP("clang-15 or libclc-15 is not installed");
  const test::TemporaryFolder folder;
  const auto driver = [&](const char *version) {
    const auto device = device_of(ptxas_of(folder, version));
    return device.ok() ? device->virtual_device->driver() : device.status().message;
  };
  CHECK(driver("11.8.89") == "450.80.02");
  CHECK(driver("13.0.88") == "580.65.06");
  CHECK(driver("14.0.1").find("which drivers take its code is known of CUDA 11, 12 and 13") !=
        std::string::npos);
  const std::string ptxas = ptxas_of(folder, "12.4.131");
  CHECK(device_of(ptxas, "sm_42").status().message ==
        "sh: exit status 1\n" + ptxas +
            " makes no code for sm_42; it does for sm_75 sm_90 sm_100\n");
  CHECK(
      device_of(ptxas, "sm_90a").status().message ==
      "sh: exit status 1\n\"sm_90a\" is no architecture of NVIDIA's: expected sm_ and two or three "
      "digits\n");
  CHECK(device_of("/nowhere/ptxas").status().message ==
        "sh: exit status 1\nthere is no program /nowhere/ptxas, which KILN_PTXAS names\n");
  const auto device = device_of(ptxas, "sm_100");
  if (!device.ok()) FAIL(device.status().message);
  CHECK(device->virtual_device->driver() == "525.60.13");
  CHECK(device->virtual_device->finisher().find("ptxas 12.4.131") != std::string::npos);
  CHECK(text_of(compiled(*device, kFill,
                         "-cl-std=CL1.2 -DN=3 -D M -cl-mad-enable -I inc -cl-nv-verbose "
                         "-cl-opt-disable -cl-nv-maxrregcount=32 -cl-nv-opt-level 2 -U X")) ==
        "-v -arch=sm_100 -maxrregcount=32 -O2 program.ptx -o program\n");
}

TEST_CASE("what ptxas says of kernels is in the log, without times") {
  if (!has_clang_and_libclc()) KILN_SKIP("clang-15 or libclc-15 is not installed");
  const test::TemporaryFolder folder;
  const auto device = device_of(ptxas_of(folder, "13.0.88"));
  if (!device.ok()) FAIL(device.status().message);
  const auto made = compiled(*device, kFill);
  if (!made.ok()) FAIL(made.status().message);
  CHECK(made->log == "ptxas info : Compiling entry function 'f' for 'sm_90'\n");
}

TEST_CASE("what clang and libclc make no code for is refused by name") {
  if (!has_clang_and_libclc()) KILN_SKIP("clang-15 or libclc-15 is not installed");
  const auto device = device_of("none");
  if (!device.ok()) FAIL(device.status().message);
  const auto refusal = [&](const std::string &source, const std::string &options = "") {
    return compiled(*device, source, options).status().message;
  };
  const std::string failed = "sh: exit status 1\n";
  CHECK(refusal(kFill, "-qcom-accelerate-16-bit") ==
        failed + "NVIDIA's compiler has no build option -qcom-accelerate-16-bit\n");
  CHECK(refusal("kernel void f(global int *a) { printf(\"%d\", a[0]); }") ==
        failed + "neither the program nor libclc defines printf\n");
  CHECK(refusal("kernel void f(global float4 *a, read_only image2d_t b) {\n"
                "  a[0] = read_imagef(b, (int2)(0, 0));\n"
                "}") ==
        failed +
            "f takes an argument of the type image2d_t, and clang makes no code for "
            "images and samplers\n");
  CHECK(refusal("kernel void f(global half *a) { a[0] = a[1] * a[2]; }").find("cl_khr_fp16") !=
        std::string::npos);
  CHECK(refusal("kernel void f(global int *a) { a[0] = }").find("expected expression") !=
        std::string::npos);
}

TEST_CASE("a real ptxas makes a cubin, the same one each time") {
  if (!has_clang_and_libclc()) KILN_SKIP("clang-15 or libclc-15 is not installed");
  const char *ptxas = std::getenv("KILN_TEST_PTXAS");  // the laboratory's, if it is there
  const auto found = find_executable({ptxas != nullptr ? ptxas : "", "ptxas"});
  if (!found) KILN_SKIP("there is no ptxas");
  const auto device = device_of(found->string());
  if (!device.ok()) FAIL(device.status().message);
  const std::string cubin = text_of(compiled(*device, kRequired));
  CHECK(
      cubin.starts_with("\x7f"
                        "ELF"));
  CHECK(text_of(compiled(*device, kRequired)) == cubin);
  // EIATTR_REQNTID of .nv.info: format 4, attribute 0x10, twelve bytes with the size.
  const std::string required{"\x04\x10\x0c\x00\x10\0\0\0\x04\0\0\0\x01\0\0\0", 16};
  CHECK(cubin.find(required) != std::string::npos);
}
