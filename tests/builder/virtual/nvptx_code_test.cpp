// SPDX-License-Identifier: Apache-2.0
#include "builder/virtual/nvptx_compiler.hpp"

#include "builder/compile/spirv.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

packs::Variant variant_of(const std::string &kernel, std::uint32_t arguments) {
  packs::Variant variant;
  variant.kernels = {{kernel, arguments}};
  return variant;
}

const char *const kBufferKernel =
    "define dso_local spir_kernel void @scale(ptr addrspace(1) %0, i32 %1) #0 "
    "!kernel_arg_base_type !7 !reqd_work_group_size !9 {\n"
    "  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    "}\n"
    "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1\n"
    "!7 = !{!\"uchar*\", !\"uint\"}\n"
    "!9 = !{i32 16, i32 8, i32 1}\n";

}  // namespace

TEST_CASE("build options go to clang, to ptxas or nowhere, and another vendor's are refused") {
  const auto options = nvptx_options(
      "-cl-std=CL1.2 -DN=3 -cl-mad-enable -I inc -cl-nv-verbose -cl-opt-disable "
      "-cl-nv-maxrregcount=32 -cl-nv-opt-level 2 -cl-fast-relaxed-math");
  REQUIRE(options.ok());
  CHECK(options->clang == std::vector<std::string>{"-cl-std=CL1.2", "-DN=3", "-cl-mad-enable",
                                                   "-cl-fast-relaxed-math"});
  CHECK(options->ptxas == std::vector<std::string>{"-maxrregcount=32", "-O2"});
  const auto foreign = nvptx_options("-qcom-accelerate-16-bit");
  CHECK(foreign.status().code == Code::requirement);
  CHECK(foreign.status().message ==
        "NVIDIA's compiler has no build option -qcom-accelerate-16-bit");
  CHECK(nvptx_options("-D\"open").status().code == Code::bad_input);
}

TEST_CASE("IR that can become a right binary has the variant's kernels and calls nothing else") {
  CHECK(check_nvptx_ir(variant_of("scale", 2), kBufferKernel).ok());
  CHECK(check_nvptx_ir(variant_of("blur", 2), kBufferKernel).message ==
        "clang found no kernel blur in it");
  CHECK(check_nvptx_ir(variant_of("scale", 3), kBufferKernel).message ==
        "scale has 2 arguments by clang, 3 in the pack");
  const Status undefined = check_nvptx_ir(
      variant_of("scale", 2), std::string(kBufferKernel) +
                                  "declare i32 @printf(ptr addrspace(4), ...) #1\n"
                                  "declare <4 x float> @_Z11read_imagef14ocl_image2d_roDv2_i(ptr)\n"
                                  "declare void @printf2()\n");
  CHECK(undefined.code == Code::requirement);
  CHECK(undefined.message == "neither the program nor libclc defines printf, printf2, read_imagef");
}

TEST_CASE("a kernel that takes an image is refused, whatever it does with it") {
  const Status image = check_nvptx_ir(
      variant_of("look", 1),
      "define spir_kernel void @look(ptr addrspace(4) %0) !kernel_arg_base_type !3 {\n"
      "!3 = !{!\"image2d_t\"}\n");
  CHECK(image.code == Code::requirement);
  CHECK(image.message ==
        "look takes an argument of the type image2d_t, and clang makes no code for images and "
        "samplers");
}

TEST_CASE("a required work-group size is written into the PTX, once") {
  const RequiredSizes sizes = required_sizes(kBufferKernel);
  REQUIRE(sizes.size() == 1);
  CHECK(sizes[0].first == "scale");
  CHECK(sizes[0].second == std::array<std::uint32_t, 3>{16, 8, 1});
  std::string ptx =
      ".entry scale2(\n)\n{\n}\n.entry scale(\n\t.param .u64 scale_param_0\n)\n{\n}\n";
  REQUIRE(add_required_sizes(sizes, &ptx).ok());
  const std::string expected =
      ".entry scale2(\n)\n{\n}\n.entry scale(\n\t.param .u64 scale_param_0\n)\n"
      ".reqntid 16, 8, 1\n{\n}\n";
  CHECK(ptx == expected);
  REQUIRE(add_required_sizes(sizes, &ptx).ok());
  CHECK(ptx == expected);
  std::string other = ".entry other(\n)\n{\n}\n";
  CHECK(add_required_sizes(sizes, &other).message == "clang's PTX has no kernel scale");
}

TEST_CASE("what ptxas wrote must be code of CUDA's machine for each kernel") {
  std::string cubin =
      "\x7f"
      "ELF";
  cubin.resize(64);
  CHECK(check_cubin(variant_of("scale", 2), cubin).message == "ptxas wrote no cubin");
  cubin[18] = static_cast<char>(190);
  CHECK(check_cubin(variant_of("scale", 2), cubin).message == "ptxas wrote no code for scale");
  cubin += std::string(".text.scale") + '\0';
  CHECK(check_cubin(variant_of("scale", 2), cubin).ok());
  CHECK(check_cubin(variant_of("scal", 2), cubin).code == Code::process);
  CHECK(check_cubin(variant_of("scale", 2), "").code == Code::process);
}
