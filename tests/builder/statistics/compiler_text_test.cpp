// SPDX-License-Identifier: Apache-2.0
// What compilers print of kernels, in texts as they printed them, shortened.
#include "builder/statistics/compiler_text.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;
using kiln::packs::StatisticName;

namespace {

// Mesa 26.2 as Adreno 740: a kernel of Mesa's own, and one of the program.
const char kFreedreno[] = R"(MESA: info: decl_function __wrapped_clear_buffer8 () (entrypoint)
MESA: info: ; CL prog 16/1: 22 instr, 7 nops, 15 non-nops, 2 mov, 0 cov, 64 dwords
MESA: info: ; CL prog 16/1: 0 last-baryf, 0 last-helper, 0 half, 2 full, 8 constlen
=== Rusticl warning: Patched Mesa libclc not detected. ===
MESA: info: shader: MESA_SHADER_KERNEL
MESA: info: name: 
MESA: info: decl_var ubo INTERP_MODE_NONE none uint8_t[96] kernel_input (0, 0, 0)
MESA: info: decl_function __wrapped_blur () (entrypoint)
MESA: info: impl __wrapped_blur {
MESA: info: stp.u32 p[r1.y], r1.x, 1
MESA: info: (sy)nop
MESA: info: ldp.u32 r1.w, p[r1.z], 1
MESA: info: ; CL: outputs:
MESA: info: ; CL prog 17/1: 103 instr, 19 nops, 84 non-nops, 3 mov, 0 cov, 192 dwords
MESA: info: ; CL prog 17/1: 0 last-baryf, 0 last-helper, 0 half, 3 full, 16 constlen
MESA: info: ; CL prog 17/1: 24 cat0, 3 cat1, 71 cat2, 1 cat3, 0 cat4, 0 cat5, 4 cat6, 0 cat7
MESA: info: ; CL prog 17/1: 12 sstall, 3 (ss), 165 systall, 2 (sy), 2 loops
MESA: info: ; CL prog 17/1: 16 max_waves, 1 double_threadsize
MESA: info: ; 6 preamble-instr, 1 early-preamble
)";

// Mesa 25.0 as Steam Deck.
const char kRadeonsi[] = R"(shader: MESA_SHADER_KERNEL
decl_function __wrapped_blur () (entrypoint)

Compute Shader:
Shader main disassembly:
main:
BB0_0:
	s_mov_b32 s0, s2                            ; BE800302

*** SHADER STATS ***
SGPRS: 16
VGPRS: 24
Spilled SGPRs: 2
Spilled VGPRs: 5
Private memory VGPRs: 0
Code Size: 168 bytes
LDS: 512 bytes
Scratch: 1024 bytes per wave
Max Waves: 10
********************
VGPRS: 99
)";

}  // namespace

TEST_CASE("freedreno's listing tells figures of each kernel", "[statistics]") {
  CHECK(figures_in_mesa_text(kFreedreno) ==
        Figures{{"clear_buffer8", StatisticName::instructions, 22},
                {"clear_buffer8", StatisticName::spills, 0},
                {"clear_buffer8", StatisticName::code_bytes, 256},
                {"clear_buffer8", StatisticName::registers, 2},
                {"blur", StatisticName::instructions, 103},
                {"blur", StatisticName::spills, 2},
                {"blur", StatisticName::code_bytes, 768},
                {"blur", StatisticName::registers, 3},
                {"blur", StatisticName::waves, 16}});
}

TEST_CASE("radeonsi's statistics tell figures of each kernel", "[statistics]") {
  CHECK(figures_in_mesa_text(kRadeonsi) == Figures{{"blur", StatisticName::registers, 24},
                                                   {"blur", StatisticName::spills, 7},
                                                   {"blur", StatisticName::code_bytes, 168},
                                                   {"blur", StatisticName::local_bytes, 512},
                                                   {"blur", StatisticName::scratch_bytes, 1024},
                                                   {"blur", StatisticName::waves, 10}});
}

// Mesa 25.0 as Mali-G57, which prints a kernel's code without its name before.
TEST_CASE("panfrost's statistics tell figures of a kernel without its name", "[statistics]") {
  CHECK(figures_in_mesa_text("SHADER-DB: MESA_SHADER_KERNEL shader: 134 inst, 12.000000 cycles, "
                             "0.312500 fma, 12.000000 ls, 72 quadwords, 2 threads, 1 loops, "
                             "3:4 spills:fills\nMESA: error: export failed\n") ==
        Figures{{"", StatisticName::instructions, 134},
                {"", StatisticName::code_bytes, 1152},
                {"", StatisticName::spills, 7}});
  CHECK(figures_in_mesa_text("SHADER-DB: MESA_SHADER_VERTEX shader: 9 inst, 1:1 spills:fills\n"
                             "SHADER-DB: MESA_SHADER_KERNEL shader: \n"
                             "SHADER-DB: MESA_SHADER_KERNEL shader: few inst, 3 spills:fills\n")
            .empty());
}

// ptxas 13.0, -v.
const char kPtxas[] = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_75'
ptxas info    : Function properties for second
    800 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 9 registers, used 1 barriers, 256 bytes smem, 360 bytes cmem[0]
ptxas info    : Compiling entry function 'first' for 'sm_75'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 16 registers, used 0 barriers, 368 bytes cmem[0]
ptxas info    : Function properties for helper
    64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
)";

TEST_CASE("ptxas tells figures of each kernel", "[statistics]") {
  CHECK(figures_in_ptxas_text(kPtxas) == Figures{{"second", StatisticName::scratch_bytes, 800},
                                                 {"second", StatisticName::spills, 20},
                                                 {"second", StatisticName::registers, 9},
                                                 {"second", StatisticName::local_bytes, 256},
                                                 {"first", StatisticName::scratch_bytes, 0},
                                                 {"first", StatisticName::spills, 0},
                                                 {"first", StatisticName::registers, 16},
                                                 {"first", StatisticName::local_bytes, 0}});
  CHECK(figures_in_ptxas_text("warning: registers, many\n12 bytes stack frame\n").empty());
}

TEST_CASE("lines that another Mesa prints give no figure", "[statistics]") {
  CHECK(figures_in_mesa_text("").empty());
  CHECK(figures_in_mesa_text("; CL prog 1/1: 5 instr, 3 full\n").empty());  // of which kernel?
  CHECK(figures_in_mesa_text("decl_function blur () (entrypoint)\n"
                             "; CL prog 1/1\n; CL prog 1/1: \n; CL prog 1/1: many instr, 3\n"
                             "; CL prog 1/1: 99999999999999999999999 full, 7 cats\n"
                             "*** SHADER STATS ***\nVGPRS: \nSpilled VGPRs: 4\nLDS: few\n")
            .empty());
}
