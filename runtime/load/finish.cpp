// SPDX-License-Identifier: Apache-2.0
// Asks for the binary, links or builds it again, tries it as the next start will, and stores it.
#include "runtime/load/finish.hpp"

#include "kiln/packs/hash.hpp"
#include "runtime/load/cuda_linker.hpp"
#include "runtime/load/first_launch.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::runtime {
namespace {

// Names work on the driver's binary of this variant: 2 asking for it, 3 linking it.
std::uint64_t work_id(packs::VariantRef variant, unsigned what) {
  return packs::xxh3(variant.hash().data(), packs::kDigestSize) ^ what;
}

// Gives the cubin to the driver as the next start will. One that fails must not be stored.
Status try_cubin(const Loader &loader, packs::VariantRef variant, packs::View cubin) {
  Quarantine &guard = loader.overlay->quarantine();
  const BlobUse given{packs::xxh3(cubin.data, cubin.size), KILN_RUNG_OVERLAY};
  if (Status s = guard.check(given); !s.ok()) return s;
  if (Status s = check_launches(guard, given, variant.kernels().size()); !s.ok()) return s;
  Guarded guarded(&guard, given, loader.deadline_milliseconds);
  BuildOutcome outcome = build_program(*loader.device, loader.context.get(), Form::binary, cubin,
                                       variant.options(), expected_kernels(variant));
  // A binary that the driver is known to recompile stays known for that.
  if (outcome.error.ok() && !is_known(guard.fate(given.id))) guarded.end(Verdict::proven);
  return std::move(outcome.error);
}

// Replaces PTX by the cubin that the driver's linker makes of it.
Status link_binary(const Loader &loader, packs::VariantRef variant, packs::Bytes *binary) {
  const packs::View ptx{binary->data(), binary->size()};
  if (is_cubin(ptx)) return {};
  Quarantine &guard = loader.overlay->quarantine();
  const BlobUse linking{work_id(variant, 3), kNoLoad};
  if (guard.fate(linking.id) == Verdict::wrong_result) {
    return Status::error(Code::failed, "an earlier start could not");
  }
  if (!guard.check(linking).ok()) {
    return Status::error(Code::failed, "the driver's linker died or hung over it");
  }
  Guarded guarded(&guard, linking, 0);
  packs::Bytes cubin;
  std::string log;
  Status status = link_cubin(ptx, loader.device->capabilities.compute_capability, &cubin, &log);
  if (!status.ok() && !log.empty()) status.message = concat({status.message, ": ", log});
  // The same driver would do the same at every start.
  bool hopeless = status.code == Code::opencl;
  if (status.ok()) {
    status = try_cubin(loader, variant, {cubin.data(), cubin.size()});
    hopeless = !status.ok();
  }
  if (hopeless) guarded.end(Verdict::wrong_result);
  if (status.ok()) guarded.end(Verdict::binary_read);
  if (status.ok()) *binary = std::move(cubin);
  return status;
}

// The program once more: PoCL's binary is what it was when it was first asked for, and that of a
// new program holds the code of all launches so far.
Status build_again(const Loader &loader, packs::VariantRef variant, packs::Bytes *binary) {
  const Wanted wanted{loader, variant};
  Form form = Form::source;
  Offer offer = offer_source(wanted).front();
  if (!offer) {
    form = Form::il;
    offer = offer_il(wanted).front();
  }
  if (!offer) {
    return Status::error(Code::failed, "the pack has neither source nor IL to make it of");
  }
  packs::Bytes scratch;
  packs::View bytes;
  if (Status s = loader.pack->read_blob(offer.blob, &scratch, &bytes); !s.ok()) return s;
  BuildOutcome outcome =
      build_program(*loader.device, loader.context.get(), form, bytes,
                    concat({variant.options(), loader.notes.options}), expected_kernels(variant));
  if (!outcome.error.ok()) return std::move(outcome.error);
  return own_binary(loader, variant, outcome.built.program.get(), binary);
}

Status finished_binary(const LoadedProgram &program, packs::Bytes *binary) {
  const Loader &loader = *program.loader;
  if (loader.device->description.finishing == Finishing::launches) {
    return build_again(loader, program.variant, binary);
  }
  const Status status = own_binary(loader, program.variant, program.built.program.get(), binary);
  return status.ok() ? link_binary(loader, program.variant, binary) : status;
}

}  // namespace

Status ask_for_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                      packs::Bytes *out) {
  if ((loader.notes.flags & KILN_DRIVER_NEVER_ASK) != 0) {
    return Status::error(Code::failed, "a driver note: never ask it for binaries");
  }
  if (loader.overlay == nullptr) return program_binary(*loader.device, program, out);
  Quarantine &guard = loader.overlay->quarantine();
  const BlobUse asking{work_id(variant, 2), KILN_RUNG_ERROR};
  if (!guard.check(asking).ok()) {
    return Status::error(Code::failed, "the driver died or hung when it was asked for a binary");
  }
  Guarded guarded(&guard, asking, loader.deadline_milliseconds);
  Status status = program_binary(*loader.device, program, out);
  guarded.end(Verdict::binary_read);
  return status;
}

Status own_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                  packs::Bytes *out) {
  if (Status s = ask_for_binary(loader, variant, program, out); !s.ok()) return s;
  return loader.overlay->quarantine().check(
      {packs::xxh3(out->data(), out->size()), KILN_RUNG_OVERLAY});
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
  Status status = finished_binary(*program, &binary);
  const char *variant = program->variant.name().data();
  if (status.ok()) {
    status = loader.overlay->store(program->variant.hash(), {binary.data(), binary.size()},
                                   program->name, variant, packs::Finality::yes);
  }
  const std::string text =
      status.ok() ? "the finished binary was stored in the overlay"
                  : concat({"the binary was not finished for the overlay: ", status.message});
  notify(loader, {status.ok() ? KILN_NOTICE_STORED : KILN_NOTICE_NOT_STORED, KILN_RUNG_OVERLAY,
                  status.ok() ? KILN_OUTCOME_LOADED : KILN_OUTCOME_FAILED, program->name.c_str(),
                  variant, text.c_str(), 0});
}

}  // namespace kiln::runtime
