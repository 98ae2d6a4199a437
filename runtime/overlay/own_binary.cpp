// SPDX-License-Identifier: Apache-2.0
// Stores the driver's own binary of a program that this device had to compile: asks for it behind a
// marker, finishes it as the vendor's profile says, tries it as the next start will, and stores it.
#include "kiln/packs/bytes.hpp"
#include "runtime/load/report.hpp"
#include "runtime/load/rungs.hpp"
#include "runtime/overlay/cuda_linker.hpp"
#include "runtime/overlay/overlay.hpp"

namespace kiln::runtime {
namespace {

// Returns the finality of a stored binary that was never launched from the overlay.
packs::Finality stored_finality(const Device &device) {
  switch (device.description.finishing) {
    case Finishing::not_needed: return packs::Finality::yes;
    case Finishing::linker:
    case Finishing::launches: return packs::Finality::no;
    default: return packs::Finality::not_launched;
  }
}

// Gets the driver's own binary of a program; also fails if the binary must not be stored.
Status own_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                  packs::Bytes *out) {
  if (Status s = ask_for_binary(loader, variant, program, out); !s.ok()) return s;
  const Checked checked =
      loader.persistence->check({packs::xxh3(out->data(), out->size()), KILN_RUNG_OVERLAY}, {});
  return checked ? Status() : Status::error(Code::failed, checked.reason);
}

// Gives the cubin to the driver as the next start will. A cubin that fails must not be stored.
Status try_cubin(const Loader &loader, packs::VariantRef variant, packs::View cubin) {
  Persistence *persistence = loader.persistence.get();
  const DriverTask given{packs::xxh3(cubin.data, cubin.size), KILN_RUNG_OVERLAY};
  const Checked checked = persistence->check(given, {variant.kernels().size()});
  if (!checked) return Status::error(Code::failed, checked.reason);
  Attempt attempt(persistence, given, loader.deadline_milliseconds);
  BuildOutcome outcome = build_program(*loader.device, loader.context.get(), Form::binary, cubin,
                                       variant.options(), expected_kernels(variant));
  // What the driver is known to recompile stays so.
  if (outcome.error.ok() && !survived(checked.last)) attempt.end(Event::proven);
  return std::move(outcome.error);
}

// Replaces PTX by the cubin that the driver's linker makes from it.
Status link_binary(const Loader &loader, packs::VariantRef variant, packs::Bytes *binary) {
  const packs::View ptx{binary->data(), binary->size()};
  if (is_cubin(ptx)) return {};
  Persistence *persistence = loader.persistence.get();
  const DriverTask linking{task_id(variant.hash(), BinaryTask::link)};
  const Checked checked = persistence->check(linking, {});
  if (checked.last == Event::not_linked) {
    return Status::error(Code::failed, "an earlier start could not");
  }
  if (!checked) {
    return Status::error(Code::failed, "the driver's linker died or hung over it");
  }
  Attempt attempt(persistence, linking, 0);
  packs::Bytes cubin;
  std::string log;
  Status status = link_cubin(ptx, loader.device->capabilities.compute_capability, &cubin, &log);
  if (!status.ok() && !log.empty()) status.message = concat({status.message, ": ", log});
  // The same driver would fail again at every start.
  bool hopeless = status.code == Code::opencl;
  if (status.ok()) {
    status = try_cubin(loader, variant, {cubin.data(), cubin.size()});
    hopeless = !status.ok();
  }
  if (hopeless) attempt.end(Event::not_linked);
  if (status.ok()) attempt.end(Event::given);
  if (status.ok()) *binary = std::move(cubin);
  return status;
}

// Builds the program once more: PoCL's binary stays as it was when it was first asked for, while
// the binary of a new program holds the code of all launches so far. One marker covers the build
// and the question for the binary, since PoCL compiles in both.
Status build_again(const LoadedProgram &program, packs::Bytes *binary) {
  const Loader &loader = *program.loader;
  const packs::VariantRef variant = program.variant;
  const DriverTask building{task_id(variant.hash(), BinaryTask::build_again)};
  if (!loader.persistence->check(building, {})) {
    return Status::error(Code::failed, "the driver died or hung when it built the program again");
  }
  const Wanted wanted{loader, program.name, variant};
  Offer offer;
  const Rung *rung = lowest_offering(wanted, &offer);
  if (rung == nullptr) {
    return Status::error(Code::failed, "the pack has neither source nor IL to make it of");
  }
  packs::Bytes scratch;
  packs::View bytes;
  if (Status s = loader.pack->read_blob(offer.blob, &scratch, &bytes); !s.ok()) return s;
  Attempt attempt(loader.persistence.get(), building, loader.deadline_milliseconds);
  BuildOutcome outcome =
      build_program(*loader.device, loader.context.get(), rung->form, bytes,
                    concat({variant.options(), loader.notes.options}), expected_kernels(variant));
  if (!outcome.error.ok()) return std::move(outcome.error);
  Status status = own_binary(loader, variant, outcome.built.program.get(), binary);
  if (status.ok()) attempt.end(Event::given);
  return status;
}

Status finished_binary(const LoadedProgram &program, packs::Bytes *binary) {
  const Loader &loader = *program.loader;
  if (loader.device->description.finishing == Finishing::launches) {
    return build_again(program, binary);
  }
  const Status status = own_binary(loader, program.variant, program.built.program.get(), binary);
  return status.ok() ? link_binary(loader, program.variant, binary) : status;
}

// Tells the application whether the binary was stored. `unstored` is the notice's outcome if it was
// not; `done` and `failed` are sentences.
std::string notify_stored(const LoadedProgram &program, kiln_rung rung, const Status &status,
                          kiln_outcome unstored, const char *done, const char *failed) {
  std::string text = status.ok() ? done : concat({failed, ": ", status.message});
  notify(*program.loader, {status.ok() ? KILN_NOTICE_STORED : KILN_NOTICE_NOT_STORED, rung,
                           status.ok() ? KILN_OUTCOME_LOADED : unstored, program.name.c_str(),
                           program.variant.name().data(), text.c_str(), 0});
  return text;
}

}  // namespace

