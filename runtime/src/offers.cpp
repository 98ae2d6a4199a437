#include "offers.hpp"

#include "compatible.hpp"

namespace kiln::runtime {
namespace {

namespace fb = packs::fb;

Offer no_offer(kiln_outcome outcome, std::string reason) {
  return {nullptr, outcome, std::move(reason)};
}

Offer root_blob(const packs::Pack &pack, std::uint32_t index, const char *what) {
  if (index == 0) return no_offer(KILN_OUTCOME_MISSED, concat({"the pack has no ", what}));
  return {pack.root().blobs()->Get(index - 1), KILN_OUTCOME_LOADED, {}};
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
  return {section->blobs()->Get(binary->blob()), KILN_OUTCOME_LOADED, {}};
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
    offers.push_back(
        {section->blobs()->Get(binary->blob()), KILN_OUTCOME_LOADED, std::move(candidate.why)});
  }
  if (offers.empty()) {
    offers.push_back(no_offer(KILN_OUTCOME_MISSED,
                              "no target serves by the vendor's rule or a recorded cross-check"));
  }
  return offers;
}

}  // namespace kiln::runtime
