// SPDX-License-Identifier: Apache-2.0
#include "runtime/load/finish.hpp"

#include "kiln/packs/hash.hpp"
#include "runtime/load/cuda_linker.hpp"
#include "runtime/load/first_launch.hpp"
#include "runtime/load/rung_sources.hpp"

namespace kiln::runtime {
namespace {

// Names work on the driver's binary of this variant: 2 asking for it, 3 linking it.
std::uint64_t work_id(packs::VariantRef variant, unsigned what) {
  return packs::xxh3(variant.hash().data(), packs::kDigestSize) ^ what;
}

// Gives the cubin to the driver as the next start will. Why it must not be stored, or empty.
std::string refused(const Loader &loader, packs::VariantRef variant, packs::View cubin) {
  Quarantine &guard = loader.overlay->quarantine();
  const BlobUse given{packs::xxh3(cubin.data, cubin.size), KILN_RUNG_OVERLAY};
  std::string why = guard.quarantined(given);
  if (why.empty()) why = launch_quarantined(guard, given, variant.kernels().size());
  if (!why.empty()) return why;
  int no_marker = 0;
  const bool known = guard.fate(given.id) != Verdict::untried;
  const int slot = known ? -1 : guard.begin(given, loader.deadline_milliseconds, &no_marker);
  const BuildOutcome outcome =
      build_program(*loader.device, loader.context.get(), Form::binary, cubin,
                    std::string(variant.options()), expected_kernels(variant));
  const bool ok = outcome.error.ok();
  if (!known) guard.end(slot, given, ok ? Verdict::proven : Verdict::untried);
  return outcome.error.message;
}

std::string linked(const Loader &loader, packs::VariantRef variant, packs::Bytes *binary) {
  if (is_cubin({binary->data(), binary->size()})) return {};
  Quarantine &guard = loader.overlay->quarantine();
  const BlobUse linking{work_id(variant, 3), kNoLoad};
  if (guard.fate(linking.id) == Verdict::wrong_result) return "an earlier start could not";
  std::string why = guard.quarantined(linking);
  if (!why.empty()) return "the driver's linker died or hung over it";
  int no_marker = 0;
  const int slot = guard.begin(linking, 0, &no_marker);
  packs::Bytes cubin;
  std::string log;
  const Status error = link_cubin({binary->data(), binary->size()},
                                  loader.device->capabilities.compute_capability, &cubin, &log);
  if (error.ok()) why = refused(loader, variant, {cubin.data(), cubin.size()});
  // The same driver would do the same at every start.
  const bool hopeless = error.code == Code::opencl || !why.empty();
  guard.end(slot, linking, hopeless ? Verdict::wrong_result : Verdict::binary_read);
  if (!why.empty()) return why;
  if (!error.ok()) return log.empty() ? error.message : concat({error.message, ": ", log});
  *binary = std::move(cubin);
  return {};
}

// The program once more: PoCL's binary is what it was when it was first asked for, and that of a
// new program holds the code of all launches so far.
std::string made_again(const Loader &loader, packs::VariantRef variant, packs::Bytes *binary) {
  Form form = Form::source;
  Offer offer = offer_source(loader, variant);
  if (!offer.blob) {
    form = Form::il;
    offer = offer_il(loader, variant);
  }
  if (!offer.blob) return "the pack has neither source nor IL to make it of";
  packs::Bytes scratch;
  packs::View bytes;
  const packs::Status status = loader.pack->read_blob(offer.blob, &scratch, &bytes);
  if (!status.ok()) return status.message;
  const BuildOutcome outcome =
      build_program(*loader.device, loader.context.get(), form, bytes,
                    std::string(variant.options()), expected_kernels(variant));
  if (!outcome.error.ok()) return outcome.error.message;
  return own_binary(loader, variant, outcome.built.program.get(), binary);
}

std::string finished_binary(const LoadedProgram &program, packs::Bytes *binary) {
  const Loader &loader = *program.loader;
  if (loader.device->description.finishing == Finishing::launches) {
    return made_again(loader, program.variant, binary);
  }
  std::string why = own_binary(loader, program.variant, program.built.program.get(), binary);
  return why.empty() ? linked(loader, program.variant, binary) : why;
}

}  // namespace

std::string own_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                       packs::Bytes *out) {
  Quarantine &guard = loader.overlay->quarantine();
  const BlobUse asking{work_id(variant, 2), KILN_RUNG_ERROR};
  if (!guard.quarantined(asking).empty()) {
    return "the driver died or hung when it was asked for a binary";
  }
  int no_marker = 0;  // told of by the attempt itself
  const bool known = guard.fate(asking.id) != Verdict::untried;
  const int slot = known ? -1 : guard.begin(asking, loader.deadline_milliseconds, &no_marker);
  const Status error = program_binary(*loader.device, program, out);
  guard.end(slot, asking, Verdict::binary_read);
  if (!error.ok()) return error.message;
  return guard.quarantined({packs::xxh3(out->data(), out->size()), KILN_RUNG_OVERLAY});
}

packs::Finality stored_finality(const Device &device) {
  switch (device.description.finishing) {
    case Finishing::not_needed: return packs::Finality::yes;
    case Finishing::linker:
    case Finishing::launches: return packs::Finality::no;
    default: return packs::Finality::not_launched;
  }
}

void finish_program(LoadedProgram *program) {
  const Loader &loader = *program->loader;
  const bool by_launches = loader.device->description.finishing == Finishing::launches;
  if (by_launches && !program->launched) return;  // nothing to gain yet
  if (!program->to_finish.exchange(false)) return;
  packs::Bytes binary;
  std::string why = finished_binary(*program, &binary);
  const char *variant = program->variant.name().data();
  if (why.empty()) {
    why = loader.overlay->store(program->variant.hash(), {binary.data(), binary.size()},
                                program->name, variant, packs::Finality::yes);
  }
  const std::string text = why.empty()
                               ? "the finished binary was stored in the overlay"
                               : concat({"the binary was not finished for the overlay: ", why});
  notify(loader, {why.empty() ? KILN_NOTICE_STORED : KILN_NOTICE_NOT_STORED, KILN_RUNG_OVERLAY,
                  why.empty() ? KILN_OUTCOME_LOADED : KILN_OUTCOME_FAILED, program->name.c_str(),
                  variant, text.c_str(), 0});
}

}  // namespace kiln::runtime
