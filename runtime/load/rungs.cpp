// SPDX-License-Identifier: Apache-2.0
// Looks up what each rung would give to the driver, or says why there is nothing.
#include "runtime/load/rungs.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>

#include "kiln/packs/bytes.hpp"
#include "runtime/identity/requirements.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {
namespace {

using packs::BinaryRef;
using packs::TargetRef;
using packs::VariantRef;
using Offers = std::vector<Offer>;

Offer no_offer(kiln_outcome outcome, std::string reason) {
  Offer offer;
  offer.outcome = outcome;
  offer.reason = std::move(reason);
  return offer;
}

// A binary has the same id in pack and overlay, which depends only on its bytes.
Offer offer_binary(BinaryRef binary) {
  Offer offer;
  offer.blob = binary.blob;
  offer.id = binary.blob.xxh3();
  offer.finality = binary.provenance.finality();
  offer.why_not_final = binary.provenance.why_not_final();
  return offer;
}

// The ids of IL and source also depend on the variant, with its options.
Offer offer_portable(const Wanted &wanted, Form form, packs::BlobRef blob, const char *what) {
  if (!blob) return no_offer(KILN_OUTCOME_MISSED, concat({"the pack has no ", what}));
  std::uint8_t bytes[2 * packs::kDigestSize + 1] = {};
  std::memcpy(bytes, blob.name().data(), packs::kDigestSize);
  std::memcpy(bytes + packs::kDigestSize, wanted.variant.hash().data(), packs::kDigestSize);
  bytes[2 * packs::kDigestSize] = static_cast<std::uint8_t>(form);
  Offer offer;
  offer.blob = blob;
  offer.id = packs::xxh3(bytes, sizeof(bytes));
  offer.why_not_final = "it was compiled here";
  return offer;
}

// Returns whether the pack says that a later driver made the binary. False except on NVIDIA, whose
// binary key alone leaves out the driver's version.
bool made_by_later_driver(packs::ProvenanceRef provenance, const Device &device) {
  return device.description.finishing == Finishing::linker &&
         packs::compare_versions(provenance.driver(), device.identity.text(Field::driver_version)) >
             0;
}

std::string version_text(std::uint32_t version) {
  return concat({decimal(version >> 16), ".", decimal((version >> 8) & 0xff)});
}

// Offers the binary of the target with the device's own key.
Offer offer_own(const Wanted &wanted) {
  const Device &device = *wanted.loader.device;
  TargetRef target;
  const packs::Status status = wanted.loader.pack->find_target(device.key().text(), &target);
  if (!status.ok()) return no_offer(KILN_OUTCOME_FAILED, status.message);
  if (!target) {
    return no_offer(KILN_OUTCOME_MISSED, "no target of the pack has this device's binary key");
  }
  const BinaryRef binary = target.find_binary(wanted.variant.hash());
  if (!binary) {
    return no_offer(KILN_OUTCOME_MISSED, "the target has no binary of this variant");
  }
  if (made_by_later_driver(binary.provenance, device)) {
    return no_offer(KILN_OUTCOME_MISSED,
                    concat({"the binary was made by the later driver ", binary.provenance.driver(),
                            ", and this one is ", device.identity.text(Field::driver_version)}));
  }
  return offer_binary(binary);
}

std::uint32_t compute_capability_of(TargetRef target, const Device &device) {
  return compute_capability_of(parse_facts(target.key()).value_or(Facts()), device.description);
}

// Offers the binary of the device's own target; if there is none, the cubins for lower minor
// compute capabilities, the highest first. A proof holds only for the target's own device, so that
// those cubins do not serve a variant that requires a proof.
Offers offer_exact(const Wanted &wanted) {
  const Device &device = *wanted.loader.device;
  const packs::Pack &pack = *wanted.loader.pack;
  Offer own = offer_own(wanted);
  const bool needs_proof =
      (wanted.flags & KILN_LOAD_UNPROVEN) == 0 && requires_proof(wanted.variant);
  if (own || device.description.finishing != Finishing::linker || needs_proof) {
    return {std::move(own)};
  }
  Offers offers;
  std::vector<std::uint32_t> made_for;  // of each offer
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    TargetRef target;
    if (!pack.target(i, &target).ok()) continue;
    const std::uint32_t capability = compute_capability_of(target, device);
    if (!takes_lower_cubins(device.capabilities.compute_capability, capability)) continue;
    const BinaryRef binary = target.find_binary(wanted.variant.hash());
    if (!binary || made_by_later_driver(binary.provenance, device)) continue;
    const auto place =
        std::upper_bound(made_for.begin(), made_for.end(), capability, std::greater<>()) -
        made_for.begin();
    Offer offer = offer_binary(binary);
    offer.note = kTakesLowerCubins;
    made_for.insert(made_for.begin() + place, capability);
    offers.insert(offers.begin() + place, std::move(offer));
  }
  if (offers.empty() || own.outcome == KILN_OUTCOME_FAILED) offers.insert(offers.begin(), own);
  return offers;
}

