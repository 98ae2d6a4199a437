// SPDX-License-Identifier: Apache-2.0
// The file beside a recorded program that includes others: what the application gave, from which
// its text was put together (docs/layer.md, "What a spool holds"). Pure; safe to use from any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "runtime/source/whole_program.hpp"

namespace kiln::source {

// Its name, beside NAME.kiln: NAME-DIGITS.files, with 16 digits for the texts that the program was
// put together of. Other texts may give the same program, and each such set is to be proven; where
// the files lie does not matter.
std::string recorded_files_name(const WholeProgram &program);
inline constexpr char kRecordedFiles[] = ".files";

// The bytes of such a file.
std::string recorded_files(const WholeProgram &program);

// Sets what recorded_files() wrote, and nothing else of the program. Code::bad_input if the bytes
// are no such file, or not all of it.
packs::Status read_recorded_files(std::string_view bytes, WholeProgram *program);

}  // namespace kiln::source
