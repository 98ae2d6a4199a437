// SPDX-License-Identifier: Apache-2.0
#include "builder/compile/host_options.hpp"

#include <algorithm>
#include <optional>

#include "builder/compile/host_compile.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;
using Names = std::vector<std::string>;

namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

bool contains(const Names &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether there is SPIR-V depends on spirv-val's age.
constexpr char kEither[] = "either";

// A kernel of the source, which needs no more than the requirements.
struct BuiltIn {
  const char *source;
  Names requirements;
  std::string without_il;  // why; empty: there is SPIR-V
};

const BuiltIn kBuiltIns[] = {
    {"kernel void k(global uint *a) { a[0] = intel_sub_group_shuffle(a[1], 3u); }",
     {"extension:cl_intel_subgroups"},
     ""},
    {"kernel void k(global uint *a, read_only image2d_t i) {\n"
     "  a[0] = intel_sub_group_block_read(a) + intel_sub_group_block_read(i, (int2)(0));\n}",
     {"extension:cl_intel_subgroups"},
     ""},
    {"kernel void k(global ushort *a) {\n"
     "  intel_sub_group_block_write_us8(a, intel_sub_group_block_read_us8(a + 64));\n}",
     {"extension:cl_intel_subgroups_short"},
     ""},
    {"kernel void k(global uchar *a, global ulong *b) {\n"
     "  intel_sub_group_block_write_uc16(a, intel_sub_group_block_read_uc16(a + 64));\n"
     "  intel_sub_group_block_write_ul4(b, intel_sub_group_block_read_ul4(b + 64));\n"
     "  a[0] = intel_sub_group_shuffle(a[1], 3u);\n}",
     {"extension:cl_intel_subgroups_char", "extension:cl_intel_subgroups_long"},
     ""},
    {"kernel void k(read_only image2d_t i, write_only image2d_t o) {\n"
     "  uchar4 a = intel_sub_group_media_block_read_uc4((int2)(0), 4, 4, i);\n"
     "  intel_sub_group_media_block_write_uc4((int2)(0), 4, 4, a, o);\n}",
     {"extension:cl_intel_media_block_io"},
     ""},
    {"kernel void k(global uint *a, local uint *b) { a[0] = intel_sub_group_block_read(b); }",
     {"extension:cl_intel_subgroup_local_block_io"},
     ""},
    {"kernel void k(global float *a, global ushort *b) {\n"
     "  b[0] = intel_convert_bfloat16_as_ushort(a[0]);\n}",
     {"extension:cl_intel_bfloat16_conversions"},
     kEither},
    {"kernel void k(global uint *a) {\n"
     "  intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);\n"
     "  intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);\n}",
     {"extension:cl_intel_split_work_group_barrier"},
     "llvm-spirv has no SPIR-V for intel_work_group_barrier_arrive, "
     "intel_work_group_barrier_wait\n"},
    {"kernel void k(global uchar4 *a, global uint *s) { s[0] = arm_dot_acc(a[0], a[1], s[1]); }",
     {"extension:cl_arm_integer_dot_product_accumulate_int8"},
     "llvm-spirv has no SPIR-V for arm_dot_acc\n"},
    {"kernel void k(global ushort2 *a, global uint *s) { s[0] = arm_dot_acc(a[0], a[1], s[1]); }",
     {"extension:cl_arm_integer_dot_product_accumulate_int16"},
     "llvm-spirv has no SPIR-V for arm_dot_acc\n"},
    {"kernel void k(global char4 *a, global int *s) { s[0] = arm_dot_acc_sat(a[0], a[1], s[1]); }",
     {"extension:cl_arm_integer_dot_product_accumulate_saturate_int8"},
     "llvm-spirv has no SPIR-V for arm_dot_acc_sat\n"},
    {"kernel void k(global uint *a) { a[0] = arm_get_core_id(); }",
     {"extension:cl_arm_get_core_id"},
     "llvm-spirv has no SPIR-V for arm_get_core_id\n"},
    {"kernel void k(read_only image2d_t i, sampler_t s, global float4 *o) {\n"
     "  o[0] = qcom_box_filter_imagef(i, s, (float2)(0), (float2)(3));\n"
     "  o[1].x = qcom_udot8_acc(1u, 2u, 3);\n}",
     {"extension:cl_qcom_accelerated_image_ops", "extension:cl_qcom_dot_product8"},
     "llvm-spirv has no SPIR-V for qcom_box_filter_imagef, qcom_udot8_acc\n"},
    {"kernel void k(global uint *a) { a[0] = qcom_bitreverse(a[1]); }",
     {"extension:cl_qcom_bitreverse"},
     "llvm-spirv has no SPIR-V for qcom_bitreverse\n"},
    {"kernel void k(write_only image2d_t i) {\n"
     "  float2 c[2] = {(float2)(0), (float2)(1)};\n"
     "  qcom_write_imagefv_2x1_n8n01(i, (int2)(0), c);\n}",
     {"extension:cl_qcom_vector_image_ops"},
     "llvm-spirv has no SPIR-V for qcom_write_imagefv_2x1_n8n01\n"},
    {"kernel void k(global int *a) { a[0] = sub_group_reduce_add(a[1]); }", {"subgroups"}, ""},
    {"kernel void k(global uint *a) { a[0] = dot_4x8packed_uu_uint(a[1], a[2]); }",
     {"integer_dot_product"},
     "llvm-spirv has no SPIR-V for dot_4x8packed_uu_uint\n"},
    {"kernel void k(global int *a) { a[0] = work_group_reduce_mul(a[1]); }",
     {"extension:cl_khr_work_group_uniform_arithmetic"},
     ""},
    {"kernel void k(write_only image3d_t o) { write_imagef(o, (int4)(0), (float4)(0)); }",
     {"extension:cl_khr_3d_image_writes"},
     ""},
    // Nothing but the text says what its macro is of.
    {"#ifdef cl_intel_required_subgroup_size\n"
     "#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable\n"
     "#define SIZE_16\n"
     "#endif\n"
     "SIZE_16 kernel void k(global uint *a) { a[0] = 1; }",
     {"extension:cl_intel_required_subgroup_size"},
     ""},
};

HostCompileRequest program_of(const std::string &source, const Names &requirements) {
  HostCompileRequest request;
  request.name = "p/v";
  request.source = "#line 1 \"a.cl\"\n" + source + "\n";
  request.requirements = requirements;
  return request;
}

}  // namespace

