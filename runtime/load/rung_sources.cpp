// SPDX-License-Identifier: Apache-2.0
#include "runtime/load/rung_sources.hpp"

#include "runtime/load/compatible.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {
namespace {

namespace fb = packs::fb;

Offer no_offer(kiln_outcome outcome, std::string reason) {
  return {nullptr, nullptr, outcome, std::move(reason)};
}

Offer root_blob(const packs::Pack &pack, std::uint32_t index, const char *what) {
  if (index == 0) return no_offer(KILN_OUTCOME_MISSED, concat({"the pack has no ", what}));
  return {pack.root().blobs()->Get(index - 1), nullptr, KILN_OUTCOME_LOADED, {}};
}

// Whether the pack says so. Where the binary key names the driver, it does not.
bool made_by_later_driver(const fb::Provenance &provenance, const Device &device) {
  return device.description.finishing == Finishing::linker && provenance.driver() != nullptr &&
         packs::compare_versions(provenance.driver()->c_str(),
                                 device.identity.text(Field::driver_version)) > 0;
}

std::string version_text(std::uint32_t version) {
  return concat({decimal(version >> 16), ".", decimal((version >> 8) & 0xff)});
}

}  // namespace

Offer offer_exact(const Loader &loader, const fb::Variant &variant) {
  const fb::Section *section = nullptr;
  const packs::Status status = loader.pack->find_target(loader.device->key, &section);
  if (!status.ok()) return no_offer(KILN_OUTCOME_FAILED, status.message);
  if (section == nullptr) {
    return no_offer(KILN_OUTCOME_MISSED, "no target of the pack has this device's binary key");
  }
  std::size_t index = 0;
  const fb::Binary *binary = packs::find_binary(*section, *variant.hash(), &index);
  if (binary == nullptr) {
    return no_offer(KILN_OUTCOME_MISSED, "the target has no binary of this variant");
  }
  const fb::Provenance *provenance = section->provenance()->Get(static_cast<unsigned>(index));
  if (made_by_later_driver(*provenance, *loader.device)) {
    return no_offer(
        KILN_OUTCOME_MISSED,
        concat({"the binary was made by the later driver ", provenance->driver()->c_str(),
                ", and this one is ", loader.device->identity.text(Field::driver_version)}));
  }
  return {section->blobs()->Get(binary->blob()), provenance, KILN_OUTCOME_LOADED, {}};
}

Offer offer_intermediate(const Loader &loader, const fb::Variant &variant) {
  const Device &device = *loader.device;
  Offer best = no_offer(KILN_OUTCOME_MISSED,
                        "the pack has no intermediate form for this device's architecture");
  std::uint32_t highest = 0;
  for (std::size_t i = 0; i < loader.pack->target_count(); ++i) {
    const fb::Section *section = nullptr;
    if (!loader.pack->section(i, &section).ok()) continue;
    std::size_t index = 0;
    const fb::Binary *entry = packs::find_entry(section->intermediates(), *variant.hash(), &index);
    const std::uint32_t made_for =
        entry == nullptr ? 0 : compute_capability_of(*section, device.description);
    if (made_for <= highest || made_for > device.capabilities.compute_capability) continue;
    highest = made_for;
    best = {section->blobs()->Get(entry->blob()),
            section->intermediate_provenance()->Get(static_cast<unsigned>(index)),
            KILN_OUTCOME_LOADED,
            {}};
  }
  return best;
}

Offer offer_il(const Loader &loader, const fb::Variant &variant) {
  const Capabilities &device = loader.device->capabilities;
  if (device.il_versions.empty()) {
    return no_offer(KILN_OUTCOME_SKIPPED, "the device takes no SPIR-V");
  }
  const bool narrow = device.address_bits == 32;
  Offer offer = root_blob(*loader.pack, narrow ? variant.il32() : variant.il64(),
                          narrow ? "SPIR-V for 32-bit addresses" : "SPIR-V for 64-bit addresses");
  if (offer.blob != nullptr && device.il_versions.back() < variant.il_version()) {
    return no_offer(
        KILN_OUTCOME_SKIPPED,
        concat({"the device takes SPIR-V up to ", version_text(device.il_versions.back()),
                ", the module is ", version_text(variant.il_version())}));
  }
  return offer;
}

Offer offer_source(const Loader &loader, const fb::Variant &variant) {
  if (!loader.device->capabilities.compiler) {
    return no_offer(KILN_OUTCOME_SKIPPED, "the device has no compiler");
  }
  return root_blob(*loader.pack, variant.source(), "source");
}

std::vector<Offer> offer_compatible(const Loader &loader, const fb::Variant &variant) {
  const Device &device = *loader.device;
  std::vector<Offer> offers;
  for (Candidate &candidate : find_compatible(*loader.pack, device.description, device.key)) {
    const fb::Section *section = nullptr;
    if (!loader.pack->section(candidate.target, &section).ok()) continue;
    std::size_t index = 0;
    const fb::Binary *binary = packs::find_binary(*section, *variant.hash(), &index);
    if (binary == nullptr) continue;
    const fb::Provenance *provenance = section->provenance()->Get(static_cast<unsigned>(index));
    // Of its own key the exact rung has tried all others.
    const bool own = section->key()->str() == device.key;
    if (own && !made_by_later_driver(*provenance, device)) continue;
    offers.push_back({section->blobs()->Get(binary->blob()), provenance, KILN_OUTCOME_LOADED,
                      std::move(candidate.why)});
  }
  if (offers.empty()) {
    offers.push_back(no_offer(KILN_OUTCOME_MISSED,
                              "no target serves by the vendor's rule or a recorded cross-check"));
  }
  return offers;
}

}  // namespace kiln::runtime
