// SPDX-License-Identifier: Apache-2.0
// What a variant demands and whether a device has it.
#include "runtime/identity/requirements.hpp"

#include <array>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::runtime;
using Requirements = std::vector<std::string>;

namespace {

Capabilities phone() {
  Capabilities device;
  device.profile = "adreno";
  device.images = true;
  device.fp16 = true;
  device.unified_memory = true;
  device.extensions = parse_extensions("cl_qcom_perf_hint cl_khr_fp16 cl_khr_icd");
  return device;
}

// The message, once it is known to come with the code of a requirement.
std::string missing(const Requirements &requirements, const Capabilities &device = phone()) {
  const kiln::packs::Status status = check_requirements(requirements, device);
  CHECK(status.code == kiln::packs::Code::requirement);
  return status.message;
}

bool has(const Requirements &requirements, const Capabilities &device = phone()) {
  return check_requirements(requirements, device).ok();
}

}  // namespace

TEST_CASE("a device that has all it needs misses nothing", "[requirements]") {
  CHECK(has({}));
  CHECK(has({"extension:cl_khr_fp16", "fp16", "images", "unified_memory", "vendor:adreno"}));
}

TEST_CASE("the first requirement that is missing is named in a sentence", "[requirements]") {
  CHECK(missing({"images", "fp64", "subgroups"}) == "needs double-precision arithmetic");
  CHECK(missing({"subgroups"}) == "needs sub-groups");
  CHECK(missing({"opencl_3"}) == "needs OpenCL 3.0");
  CHECK(missing({"opencl_3_1"}) == "needs OpenCL 3.1");
  CHECK(missing({"__opencl_c_pipes"}) == "needs the feature __opencl_c_pipes");
  CHECK(missing({"integer_dot_product"}) == "needs integer dot products");
  CHECK(missing({"extension:cl_qcom_filter_bicubic"}) ==
        "needs the extension cl_qcom_filter_bicubic");
  CHECK(missing({"vendor:mali"}) == "needs a device of the profile mali, and this one is adreno");
}

TEST_CASE("a device that says nothing misses every requirement", "[requirements]") {
  const Capabilities nothing;
  for (const char *requirement :
       {"images", "fp16", "fp64", "subgroups", "integer_dot_product", "opencl_3", "opencl_3_1",
        "unified_memory", "__opencl_c_int64", "extension:cl_khr_icd", "vendor:adreno",
        "work_group:1", "compute_capability:1.0"}) {
    CAPTURE(requirement);
    CHECK(is_known_requirement(requirement));
    CHECK_FALSE(has({requirement}, nothing));
  }
}

TEST_CASE("a manifest may name these requirements", "[requirements]") {
  CHECK(known_requirements() == std::vector<std::string>{"fp16",
                                                         "fp64",
                                                         "images",
                                                         "integer_dot_product",
                                                         "opencl_3",
                                                         "opencl_3_1",
                                                         "subgroups",
                                                         "unified_memory",
                                                         "vendor:adreno",
                                                         "vendor:amd",
                                                         "vendor:apple",
                                                         "vendor:generic",
                                                         "vendor:intel",
                                                         "vendor:mali",
                                                         "vendor:nvidia",
                                                         "vendor:pocl",
                                                         "vendor:powervr",
                                                         "vendor:rusticl",
                                                         "vendor:vivante",
                                                         "extension:NAME",
                                                         "__opencl_c_NAME",
                                                         "work_group:N",
                                                         "compute_capability:M.N",
                                                         "no_global_offset",
                                                         "proof",
                                                         "range_multiple:XxY"});
  for (const std::string &requirement : known_requirements()) {
    CAPTURE(requirement);
    const bool has_operand = requirement.find_first_of("NMX") != std::string::npos;
    CHECK((has_operand || is_known_requirement(requirement)));
  }
  for (const char *requirement :
       {"extension:cl_khr_fp16", "work_group:1", "work_group:999999", "compute_capability:5.3",
        "compute_capability:12.1", "compute_capability:99.99"}) {
    CAPTURE(requirement);
    CHECK(is_known_requirement(requirement));
  }
}