// Offers the binary that this device compiled at an earlier start. If it is not final, but the
// pack's exact binary is, the pack's binary is preferred.
Offers offer_overlay(const Wanted &wanted) {
  const Loader &loader = wanted.loader;
  if (loader.persistence == nullptr) return {no_offer(KILN_OUTCOME_SKIPPED, loader.no_overlay)};
  Persistence::Stored stored;
  std::string_view ignored;
  const unsigned left_out =
      known_bad_rungs(loader, wanted.program, wanted.variant, packs::kAllRungs, &ignored);
  if (Status s = loader.persistence->find(wanted.variant.hash(), left_out, wanted.scratch, &stored);
      !s.ok()) {
    const bool missed = s.code == Code::not_found;
    return {no_offer(missed ? KILN_OUTCOME_MISSED : KILN_OUTCOME_FAILED, std::move(s.message))};
  }
  Offer offer;
  offer.bytes = stored.binary;
  offer.id = stored.id;
  offer.finality = stored.finality;
  if (offer.finality == packs::Finality::no) {
    const Offers exact = offers_of(*find_rung(KILN_RUNG_EXACT), wanted);
    if (std::any_of(exact.begin(), exact.end(), [](const Offer &binary) {
          return binary && binary.finality == packs::Finality::yes;
        })) {
      return {no_offer(KILN_OUTCOME_MISSED, "it is not final, and the pack's binary is")};
    }
    offer.why_not_final = "stored, but an earlier start ended before it made the binary final";
  }
  return {std::move(offer)};
}

// Offers the PTX with the highest compute capability that is not above the device's.
Offers offer_intermediate(const Wanted &wanted) {
  const Device &device = *wanted.loader.device;
  const packs::Pack &pack = *wanted.loader.pack;
  Offer best = no_offer(KILN_OUTCOME_MISSED,
                        "the pack has no intermediate form for this device's architecture");
  std::uint32_t highest = 0;
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    TargetRef target;
    if (!pack.target(i, &target).ok()) continue;
    const BinaryRef form = target.find_intermediate(wanted.variant.hash());
    const std::uint32_t made_for = form ? compute_capability_of(target, device) : 0;
    if (made_for <= highest || made_for > device.capabilities.compute_capability) continue;
    highest = made_for;
    best = offer_binary(form);
    best.finality = packs::Finality::no;
    best.why_not_final = "the driver compiles this form whenever it loads it";
  }
  return {std::move(best)};
}

Status takes_il(const Capabilities &device) {
  if (!device.il_versions.empty()) return {};
  return Status::error(Code::failed, "the device takes no SPIR-V");
}

Offers offer_il(const Wanted &wanted) {
  const Capabilities &device = wanted.loader.device->capabilities;
  const VariantRef variant = wanted.variant;
  const bool narrow = device.address_bits == 32;
  Offer offer = offer_portable(
      wanted, Form::il, wanted.loader.pack->blob(narrow ? variant.il32() : variant.il64()),
      narrow ? "SPIR-V for 32-bit addresses" : "SPIR-V for 64-bit addresses");
  if (offer && device.il_versions.back() < variant.il_version()) {
    return {
        no_offer(KILN_OUTCOME_SKIPPED,
                 concat({"the device takes SPIR-V up to ", version_text(device.il_versions.back()),
                         ", the module is ", version_text(variant.il_version())}))};
  }
  return {std::move(offer)};
}

Status takes_source(const Capabilities &device) {
  if (device.compiler) return {};
  return Status::error(Code::failed, "the device has no compiler");
}

Offers offer_source(const Wanted &wanted) {
  return {offer_portable(wanted, Form::source, wanted.loader.pack->blob(wanted.variant.source()),
                         "source")};
}