TEST_CASE("Extensions are those that the requirements name, and what these are written against") {
  CHECK(host_extensions({}, 120).macros.empty());
  CHECK(host_extensions({"images", "vendor:intel"}, 120).macros.empty());
  CHECK(host_extensions({"fp16", "extension:cl_intel_subgroups_char"}, 120).macros ==
        Names{"cl_intel_subgroups=1", "cl_intel_subgroups_char=1", "cl_khr_fp16=1"});
  CHECK(contains(host_extensions({"integer_dot_product"}, 120).macros,
                 "__opencl_c_integer_dot_product_input_4x8bit=1"));
  CHECK(contains(host_extensions({}, 300).macros, "__opencl_c_read_write_images=1"));
  CHECK(host_extensions({"compute_capability:5.3"}, 120).macros == Names{"cl_khr_fp16=1"});
  const Names atomics = host_extensions({"extension:cl_ext_float_atomics"}, 200).macros;
  CHECK(contains(atomics, "__opencl_c_ext_fp32_global_atomic_add=1"));
  CHECK_FALSE(contains(atomics, "__opencl_c_ext_fp64_global_atomic_add=1"));
}

TEST_CASE("Clang has switched off what is not required") {
  const std::string none = host_extensions({}, 120).switches;
  CHECK(contains(none, "-cl_khr_fp64"));
  CHECK(contains(none, "-__opencl_c_fp64"));
  CHECK(contains(none, "-cl_khr_3d_image_writes"));
  CHECK_FALSE(contains(none, "+"));
  const std::string fp64 = host_extensions({"fp64"}, 200).switches;
  CHECK(contains(fp64, "+cl_khr_fp64"));
  CHECK(contains(fp64, "+__opencl_c_fp64"));
  CHECK_FALSE(contains(fp64, "cl_khr_3d_image_writes"));  // a part of OpenCL C 2.0
}

