// SPDX-License-Identifier: Apache-2.0
// What the runtime makes of each driver whose strings are known, asked through the loader.
#include <cstring>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "builder/process/run_tool.hpp"
#include "kiln/kiln.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scripted_driver.hpp"

using kiln::test::ScriptedDriver;
using nlohmann::json;

namespace {

const char *const kFacts[] = {"platform_name", "device_name", "device_version", "driver_version",
                              "device_uuid",   "profile",     "family",         "model",
                              "compiler",      "key"};

// Strings travel as bytes: they need not be UTF-8.
json bytes(const char *text) {
  return json::binary(std::vector<std::uint8_t>(text, text + std::strlen(text)));
}

// Empty where the device has no such fact.
std::string fact(const json &device, const char *name) {
  if (!device.contains(name)) return {};
  const auto &binary = device[name].get_binary();
  return {binary.begin(), binary.end()};
}

// The facts of every device, in a child.
json read_devices() {
  auto opencl = kiln::OpenCL::open();
  if (!opencl) throw std::runtime_error(opencl.error().message);
  auto count = opencl->device_count();
  if (!count) throw std::runtime_error(count.error().message);
  json devices = json::array();
  for (std::size_t i = 0; i < *count; ++i) {
    auto device = opencl->device(i);
    if (!device) throw std::runtime_error(device.error().message);
    json facts = json::object();
    for (const char *name : kFacts) {
      const char *value = kiln_device_info(device->get(), name);
      if (value != nullptr) facts[name] = bytes(value);
    }
    devices.push_back(facts);
  }
  return devices;
}

std::string whole_script() {
  std::ifstream file(KILN_SOURCE_DIR "/tests/driver/identities.toml");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

const json &devices() {
  static const json read = [] {
    const ScriptedDriver driver(whole_script());
    const auto result = driver.run(read_devices);
    INFO(result.reason());
    REQUIRE(result.ok());
    return result.answer;
  }();
  return read;
}

// The one device with that name and a version that starts so; "" for a version that the
// driver does not give.
const json &device(const std::string &name, const std::string &version) {
  const json *found = nullptr;
  for (const json &candidate : devices()) {
    if (fact(candidate, "device_name") != name) continue;
    if (fact(candidate, "device_version").compare(0, version.size(), version) != 0) continue;
    REQUIRE(found == nullptr);
    found = &candidate;
  }
  INFO(name << ", " << version);
  REQUIRE(found != nullptr);
  return *found;
}

struct Row {
  const char *name;
  const char *version;  // its beginning, as far as it tells rows apart
  const char *profile;
  const char *family;
  const char *model;
  const char *compiler;
};

const Row kRows[] = {
    {"QUALCOMM Adreno(TM)", "OpenCL 2.0 Adreno(TM) 540", "adreno", "Adreno 5xx", "540",
     "E031.32.00.01"},
    {"QUALCOMM Adreno(TM)", "OpenCL 2.0 Adreno(TM) 642L", "adreno", "Adreno 6xx", "642L", ""},
    {"QUALCOMM Adreno(TM) 750", "OpenCL 3.0 Adreno(TM) 750", "adreno", "Adreno 7xx", "750",
     "E031.45.02.06"},
    {"QUALCOMM Adreno(TM) 840", "OpenCL 3.0 Adreno(TM) 840", "adreno", "Adreno 8xx", "840",
     "E031.50.19.18"},
    {"Qualcomm(R) Adreno(TM) X1-85 GPU", "", "adreno", "Adreno X1", "X1-85", ""},
    {"Mali-T628", "OpenCL 1.2 v1.r12p0", "mali", "Mali Midgard", "Mali-T628", "r12p0-04rel0"},
    {"Mali-G610 MC6 r0p0", "OpenCL 3.0 v1.r32p1", "mali", "Mali Valhall", "Mali-G610",
     "r32p1-01eac0"},
    {"Mali-G610 r0p0", "OpenCL 3.0 v1.g13p0", "mali", "Mali Valhall", "Mali-G610", "g13p0-01eac0"},
    {"Mali-LODX r0p0", "OpenCL 3.0 v1.g6p0", "mali", "Mali Valhall", "Mali-G610", "g6p0-01eac0"},
    {"Mali-G710 r0p0", "OpenCL 3.0 v1.r51p0", "mali", "Mali Valhall", "Mali-G710", "r51p0-00eac0"},
    {"PowerVR B-Series BXE-4-32", "OpenCL 1.2 ", "powervr", "PowerVR B-Series", "BXE-4-32",
     "1.19@6345021"},
    {"PowerVR B-Series BXE-4-32", "OpenCL 3.0 ", "powervr", "PowerVR B-Series", "BXE-4-32",
     "1.19@6345021"},
    {"Intel(R) Graphics [0xa780]", "OpenCL 3.0 NEO ", "intel", "Gen12LP",
     "Intel(R) Graphics [0xa780]", "22.43.24595"},
    {"NVIDIA H200", "OpenCL 3.0 CUDA", "nvidia", "", "NVIDIA H200", "580.159.04"},
    {"gfx908:sramecc+:xnack-", "OpenCL 2.0 ", "amd", "gfx9", "gfx908", "3452.0"},
    {"pthread-skylake-avx512-AMD EPYC", "OpenCL 3.0 PoCL HSTR", "pocl", "PoCL x86_64",
     "skylake-avx512", "LLVM 15.0.6"},
    {"llvmpipe (LLVM 15.0.6, 256 bits)", "OpenCL 3.0 ", "rusticl", "llvmpipe", "llvmpipe",
     "LLVM 15.0.6"},
    {"Apple M1", "OpenCL 1.2 ", "apple", "Apple M1", "Apple M1", "Aug 30 2022 21:57:34"},
    {"Vivante OpenCL Device GC7000L.6214.0000", "OpenCL 1.2 ", "vivante", "Vivante GC7000L",
     "GC7000L.6214.0000", "V6.2.4.p1.150331"},
};

std::string key(const char *name, const char *version) {
  return fact(device(name, version), "key");
}

json printed_devices(const ScriptedDriver &driver) {
  kiln::builder::ProcessRequest request;
  request.program = KILN_EXECUTABLE;
  request.arguments = {"devices", "--json"};
  request.environment = driver.environment();
  const auto result = kiln::builder::run_tool(request);
  REQUIRE(result.ok());
  return json::parse(result.out)["devices"];
}

}  // namespace

TEST_CASE("each driver's strings, asked through the loader, give its profile and model") {
  CHECK(devices().size() == std::size(kRows));
  for (const Row &row : kRows) {
    CAPTURE(row.name, row.version);
    const json found = device(row.name, row.version);
    CHECK(fact(found, "profile") == row.profile);
    CHECK(fact(found, "family") == row.family);
    CHECK(fact(found, "model") == row.model);
    CHECK(fact(found, "compiler") == row.compiler);
  }
}

TEST_CASE("no two devices of different drivers or models have one binary key") {
  std::set<std::string> keys;
  for (const json &one : devices()) keys.insert(fact(one, "key"));
  CHECK(keys.size() == devices().size());
}

TEST_CASE("two Mali-G610 that report one UUID keep keys of their own") {
  const json first = device("Mali-G610 MC6 r0p0", "");
  const json second = device("Mali-G610 r0p0", "");
  CHECK(fact(first, "device_uuid") == fact(second, "device_uuid"));
  CHECK(fact(first, "model") == fact(second, "model"));
  CHECK(fact(first, "key") != fact(second, "key"));
}

TEST_CASE("junk behind Mali's release is kept in the identity and is not in the key") {
  const json junk = device("Mali-G610 r0p0", "");
  CHECK(fact(junk, "device_version") == "OpenCL 3.0 v1.g13p0-01eac0.\xff\xfe\x01zz");
  CHECK(fact(junk, "key") ==
        "profile=mali\ndevice_vendor_id=0xa8670000\ncompiler=g13p0-01eac0\naddress_bits=64\n");
}

TEST_CASE("an Adreno whose name is the vendor's alone is recognised by its version") {
  CHECK(key("QUALCOMM Adreno(TM)", "OpenCL 2.0 Adreno(TM) 540") !=
        key("QUALCOMM Adreno(TM)", "OpenCL 2.0 Adreno(TM) 642L"));
}

TEST_CASE("a version that the driver does not give is absent, not empty") {
  const json x1 = device("Qualcomm(R) Adreno(TM) X1-85 GPU", "");
  CHECK_FALSE(x1.contains("device_version"));
  CHECK(device("QUALCOMM Adreno(TM)", "OpenCL 2.0 Adreno(TM) 642L").contains("driver_version"));
}

TEST_CASE("an Apple whose system was updated has another key, its driver string unchanged") {
  const auto key_with = [](const char *build) {
    std::string script = whole_script();
    const std::string old = "Aug 30 2022 21:57:34";
    script.replace(script.find(old), old.size(), build);
    const ScriptedDriver driver(script);
    const auto result = driver.run(read_devices);
    REQUIRE(result.ok());
    for (const json &one : result.answer) {
      if (fact(one, "device_name") == "Apple M1") return fact(one, "key");
    }
    return std::string();
  };
  CHECK(key_with("Jun  8 2020 17:36:15") != key("Apple M1", ""));
}

TEST_CASE("two models that NEO 20.44 names by generation alone do collide") {
  // All that this driver says of Skylake and of Broxton: only a self-check can tell them.
  const std::string one =
      "[[platform.device]]\nname = \"Intel(R) Graphics Gen9 [0x0000]\"\n"
      "vendor = \"Intel(R) Corporation\"\nversion = \"OpenCL 3.0 NEO \"\n"
      "driver_version = \"1.0.0\"\n";
  const ScriptedDriver driver("[[platform]]\nname = \"Intel(R) OpenCL HD Graphics\"\n" + one + one);
  const auto result = driver.run(read_devices);
  REQUIRE(result.ok());
  REQUIRE(result.answer.size() == 2);
  CHECK(fact(result.answer[0], "key") == fact(result.answer[1], "key"));
}

TEST_CASE("32 bits and 64 are two keys whatever else is equal") {
  for (const char *const vendor : {"QUALCOMM", "ARM", "NVIDIA Corporation", "Somebody"}) {
    CAPTURE(vendor);
    const std::string one = std::string("[[platform.device]]\nvendor = \"") + vendor +
                            "\"\nversion = \"OpenCL 3.0 v1.r51p0-00eac0.x\"\n"
                            "vendor_id = 0xa8670000\naddress_bits = ";
    const ScriptedDriver driver("[[platform]]\n" + one + "32\n" + one + "64\n");
    const auto result = driver.run(read_devices);
    REQUIRE(result.ok());
    REQUIRE(result.answer.size() == 2);
    CHECK(fact(result.answer[0], "key") != fact(result.answer[1], "key"));
  }
}

TEST_CASE("kiln devices prints every device, junk and all") {
  const ScriptedDriver driver(whole_script());
  kiln::builder::ProcessRequest request;
  request.program = KILN_EXECUTABLE;
  request.arguments = {"devices", "--json"};
  request.environment = driver.environment();
  const auto result = kiln::builder::run_tool(request);
  INFO(result.reason << result.err);
  REQUIRE(result.ok());
  const json printed = json::parse(result.out);
  REQUIRE(printed["devices"].size() == std::size(kRows));
  for (const Row &row : kRows) {
    CAPTURE(row.name, row.version);
    std::size_t found = 0;
    for (const json &one : printed["devices"]) {
      const json &identity = one["identity"];
      if (identity["device_name"] != row.name) continue;
      if (identity.value("device_version", "").find(row.version) != 0) continue;
      ++found;
      CHECK(one["profile"] == row.profile);
      CHECK(one["family"] == row.family);
      CHECK(one["model"] == row.model);
      CHECK(one["compiler"] == row.compiler);
    }
    CHECK(found == 1);
  }
}

TEST_CASE("kiln devices says which rungs a scripted device takes") {
  const ScriptedDriver driver(
      "[[platform]]\nname = \"Scripted\"\n"
      "[[platform.device]]\nname = \"old\"\nversion = \"OpenCL 1.2 x\"\n"
      "compiler_available = false\nimages = false\nextensions = \"cl_khr_fp16\"\n"
      "[[platform.device]]\nname = \"new\"\nversion = \"OpenCL 3.0 x\"\nil = \"SPIR-V_1.2\"\n"
      "max_work_group_size = 77\nlocal_memory = 5\n"
      "extensions = \"cl_nv_device_attribute_query\"\n"
      "compute_capability_major = 8\ncompute_capability_minor = 6\n");
  const json printed = printed_devices(driver);
  REQUIRE(printed.size() == 2);
  CHECK(printed[0]["rungs"] == json{"exact"});
  CHECK(printed[0]["capabilities"]["images"] == false);
  CHECK(printed[0]["capabilities"]["fp16"] == true);
  CHECK(printed[0]["capabilities"]["compute_capability"] == 0);
  CHECK(printed[1]["rungs"] == json{"exact", "il", "source"});
  CHECK(printed[1]["capabilities"]["max_work_group_size"] == 77);
  CHECK(printed[1]["capabilities"]["local_memory"] == 5);
  CHECK(printed[1]["capabilities"]["compute_capability"] == 806);
}

TEST_CASE("a device's answers to cl_khr_spirv_queries are listed, others' are not asked for") {
  const std::string answers =
      "spirv_capabilities = [4, 6]\nspirv_extensions = [\"SPV_KHR_expect_assume\"]\n"
      "spirv_instruction_sets = [\"OpenCL.std\"]\n";
  const ScriptedDriver driver(
      "[[platform]]\nname = \"Scripted\"\n"
      "[[platform.device]]\nname = \"old\"\nversion = \"OpenCL 3.0 x\"\n" +
      answers +
      "[[platform.device]]\nname = \"extended\"\nversion = \"OpenCL 3.0 x\"\n"
      "extensions = \"cl_khr_spirv_queries\"\n" +
      answers + "[[platform.device]]\nname = \"new\"\nversion = \"OpenCL 3.1 x\"\n" + answers +
      "[[platform.device]]\nname = \"silent\"\nversion = \"OpenCL 3.1 x\"\n");
  const json printed = printed_devices(driver);
  REQUIRE(printed.size() == 4);
  const std::string answered = " 4 6 SPV_KHR_expect_assume OpenCL.std ";
  const char *const expected[] = {"", answered.c_str(), answered.c_str(), ""};
  for (std::size_t i = 0; i < printed.size(); ++i) {
    CHECK(printed[i]["capabilities"]["il_support"] == expected[i]);
  }
}
