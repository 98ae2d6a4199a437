// SPDX-License-Identifier: Apache-2.0
// Computes the names of recorded programs again.
#include "builder/inspect/program_check.hpp"

#include <string_view>

#include <fmt/format.h>

#include "kiln/packs/soundness.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {
namespace {

Status check_name(const std::string &program, const packs::Variant &variant,
                  const std::optional<packs::BlobSource> &code, const char *what) {
  packs::Bytes bytes;
  if (!code) return {};
  if (Status s = code->read(&bytes); !s.ok()) return s;
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  const std::string name = source::program_name(text, variant.options);
  if (name == program) return {};
  return {Code::conflict, fmt::format("program {}, variant {}: its {} and options are of the "
                                      "program {}",
                                      program, variant.name, what, name)};
}

}  // namespace

Status check_variant(const std::string &program, const packs::Variant &variant) {
  if (Status s = packs::check_variant_hash(program, variant); !s.ok()) return s;
  if (!source::is_program_name(program)) return {};
  // SPIR-V that was made of a recorded source has no part in the name.
  if (variant.source) return check_name(program, variant, variant.source, "source");
  Status s = check_name(program, variant, variant.il32, "32-bit SPIR-V");
  return s.ok() ? check_name(program, variant, variant.il64, "64-bit SPIR-V") : s;
}

Status check_variants(const packs::Contents &contents) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (Status s = check_variant(program.name, variant); s.code == Code::conflict) return s;
    }
  }
  return {};
}

}  // namespace kiln::builder
