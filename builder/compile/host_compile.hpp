// SPDX-License-Identifier: Apache-2.0
// Compiles OpenCL C to validated SPIR-V on the host, without a device. Runs clang, llvm-spirv and
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
  std::string name;                // the program's name in messages of the later stages
  std::string source;              // flattened, with names that a pack may hold
  std::string diagnostics_source;  // with file names as opened, for clang's messages; may be empty
  std::string prelude;             // text before the source: built-ins of a vendor's compiler
  bool check_only = false;         // list the kernels, make no SPIR-V; functions may be undefined
  bool only_warn = false;          // with check_only: list the kernels of what clang refuses, too
  bool any_requirements = false;   // compile with whatever requirements the source lacks
  std::string options;             // as given to a driver
  std::vector<std::string> requirements;      // met by the device, which has only these extensions
  std::string no_barriers{};                  // the option that forbids barriers; empty: allowed
  std::uint32_t address_bits = 64;            // 32 or 64
  std::uint32_t spirv_version = 0x00010000;   // cap: 1.0 to 1.6; the oldest possible is used
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
  translate,  // correct OpenCL C, but no SPIR-V under this cap and these extensions
  validate,   // the translator wrote an invalid module
  link,       // calls undefined functions; normal with a prelude. Functions of required
              // extensions without SPIR-V fail at `translate` instead
};

// Compiles a program. The bytes depend on the request and the tools' versions only, not on the
// working directory or the environment. Without a -cl-std the language is OpenCL C 1.2, as with a
// driver. On the host the code is not optimised beyond registers for variables: LLVM's optimiser
// makes integers of odd widths, `freeze` and block orders that SPIR-V cannot express (seen with
// clang 15 at -O1 and -O2), and the drivers optimise anyway.
//
// A program that lacks only the requirement fp16 or fp64 is compiled as if it had it, with a
// warning. A program that lacks other requirements is refused, and the message names them.
//
// With `only_warn` clang's errors are warnings, if it finds a kernel nevertheless: a driver may
// have built-ins that clang does not know.
//
// Fails with Code::process at the stages `tool` and `validate` and with Code::bad_input at the
// others; the message is ready to print. `stage`, if not null, gets the stage that failed.
Result<HostCompiled> compile_to_spirv(const Toolchain &toolchain, const HostCompileRequest &request,
                                      HostStage *stage = nullptr);

}  // namespace kiln::builder