TEST_CASE("a vendor that a later version knows is not this device's", "[requirements]") {
  CHECK_FALSE(is_known_requirement("vendor:imaginary"));
  CHECK(missing({"vendor:imaginary"}) ==
        "needs a device of the profile imaginary, and this one is adreno");
}

TEST_CASE("a feature counts only under its whole name", "[requirements]") {
  Capabilities device;
  device.features = " __opencl_c_int64 __opencl_c_read_write_images ";
  CHECK(has({"__opencl_c_int64", "__opencl_c_read_write_images"}, device));
  for (const char *other : {"__opencl_c_int", "__opencl_c_images", "__opencl_c_read"}) {
    CHECK_FALSE(has({other}, device));
  }
  for (const char *word : {"__opencl_c_", "__opencl_c_a b", "_opencl_c_int64"}) {
    CHECK_FALSE(is_known_requirement(word));
  }
}

TEST_CASE("an extension counts only under its whole name", "[requirements]") {
  CHECK_FALSE(has({"extension:cl_khr_fp1"}));
  CHECK_FALSE(has({"extension:CL_KHR_FP16"}));
}

TEST_CASE("a requirement that is not known counts as missing", "[requirements]") {
  for (const char *requirement : {"",
                                  "fp8",
                                  "extension:",
                                  "extension:a b",
                                  "extension:cl_khr_fp16 ",
                                  "fp16:",
                                  "vendor:",
                                  "Images",
                                  "images ",
                                  "work_group",
                                  "work_group:",
                                  "work_group:0",
                                  "work_group:064",
                                  "work_group:-1",
                                  "work_group:6x",
                                  "work_group: 64",
                                  "work_group:64 ",
                                  "work_group:1000000",
                                  "compute_capability",
                                  "compute_capability:",
                                  "compute_capability:5",
                                  "compute_capability:.3",
                                  "compute_capability:5.",
                                  "compute_capability:0.3",
                                  "compute_capability:05.3",
                                  "compute_capability:5.03",
                                  "compute_capability:5.00",
                                  "compute_capability:100.0",
                                  "compute_capability:5.100",
                                  "compute_capability:5.3.1",
                                  "compute_capability:5.x",
                                  "compute_capability:5,3",
                                  "compute_capability:sm_53",
                                  "compute_capability:-5.3",
                                  "compute_capability: 5.3",
                                  "compute_capability:5.3 "}) {
    CAPTURE(requirement);
    CHECK_FALSE(is_known_requirement(requirement));
    CHECK(missing({requirement}) ==
          "needs \"" + std::string(requirement) + "\", which this version does not know");
  }
}

TEST_CASE("a work-group fits where the device's largest has as many work-items", "[requirements]") {
  Capabilities device = phone();
  device.max_work_group_size = 128;
  CHECK(has({"work_group:1"}, device));
  CHECK(has({"work_group:127"}, device));
  CHECK(has({"work_group:128"}, device));
  CHECK(missing({"work_group:129"}, device) == "needs work-groups of 129 work-items");
  CHECK(missing({"work_group:999999"}, device) == "needs work-groups of 999999 work-items");
  device.max_work_group_size = 127;
  CHECK(missing({"work_group:128"}, device) == "needs work-groups of 128 work-items");
}

TEST_CASE("a compute capability is compared by its two numbers", "[requirements]") {
  Capabilities device = phone();
  device.compute_capability = 503;
  for (const char *version : {"1.0", "3.5", "4.99", "5.0", "5.3"}) {
    CAPTURE(version);
    CHECK(has({std::string("compute_capability:") + version}, device));
  }
  for (const char *version : {"5.4", "5.10", "5.30", "6.0", "10.0", "53.0", "99.99"}) {
    CAPTURE(version);
    CHECK(missing({std::string("compute_capability:") + version}, device) ==
          "needs compute capability " + std::string(version) + " (this device has 5.3)");
  }
  device.compute_capability = 1210;
  CHECK(has({"compute_capability:12.9"}, device));
  CHECK(missing({"compute_capability:12.11"}, device) ==
        "needs compute capability 12.11 (this device has 12.10)");
}

