// SPDX-License-Identifier: Apache-2.0
#include "builder/compile/recorded_parameters.hpp"

#include "builder/compile/host_compile.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

constexpr std::chrono::seconds kEnoughTime{60};

#define NEEDS_TOOLS()                    \
  const auto tools = find_toolchain({}); \
  if (!tools.ok()) KILN_SKIP(tools.status().message)

packs::BlobSource blob(std::string_view text) {
  return packs::BlobSource(packs::Bytes(text.begin(), text.end()));
}

// Programs of one recorded variant each, with a kernel `k` of so many arguments.
packs::Contents recorded(const std::vector<std::string> &sources, std::uint32_t arguments = 2) {
  packs::Contents contents;
  for (const std::string &source : sources) {
    packs::Variant variant;
    variant.name = "recorded-00000000";
    variant.options = "-DTYPE=float4";
    variant.kernels = {{"k", arguments}};
    variant.source = blob(source);
    contents.programs.emplace_back().variants.push_back(std::move(variant));
  }
  return contents;
}

const std::vector<packs::Parameter> &parameters_of(const packs::Contents &contents,
                                                   std::size_t program = 0) {
  return contents.programs[program].variants[0].kernels[0].parameters;
}

constexpr char kRecorded[] = "kernel void k(global TYPE *out, uint n) { out[n] = 1; }";

}  // namespace

TEST_CASE("Recorded kernels get the parameters that their source declares") {
  NEEDS_TOOLS();
  packs::Contents contents = recorded({kRecorded});
  add_parameters("", kEnoughTime, &contents);
  REQUIRE(parameters_of(contents).size() == 2);
  CHECK(parameters_of(contents)[0].type == "float4*");
  CHECK(parameters_of(contents)[0].address_space == packs::AddressSpace::global);
  CHECK(parameters_of(contents)[1].name == "n");
  CHECK(parameters_of(contents)[1].size == 4);
}

TEST_CASE("A recorded source that clang refuses has no parameters, and the others have theirs") {
  NEEDS_TOOLS();
  packs::Contents contents = recorded({"kernel void k(global", kRecorded, "no OpenCL C"});
  add_parameters("", kEnoughTime, &contents);
  CHECK(parameters_of(contents, 0).empty());
  CHECK(parameters_of(contents, 1).size() == 2);
  CHECK(parameters_of(contents, 2).empty());
}

TEST_CASE("A recorded source may need any extension") {
  NEEDS_TOOLS();
  packs::Contents contents = recorded(
      {"#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
       "kernel void k(global half *out, half n) { out[0] = n * sub_group_reduce_add(1); }"});
  add_parameters("", kEnoughTime, &contents);
  REQUIRE(parameters_of(contents).size() == 2);
  CHECK(parameters_of(contents)[1].type == "half");
}

TEST_CASE("A kernel that the driver saw with other arguments has no parameters") {
  NEEDS_TOOLS();
  packs::Contents contents = recorded({kRecorded}, 3);
  add_parameters("", kEnoughTime, &contents);
  CHECK(parameters_of(contents).empty());
}

TEST_CASE("Without clang or time recorded kernels have no parameters") {
  packs::Contents contents = recorded({kRecorded});
  add_parameters("/nonexistent/clang", kEnoughTime, &contents);
  CHECK(parameters_of(contents).empty());
  add_parameters("", std::chrono::seconds(0), &contents);
  CHECK(parameters_of(contents).empty());
}

TEST_CASE("A recorded module has the parameters of its types") {
  NEEDS_TOOLS();
  HostCompileRequest request;
  request.name = "k.cl";
  request.source = "kernel void k(global int *out, read_only image3d_t in) { out[0] = 1; }";
  const auto compiled = compile_to_spirv(*tools, request);
  REQUIRE(compiled.ok());
  packs::Contents contents = recorded({""});
  packs::Variant &variant = contents.programs[0].variants[0];
  variant.source.reset();
  variant.il64 = packs::BlobSource(packs::Bytes(compiled->spirv.begin(), compiled->spirv.end()));
  add_parameters("/nonexistent/clang", kEnoughTime, &contents);
  REQUIRE(parameters_of(contents).size() == 2);
  CHECK(parameters_of(contents)[0].address_space == packs::AddressSpace::global);
  CHECK(parameters_of(contents)[1].access == packs::ImageAccess::read_only);
}
