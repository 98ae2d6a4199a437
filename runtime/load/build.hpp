// SPDX-License-Identifier: Apache-2.0
// Making a program through the driver, and what makes Kiln accept it.
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
  std::uint32_t arguments = 0;
};

// A program that passed every check, with its kernels in the expected order.
struct BuiltProgram {
  Handle<cl_program> program;
  std::vector<Handle<cl_kernel>> kernels;
};

struct BuildOutcome {
  Status error;     // what failed; ok when the program is accepted
  std::string log;  // the driver's build log, also of a build that succeeded
  BuiltProgram built;
};

// Keeps the compiler of every platform from being unloaded while it exists: that is one for all
// loaders of a process. Not to be nested.
class UsingCompiler {
 public:
  UsingCompiler();
  UsingCompiler(const UsingCompiler &) = delete;
  UsingCompiler &operator=(const UsingCompiler &) = delete;
  ~UsingCompiler();
};

// Keeps others from using a compiler while it exists; false, and keeps nobody, if somebody does.
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

// Creates, builds and checks: codes, statuses and handles must agree, the build must
// succeed, each expected kernel must exist with its number of arguments. `bytes` were
// verified by the caller. Options are passed for source, cut down to what is defined for
// IL, and not passed for a binary ("as built"). `working`, with a space before each, are options
// for source that change how the compiler works and not what it makes, of which it may not know:
// where it refuses the program it is asked once more without them.
BuildOutcome build_program(const Device &device, cl_context context, Form form, packs::View bytes,
                           std::string_view options, const std::vector<ExpectedKernel> &expected,
                           std::string_view working = {});

// The driver's build log; empty if it has none, or one of an absurd size.
std::string build_log(const Device &device, cl_program program);

// The driver's own binary of a built program for the device.
Status program_binary(const Device &device, cl_program program, packs::Bytes *out);

// The options that the specification defines for a program made from IL: the -cl-
// optimisation flags of `options`, without -cl-std and -cl-kernel-arg-info.
std::string il_options(std::string_view options);

}  // namespace kiln::runtime
