// SPDX-License-Identifier: Apache-2.0
// A file of OpenCV's cache: the binaries of one source for one device, by build options. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/bytes.hpp"

namespace kiln::builder {

struct OpencvEntry {
  std::string options;
  packs::Bytes binary;
};

// The entries of a file that is of the source with this hash. Fails with Code::bad_input if it is
// of another, or not as OpenCV writes it.
Result<std::vector<OpencvEntry>> read_opencv_file(packs::View file, std::string_view source_hash);

// A file with these entries, each options once; OpenCV finds all of them. Fails with
// Code::bad_input if it would not fit into offsets of 32 bits.
Result<std::string> opencv_file(const std::vector<OpencvEntry> &entries,
                                std::string_view source_hash);

}  // namespace kiln::builder
