// SPDX-License-Identifier: Apache-2.0
// Looks up the blob that a rung would give to the driver, or says why there is none.
#include "runtime/load/rung_sources.hpp"

#include "runtime/load/compatible.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {
namespace {

using packs::BinaryRef;
using packs::TargetRef;
using packs::VariantRef;

Offer no_offer(kiln_outcome outcome, std::string reason) {
  return {{}, {}, outcome, std::move(reason)};
}

Offer offer_blob(packs::BlobRef blob, const char *what) {
  if (!blob) return no_offer(KILN_OUTCOME_MISSED, concat({"the pack has no ", what}));
  return {blob, {}, KILN_OUTCOME_LOADED, {}};
}

// Whether the pack says so. Where the binary key names the driver, it does not.
bool made_by_later_driver(packs::ProvenanceRef provenance, const Device &device) {
  return device.description.finishing == Finishing::linker &&
         packs::compare_versions(provenance.driver(), device.identity.text(Field::driver_version)) >
             0;
}

std::string version_text(std::uint32_t version) {
  return concat({decimal(version >> 16), ".", decimal((version >> 8) & 0xff)});
}

}  // namespace

bool requires_proof(VariantRef variant) { return requires_word(variant.requirements(), kProof); }

bool is_proven(const packs::Pack &pack, const Device &device, VariantRef variant) {
  TargetRef target;
  if (!pack.find_target(device.key().text(), &target).ok() || !target) return false;
  const BinaryRef binary = target.find_binary(variant.hash());
  return binary && packs::is_proof(binary.provenance.proof(), true);
}

Offer offer_exact(const Loader &loader, VariantRef variant) {
  TargetRef target;
  const packs::Status status = loader.pack->find_target(loader.device->key().text(), &target);
  if (!status.ok()) return no_offer(KILN_OUTCOME_FAILED, status.message);
  if (!target) {
    return no_offer(KILN_OUTCOME_MISSED, "no target of the pack has this device's binary key");
  }
  const BinaryRef binary = target.find_binary(variant.hash());
  if (!binary) {
    return no_offer(KILN_OUTCOME_MISSED, "the target has no binary of this variant");
  }
  if (made_by_later_driver(binary.provenance, *loader.device)) {
    return no_offer(
        KILN_OUTCOME_MISSED,
        concat({"the binary was made by the later driver ", binary.provenance.driver(),
                ", and this one is ", loader.device->identity.text(Field::driver_version)}));
  }
  return {binary.blob, binary.provenance, KILN_OUTCOME_LOADED, {}};
}

Offer offer_intermediate(const Loader &loader, VariantRef variant) {
  const Device &device = *loader.device;
  Offer best = no_offer(KILN_OUTCOME_MISSED,
                        "the pack has no intermediate form for this device's architecture");
  std::uint32_t highest = 0;
  for (std::size_t i = 0; i < loader.pack->target_count(); ++i) {
    TargetRef target;
    if (!loader.pack->target(i, &target).ok()) continue;
    const BinaryRef form = target.find_intermediate(variant.hash());
    const std::uint32_t made_for = form ? compute_capability_of(target, device.description) : 0;
    if (made_for <= highest || made_for > device.capabilities.compute_capability) continue;
    highest = made_for;
    best = {form.blob, form.provenance, KILN_OUTCOME_LOADED, {}};
  }
  return best;
}

Offer offer_il(const Loader &loader, VariantRef variant) {
  const Capabilities &device = loader.device->capabilities;
  if (device.il_versions.empty()) {
    return no_offer(KILN_OUTCOME_SKIPPED, "the device takes no SPIR-V");
  }
  const bool narrow = device.address_bits == 32;
  Offer offer = offer_blob(loader.pack->blob(narrow ? variant.il32() : variant.il64()),
                           narrow ? "SPIR-V for 32-bit addresses" : "SPIR-V for 64-bit addresses");
  if (offer.blob && device.il_versions.back() < variant.il_version()) {
    return no_offer(
        KILN_OUTCOME_SKIPPED,
        concat({"the device takes SPIR-V up to ", version_text(device.il_versions.back()),
                ", the module is ", version_text(variant.il_version())}));
  }
  return offer;
}

Offer offer_source(const Loader &loader, VariantRef variant) {
  if (!loader.device->capabilities.compiler) {
    return no_offer(KILN_OUTCOME_SKIPPED, "the device has no compiler");
  }
  return offer_blob(loader.pack->blob(variant.source()), "source");
}

std::vector<Offer> offer_compatible(const Loader &loader, VariantRef variant) {
  const Device &device = *loader.device;
  std::vector<Offer> offers;
  for (const Candidate &candidate : find_compatible(*loader.pack, device.description)) {
    TargetRef target;
    if (!loader.pack->target(candidate.target, &target).ok()) continue;
    const BinaryRef binary = target.find_binary(variant.hash());
    if (!binary) continue;
    // Of its own key the exact rung has tried all others.
    const bool own = target.key() == device.key().text();
    if (own && !made_by_later_driver(binary.provenance, device)) continue;
    offers.push_back({binary.blob, binary.provenance, KILN_OUTCOME_LOADED, {}, candidate.rule});
  }
  if (offers.empty()) {
    offers.push_back(no_offer(KILN_OUTCOME_MISSED,
                              "no target serves by the vendor's rule or a recorded cross-check"));
  }
  return offers;
}

bool is_last(const Loader &loader, VariantRef variant, unsigned flags, kiln_rung rung) {
  if (rung == KILN_RUNG_SOURCE) return true;
  const Capabilities &device = loader.device->capabilities;
  const bool source =
      (flags & KILN_LOAD_NO_SOURCE) == 0 && device.compiler && loader.pack->blob(variant.source());
  const bool il = (flags & KILN_LOAD_NO_IL) == 0 && !device.il_versions.empty() &&
                  device.il_versions.back() >= variant.il_version() &&
                  loader.pack->blob(device.address_bits == 32 ? variant.il32() : variant.il64());
  return !source && (rung == KILN_RUNG_IL || !il);
}

}  // namespace kiln::runtime
