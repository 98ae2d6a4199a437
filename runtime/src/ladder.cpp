#include "ladder.hpp"

#include <chrono>
#include <cstring>

namespace kiln::runtime {
namespace {

using packs::View;
namespace fb = packs::fb;

std::string hex(const fb::Hash &hash) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : *hash.bytes()) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<std::string> missing(const fb::Variant &variant, const Capabilities &device) {
  std::vector<std::string> requirements;
  for (const auto *requirement : *variant.requirements()) {
    requirements.push_back(requirement->str());
  }
  return missing_requirement(requirements, device);
}

// What a rung has to offer: a blob, or the reason why there is none.
struct Offer {
  const fb::Blob *blob = nullptr;
  kiln_outcome outcome = KILN_OUTCOME_MISSED;
  std::string reason;
};

Offer no_offer(kiln_outcome outcome, std::string reason) {
  return {nullptr, outcome, std::move(reason)};
}

Offer root_blob(const packs::Pack &pack, std::uint32_t index, const char *what) {
  if (index == 0) return no_offer(KILN_OUTCOME_MISSED, std::string("the pack has no ") + what);
  return {pack.root().blobs()->Get(index - 1), KILN_OUTCOME_LOADED, {}};
}

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

std::string version_text(std::uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xff);
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
    return no_offer(KILN_OUTCOME_SKIPPED,
                    "the device takes SPIR-V up to " + version_text(device.il_versions.back()) +
                        ", the module is " + version_text(variant.il_version()));
  }
  return offer;
}

Offer offer_source(const Loader &loader, const fb::Variant &variant) {
  if (!loader.device->capabilities.compiler) {
    return no_offer(KILN_OUTCOME_SKIPPED, "the device has no compiler");
  }
  return root_blob(*loader.pack, variant.source(), "source");
}

class Ladder {
 public:
  Ladder(const Loader &loader, const fb::Variant &variant, unsigned flags, Report *report)
      : loader_(loader), variant_(variant), flags_(flags), report_(*report) {}

  bool climb(BuiltProgram *out) {
    skip(KILN_RUNG_OVERLAY, "no overlay");
    if (try_rung(KILN_RUNG_EXACT, Form::binary, KILN_LOAD_NO_BINARY, offer_exact, out)) return true;
    skip(KILN_RUNG_COMPATIBLE, "this version of Kiln has none");
    if (try_rung(KILN_RUNG_IL, Form::il, KILN_LOAD_NO_IL, offer_il, out)) return true;
    return try_rung(KILN_RUNG_SOURCE, Form::source, KILN_LOAD_NO_SOURCE, offer_source, out);
  }

 private:
  void skip(kiln_rung rung, const char *reason) {
    report_.rungs.push_back({rung, KILN_OUTCOME_SKIPPED, reason, {}, {}});
  }

  bool fail(RungResult *result, kiln_outcome outcome, std::string reason) {
    result->outcome = outcome;
    result->reason = std::move(reason);
    report_.rungs.push_back(std::move(*result));
    return false;
  }

  bool try_rung(kiln_rung rung, Form form, unsigned off,
                Offer (*find)(const Loader &, const fb::Variant &), BuiltProgram *out) {
    RungResult result{rung, KILN_OUTCOME_LOADED, {}, {}, {}};
    if ((flags_ & off) != 0) return fail(&result, KILN_OUTCOME_SKIPPED, "switched off");
    Offer offer = find(loader_, variant_);
    if (offer.blob == nullptr) return fail(&result, offer.outcome, std::move(offer.reason));
    result.blob = hex(offer.blob->name());
    const std::unique_lock<std::mutex> lock(loader_.scratch_mutex, std::try_to_lock);
    packs::Bytes own;
    packs::Bytes &scratch = lock ? loader_.scratch : own;
    View bytes;
    const packs::Status status = loader_.pack->read_blob(*offer.blob, &scratch, &bytes);
    if (!status.ok()) return fail(&result, KILN_OUTCOME_FAILED, status.message);
    if (bytes.size == 0) return fail(&result, KILN_OUTCOME_FAILED, "the pack's blob is empty");
    BuildOutcome outcome = build_program(*loader_.device, loader_.context.get(), form, bytes,
                                         variant_.options()->str(), expected_kernels(variant_));
    if (!outcome.error.ok()) {
      result.log = std::move(outcome.log);
      return fail(&result, KILN_OUTCOME_FAILED, std::move(outcome.error.message));
    }
    if (form == Form::binary && (flags_ & KILN_LOAD_CHECK_RECOMPILED) != 0) {
      check_recompiled(outcome.built.program.get(), bytes);
    }
    report_.rungs.push_back(std::move(result));
    report_.rung = rung;
    *out = std::move(outcome.built);
    return true;
  }

