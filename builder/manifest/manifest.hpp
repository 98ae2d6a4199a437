// SPDX-License-Identifier: Apache-2.0
// The manifest: a TOML file that names programs, variants, build options, checks and
// launches. Reading one gives values; nothing here touches a device.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/problem/plane.hpp"
#include "builder/problem/problem_size.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

using packs::Argument;
using packs::Role;
using Storage = packs::ArgumentStorage;

struct Kernel {
  std::string name;   // entry point
  std::string range;  // of the NDRange, in terms of the size; empty: by the variant's pixels
};

// One way to compute; its kernels run one after the other.
struct Variant {
  std::string name;
  std::vector<Kernel> kernels;  // at least one
  std::string options;          // program's options then the variant's, joined by a space
  std::vector<std::string>
      requirements;  // sorted, no duplicates; see requirements.hpp of the runtime
  std::array<std::uint32_t, 2> pixels{1, 1};      // pixels a work-item of the first kernel computes
  std::array<std::uint32_t, 2> local_size{0, 0};  // work-group size to start from; 0: not given
  std::vector<Argument> arguments;                // the variant's own, else the program's
  std::filesystem::path source;   // the variant's own, else the program's; absolute or relative to
                                  // the working directory
  double tolerance = 0;           // largest difference from the reference
  std::filesystem::path prelude;  // declares a vendor's built-ins for the host check; then, too,
  bool il = true;                 // no IL is made
};

struct Program {
  std::string name;
  std::string reference;  // what checks it (reference_spec.hpp): "variant:scalar"; may be empty
  std::vector<std::filesystem::path> include_dirs;
  std::vector<Variant> variants;       // sorted by name
  std::vector<std::string> preferred;  // variants, the best guess first
  std::string baseline;                // the variant that speed-ups are against; may be empty
  std::vector<ProblemSize> sizes;      // for tuning and benchmarks
};

struct Manifest {
  std::vector<Program> programs;                // sorted by name
  std::uint32_t spirv_version = 0x00010000;     // cap, as in the SPIR-V header: 1.0
  std::vector<std::uint32_t> address_bits{64};  // 32, 64 or both, ascending, no duplicates
};

// Reads and checks a manifest. Source files must exist; paths in it are relative to the
// manifest's folder. Unknown keys are errors, with the nearest known key as a suggestion.
// Fails with Code::bad_input for a fault in the manifest or in a file that it names. The message
// is whole and ready to print: file:line:column, the line, a caret, and what was expected.
Result<Manifest> read_manifest(const std::filesystem::path &path);

// The same from text; `path` names it in errors and gives the folder.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path &path);

}  // namespace kiln::builder