// clang-format off
constexpr Rung kLadder[kRungCount] = {
    // id, name, title, form, compiles
    // word, off, off_alone, offers, takes, nvidia_only, has_proofs
    {KILN_RUNG_OVERLAY, "overlay", "overlay", Form::binary, false,
     "binary", KILN_LOAD_NO_BINARY, KILN_LOAD_NO_OVERLAY, offer_overlay, nullptr, false, false},
    {KILN_RUNG_EXACT, "exact", "exact", Form::binary, false,
     "binary", KILN_LOAD_NO_BINARY, KILN_LOAD_NO_EXACT, offer_exact, nullptr, false, true},
    {KILN_RUNG_INTERMEDIATE, "intermediate", "intermediate", Form::binary, true,
     "binary", KILN_LOAD_NO_BINARY, kRequires, offer_intermediate, nullptr, true, false},
    {KILN_RUNG_IL, "il", "IL", Form::il, true,
     "il", KILN_LOAD_NO_IL, kRequires, offer_il, takes_il, false, false},
    {KILN_RUNG_SOURCE, "source", "source", Form::source, true,
     "source", KILN_LOAD_NO_SOURCE, kRequires, offer_source, takes_source, false, false}};
// clang-format on
static_assert(kLadder[kRungCount - 1].name != nullptr, "kRungCount is the number of rows");

}  // namespace

Rungs rungs() { return {std::begin(kLadder), std::end(kLadder)}; }

unsigned rung_flags() {
  unsigned flags = 0;
  for (const Rung &rung : kLadder) flags |= rung.off | rung.off_alone;
  return flags;
}

const Rung *find_rung(unsigned id) {
  for (const Rung &rung : kLadder) {
    if (rung.id == id) return &rung;
  }
  return nullptr;
}

const Rung *find_rung(std::string_view name) {
  for (const Rung &rung : kLadder) {
    if (rung.name == name) return &rung;
  }
  return nullptr;
}

bool leave_out_above(std::string_view name, unsigned *flags) {
  const Rung *wanted = find_rung(name);
  if (wanted == nullptr || wanted == kLadder) return false;
  *flags |= KILN_LOAD_NO_OVERLAY;
  for (const Rung *rung = kLadder; rung != wanted; ++rung) {
    *flags |= rung->off == wanted->off ? rung->off_alone : rung->off;
  }
  return true;
}

const char *rung_name(kiln_rung id) {
  const Rung *rung = find_rung(id);
  return rung == nullptr ? "error" : rung->name;
}

bool is_compiled(std::string_view name) {
  const Rung *rung = find_rung(name);
  return rung != nullptr && rung->form != Form::binary;
}

bool requires_proof(VariantRef variant) { return requires_word(variant.requirements(), kProof); }

bool is_proven(const packs::Pack &pack, const Device &device, VariantRef variant) {
  TargetRef target;
  if (!pack.find_target(device.key().text(), &target).ok() || !target) return false;
  const BinaryRef binary = target.find_binary(variant.hash());
  return binary && packs::is_proof(binary.provenance.proof(), true);
}

bool is_listed(const Rung &rung, const Device &device) {
  return !rung.nvidia_only || device.description.finishing == Finishing::linker;
}

Status may_try(const Rung &rung, const Wanted &wanted) {
  const Loader &loader = wanted.loader;
  const char *why = nullptr;
  if (const unsigned off = wanted.flags & (rung.off | rung.off_alone); off != 0) {
    why = (off & ~kRequires) != 0 ? "switched off" : "a binary is required";
  } else if ((wanted.flags & KILN_LOAD_UNPROVEN) == 0 && requires_proof(wanted.variant) &&
             !(rung.has_proofs && is_proven(*loader.pack, *loader.device, wanted.variant))) {
    why = "the variant requires a binary with a proof";
  } else if ((loader.notes.flags & KILN_DRIVER_NEVER_GIVE) != 0 && rung.form == Form::binary) {
    why = "a driver note: never give it binaries";
  }
  if (why != nullptr) return Status::error(Code::failed, why);
  return rung.takes == nullptr ? Status() : rung.takes(loader.device->capabilities);
}

Offers offers_of(const Rung &rung, const Wanted &wanted) {
  std::string_view reason;
  if (known_bad_rungs(wanted.loader, wanted.program, wanted.variant, 1u << rung.id, &reason) == 0) {
    return rung.offers(wanted);
  }
  return {no_offer(KILN_OUTCOME_MISSED, concat({"known to be wrong: ", reason}))};
}

const Rung *lowest_offering(const Wanted &wanted, Offer *offer) {
  for (std::size_t i = std::size(kLadder); i-- > 0;) {
    const Rung &rung = kLadder[i];
    if (rung.form == Form::binary || (wanted.flags & (rung.off | rung.off_alone)) != 0 ||
        !rung.takes(wanted.loader.device->capabilities).ok()) {
      continue;
    }
    *offer = offers_of(rung, wanted).front();
    if (*offer) return &rung;
  }
  return nullptr;
}

bool is_last(const Wanted &wanted, const Rung &rung) {
  Offer ignored;
  const Rung *lowest = lowest_offering(wanted, &ignored);
  return lowest == nullptr || lowest <= &rung;
}

}  // namespace kiln::runtime