void Overlay::store(LoadedProgram *program, Report *report) {
  report == nullptr ? finish(program) : keep(program, report);
}

void Overlay::keep(LoadedProgram *program, Report *report) {
  const Finishing finishing = program->loader->device->description.finishing;
  program->to_finish = report->final != KILN_FINAL_YES &&
                       (finishing == Finishing::linker || finishing == Finishing::launches);
  const bool compiled = find_rung(report->rung)->form != Form::binary;
  if (!compiled && !report->recompiled.value_or(false)) return;
  if (report->rung == KILN_RUNG_OVERLAY) {
    // Once: some drivers recompile even their own binary, at every start.
    const DriverTask healing{task_id(program->variant.hash(), BinaryTask::heal), KILN_RUNG_OVERLAY};
    const Event before = markers_.history(healing).last;
    // Earlier versions recorded this as a binary that was given.
    if (before == Event::healed || before == Event::given) return;
    markers_.record(healing, Event::healed);
  }
  if (finishing == Finishing::launches) {  // such a driver compiles when it is asked for a binary
    program->to_store = true;
    return;
  }
  report->notes.push_back(store_plain(*program, report->rung));
}

Status Overlay::store_loaded(const LoadedProgram &program, packs::View binary,
                             packs::Finality finality) const {
  const packs::VariantRef variant = program.variant;
  std::string_view ignored;
  const unsigned left_out =
      known_bad_rungs(*program.loader, program.name, variant, packs::kAllRungs, &ignored);
  return store_binary(variant.hash(), left_out, binary, program.name, std::string(variant.name()),
                      finality);
}

std::string Overlay::store_plain(const LoadedProgram &program, kiln_rung rung) {
  const Loader &loader = *program.loader;
  packs::Bytes binary;
  Status status = own_binary(loader, program.variant, program.built.program.get(), &binary);
  if (status.ok()) {
    status = store_loaded(program, {binary.data(), binary.size()}, stored_finality(*loader.device));
  }
  return notify_stored(program, rung, status, KILN_OUTCOME_LOADED,
                       "the driver's binary was stored in the overlay",
                       "the driver's binary was not stored in the overlay");
}

void Overlay::finish(LoadedProgram *program) {
  const Loader &loader = *program->loader;
  const bool by_launches = loader.device->description.finishing == Finishing::launches;
  const bool stores = program->to_store.exchange(false);
  if (by_launches && !program->launched) {  // its binary cannot be made final yet
    if (stores) (void)store_plain(*program, KILN_RUNG_OVERLAY);
    return;
  }
  if (!program->to_finish.exchange(false)) return;
  packs::Bytes binary;
  Status status = finished_binary(*program, &binary);
  if (status.ok()) {
    status = store_loaded(*program, {binary.data(), binary.size()}, packs::Finality::yes);
  }
  (void)notify_stored(*program, KILN_RUNG_OVERLAY, status, KILN_OUTCOME_FAILED,
                      "the finished binary was stored in the overlay",
                      "the binary was not finished for the overlay");
  if (stores && !status.ok()) (void)store_plain(*program, KILN_RUNG_OVERLAY);
}

}  // namespace kiln::runtime
