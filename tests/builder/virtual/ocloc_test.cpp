// SPDX-License-Identifier: Apache-2.0
// The descriptions of ocloc that ship with Kiln, with answers in place of ocloc's.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "builder/virtual/described_compiler.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

constexpr char kTable[] = KILN_SOURCE_DIR "/manifests/virtual/ocloc-22.43.toml";
constexpr char kQueries[] = KILN_SOURCE_DIR "/manifests/virtual/ocloc.toml";

Result<CompilerDescription> of_table(const std::string &model) {
  std::ifstream file(kTable);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_description(text, kTable, model, [](const auto &) {
    return Result<std::string>(std::string("22.43.24595 \0", 13));
  });
}

std::string key_of(const std::string &model) {
  const auto description = of_table(model);
  if (!description.ok()) FAIL(description.status().message);
  return description->info.description.key.text();
}

// The device of a description, with these lines of shell as ocloc. It stays in PATH.
Result<DeviceInfo> device_by(const test::TemporaryFolder &folder, const char *description,
                             const std::string &model, const std::string &does) {
  const auto path = folder.write("ocloc", "#!/bin/sh\n" + does + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  setenv("PATH", (folder.path().string() + ":/usr/bin:/bin").c_str(), 1);
  return described_device(description, model);
}

}  // namespace

TEST_CASE("a model of ocloc 22.43 has the binary key that the driver gives it") {
  CHECK(key_of("skl") ==
        "profile=intel\nip_version=0x00090000\ndriver_version=22.43.24595\naddress_bits=64\n");
  CHECK(key_of("kbl") == key_of("skl"));
  CHECK(key_of("bxt") ==
        "profile=intel\nip_version=0x00090000\ndriver_version=22.43.24595\naddress_bits=32\n");
  CHECK(key_of("dg1") ==
        "profile=intel\nip_version=0x000c0001\ndriver_version=22.43.24595\naddress_bits=64\n");
  CHECK(key_of("dg2") ==
        "profile=intel\nip_version=0x000c0701\ndriver_version=22.43.24595\naddress_bits=64\n");
  CHECK(key_of("adls") == key_of("adl-s"));
  CHECK(of_table("nosuch").status().message.find("expected one of: bdw, skl, kbl") !=
        std::string::npos);
}

TEST_CASE("every model of ocloc 22.43 has what the driver reports") {
  for (const char *name : {"bdw", "skl", "kbl", "cfl", "bxt", "glk", "icllp", "ehl", "lkf", "tgllp",
                           "rkl", "adl-s", "adl-p", "dg1", "dg2", "pvc"}) {
    CAPTURE(name);
    const std::string model = name;
    const auto description = of_table(model);
    if (!description.ok()) FAIL(description.status().message);
    CHECK(description->name == "ocloc:" + model);
    CHECK(description->driver == "22.43.24595");
    const auto &can = description->info.capabilities;
    CHECK((can.fp16 && can.subgroups && can.compiler && can.max_work_group_size >= 256));
    CHECK(can.images == (model != "pvc"));
    CHECK(can.unified_memory == (model != "dg1" && model != "dg2" && model != "pvc"));
    CHECK(can.has_extension("cl_khr_il_program"));
  }
  CHECK(of_table("skl")->info.capabilities.fp64);
  CHECK(!of_table("tgllp")->info.capabilities.fp64);
  CHECK(of_table("pvc")->info.capabilities.local_memory == 131072);
}

