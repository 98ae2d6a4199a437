// SPDX-License-Identifier: Apache-2.0
// The host step: OpenCL C to validated SPIR-V, with no device. Runs clang, llvm-spirv and
// spirv-val through pipes; writes no file. Safe to use from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/compile/spirv.hpp"
#include "builder/compile/toolchain.hpp"

namespace kiln::builder {

struct HostCompileRequest {
  std::string name;                // of the program, in messages of the later stages
  std::string source;              // flattened, with names that a pack may hold
  std::string diagnostics_source;  // with names as opened, for clang's messages; may be empty
  std::string prelude;             // text before the source: what a vendor's compiler has built in
  bool check_only = false;         // list the kernels, make no SPIR-V; calls may be undefined
  std::string options;             // as a driver gets them
  std::vector<std::string> requirements;     // that the device meets: it has these extensions alone
  std::string no_barriers{};                 // the option that allows none; empty: they are allowed
  std::uint32_t address_bits = 64;           // 32 or 64
  std::uint32_t spirv_version = 0x00010000;  // cap: 1.0 to 1.6; the oldest that does
  std::chrono::milliseconds timeout{60'000};  // for each tool
};

struct HostCompiled {
  std::vector<std::uint8_t> spirv;
  SpirvModule module;
  std::string warnings;               // clang's, ready to print; mostly empty
  std::vector<std::string> left_out;  // options that the host step does not understand
};

// Where a compilation failed.
enum class HostStage {
  options,    // the request itself is wrong
  tool,       // a tool did not start, hung or wrote too much
  compile,    // clang refused the source: the author's fault
  translate,  // correct OpenCL C that has no SPIR-V under this cap and these extensions
  validate,   // the translator wrote a module that is not valid
  link,       // functions are called that nothing defines; normal with a prelude. Not those of
              // required extensions: these have no SPIR-V, so it is a failed translation
};

// The bytes depend on the request and the tools' versions alone, not on the working
// directory or the environment. Without a -cl-std the language is OpenCL C 1.2, as with a
// driver. The code is not optimised on the host beyond registers for variables: LLVM's
// optimiser makes integers of odd widths, `freeze` and block orders that SPIR-V cannot say
// (seen with clang 15 at -O1 and -O2), and the drivers optimise anyway.
//
// A program that would compile if only it required fp16 or fp64 is compiled as if it did, with a
// warning. One that needs other requirements is refused, and the message names them.
//
// Fails with Code::process at the stages `tool` and `validate` and with Code::bad_input at the
// others; the message is ready to print. `stage`, if not null, gets the stage that failed.
Result<HostCompiled> compile_to_spirv(const Toolchain &toolchain, const HostCompileRequest &request,
                                      HostStage *stage = nullptr);

}  // namespace kiln::builder
