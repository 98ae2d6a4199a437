// SPDX-License-Identifier: Apache-2.0
#include "runtime/source/driver_variables.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::source;
using kiln::test::TemporaryFolder;

namespace {

using Variables = std::vector<const char *>;

std::string found(const char *profile, Variables variables) {
  variables.push_back(nullptr);
  return std::string(variable_that_changes_code(profile, variables.data()));
}

}  // namespace

TEST_CASE("a driver's variable counts by its prefix, unless it is known to change nothing",
          "[source]") {
  const Variables usual = {"HOME=/home/me",
                           "PATH=/bin",
                           "POCL_CACHE_DIR=/tmp",
                           "POCL_TRACING_OPT=x",
                           "CUDA_HOME=/usr",
                           "CUDA_CACHE_DISABLE=1",
                           "MESA_SHADER_CACHE_DIR=/tmp",
                           "RUSTICL_ENABLE=llvmpipe",
                           "NEO_CACHE_PERSISTENT=0"};
  for (const char *profile : {"pocl", "rusticl", "intel", "nvidia", "amd", "generic", ""}) {
    CHECK(found(profile, usual).empty());
  }
  CHECK(found("pocl", {"POCL_WORK_GROUP_METHOD=cbs"}) == "POCL_WORK_GROUP_METHOD");
  CHECK(found("pocl", {"POCL_NOT_KNOWN_YET=1"}) == "POCL_NOT_KNOWN_YET");
  CHECK(found("pocl", {"POCL_EXTRA_BUILD_FLAGS=-DX"}) == "POCL_EXTRA_BUILD_FLAGS");
  CHECK(found("pocl", {"POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable"}).empty());
  CHECK(found("pocl", {"COMPILER_PATH=/bin"}) == "COMPILER_PATH");
  CHECK(found("pocl", {"CUDA_FORCE_PTX_JIT=1"}).empty());
  CHECK(found("nvidia", {"CUDA_FORCE_PTX_JIT=1"}) == "CUDA_FORCE_PTX_JIT");
  CHECK(found("rusticl", {"RUSTICL_FEATURES=fp64"}) == "RUSTICL_FEATURES");
  CHECK(found("intel", {"IGC_ForceOCLSIMDWidth=8"}) == "IGC_ForceOCLSIMDWidth");
  CHECK(found("amd", {"AMD_OCL_BUILD_OPTIONS="}) == "AMD_OCL_BUILD_OPTIONS");
  // A profile without rules has all of them.
  CHECK(found("generic", {"CLOVER_EXTRA_BUILD_OPTIONS=-g"}) == "CLOVER_EXTRA_BUILD_OPTIONS");
  CHECK(found("mali", {"CUDA_FORCE_PTX_JIT=1"}) == "CUDA_FORCE_PTX_JIT");
}

TEST_CASE("an environment that clearenv() removed has no variable", "[source]") {
  for (const char *profile : {"pocl", "intel", ""}) {
    CHECK(variable_that_changes_code(profile, nullptr).empty());
  }
}

TEST_CASE("a variable that was seen counts when it is gone, for its driver", "[source]") {
  const char *flags[] = {"POCL_EXTRA_BUILD_FLAGS=-DX", nullptr}, *none[] = {nullptr};
  SeenVariables seen;
  CHECK(seen.found("pocl", none).empty());
  seen.see(flags);
  seen.see(nullptr);
  for (const char *profile : {"pocl", "generic", ""}) {
    CHECK(seen.found(profile, none) == "POCL_EXTRA_BUILD_FLAGS");
  }
  CHECK(seen.found("rusticl", none).empty());
  const char *other[] = {"POCL_OTHER=1", "CLC_DEBUG=1", nullptr};
  CHECK(seen.found("pocl", other) == "POCL_EXTRA_BUILD_FLAGS");
  CHECK(seen.found("rusticl", other) == "CLC_DEBUG");
}

TEST_CASE("Intel's debug keys have no prefix, and count if they are read", "[source]") {
  const char *key = "DisableStatelessToStatefulOptimization=1";
  CHECK(found("intel", {key}).empty());
  CHECK(found("intel", {key, "NEOReadDebugKeys=0"}).empty());
  CHECK(found("intel", {key, "NEOReadDebugKeys=1"}) == "DisableStatelessToStatefulOptimization");
  const Variables device = {"NEOReadDebugKeys=1", "SetCommandStreamReceiver=1",
                            "ProductFamilyOverride=skl", "LANG=C", "OCL_ICD_VENDORS=/x"};
  CHECK(found("intel", device).empty());
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  folder.write("igdrcl.config", "");
  CHECK(found("intel", device) == "igdrcl.config");
  CHECK(found("intel", {"HOME=/"}).empty());
  std::filesystem::current_path(before);
}

TEST_CASE("a debug key is a word with a capital at its begin and a small letter", "[source]") {
  const auto counts = [](const char *variable) {
    return !found("intel", {"NEOReadDebugKeys=1", variable}).empty();
  };
  for (const char *key : {"Aa=1", "Zz=1", "A0a=1", "A9a=1", "AZa=", "Az"}) {
    INFO(key);
    CHECK(counts(key));
  }
  for (const char *other : {"aA=1", "AA=1", "0a=1", "@a=1", "[a=1", "Aa/=1", "Aa:=1", "Aa@=1",
                            "Aa[=1", "Aa`=1", "Aa{=1", "Aa_b=1", "=1", "A`=1", "A{=1"}) {
    INFO(other);
    CHECK_FALSE(counts(other));
  }
}
