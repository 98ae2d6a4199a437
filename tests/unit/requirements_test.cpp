// What a variant demands and whether a device has it.
#include "requirements.hpp"

#include <string>
#include <vector>

#include "query.hpp"
#include "support/catch.hpp"

using namespace kiln::runtime;

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

std::optional<std::string> missing(const std::string &requirement) {
  return missing_requirement({requirement}, phone());
}

}  // namespace

TEST_CASE("a device that has all it needs misses nothing", "[requirements]") {
  CHECK_FALSE(missing_requirement({}, phone()));
  CHECK_FALSE(missing_requirement(
      {"extension:cl_khr_fp16", "fp16", "images", "unified_memory", "vendor:adreno"}, phone()));
}

TEST_CASE("the first requirement that is missing is named in a sentence", "[requirements]") {
  CHECK(missing_requirement({"images", "fp64", "subgroups"}, phone()) ==
        std::string("needs double-precision arithmetic"));
  CHECK(missing("subgroups") == std::string("needs sub-groups"));
  CHECK(missing("integer_dot_product") == std::string("needs integer dot products"));
  CHECK(missing("extension:cl_qcom_filter_bicubic") ==
        std::string("needs the extension cl_qcom_filter_bicubic"));
  CHECK(missing("vendor:mali") ==
        std::string("needs a device of the profile mali, and this one is adreno"));
}

TEST_CASE("a device that says nothing misses every requirement", "[requirements]") {
  const Capabilities nothing;
  for (const char *requirement : {"images", "fp16", "fp64", "subgroups", "integer_dot_product",
                                  "unified_memory", "extension:cl_khr_icd", "vendor:adreno"}) {
    CAPTURE(requirement);
    CHECK(is_known_requirement(requirement));
    CHECK(missing_requirement({requirement}, nothing));
  }
}

TEST_CASE("an extension counts only under its whole name", "[requirements]") {
  CHECK(missing("extension:cl_khr_fp1"));
  CHECK(missing("extension:cl_khr_fp16 "));
  CHECK(missing("extension:CL_KHR_FP16"));
}

TEST_CASE("a requirement that is not known counts as missing", "[requirements]") {
  for (const char *requirement : {"", "fp8", "extension:", "vendor:", "Images", "images "}) {
    CAPTURE(requirement);
    CHECK_FALSE(is_known_requirement(requirement));
    CHECK(missing(requirement) ==
          "needs \"" + std::string(requirement) + "\", which this version does not know");
  }
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