TEST_CASE("ocloc 22.43 gets the source, the device, the options and the size of addresses") {
  const test::TemporaryFolder folder;
  const std::string does =
      "case $1:$2 in\n"
      "  query:OCL_DRIVER_VERSION) printf '22.43.24595 \\0' > OCL_DRIVER_VERSION; exit;;\n"
      "esac\n"
      "for word in \"$@\"; do echo \"$word\"; done > program; cat program.cl >> program";
  const auto made = [&](const char *model) {
    const auto device = device_by(folder, kTable, model, does);
    if (!device.ok()) FAIL(device.status().message);
    packs::Variant variant;
    variant.options = "-DN=3 \"-DA=x y\"";
    const std::string source = "kernel void blur(global int *a) {}";
    variant.source = packs::BlobSource(packs::Bytes(source.begin(), source.end()));
    const auto binary =
        device->virtual_device->compile(variant, std::chrono::milliseconds{60'000}, true);
    if (!binary.ok()) FAIL(binary.status().message);
    return std::string(binary->binary.begin(), binary->binary.end());
  };
  const std::string common =
      "compile\n-q\n-file\nprogram.cl\n-output\nprogram\n-output_no_suffix\n-device\n";
  const std::string options = "\n-options\n-DN=3 \"-DA=x y\"\n";
  const std::string source = "kernel void blur(global int *a) {}";
  CHECK(made("skl") == common + "skl" + options + source);
  CHECK(made("bxt") == common + "bxt" + options + "-32\n" + source);
  CHECK(made("tgllp") == common + "tgllp" + options + "-revision_id\n1\n" + source);
  const auto later = device_by(folder, kTable, "skl", "echo 24.35.1 > OCL_DRIVER_VERSION");
  CHECK(later.status().message ==
        "sh: exit status 1\nthis file describes ocloc 22.43; ocloc.toml is for later versions\n");
}

TEST_CASE("a failed compilation is done again without the arguments that hide its reason") {
  const test::TemporaryFolder folder;
  const auto device = device_by(
      folder, kTable, "skl",
      "case $1:$2 in\n"
      "  query:OCL_DRIVER_VERSION) printf '22.43.24595 \\0' > OCL_DRIVER_VERSION; exit;;\n"
      "  compile:-q) exit 245;;\n"
      "esac\n"
      "echo \"use of type 'double' requires cl_khr_fp64\"; exit 245");
  if (!device.ok()) FAIL(device.status().message);
  packs::Variant variant;
  variant.source = packs::BlobSource(packs::Bytes{'k'});
  const auto made =
      device->virtual_device->compile(variant, std::chrono::milliseconds{60'000}, true);
  CHECK(made.status().message ==
        "ocloc: exit status 245\nuse of type 'double' requires cl_khr_fp64\n");
}

TEST_CASE("a later ocloc tells the IP version and the extensions of a device") {
  const test::TemporaryFolder folder;
  const auto with = [&](const std::string &ids) {
    return device_by(folder, kQueries, "dg2-g10",
                     "case \"$*\" in\n"
                     "  'query OCL_DRIVER_VERSION') printf '26.27.039122\\n\\0';;\n"
                     "  'query CL_DEVICE_EXTENSIONS -device dg2-g10')\n"
                     "    echo 'cl_khr_icd cl_khr_fp16 cl_khr_3d_image_writes '\n"
                     "    echo 'a log' >&2;;\n"
                     "  'ids dg2-g10') printf 'Matched ids:\\n" +
                         ids +
                         "\\n';;\n"
                         "  *) exit 1;;\n"
                         "esac");
  };
  const auto device = with("12.55.8");
  if (!device.ok()) FAIL(device.status().message);
  // As a driver of 24.35 counts: architecture from bit 22, release from bit 14.
  CHECK(device->description.key.text() ==
        "profile=intel\nip_version=0x030dc008\ndriver_version=26.27.039122\naddress_bits=64\n");
  CHECK(device->description.family == "Xe-HPG");
  CHECK(device->virtual_device->finisher().starts_with(
      "virtual-described 1, ocloc 26.27.039122, description "));
  const auto &can = device->capabilities;
  CHECK((can.images && can.fp16 && !can.integer_dot_product && !can.fp64));
  for (const char *ids : {"", "12.55", "12.55.8\\n12.56.5", "no device 12"}) {
    CAPTURE(ids);
    CHECK(with(ids).status().message ==
          "sh: exit status 1\nit has no device of that name, or several\n");
  }
}
