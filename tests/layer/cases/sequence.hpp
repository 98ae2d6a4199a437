// SPDX-License-Identifier: Apache-2.0
// Sequences of an application's calls, made from a seed. A sequence names programs and kernels by
// slots, so that it still makes sense when calls are left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::cases {

constexpr std::size_t kPrograms = 4, kKernels = 3;  // slots
constexpr std::uint64_t kBlock = 2500;              // seeds that share a vocabulary

enum class Op {
  create,           // a: program, b: text, c: context, d: how it is cut into strings
  build,            // a: program, b: option, c: devices, d: manner
  compile,          // a: program, b: option, c: devices, d: header, or manner
  link,             // a: program, b: link option, c: set of the programs that are linked, d: manner
  kernel,           // a: kernel, b: program, c: name
  kernels,          // a: program: all its kernels, which are released again
  launch,           // a: kernel, b: work-group size
  program_queries,  // a: program
  kernel_queries,   // a: kernel
  clone_kernel,     // a: kernel, b: kernel that is cloned
  retain,           // a: program, retained and released
  release_kernel,   // a: kernel
  release_program,  // a: program
  set_variable,     // a: variable; only in blocks of variables
  unset_variable,   // a: variable
  context,          // a new context is made and released, in which a driver may read variables
};

struct Call {
  Op op = Op::create;
  unsigned a = 0, b = 0, c = 0, d = 0;
};
using Sequence = std::vector<Call>;

// Texts and options of a block. There are few, so that sequences meet in what they build.
struct Vocabulary {
  std::vector<std::string> texts;         // the last ones are headers
  std::vector<std::string> options;       // of builds and compilations; "NULL" is none
  std::vector<std::string> link_options;  // likewise
};
constexpr unsigned kCallerText = 3;   // the first text that must be linked; before, whole programs
constexpr unsigned kHeaderUser = 6;   // includes "h.h"
constexpr unsigned kFirstHeader = 9;  // two of them

Vocabulary vocabulary(std::uint64_t block, const std::string &driver);

// Variables of the application and of the builder. The driver names one that changes results.
struct Environment {
  std::vector<std::string> names, values;               // of set_variable
  bool first = false, second = false, builder = false;  // who has the first of them at its start
  bool any() const { return !names.empty(); }
};
// Empty in most blocks; a block of variables has few sequences, each in a process of its own.
Environment environment(std::uint64_t block, const std::string &driver);

Sequence sequence(std::uint64_t seed, const std::string &driver);

std::string line_of(const Sequence &sequence);
Sequence sequence_of(const std::string &line);
// For people.
std::string described(const Sequence &sequence, const Vocabulary &words);

}  // namespace kiln::cases
