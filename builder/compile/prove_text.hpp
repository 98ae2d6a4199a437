// SPDX-License-Identifier: Apache-2.0
// Proof that a flattened text is what a compiler reads when it reads the files: clang preprocesses
// both, and their tokens are compared. The flattener is a model of a compiler; this asks one.
//
// What is proven, and what is not: both are preprocessed with the macros of OpenCL C 1.2 and 64-bit
// addresses, of OpenCL C 2.0 and 32-bit addresses, and with each macro defined as 1 that a
// condition asks for and the text does not define. A difference that other macros alone bring out
// stays unseen. Of recorded files clang sees those that the recording layer opened, at the paths
// under which it opened them: that the driver finds no others is the layer's to know.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {

// A program that was recorded with its files. None of them is read from this machine's disk.
// Safe to use from any thread.
//
// Code::failed if it is not proven: if a token differs, or an error of the preprocessor; if clang
// meets an #include that the flattener did not see, or one that it left and that no macros hide;
// if two recorded paths that clang takes for one lead to two files; if clang cannot preprocess it
// with any of these macros. Errors of a directive #error, and of files that neither finds, are none
// if both texts have them: clang goes on behind them. The message begins with the program's name
// and is ready to print. Code::process if clang itself fails.
//
// A program without files is its own text. There is nothing to compare then, but it may have an
// #include that was not followed.
Status prove_recorded(const std::filesystem::path &clang, const source::WholeProgram &program);

// Whether a program without files is worth the time: its text has an #include, or what stands for
// other characters.
bool may_include(const std::string &text);

// A manifest's source, which clang reads from the disk.
struct SourceToProve {
  std::filesystem::path source;
  std::vector<std::filesystem::path> include_dirs;
  std::string options;
  std::string flattened;
};
// The same, but without the macros of OpenCL C 2.0, to be quick; __FILE__ does not count, since a
// pack's names are the manifest's, nor do includes that are left to the compilers. Code::bad_input
// if it is not proven.
Status prove_source(const std::filesystem::path &clang, const SourceToProve &source);

// Proves the programs of the spool in `folder` that include files, or may, as many at once as there
// are CPUs. Takes those that are not proven out of `contents`, which are the spool's, and returns
// why, as prove_recorded(). A program whose text was put together of files, and whose files the
// spool lacks, is not proven. `clang` as find_clang() takes it; it is looked for only if a program
// includes files, and then Code::not_found as there.
Result<std::vector<Status>> prove_spool(const std::string &folder, const std::string &clang,
                                        packs::Contents *contents);

}  // namespace kiln::builder