TEST_CASE("Declarations are those of the vendors whose extensions are required") {
  CHECK(host_extensions({"fp16", "extension:cl_khr_int64_base_atomics"}, 120).declarations.empty());
  const Names both = {"extension:cl_intel_subgroups", "extension:cl_intel_subgroups_char"};
  const std::string intel = host_extensions(both, 120).declarations;
  CHECK(contains(intel, "intel_sub_group_shuffle"));
  CHECK(intel == host_extensions({"extension:cl_intel_subgroups"}, 120).declarations);
  CHECK_FALSE(contains(intel, "qcom"));
}

TEST_CASE("Requirements name the SPIR-V extensions that a module may use") {
  CHECK(spirv_extensions({"fp16", "images"}).empty());
  CHECK(spirv_extensions({"extension:cl_intel_subgroups", "extension:cl_intel_subgroups_short",
                          "integer_dot_product"}) ==
        Names{"SPV_INTEL_subgroups", "SPV_KHR_integer_dot_product"});
  CHECK(spirv_extensions({"extension:cl_intel_media_block_io"}) ==
        Names{"SPV_INTEL_media_block_io", "SPV_INTEL_subgroups"});
}

TEST_CASE("A built-in's name tells what may declare it, the likeliest first") {
  CHECK(requirements_of_name("mad24").empty());
  CHECK(requirements_of_name("intel_sub_group_block_read_uc4").front() ==
        "extension:cl_intel_subgroups_char");
  CHECK(requirements_of_name("sub_group_reduce_add").front() == "subgroups");
  CHECK(requirements_of_name("arm_dot_acc") ==
        Names{"extension:cl_arm_integer_dot_product_accumulate_int8",
              "extension:cl_arm_integer_dot_product_accumulate_int16",
              "extension:cl_arm_integer_dot_product_int8"});
  CHECK(requirement_of_extension("cl_khr_fp16") == "fp16");
}

TEST_CASE("The requirements that are named are those without which it does not compile") {
  std::vector<Names> asked;
  const auto needs = [&](const Names &needed) {
    return [&asked, needed](const Names &met) -> std::optional<std::string> {
      asked.push_back(met);
      for (const std::string &one : needed) {
        if (!contains(met, one)) return "a.cl:1:1: error: unknown 'arm_dot_acc'\n";
      }
      return std::nullopt;
    };
  };
  const std::string message = "a.cl:1:1: error: unknown 'arm_dot_acc'\n  half cl_khr_fp64\n";
  CHECK(missing_requirements({"images"}, message, "",
                             needs({"extension:cl_arm_integer_dot_product_accumulate_int16"})) ==
        Names{"extension:cl_arm_integer_dot_product_accumulate_int16"});
  CHECK(asked.front() == Names{"images", "extension:cl_arm_integer_dot_product_accumulate_int8"});
  CHECK(missing_requirements({}, "a.cl:1:1: error: unknown 'X'\n", "#ifdef cl_khr_fp16 cl_mem",
                             needs({"fp16"})) == Names{"fp16"});
  CHECK(missing_requirements({}, message, "", needs({"unobtainable"})).empty());
  asked.clear();
  CHECK(missing_requirements({}, "a.cl:1:1: error: unknown 'X'\n", "", needs({"X"})).empty());
  CHECK(asked.empty());
}

TEST_CASE("A built-in compiles where it is required, and is refused by that name elsewhere",
          "[.long]") {
  const auto toolchain = find_toolchain({});
  if (!toolchain.ok()) KILN_SKIP(toolchain.status().message);
  for (const BuiltIn &one : kBuiltIns) {
    INFO(one.source);
    HostStage stage = HostStage::options;
    const auto with =
        compile_to_spirv(*toolchain, program_of(one.source, one.requirements), &stage);
    INFO(with.status().message);
    if (one.without_il != kEither) {
      CHECK(with.ok() == one.without_il.empty());
      const bool translated = with.ok() || stage == HostStage::translate;
      CHECK(translated);
      CHECK((with.ok() || with.status().message.starts_with("p/v: " + one.without_il)));
    }
    if (with.ok()) CHECK(with->warnings.empty());
    const auto without = compile_to_spirv(*toolchain, program_of(one.source, {}), &stage);
    REQUIRE_FALSE(without.ok());
    CHECK(stage == HostStage::compile);
    std::string names;
    for (const std::string &name : one.requirements) {
      names += (names.empty() ? "\"" : ", \"") + name + "\"";
    }
    INFO(without.status().message);
    CHECK(
        without.status().message.ends_with("note: it compiles with requires = [" + names + "]\n"));
  }
}