  void check_recompiled(cl_program program, View given) {
    packs::Bytes now;
    if (!program_binary(*loader_.device, program, &now).ok()) return;
    report_.recompiled =
        now.size() != given.size || std::memcmp(now.data(), given.data, now.size()) != 0;
  }

  const Loader &loader_;
  const fb::Variant &variant_;
  unsigned flags_;
  Report &report_;
};

Error choose_variant(const Loader &loader, const fb::Program &program, const std::string &name,
                     const fb::Variant **out) {
  const std::string where = "program " + program.name()->str();
  if (!name.empty()) {
    *out = loader.pack->find_variant(program.name()->str(), name);
    if (*out == nullptr) return failure(KILN_ERROR_NOT_IN_PACK, where + " has no variant " + name);
    const auto lacks = missing(**out, loader.device->capabilities);
    if (!lacks) return {};
    return failure(KILN_ERROR_REQUIREMENT,
                   where + ", variant " + name + " " + *lacks + ", which this device lacks");
  }
  for (const fb::Variant *variant : *program.variants()) {
    if (missing(*variant, loader.device->capabilities)) continue;
    *out = variant;
    return {};
  }
  return failure(KILN_ERROR_REQUIREMENT, where + " has no variant that this device can run");
}

std::string summary(const Report &report) {
  std::string text = "no rung could load program " + report.program + ", variant " + report.variant;
  static const char *const names[] = {"overlay", "exact", "compatible", "IL", "source"};
  for (const RungResult &result : report.rungs) {
    text += std::string("; ") + names[result.rung] + ": " + result.reason;
  }
  return text;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

std::vector<ExpectedKernel> expected_kernels(const fb::Variant &variant) {
  std::vector<ExpectedKernel> kernels;
  for (const auto *kernel : *variant.kernels()) {
    kernels.push_back({kernel->name()->str(), kernel->arguments()});
  }
  return kernels;
}

Error load(const std::shared_ptr<const Loader> &loader, const std::string &program,
           const std::string &variant, unsigned flags, std::shared_ptr<LoadedProgram> *out,
           Report *report) {
  const auto start = std::chrono::steady_clock::now();
  report->program = program;
  report->variant = variant;
  report->device = loader->device;
  report->pack = loader->pack;
  const fb::Program *found = loader->pack->find_program(program);
  if (found == nullptr) {
    return failure(KILN_ERROR_NOT_IN_PACK, "the pack has no program " + program);
  }
  const fb::Variant *chosen = nullptr;
  if (Error error = choose_variant(*loader, *found, variant, &chosen); !error.ok()) return error;
  report->variant = chosen->name()->str();
  auto loaded = std::make_shared<LoadedProgram>();
  loaded->loader = loader;
  loaded->variant = chosen;
  const bool ok = Ladder(*loader, *chosen, flags, report).climb(&loaded->built);
  report->milliseconds = milliseconds_since(start);
  if (!ok) return failure(KILN_ERROR_NO_RUNG, summary(*report));
  *out = std::move(loaded);
  return {};
}

}  // namespace kiln::runtime