TEST_CASE("the reason says that only NVIDIA devices have a compute capability", "[requirements]") {
  CHECK(missing({"compute_capability:5.3"}) == "needs NVIDIA's compute capability 5.3");
  CHECK(missing({"compute_capability:9.0"}) == "needs NVIDIA's compute capability 9.0");
}

TEST_CASE("an extension list is sorted and holds each name once", "[requirements]") {
  CHECK(parse_extensions("  b a\tb \n c") == std::vector<std::string>{"a", "b", "c"});
  CHECK(parse_extensions("").empty());
  CHECK(parse_extensions("   ").empty());
}

TEST_CASE("SPIR-V versions are read as in a module's header", "[requirements]") {
  using Versions = std::vector<std::uint32_t>;
  CHECK(parse_il_versions("SPIR-V_1.2 ") == Versions{0x00010200});
  CHECK(parse_il_versions("SPIR-V_1.3 SPIR-V_1.0 SPIR-V_1.3") == Versions{0x00010000, 0x00010300});
  CHECK(parse_il_versions("") == Versions{});
  CHECK(parse_il_versions("SPIR-V_ SPIR-V_1 SPIR-V_1. SPIR-V_.2 SPIR-V_1.2.3 SPIR-V_1.x "
                          "SPIR-V_1.99999999999 SPIR 1.2 HSAIL_1.0") == Versions{});
}

TEST_CASE("what is demanded of launches and of binaries any device meets", "[requirements]") {
  for (const char *requirement :
       {"no_global_offset", "proof", "range_multiple:4", "range_multiple:1x8x9999"}) {
    CAPTURE(requirement);
    CHECK(is_known_requirement(requirement));
    CHECK(has({requirement}, Capabilities{}));
  }
  CHECK(missing({"proofs"}) == "needs \"proofs\", which this version does not know");
}

TEST_CASE("a multiple has one to three sides from 1", "[requirements]") {
  using Sides = std::array<std::size_t, 3>;
  CHECK(parse_range_multiple("4") == Sides{4, 1, 1});
  CHECK(parse_range_multiple("4x2") == Sides{4, 2, 1});
  CHECK(parse_range_multiple("1x2x16") == Sides{1, 2, 16});
  for (const char *text : {"", "0", "4x", "x4", "4x0", "1x1x1x1", "10000", "04", "4X2", "-4"}) {
    CAPTURE(text);
    CHECK(parse_range_multiple(text) == Sides{0, 0, 0});
    CHECK_FALSE(is_known_requirement(std::string("range_multiple:") + text));
  }
}

TEST_CASE("an extension's name has letters, digits and _", "[requirements]") {
  for (const char *name : {"a", "z", "A", "Z", "0", "9", "_", "cl_Z9_a"}) {
    CAPTURE(name);
    CHECK(is_known_requirement(std::string("extension:") + name));
  }
  for (const char *name : {"", "`", "{", "@", "[", "/", ":", "-", "a b", "a*"}) {
    CAPTURE(name);
    CHECK_FALSE(is_known_requirement(std::string("extension:") + name));
  }
}

TEST_CASE("a key may name a compute capability", "[requirements]") {
  CHECK(compute_capability_of({{"profile", "nvidia"}, {"compute_capability", "9.0"}}) == 900);
  CHECK(compute_capability_of({{"compute_capability", "12.1"}}) == 1201);
  CHECK(compute_capability_of({{"compute_capability", "x"}}) == 0);
  CHECK(compute_capability_of({{"profile", "nvidia"}}) == 0);
}

TEST_CASE("a range's multiple has one to three sides of up to four digits", "[requirements]") {
  using Sides = std::array<std::size_t, 3>;
  CHECK(parse_range_multiple("4") == Sides{4, 1, 1});
  CHECK(parse_range_multiple("9999x1") == Sides{9999, 1, 1});
  CHECK(parse_range_multiple("1x2x3") == Sides{1, 2, 3});
  for (const char *text : {"", "x", "4x", "x4", "0", "4x0", "1x2x0", "1x2x3x4", "1x2x3x", "10000",
                           "1x10000", "04", "4 ", "4X4"}) {
    CAPTURE(text);
    CHECK(parse_range_multiple(text) == Sides{0, 0, 0});
  }
}
