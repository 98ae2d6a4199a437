// SPDX-License-Identifier: Apache-2.0
// The file beside a recorded program with includes: the files and options that the application
// gave, from which the program's text was made. Pure and thread-safe.
//
// It begins with the line "kiln files 1". Then come blocks: a line with a word and a byte count,
// that many bytes, and a line end. The words, in this order:
//   options, folder (the current folder) and source, as the application gave them;
//   for each file path (absolute, or <headers>/NAME for a header that was passed to
//     clCompileProgram), identity (the same for two paths to one file) and text;
//   end, with no bytes.
#pragma once

#include <string>
#include <string_view>

#include "runtime/source/whole_program.hpp"

namespace kiln::source {

// Returns the file's name, beside NAME.kiln: NAME-DIGITS.files, with 16 digits for the texts from
// which the program was made. Other texts may give the same program, and each such set must be
// proven; the folders of the files do not matter.
std::string recorded_files_name(const WholeProgram &program);
inline constexpr char kRecordedFiles[] = ".files";

// Returns the bytes of such a file.
std::string recorded_files(const WholeProgram &program);

// Sets the fields that recorded_files() wrote, and no others. Fails with Code::bad_input if the
// bytes are no such file, or only part of one.
packs::Status read_recorded_files(std::string_view bytes, WholeProgram *program);

}  // namespace kiln::source
