// SPDX-License-Identifier: Apache-2.0
// Kiln's own declarations of built-ins, by clang. Takes some 8 seconds.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "builder/compile/host_compile.hpp"
#include "builder/compile/host_options.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

// The extensions that the declarations name, and those that they depend on.
std::vector<std::string> named_extensions() {
  std::set<std::string> found{"cl_khr_fp16", "cl_khr_fp64", "cl_khr_subgroups"};
  const std::set<std::string> vendors{"arm", "ext", "intel", "khr", "qcom"};
  const auto folder = std::filesystem::path(KILN_SOURCE_DIR) / "builder/compile/declarations";
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t at = 0; (at = text.find("cl_", at)) != text.npos; at += 3) {
      const std::size_t end = std::min(
          text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at), text.size());
      const std::string name = text.substr(at, end - at);
      if (vendors.count(name.substr(3, name.find('_', 3) - 3)) != 0) found.insert(name);
    }
  }
  return {found.begin(), found.end()};
}

// Returns clang's messages.
std::string compiled_with(const Toolchain &toolchain, const std::vector<std::string> &extensions,
                          const char *options) {
  HostCompileRequest request;
  request.name = "empty";
  request.source = "kernel void k(global int *a) { a[0] = 1; }\n";
  request.check_only = true;
  request.options = options;
  for (const std::string &name : extensions) {
    request.requirements.push_back(requirement_of_extension(name));
  }
  const auto result = compile_to_spirv(toolchain, request);
  return result.ok() ? result->warnings : result.status().message;
}

}  // namespace

TEST_CASE("The declarations compile with each two of the extensions that they name") {
  const auto toolchain = find_toolchain({});
  if (!toolchain.ok()) KILN_SKIP(toolchain.status().message);
  const std::vector<std::string> all = named_extensions();
  REQUIRE(all.size() > 15);
  for (const char *options : {"", "-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-std=CLC++"}) {
    CHECK(compiled_with(*toolchain, all, options).empty());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      INFO(all[i] << " and " << all[j]);
      CHECK(compiled_with(*toolchain, {all[i], all[j]}, "").empty());
    }
  }
}

TEST_CASE("Declarations with half leave the extension to the source") {
  HostExtensions known = host_extensions({"fp16", "extension:cl_intel_subgroups"}, 120);
  CHECK(known.declarations.ends_with("#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n"));
  CHECK(host_extensions({"fp16"}, 120).declarations.empty());
}
