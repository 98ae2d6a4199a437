// SPDX-License-Identifier: Apache-2.0
#include "builder/compile/host_compile.hpp"

#include "builder/compile/host_options.hpp"
#include "builder/compile/spirv.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::builder;
using kiln::test::TemporaryFolder;

namespace {

const char *const kSource =
    "#line 1 \"kernels/a.cl\"\n"
    "inline int square(int x) { return x * x; }\n"
    "__constant sampler_t nearest = CLK_FILTER_NEAREST;\n"
    "__kernel void scale(__global uchar *out, uint n) {\n"
    "  if (get_global_id(0) < n) out[get_global_id(0)] = (uchar)square(FACTOR);\n"
    "}\n"
    "__kernel void blur(read_only image2d_t in, write_only image2d_t out, float4 w) {\n"
    "  int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imagef(out, p, read_imagef(in, nearest, p) * w);\n"
    "}\n";

// This machine's compiler, or why there is none.
const kiln::packs::Result<Toolchain> &found_toolchain() {
  static const auto found = find_toolchain({});
  return found;
}

#define NEEDS_TOOLCHAIN()                                                     \
  if (!found_toolchain().ok()) KILN_SKIP(found_toolchain().status().message); \
  const Toolchain *toolchain = &*found_toolchain()

HostCompileRequest request_of(const std::string &source, const std::string &options) {
  HostCompileRequest request;
  request.name = "kernels/a.cl";
  request.source = source;
  request.options = options;
  return request;
}

HostCompiled compiled(const Toolchain &toolchain, const HostCompileRequest &request) {
  auto result = compile_to_spirv(toolchain, request);
  if (!result.ok()) FAIL(result.status().message);
  return *std::move(result);
}

// Whether a module has the type of doubles (OpTypeFloat, 64 bits).
bool has_double(const std::vector<std::uint8_t> &spirv) {
  std::vector<std::uint32_t> words(spirv.size() / 4);
  std::memcpy(words.data(), spirv.data(), words.size() * 4);
  for (std::size_t at = 5; at < words.size() && words[at] >> 16u != 0; at += words[at] >> 16u) {
    if ((words[at] & 0xFFFFu) == 22 && words[at + 2] == 64) return true;
  }
  return false;
}

struct Refusal {
  HostStage stage = HostStage::options;
  Code code = Code::ok;
  std::string text;
};

Refusal refused(const Toolchain &toolchain, const HostCompileRequest &request) {
  Refusal refusal;
  const auto result = compile_to_spirv(toolchain, request, &refusal.stage);
  REQUIRE_FALSE(result.ok());
  refusal.code = result.status().code;
  refusal.text = result.status().message;
  return refusal;
}

void write_tool(const TemporaryFolder &folder, const std::string &name, const std::string &says) {
  const auto path = folder.write(name, "#!/bin/sh\necho '" + says + "'\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("Host options keep what clang knows and leave out what vendors know") {
  const auto result = host_options(
      "-cl-std=CL1.2 -DA=1 -D B -U C -w -cl-mad-enable -I inc -Iother -qcom-x -cl-intel-y "
      "-cl-opt-disable \"-DTEXT=a b\"");
  REQUIRE(result.ok());
  const HostOptions &options = *result;
  CHECK(options.kept == std::vector<std::string>{"-cl-std=CL1.2", "-DA=1", "-DB", "-UC", "-w",
                                                 "-cl-mad-enable", "-DTEXT=a b"});
  CHECK(options.left_out ==
        std::vector<std::string>{"-Iinc", "-Iother", "-qcom-x", "-cl-intel-y", "-cl-opt-disable"});
  CHECK(host_options("-DA=\"b").status().message ==
        "a quote is open in the build options: -DA=\"b");
  CHECK(host_options("-w -D").status().message == "-D has no operand");
  CHECK(host_options("-cl-nv-maxrregcount 32 -w")->left_out ==
        std::vector<std::string>{"-cl-nv-maxrregcount", "32"});
  CHECK(host_options("-w -DA=1 + 2").status().message ==
        "+ is no build option; one with a space has quotes around it, as \"-DNAME=a b\" does: "
        "-w -DA=1 + 2");
}

TEST_CASE("An option that is nearly one of OpenCL's, or that only drivers obey, is warned of") {
  CHECK(warn_of_option("-cl-fast-relaxed-mth") ==
        "unknown build option -cl-fast-relaxed-mth; did you mean -cl-fast-relaxed-math?");
  CHECK(warn_of_option("-Iinclude") ==
        "-Iinclude is for drivers alone; the manifest's include_dirs are searched");
  for (const char *option : {"-cl-opt-disable", "-cl-intel-256-GRF-per-thread", "-qcom-x", "32"}) {
    CHECK(warn_of_option(option) == std::nullopt);
  }
}

TEST_CASE("OpenCL C 3.1 has its extensions, and its version, with any clang") {
  NEEDS_TOOLCHAIN();
  const char *const source =
      "#if __OPENCL_C_VERSION__ != 310 || CL_VERSION_3_1 != 310 || !cl_khr_subgroup_shuffle\n"
      "#error not OpenCL C 3.1\n"
      "#endif\n"
      "kernel void k(global uint *a) { a[0] = sub_group_shuffle(a[1], 1u); }\n";
  HostCompileRequest request = request_of(source, "-cl-std=CL3.1");
  request.spirv_version = 0x00010300;
  CHECK(compiled(*toolchain, request).module.kernels.size() == 1);
  request.options = "-cl-std=CL3.0";
  CHECK(refused(*toolchain, request).stage == HostStage::compile);
}

TEST_CASE("A feature is defined in OpenCL C 3.0 for a variant that requires it") {
  NEEDS_TOOLCHAIN();
  HostCompileRequest request = request_of(
      "#ifndef __opencl_c_kernel_clock_scope_device\n"
      "#error no clock\n"
      "#endif\n"
      "kernel void k(global uint *a) { a[0] = 1; }\n",
      "-cl-std=CL3.0");
  CHECK(refused(*toolchain, request).stage == HostStage::compile);
  request.requirements = {"__opencl_c_kernel_clock_scope_device", "__opencl_c_int64"};
  CHECK(compiled(*toolchain, request).module.kernels.size() == 1);
}

TEST_CASE("The language is that of the last -cl-std") {
  CHECK(opencl_c_version({}) == 120);
  CHECK(opencl_c_version({"-cl-std=CL3.0", "-w", "-cl-std=CL2.0"}) == 200);
  CHECK(opencl_c_version({"-cl-std=CLC++"}) == 200);
  CHECK(opencl_c_version({"-cl-std=clc++2021"}) == 300);
  CHECK(opencl_c_version({"-cl-std=nonsense"}) == 120);
  CHECK(opencl_c_version({"-cl-std=CL3.1"}) == 310);
}

TEST_CASE("Kernels and their parameters are read from a module's text") {
  const auto kernels = kernels_of_llvm_ir(
      "define dso_local spir_kernel void @two(float addrspace(1)* noundef align 4 %0, <4 x i8> %1) "
      "#0 !kernel_arg_addr_space !4 {\n"
      "define dso_local spir_func void @helper(i32 noundef %0) #1 {\n"
      "declare spir_kernel void @elsewhere(i32)\n"
      "define spir_kernel void @none() #2 {\n"
      "define spir_kernel void @one({ i32, [2 x i32] }* byval({ i32, [2 x i32] }) %0) {");
  REQUIRE(kernels.size() == 3);
  CHECK((kernels[0].name == "none" && kernels[0].argument_count == 0));
  CHECK((kernels[1].name == "one" && kernels[1].argument_count == 1));
  CHECK((kernels[2].name == "two" && kernels[2].argument_count == 2));
  CHECK(kernels[2].parameters.empty());  // the text has no node 4
  const auto known = kernels_of_llvm_ir(
      "define spir_kernel void @k(float addrspace(1)* %0, <3 x i8> %1) !kernel_arg_addr_space !4 "
      "!kernel_arg_access_qual !5 !kernel_arg_type !6 !kernel_arg_base_type !7 "
      "!kernel_arg_type_qual !8 {\n"
      "!4 = !{i32 1, i32 0}\n!5 = !{!\"none\", !\"none\"}\n!6 = !{!\"real*\", !\"uchar3\"}\n"
      "!7 = !{!\"float*\", !\"uchar __attribute__((ext_vector_type(3)))\"}\n"
      "!8 = !{!\"restrict\", !\"\"}\n");
  REQUIRE(known.size() == 1);
  const std::vector<kiln::packs::Parameter> expected = {
      {"", "real*", 0, kiln::packs::AddressSpace::global, kiln::packs::ImageAccess::none,
       kiln::packs::kRestrict},
      {"", "uchar3", 4}};
  CHECK(known[0].parameters == expected);
  CHECK(kernels_of_llvm_ir("").empty());
  CHECK(kernels_of_llvm_ir("define spir_kernel void @cut").empty());
}

TEST_CASE("A program that is only looked at has the kernels that its SPIR-V has") {
  NEEDS_TOOLCHAIN();
  auto request = request_of(kSource, "-DFACTOR=3");
  const auto whole = compiled(*toolchain, request).module.kernels;
  request.check_only = true;
  const auto listed = compiled(*toolchain, request).module.kernels;
  REQUIRE(listed.size() == whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(listed[i].name == whole[i].name);
    CHECK(listed[i].argument_count == whole[i].argument_count);
    CHECK_FALSE(listed[i].parameters.empty());
    CHECK(listed[i].parameters == whole[i].parameters);
  }
}

TEST_CASE("Parameters have the names and types of the source, and the module has no word of them") {
  NEEDS_TOOLCHAIN();
  const std::string source =
      "typedef struct { int a; char b; } pair;\n"
      "kernel void k(global const float4 *restrict from, constant char *table, local uint *own,\n"
      "              write_only image2d_t to, pair value, uchar3 three, long wide) {}\n";
  using kiln::packs::AddressSpace;
  using kiln::packs::ImageAccess;
  std::vector<kiln::packs::Parameter> expected = {
      {"from", "float4*", 0, AddressSpace::global, ImageAccess::none,
       kiln::packs::kConst | kiln::packs::kRestrict},
      {"table", "char*", 0, AddressSpace::constant, ImageAccess::none, kiln::packs::kConst},
      {"own", "uint*", 0, AddressSpace::local},
      {"to", "image2d_t", 0, AddressSpace::global, ImageAccess::write_only},
      {"value", "pair", 8},
      {"three", "uchar3", 4},
      {"wide", "long", 8}};
  HostCompileRequest request = request_of(source, "");
  request.requirements = {"images"};
  const HostCompiled whole = compiled(*toolchain, request);
  CHECK(whole.module.kernels[0].parameters == expected);
  request.address_bits = 32;
  CHECK(compiled(*toolchain, request).module.kernels[0].parameters == expected);
  const std::string bytes(whole.spirv.begin(), whole.spirv.end());
  for (const char *word : {"kernel_arg_type", "table", "three"}) {
    CHECK(bytes.find(word) == std::string::npos);
  }
  request.check_only = true;
  expected[4].size = 0;  // not known of a struct
  CHECK(compiled(*toolchain, request).module.kernels[0].parameters == expected);
  request.check_only = false;
  request.options = "-cl-kernel-arg-info";
  const HostCompiled named = compiled(*toolchain, request);
  const std::string with_names(named.spirv.begin(), named.spirv.end());
  CHECK(with_names.find("three") != std::string::npos);
  CHECK(with_names.find("kernel_arg_type") == std::string::npos);
}

TEST_CASE("The newest clang that has an llvm-spirv of its version is taken") {
  TemporaryFolder folder;
  write_tool(folder, "clang-17", "clang version 17.0.1");
  write_tool(folder, "clang-16", "Debian clang version 16.0.6");
  write_tool(folder, "llvm-spirv-16", "LLVM (http://llvm.org/):\n  LLVM version 16.0.0");
  write_tool(folder, "clang-15", "clang version 15.0.6");
  write_tool(folder, "llvm-spirv-15", "LLVM version 15.0.0");
  write_tool(folder, "spirv-val", "SPIRV-Tools v2023.1");
  ToolchainRequest request;
  request.search_path = folder.path().string();
  const auto found = find_toolchain(request);
  REQUIRE(found.ok());
  const Toolchain &toolchain = *found;
  CHECK(toolchain.llvm_major == 16);
  CHECK(toolchain.clang == folder.path() / "clang-16");
  CHECK(toolchain.llvm_spirv == folder.path() / "llvm-spirv-16");
  CHECK(toolchain.clang_version == "Debian clang version 16.0.6");
  CHECK(toolchain.llvm_spirv_version == "LLVM version 16.0.0");
  CHECK(toolchain.spirv_val == folder.path() / "spirv-val");

  request.llvm_spirv = "llvm-spirv-15";
  const auto named = find_toolchain(request);
  REQUIRE(named.ok());
  CHECK(named->clang == folder.path() / "clang-15");
}

TEST_CASE("Clang 21 and later serve without llvm-spirv, if no clang has one") {
  TemporaryFolder folder;
  write_tool(folder, "clang-20", "clang version 20.1.0");
  write_tool(folder, "spirv-val", "SPIRV-Tools v2023.1");
  ToolchainRequest request;
  request.search_path = folder.path().string();
  CHECK(find_toolchain(request).status().code == Code::not_found);
  write_tool(folder, "clang-21", "clang version 21.1.8");
  const auto lone = find_toolchain(request);
  REQUIRE(lone.ok());
  CHECK(lone->clang == folder.path() / "clang-21");
  CHECK(lone->llvm_spirv.empty());
  CHECK(lone->llvm_spirv_version == "clang version 21.1.8");
  CHECK(std::string(translator_name(*lone)) == "LLVM's SPIR-V back end");

  request.clang = "clang-20";
  CHECK(find_toolchain(request).status().code == Code::not_found);
  request.clang.clear();
  request.llvm_spirv = "llvm-spirv-21";  // named, and not there
  CHECK(find_toolchain(request).status().code == Code::not_found);
  request.llvm_spirv.clear();
  write_tool(folder, "llvm-spirv-20", "LLVM version 20.1.0");
  const auto pair = find_toolchain(request);
  REQUIRE(pair.ok());
  CHECK(pair->clang == folder.path() / "clang-20");
  request.clang = "clang-21";
  const auto named = find_toolchain(request);
  REQUIRE(named.ok());
  CHECK(named->llvm_spirv.empty());
}

TEST_CASE("Tools of unlike versions are refused, and the error says what was tried") {
  TemporaryFolder folder;
  write_tool(folder, "clang-17", "clang version 17.0.1");
  write_tool(folder, "clang", "clang version 14.0.6");
  write_tool(folder, "llvm-spirv", "LLVM version 15.0.0");
  ToolchainRequest request;
  request.search_path = folder.path().string();
  const auto found = find_toolchain(request);
  REQUIRE(found.status().code == Code::not_found);
  const std::string at = folder.path().string();
  CHECK(
      found.status().message ==
      "error: no clang and llvm-spirv of the same LLVM version\n"
      "  tried llvm-spirv-17: not in PATH\n"
      "  tried " +
          at + "/clang and " + at +
          "/llvm-spirv: LLVM 14 and LLVM 15 do not fit\n"
          "install both, such as the Debian packages clang-15 and llvm-spirv-15, or name them with "
          "KILN_CLANG and KILN_LLVM_SPIRV\n");
}

TEST_CASE("A missing spirv-val is an error that names its package") {
  TemporaryFolder folder;
  write_tool(folder, "clang-15", "clang version 15.0.6");
  write_tool(folder, "llvm-spirv-15", "LLVM version 15.0.0");
  ToolchainRequest request;
  request.search_path = folder.path().string();
  const auto found = find_toolchain(request);
  REQUIRE(found.status().code == Code::not_found);
  CHECK(found.status().message ==
        "error: no spirv-val\n"
        "  tried spirv-val: not in PATH\n"
        "install it: it is in the Debian package spirv-tools\n");
}

TEST_CASE("Kernels become a valid module of the version and address size asked for") {
  NEEDS_TOOLCHAIN();
  for (const std::uint32_t bits : {32u, 64u}) {
    for (const std::uint32_t version : {0x00010000u, 0x00010200u}) {
      HostCompileRequest request = request_of(kSource, "-DFACTOR=3 -cl-vendor-only");
      request.address_bits = bits;
      request.spirv_version = version;
      const HostCompiled result = compiled(*toolchain, request);
      CHECK(result.module.version <= version);
      CHECK(result.module.address_bits == bits);
      REQUIRE(result.module.kernels.size() == 2);
      CHECK(result.module.kernels[0].name == "blur");
      CHECK(result.module.kernels[0].argument_count == 3);
      CHECK(result.module.kernels[1].name == "scale");
      CHECK(result.module.kernels[1].argument_count == 2);
      CHECK(result.warnings.empty());
      CHECK(result.left_out == std::vector<std::string>{"-cl-vendor-only"});
    }
  }
}

TEST_CASE("The bytes do not depend on the working folder and hold no path") {
  NEEDS_TOOLCHAIN();
  TemporaryFolder folder;
  const HostCompileRequest request = request_of(kSource, "-DFACTOR=3 -cl-kernel-arg-info");
  const auto first = compiled(*toolchain, request).spirv;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto second = compiled(*toolchain, request).spirv;
  std::filesystem::current_path(before);
  CHECK(first == second);
  for (const std::string_view text : {"/tmp", "/work", "kernels", "a.cl", "stdin"}) {
    INFO(text);
    CHECK(std::search(first.begin(), first.end(), text.begin(), text.end(), [](auto a, char b) {
            return a == static_cast<unsigned char>(b);
          }) == first.end());
  }
}

TEST_CASE("Clang's messages name the file as it is opened") {
  NEEDS_TOOLCHAIN();
  const std::string body = "__kernel void k(__global int *a) {\n  a[0] = missing;\n}\n";
  HostCompileRequest request = request_of("#line 1 \"../a.cl\"\n" + body, "");
  request.diagnostics_source = "#line 1 \"src/a.cl\"\n" + body;
  const Refusal error = refused(*toolchain, request);
  CHECK(error.stage == HostStage::compile);
  CHECK(error.text ==
        "src/a.cl:2:10: error: use of undeclared identifier 'missing'\n"
        "  a[0] = missing;\n"
        "         ^\n"
        "1 error generated.\n");
}

TEST_CASE("Warnings come with the module") {
  NEEDS_TOOLCHAIN();
  const std::string source = "#line 1 \"a.cl\"\n#warning look\n__kernel void k() {}\n";
  CHECK(compiled(*toolchain, request_of(source, "")).warnings ==
        "a.cl:1:2: warning: look [-W#warnings]\n#warning look\n ^\n1 warning generated.\n");
  CHECK(compiled(*toolchain, request_of(source, "-w")).warnings.empty());
  CHECK(refused(*toolchain, request_of(source, "-Werror")).stage == HostStage::compile);
}

TEST_CASE("The date is refused, since packs are to be reproducible") {
  NEEDS_TOOLCHAIN();
  const std::string source = "__constant char day[] = __DATE__;\n__kernel void k() {}\n";
  CHECK(refused(*toolchain, request_of(source, "")).stage == HostStage::compile);
}

TEST_CASE("Without doubles, a literal is single precision") {
  NEEDS_TOOLCHAIN();
  auto request = request_of("__kernel void a(__global float *p) { *p *= 0.1; }\n", "");
  CHECK_FALSE(has_double(compiled(*toolchain, request).spirv));
  request.options = "-cl-std=CL3.0";  // has a second name for doubles
  CHECK_FALSE(has_double(compiled(*toolchain, request).spirv));
  request.requirements = {"fp64"};
  CHECK(has_double(compiled(*toolchain, request).spirv));
}

TEST_CASE("A function that nothing defines is a fault of linking, with or without a prelude") {
  NEEDS_TOOLCHAIN();
  HostCompileRequest request = request_of(
      "#line 1 \"a.cl\"\n__kernel void k(__global int *a) { a[0] = vendor_dot(a[1]); }\n", "");
  CHECK(refused(*toolchain, request).stage == HostStage::compile);
  request.prelude = "int vendor_dot(int);";
  const Refusal error = refused(*toolchain, request);
  CHECK(error.stage == HostStage::link);
  CHECK(error.text == "kernels/a.cl: error: functions that nothing defines: vendor_dot\n");
}

TEST_CASE("What SPIR-V cannot say is a fault of translation, not of the author") {
  NEEDS_TOOLCHAIN();
  const std::string source =
      "uint __attribute__((overloadable)) intel_sub_group_shuffle(uint, uint);\n"
      "__kernel void k(__global uint *a) { a[0] = intel_sub_group_shuffle(a[1], 3); }\n";
  HostCompileRequest request = request_of(source, "");
  const Refusal error = refused(*toolchain, request);
  CHECK(error.stage == HostStage::translate);
  INFO(error.text);
  CHECK(error.text.starts_with("kernels/a.cl: no SPIR-V 1.0 for this program: llvm-spirv: "));
  CHECK(error.text.find("SPV_INTEL_subgroups") != std::string::npos);
  request.requirements = {"extension:cl_intel_subgroups"};
  CHECK(compiled(*toolchain, request).module.kernels.size() == 1);
}

TEST_CASE("A module has the first SPIR-V version that can say it, and none above the cap",
          "[.long]") {
  NEEDS_TOOLCHAIN();
  HostCompileRequest sized = request_of(
      "__attribute__((intel_reqd_sub_group_size(16)))\n"
      "__kernel void k(__global uint *a) { a[0] = 1; }\n",
      "");
  const Refusal below = refused(*toolchain, sized);
  CHECK(below.stage == HostStage::translate);
  CHECK(below.text ==
        "kernels/a.cl: no SPIR-V 1.0 for this program, but SPIR-V 1.1: [spirv] version = \"1.1\" "
        "allows it\n");
  for (const std::uint32_t cap : {0x00010100u, 0x00010300u, 0x00010600u}) {
    sized.spirv_version = cap;
    CHECK(compiled(*toolchain, sized).module.version == 0x00010100);
  }
  HostCompileRequest shuffled =
      request_of("__kernel void k(__global uint *a) { a[0] = sub_group_shuffle(a[1], 3); }\n", "");
  shuffled.requirements = {"subgroups", "extension:cl_khr_subgroup_shuffle"};
  shuffled.spirv_version = 0x00010200;
  CHECK(refused(*toolchain, shuffled).text.find("but SPIR-V 1.3: ") != std::string::npos);
  shuffled.spirv_version = 0x00010300;
  CHECK(compiled(*toolchain, shuffled).module.version == 0x00010300);
  HostCompileRequest plain = request_of(kSource, "-DFACTOR=3");
  plain.spirv_version = 0x00010600;
  CHECK(compiled(*toolchain, plain).module.version == 0x00010000);
}

TEST_CASE("A wrong request and a hanging tool are faults of their own") {
  NEEDS_TOOLCHAIN();
  HostCompileRequest request = request_of(kSource, "-DA=\"x");
  CHECK(refused(*toolchain, request).stage == HostStage::options);
  request = request_of(kSource, "");
  request.address_bits = 16;
  CHECK(refused(*toolchain, request).stage == HostStage::options);
  request = request_of(kSource, "");
  request.spirv_version = 0x00010700;
  CHECK(refused(*toolchain, request).text == "kernels/a.cl: error: SPIR-V 1.7 is not 1.0 to 1.6\n");
  TemporaryFolder folder;
  Toolchain hanging = *toolchain;
  hanging.clang = folder.write("clang", "#!/bin/sh\nexec sleep 600\n");
  std::filesystem::permissions(hanging.clang, std::filesystem::perms::owner_all);
  request = request_of(kSource, "");
  request.timeout = std::chrono::milliseconds(200);
  const Refusal error = refused(hanging, request);
  CHECK(error.stage == HostStage::tool);
  CHECK(error.code == Code::process);
  CHECK(error.text == "kernels/a.cl: error: clang: no end within 200 ms\n");
}

TEST_CASE("A barrier is refused where options merge work-items, with SPIR-V and without") {
  NEEDS_TOOLCHAIN();
  HostCompileRequest request = request_of(
      "__kernel void k(__global int *out) {\n"
      "  barrier(CLK_GLOBAL_MEM_FENCE);\n  out[get_global_id(0)] = 1;\n}\n",
      "-fkernel-vectorizer=x4");
  for (const bool check_only : {false, true}) {
    request.check_only = check_only;
    request.no_barriers.clear();
    CHECK(compiled(*toolchain, request).module.has_barrier);
    request.no_barriers = "-fkernel-vectorizer=x4";
    const Refusal refusal = refused(*toolchain, request);
    CHECK(refusal.stage == HostStage::compile);
    CHECK(refusal.text ==
          "kernels/a.cl: error: a barrier in a program with -fkernel-vectorizer=x4\n");
  }
  request.source = "__kernel void k(__global int *out) { out[get_global_id(0)] = 1; }\n";
  CHECK_FALSE(compiled(*toolchain, request).module.has_barrier);
}