TEST_CASE("Half and double precision that are not required are compiled with a warning") {
  const auto toolchain = find_toolchain({});
  if (!toolchain.ok()) KILN_SKIP(toolchain.status().message);
  const std::string half =
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "kernel void k(global half *a) { half b = a[0]; a[1] = b * 2; }";
  const std::string both =
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "kernel void k(global half *a, global double *b) { b[0] *= a[0]; }";
  const auto warnings = [&](const std::string &source, const Names &requirements) {
    const auto compiled = compile_to_spirv(*toolchain, program_of(source, requirements));
    INFO(compiled.status().message);
    REQUIRE(compiled.ok());
    return compiled->warnings;
  };
  CHECK(warnings(half, {"fp16"}).empty());
  CHECK(warnings(half, {}) ==
        "p/v: warning: it needs requires = [\"fp16\"], or devices without that fail on it\n");
  CHECK(warnings(both, {}) ==
        "p/v: warning: it needs requires = [\"fp16\", \"fp64\"], or devices without that fail on "
        "it\n");
  CHECK(warnings(both, {"fp16", "fp64"}).empty());
  HostStage stage = HostStage::options;
  const auto more = compile_to_spirv(
      *toolchain,
      program_of("kernel void k(global double *a) { a[0] = intel_sub_group_shuffle(a[1], 1u); }",
                 {}),
      &stage);
  REQUIRE_FALSE(more.ok());
  CHECK(more.status().message.ends_with(
      "note: it compiles with requires = [\"extension:cl_intel_subgroups\", \"fp64\"]\n"));
}

TEST_CASE("Macros of extensions are those of a device that has what is required") {
  const auto toolchain = find_toolchain({});
  if (!toolchain.ok()) KILN_SKIP(toolchain.status().message);
  const std::string source =
      "#if defined(cl_khr_fp16) || defined(cl_khr_fp64) || defined(cl_intel_subgroups) || \\\n"
      "    defined(cl_khr_int64_base_atomics) || defined(cl_khr_subgroup_shuffle) || \\\n"
      "    defined(cl_khr_subgroups) || defined(cl_khr_integer_dot_product) || \\\n"
      "    !defined(cl_khr_byte_addressable_store) || !defined(__SPIR__)\n"
      "#error wrong\n"
      "#endif\n"
      "kernel void k(global int *a) { a[0] = 1; }";
  for (const char *language : {"", "-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-std=CLC++"}) {
    INFO(language);
    HostCompileRequest request = program_of(source, {});
    request.options = language;
    const auto compiled = compile_to_spirv(*toolchain, request);
    INFO(compiled.status().message);
    CHECK(compiled.ok());
  }
}

TEST_CASE("A prelude of the variant's own is all that is declared, and macros are there") {
  const auto toolchain = find_toolchain({});
  if (!toolchain.ok()) KILN_SKIP(toolchain.status().message);
  HostCompileRequest request = program_of(
      "#ifdef cl_qcom_dot_product8\n"
      "kernel void k(global float *a) { a[0] = qcom_dot8_acc(a[1], a[2]); }\n"
      "#endif\n",
      {"extension:cl_qcom_dot_product8"});
  request.prelude = "float qcom_dot8_acc(float, float);";  // is in conflict with Kiln's
  request.check_only = true;
  const auto compiled = compile_to_spirv(*toolchain, request);
  INFO(compiled.status().message);
  REQUIRE(compiled.ok());
  CHECK(compiled->module.kernels.size() == 1);
}
