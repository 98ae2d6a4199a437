// SPDX-License-Identifier: Apache-2.0
// Which variant each known driver is given where some are one vendor's alone.
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "kiln/kiln.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/api/api.hpp"
#include "runtime/load/tuning.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scripted_driver.hpp"

using kiln::test::ScriptedDriver;
using nlohmann::json;
namespace packs = kiln::packs;

namespace {

struct VendorVariant {
  const char *program;
  const char *variant;
  const char *extension;
};

// Beside these each program has a variant "generic", which any device runs.
const VendorVariant kVariants[] = {
    {"convolve", "qcom", "cl_qcom_accelerated_image_ops"},
    {"bicubic", "qcom", "cl_qcom_filter_bicubic"},
    {"gemm_u8", "qcom_dot8", "cl_qcom_dot_product8"},
    {"gemm_u8", "arm_dot", "cl_arm_integer_dot_product_accumulate_int8"},
    {"epsilon", "qcom_vector", "cl_qcom_vector_image_ops"},
    {"reduce", "subgroup_shuffle_qcom", "cl_qcom_subgroup_shuffle"},
    {"histogram", "qcom_half", "cl_qcom_reqd_sub_group_size"},
};

// The devices that list Qualcomm's extensions, and those that list Arm's. The others' lists are
// without them, or are not known.
const std::set<std::string> kAdreno = {"QUALCOMM Adreno(TM) 750", "QUALCOMM Adreno(TM) 840"};
const std::set<std::string> kMali = {"Mali-G610 MC6 r0p0", "Mali-G610 r0p0"};

packs::Variant make_variant(const std::string &program, const std::string &name) {
  packs::Variant variant;
  variant.name = name;
  const std::string text = program + "/" + name;
  variant.hash = packs::blake2b({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
  variant.kernels = {{program, 2}};
  return variant;
}

// The programs of kVariants, each preferring the vendors' variants.
packs::Contents vendor_contents() {
  std::map<std::string, packs::Program> programs;
  for (const VendorVariant &row : kVariants) {
    packs::Program &program = programs[row.program];
    program.name = row.program;
    program.variants.push_back(make_variant(row.program, row.variant));
    program.variants.back().requirements = {std::string("extension:") + row.extension};
    program.preferred.push_back(row.variant);
  }
  packs::Contents contents;
  for (auto &[name, program] : programs) {
    program.variants.push_back(make_variant(name, "generic"));
    program.preferred.push_back("generic");
    contents.programs.push_back(program);
  }
  return contents;
}

std::string whole_script() {
  std::ifstream file(KILN_SOURCE_DIR "/tests/driver/identities.toml");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

// For every device, in a child: [name, program, variant or the error, reason]. `variant` empty
// leaves the choice to Kiln.
json choose_everywhere(const std::string &path, const std::string &variant) {
  std::shared_ptr<const packs::Pack> pack;
  packs::ProgramRefs programs;
  if (!packs::Pack::open_file(path.c_str(), &pack).ok() || !pack->programs(&programs).ok())
    throw std::runtime_error("no pack");
  auto opencl = kiln::OpenCL::open();
  if (!opencl) throw std::runtime_error(opencl.error().message);
  json rows = json::array();
  for (std::size_t i = 0; i < *opencl->device_count(); ++i) {
    auto handle = opencl->device(i);
    const kiln::runtime::Device &device = *handle->get()->device;
    for (const packs::ProgramRef program : programs) {
      kiln::runtime::Choice choice;
      const auto error =
          kiln::runtime::choose_variant(*pack, device, std::string(program.name()), variant,
                                        packs::SizeClass::large, {}, &choice);
      rows.push_back({kiln_device_info(handle->get(), "device_name"), std::string(program.name()),
                      error.ok() ? std::string(choice.variant.name()) : error.message,
                      choice.reason});
    }
  }
  return rows;
}

std::size_t devices_in(const std::string &script) {
  constexpr std::string_view kDevice = "[[platform.device]]";
  std::size_t count = 0;
  for (auto at = script.find(kDevice); at != std::string::npos; at = script.find(kDevice, at + 1)) {
    ++count;
  }
  return count;
}

json choices(const packs::Contents &contents, const std::string &variant = {},
             const std::string &script = whole_script()) {
  const ScriptedDriver driver(script);
  const std::string path = driver.path("vendors.kiln");
  REQUIRE(packs::write_pack(contents, path).ok());
  const auto result = driver.run([&] { return choose_everywhere(path, variant); });
  INFO(result.reason());
  REQUIRE(result.ok());
  REQUIRE(result.answer.size() == devices_in(script) * contents.programs.size());
  return result.answer;
}

// A program whose variant with inline PTX is preferred to the generic one.
packs::Contents ptx_contents() {
  packs::Contents contents;
  packs::Program program;
  program.name = "gemm";
  program.variants = {make_variant("gemm", "ptx_half"), make_variant("gemm", "generic")};
  program.variants[0].requirements = {"compute_capability:5.3"};
  program.preferred = {"ptx_half", "generic"};
  contents.programs = {program};
  return contents;
}

struct CapabilityRow {
  const char *device;
  const char *answers;  // of the script
  const char *lacks;    // null: the variant runs
};

const CapabilityRow kCapabilities[] = {
    {"Hopper", "compute_capability_major = 9\ncompute_capability_minor = 0\n", nullptr},
    {"Blackwell", "compute_capability_major = 12\ncompute_capability_minor = 1\n", nullptr},
    {"Tegra X1", "compute_capability_major = 5\ncompute_capability_minor = 3\n", nullptr},
    {"Maxwell", "compute_capability_major = 5\ncompute_capability_minor = 0\n",
     "needs compute capability 5.3 (this device has 5.0)"},
    {"GTX 980", "compute_capability_major = 5\ncompute_capability_minor = 2\n",
     "needs compute capability 5.3 (this device has 5.2)"},
    {"Kepler", "compute_capability_major = 3\ncompute_capability_minor = 7\n",
     "needs compute capability 5.3 (this device has 3.7)"},
    {"no minor", "compute_capability_major = 9\nfails = [\"compute_capability_minor\"]\n",
     "needs NVIDIA's compute capability 5.3"},
    {"no major", "compute_capability_minor = 9\nfails = [\"compute_capability_major\"]\n",
     "needs NVIDIA's compute capability 5.3"},
    {"junk", "compute_capability_major = 4294967295\ncompute_capability_minor = 4294967295\n",
     "needs NVIDIA's compute capability 5.3"},
};

std::string capability_script() {
  std::string script = "[[platform]]\nname = \"NVIDIA CUDA\"\nvendor = \"NVIDIA Corporation\"\n";
  for (const CapabilityRow &row : kCapabilities) {
    script += std::string("[[platform.device]]\nname = \"") + row.device +
              "\"\nvendor = \"NVIDIA Corporation\"\nversion = \"OpenCL 3.0 CUDA\"\n" +
              "extensions = \"cl_khr_icd cl_nv_device_attribute_query\"\n" + row.answers;
  }
  return script;
}

// One device that would answer 9.0, and whose driver dies where it is asked for that number.
std::string deadly_script(const std::string &extensions, const std::string &query) {
  return "[[platform]]\nname = \"Scripted\"\n[[platform.device]]\nname = \"GPU\"\nextensions = \"" +
         extensions +
         "\"\ncompute_capability_major = 9\ncompute_capability_minor = 0\n"
         "[[fault]]\nat = \"clGetDeviceInfo\"\ndo = \"exit\"\ncode = 7\nquery = \"" +
         query + "\"\n";
}

// The variant that a device by that name should be given.
std::string expected(const std::string &device, const std::string &program) {
  for (const VendorVariant &row : kVariants) {
    if (row.program != program) continue;
    const bool qualcomm = std::string(row.extension).rfind("cl_qcom_", 0) == 0;
    if ((qualcomm ? kAdreno : kMali).count(device) != 0) return row.variant;
  }
  return "generic";
}

}  // namespace

TEST_CASE("a vendor's variant goes to the devices that list its extension, to others the generic") {
  std::map<std::string, std::size_t> given;
  for (const json &row : choices(vendor_contents())) {
    CAPTURE(row.dump());
    CHECK(row[2] == expected(row[0], row[1]));
    CHECK(row[3] == "preferred by the pack");
    ++given[row[2]];
  }
  CHECK(given["qcom"] == 4);  // two programs on two devices
  CHECK(given["qcom_dot8"] == 2);
  CHECK(given["arm_dot"] == 2);
  CHECK(given["qcom_vector"] == 2);
  CHECK(given["subgroup_shuffle_qcom"] == 2);
  CHECK(given["qcom_half"] == 2);
}

TEST_CASE("a vendor's variant that is asked for elsewhere is refused with its extension") {
  packs::Contents contents = vendor_contents();
  std::erase_if(contents.programs, [](const packs::Program &p) { return p.name != "bicubic"; });
  for (const json &row : choices(contents, "qcom")) {
    CAPTURE(row.dump());
    const bool runs = kAdreno.count(row[0]) != 0;
    CHECK(row[2] == (runs ? "qcom"
                          : "program bicubic, variant qcom needs the extension "
                            "cl_qcom_filter_bicubic, which this device lacks"));
  }
}

TEST_CASE("what was measured on one Adreno decides for its vendor, and for nobody else") {
  packs::Contents contents = vendor_contents();
  std::erase_if(contents.programs, [](const packs::Program &p) { return p.name != "reduce"; });
  for (const auto &[variant, nanoseconds] :
       {std::pair("generic", 90'000u), std::pair("subgroup_shuffle_qcom", 120'000u)}) {
    packs::Tuning tuning;
    tuning.program = "reduce";
    tuning.variant = variant;
    tuning.size_class = packs::SizeClass::large;
    tuning.profile = "adreno";
    tuning.family = "Adreno 7xx";
    tuning.model = "740";
    tuning.key_hash = 1;
    tuning.nanoseconds = nanoseconds;
    contents.tunings.push_back(tuning);
  }
  const std::string in_place = " for large problems: 90.000 us";
  std::map<std::string, std::string> reasons;
  for (const json &row : choices(contents)) {
    CAPTURE(row.dump());
    CHECK(row[2] == "generic");
    reasons[row[0]] = row[3];
  }
  CHECK(reasons["QUALCOMM Adreno(TM) 750"] ==
        "measured the fastest of 2 on a device of this family" + in_place);
  CHECK(reasons["QUALCOMM Adreno(TM) 840"] ==
        "measured the fastest of 2 on a device of this vendor" + in_place);
  // It lists no extensions: the other one is none of its variants.
  CHECK(reasons["Qualcomm(R) Adreno(TM) X1-85 GPU"] ==
        "the only one measured on a device of this vendor" + in_place);
  CHECK(reasons["NVIDIA H200"] == "preferred by the pack");
}

TEST_CASE("inline PTX with half precision goes to devices of compute capability 5.3 and later") {
  constexpr std::size_t kDevices = std::size(kCapabilities);
  const json given = choices(ptx_contents(), {}, capability_script());
  const json asked = choices(ptx_contents(), "ptx_half", capability_script());
  for (std::size_t i = 0; i < kDevices; ++i) {
    const CapabilityRow &row = kCapabilities[i];
    CAPTURE(given[i].dump(), asked[i].dump());
    REQUIRE(given[i][0] == row.device);
    CHECK(given[i][2] == (row.lacks == nullptr ? "ptx_half" : "generic"));
    CHECK(asked[i][2] == (row.lacks == nullptr ? "ptx_half"
                                               : std::string("program gemm, variant ptx_half ") +
                                                     row.lacks + ", which this device lacks"));
  }
}

TEST_CASE("of the known drivers only NVIDIA's has a compute capability") {
  std::size_t running = 0;
  for (const json &row : choices(ptx_contents(), "ptx_half")) {
    CAPTURE(row.dump());
    const bool nvidia = row[0] == "NVIDIA H200";
    running += nvidia ? 1 : 0;
    CHECK(row[2] == (nvidia ? "ptx_half"
                            : "program gemm, variant ptx_half needs NVIDIA's compute capability "
                              "5.3, which this device lacks"));
  }
  CHECK(running == 1);
}

TEST_CASE("a device without NVIDIA's extension is not asked for its compute capability") {
  for (const char *query :
       {"CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV", "CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV"}) {
    CAPTURE(query);
    const json row = choices(ptx_contents(), "ptx_half", deadly_script("cl_khr_fp16", query))[0];
    CHECK(row[2] ==
          "program gemm, variant ptx_half needs NVIDIA's compute capability 5.3, which this "
          "device lacks");
    // The same device with the extension is asked, and dies of it.
    const ScriptedDriver deadly(deadly_script("cl_nv_device_attribute_query", query));
    const auto died = deadly.run([] { return json(bool(kiln::OpenCL::open()->device(0))); });
    CHECK(died.end == kiln::builder::ProcessEnd::exited);
    CHECK(died.code == 7);
  }
}
