// SPDX-License-Identifier: Apache-2.0
// The proof of a spool's programs: those that include files, or may, are packed only if clang reads
// their recorded files and their flattened text alike (prove_text.hpp).
#pragma once

#include <string>
#include <vector>

#include "builder/compile/base_pack.hpp"

namespace kiln::builder {

// Takes the programs that are not proven out of `contents`, which are the programs of the spool in
// `folder`, and adds them to `failures` with Code::failed. A program whose text was put together of
// files, and whose files the spool lacks, is not proven. `clang` as find_clang() takes it; it is
// looked for only if a program includes files, and then Code::not_found as there. Works on as many
// programs at once as there are CPUs.
Status prove_spool(const std::string &folder, const std::string &clang, packs::Contents *contents,
                   std::vector<VariantFailure> *failures);

}  // namespace kiln::builder
