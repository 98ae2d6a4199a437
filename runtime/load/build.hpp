// SPDX-License-Identifier: Apache-2.0
// Builds a program with the driver, and checks it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/packs/pack.hpp"
#include "runtime/device/device.hpp"

namespace kiln::runtime {

enum class Form : std::uint8_t { binary, il, source };

// An entry point that a program must have.
struct ExpectedKernel {
  std::string name;
  std::uint32_t arguments = 0;  // packs::kUnknownArguments: any number
};

// A program that passed every check, with its kernels in the expected order.
struct BuiltProgram {
  Handle<cl_program> program;
  std::vector<Handle<cl_kernel>> kernels;
};

struct BuildOutcome {
  Status error;     // the failure; ok when the program is accepted
  std::string log;  // the driver's build log, also after success
  BuiltProgram built;
};

// While it exists, no platform's compiler is unloaded: all loaders of a process share the
// compilers. Must not be nested.
class UsingCompiler {
 public:
  UsingCompiler();
  UsingCompiler(const UsingCompiler &) = delete;
  UsingCompiler &operator=(const UsingCompiler &) = delete;
  ~UsingCompiler();
};

// While it exists, no other thread uses a compiler. False, without keeping anybody out, if a thread
// is using one already.
class NobodyCompiles {
 public:
  NobodyCompiles();
  NobodyCompiles(const NobodyCompiles &) = delete;
  NobodyCompiles &operator=(const NobodyCompiles &) = delete;
  ~NobodyCompiles();
  explicit operator bool() const { return locked_; }

 private:
  bool locked_;
};

// Returns the options with which the driver must build a program made of a binary that was compiled
// with `options`; null: with none. PoCL takes from them, also for binaries, whether launches flush
// denormals.
const char *binary_options(const Device &device, std::string_view options);

// Creates, builds and checks a program: codes, statuses and handles must agree, the build must
// succeed, and each expected kernel must exist with its number of arguments. The caller has
// verified `bytes`. Options are passed for source, reduced to the defined ones for IL, and not
// passed for a binary ("as built"). `working`, with a space before each option, changes for
// source how the compiler works but not its result. The compiler may not know these options: if it
// refuses the program, it is asked once more without them.
BuildOutcome build_program(const Device &device, cl_context context, Form form, packs::View bytes,
                           std::string_view options, const std::vector<ExpectedKernel> &expected,
                           std::string_view working = {});

// The steps of build_program(), for a program that is linked. create_program() gives the driver the
// bytes; a driver may hand out an object together with an error.
Status create_program(const Device &device, cl_context context, Form form, packs::View bytes,
                      Handle<cl_program> *out);
// Fails if the program is not an executable for the device, although `call` reported success.
Status check_built(const Device &device, cl_program program, const char *call);
// Creates the expected kernels of built->program.
Status create_kernels(const Device &device, const std::vector<ExpectedKernel> &expected,
                      BuiltProgram *built);

// Returns the names of the kernels in the driver's order, each once: rusticl lists some twice, and
// orders those of a binary by a hash. Empty for a program that is not built, or if the driver
// fails.
std::vector<std::string> kernel_names(const OpenCL &cl, cl_program program);

// Returns the driver's build log; empty if there is none, or if its size is absurd.
std::string build_log(const Device &device, cl_program program);

// Gets the driver's own binary of a built program for the device.
Status program_binary(const Device &device, cl_program program, packs::Bytes *out);

// Returns the options that the specification defines for a program made from IL: the -cl-
// optimisation flags of `options`, without -cl-std and -cl-kernel-arg-info.
std::string il_options(std::string_view options);

}  // namespace kiln::runtime
