// SPDX-License-Identifier: Apache-2.0
// Looks for the binary of each variant and device, and stores it where there is one.
#include "builder/caches/export.hpp"

namespace kiln::builder {
namespace {

const packs::Binary *binary_of(const std::vector<packs::Binary> &binaries,
                               const packs::Digest &variant) {
  for (const packs::Binary &binary : binaries) {
    if (binary.variant == variant) return &binary;
  }
  return nullptr;
}

// What the application itself would have kept is the driver's own form, which an intermediate is.
const packs::Binary *binary_of(const packs::Target &target, const packs::Digest &variant) {
  const packs::Binary *binary = binary_of(target.binaries, variant);
  return binary != nullptr ? binary : binary_of(target.intermediates, variant);
}

Result<std::string> store(const packs::Variant &variant, const ExportDevice &device,
                          const packs::Binary &binary, ApplicationCache *cache) {
  const auto program = cached_program(variant);
  if (!program.ok()) return program.status();
  packs::Bytes bytes;
  if (Status s = binary.blob.read(&bytes); !s.ok()) return s;
  return cache->store(*program, device.identity, {bytes.data(), bytes.size()}, binary.build_log);
}

}  // namespace

Result<CachedProgram> cached_program(const packs::Variant &variant) {
  if (!variant.source) return Status(Code::requirement, "it is SPIR-V, which no cache here holds");
  packs::Bytes source;
  if (Status s = variant.source->read(&source); !s.ok()) return s;
  return CachedProgram{{source.begin(), source.end()}, variant.options};
}

std::vector<ExportOutcome> export_binaries(const packs::Contents &contents,
                                           const std::vector<ExportDevice> &devices,
                                           const std::string &program, ApplicationCache *cache) {
  std::vector<ExportOutcome> outcomes;
  for (const ExportDevice &device : devices) {
    for (const packs::Program &one : contents.programs) {
      if (!program.empty() && one.name != program) continue;
      for (const packs::Variant &variant : one.variants) {
        const packs::Binary *binary = binary_of(*device.target, variant.hash);
        if (binary == nullptr) continue;
        ExportOutcome outcome{one.name, variant.name, device.label, {}, {}};
        outcome.status = store(variant, device, *binary, cache).move_to(&outcome.file);
        outcomes.push_back(std::move(outcome));
      }
    }
  }
  return outcomes;
}

}  // namespace kiln::builder
