// SPDX-License-Identifier: Apache-2.0
// Checks that a flattened text equals what a compiler reads from the files: clang preprocesses
// both, and their tokens are compared. The flattener is a model of a compiler; this asks a real
// one.
//
// Both are preprocessed with the macros of OpenCL C 1.2 and 64-bit addresses, with the macros of
// OpenCL C 2.0 and 32-bit addresses, and with each macro that a condition asks for and the text
// does not define set to 1. A difference that appears only with other macros stays unseen. For
// recorded files clang sees only the files that the recording layer opened, at the same paths: the
// layer must make sure that the driver finds no others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {

// Checks a program that was recorded with its files. None of them is read from this machine's disk.
// Safe to use from any thread.
//
// Fails with Code::failed if the texts differ, or cannot be compared:
// * a token or a preprocessor error differs;
// * clang meets an #include that the flattener did not see;
// * with every set of macros, clang reaches an #include that the flattener left;
// * clang takes two recorded paths with different files for one path;
// * clang cannot preprocess the text with any set of macros.
// An #error, or a file that neither finds, is not a fault if both texts have it: clang continues
// after it. The message begins with the program's name and is ready to print. Fails with
// Code::process if clang itself fails.
//
// For a program without files there is nothing to compare, but its text may have an #include that
// was not followed.
Status check_recorded_text(const std::filesystem::path &clang, const source::WholeProgram &program);

// Whether a program without files needs this check: its text has an #include, or character
// sequences that stand for other characters.
bool may_include(const std::string &text);

// A manifest's source, which clang reads from the disk.
struct SourceToCheck {
  std::filesystem::path source;
  std::vector<std::filesystem::path> include_dirs;
  std::string options;
  std::string flattened;
};
// Checks a manifest's source. To be quick, skips the macros of OpenCL C 2.0. Ignores __FILE__,
// since a pack uses the manifest's file names, and includes that are left to the compilers. Fails
// with Code::bad_input if the texts differ.
Status check_source_text(const std::filesystem::path &clang, const SourceToCheck &source);

// Checks the programs of the spool in `folder` that include files or may include some, as many at
// once as there are CPUs. Removes programs that fail from `contents`, which are the spool's
// contents, and returns the reasons, as check_recorded_text() does. A program that was put together
// from files fails if the spool lacks these files. `clang` is used as by find_clang(); it is
// searched for only if a program includes files, and fails with Code::not_found as there.
Result<std::vector<Status>> check_spool_texts(const std::string &folder, const std::string &clang,
                                              packs::Contents *contents);

}  // namespace kiln::builder
