// The manifest: a TOML file that names programs, variants, build options, checks and
// launches. Reading one gives values; nothing here touches a device.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kiln::builder {

// What a kernel argument is bound to when Kiln itself launches the variant (`kiln run`,
// checks, benchmarks). Arguments are listed in the order of the kernel's parameters.
enum class Role : std::uint8_t { input, output, width, height, parameter };
enum class Storage : std::uint8_t { buffer, image };  // image: 2D, CL_UNORM_INT8

struct Argument {
  Role role = Role::input;
  Storage storage = Storage::buffer;  // input and output only
  std::uint32_t channels = 1;         // input and output only: 8-bit channels a pixel, 1 to 4
  std::string name;        // parameter: its name; output: the plane's name (may be empty)
  std::int64_t value = 0;  // parameter: the default; passed to the kernel as a 32-bit uint
};

// A kernel entry point; `arguments` is filled from the compiled SPIR-V by the host step.
struct Variant {
  std::string name;
  std::string kernel;   // entry point
  std::string options;  // program's options then the variant's, joined by a space
  std::vector<std::string>
      requirements;  // sorted, no duplicates; see requirements.hpp of the runtime
  std::array<std::uint32_t, 2> pixels{1, 1};      // pixels a work-item computes, in x and y
  std::array<std::uint32_t, 2> local_size{0, 0};  // work-group size to start from; 0: not given
  std::vector<Argument> arguments;                // the variant's own, else the program's
  std::filesystem::path source;  // the variant's own, else the program's; absolute or relative to
                                 // the working directory
};

struct Program {
  std::string name;
  std::string reference;  // C++ reference that checks it: "laplace"; may be empty
  std::vector<std::filesystem::path> include_dirs;
  std::vector<Variant> variants;  // sorted by name
};

struct Manifest {
  std::vector<Program> programs;                // sorted by name
  std::uint32_t spirv_version = 0x00010000;     // cap, as in the SPIR-V header: 1.0
  std::vector<std::uint32_t> address_bits{64};  // 32, 64 or both, ascending, no duplicates
};

// A fault in the manifest or in a file that it names. `text` is whole and ready to print:
// file:line:column, the line, a caret, and what was expected.
struct ManifestError {
  std::string text;
};

// Reads and checks a manifest. Source files must exist; paths in it are relative to the
// manifest's folder. Unknown keys are errors, with the nearest known key as a suggestion.
std::variant<Manifest, ManifestError> read_manifest(const std::filesystem::path &path);

// The same from text; `path` names it in errors and gives the folder.
std::variant<Manifest, ManifestError> parse_manifest(std::string_view text,
                                                     const std::filesystem::path &path);

}  // namespace kiln::builder
