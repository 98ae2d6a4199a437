// SPDX-License-Identifier: Apache-2.0
// Selects the notes about a driver, notifies the application, and lists the kernels that a build
// must have.
#include "runtime/load/loader.hpp"

#include "kiln/packs/find_rows.hpp"
#include "runtime/identity/note_match.hpp"

namespace kiln::runtime {
namespace {

const kiln_driver_note kNotes[] = {
    // It writes a new binary whenever it is asked.
    {sizeof(kiln_driver_note), "Oclgrind", nullptr, nullptr, KILN_DRIVER_NEVER_COMPARE, nullptr},
};

bool is_about(const kiln_driver_note &note, const Identity &identity,
              const Description &description) {
  const std::string_view who = note.who == nullptr ? "" : note.who;
  return (who.empty() || who == description.profile ||
          who == identity.text(Field::platform_name)) &&
         is_between(identity.text(Field::driver_version), note.from == nullptr ? "" : note.from,
                    note.below == nullptr ? "" : note.below);
}

}  // namespace

void add_driver_note(const kiln_driver_note &note, const Identity &identity,
                     const Description &description, DriverNotes *out) {
  if (!is_about(note, identity, description)) return;
  out->flags |= note.flags;
  if (note.options != nullptr) out->options.append(" ").append(note.options);
}

DriverNotes known_driver_notes(const Identity &identity, const Description &description) {
  DriverNotes notes;
  for (const kiln_driver_note &note : kNotes) add_driver_note(note, identity, description, &notes);
  return notes;
}

void select_known_bad(Loader *loader) {
  const Device &device = *loader->device;
  const packs::KnownBadRefs notes = packs::known_bad(*loader->pack);
  for (std::uint32_t i = 0; i < notes.size(); ++i) {
    if (fits_device(packs::texts_of(*loader->pack, notes[i]), device.identity,
                    device.description)) {
      loader->known_bad.push_back(i);
    }
  }
}

unsigned known_bad_rungs(const Loader &loader, std::string_view program, packs::VariantRef variant,
                         unsigned rungs, std::string_view *reason) {
  unsigned found = 0;
  for (const std::uint32_t i : loader.known_bad) {
    const packs::KnownBadRef note = packs::known_bad(*loader.pack)[i];
    if ((note.rungs() & rungs & ~found) == 0) continue;
    const packs::NoteView texts = packs::texts_of(*loader.pack, note);
    if (!fits_variant(texts, program, variant.name(), variant.kernels(),
                      [](packs::KernelRef kernel) { return kernel.name(); })) {
      continue;
    }
    found |= note.rungs() & rungs;
    *reason = texts[packs::NoteText::reason];
  }
  return found;
}

void notify(const Loader &loader, const kiln_notice &notice) {
  if (loader.notice != nullptr) loader.notice(&notice, loader.notice_user);
}

Status ask_for_binary(const Device &device, const DriverNotes &notes, Persistence *persistence,
                      std::uint32_t deadline, const packs::Digest &variant, cl_program program,
                      packs::Bytes *out) {
  if ((notes.flags & KILN_DRIVER_NEVER_ASK) != 0) {
    return Status::error(Code::failed, "a driver note: never ask it for binaries");
  }
  const DriverTask asking{task_id(variant, BinaryTask::ask), KILN_RUNG_ERROR};
  if (persistence != nullptr && !persistence->check(asking, {})) {
    return Status::error(Code::failed, "the driver died or hung when it was asked for a binary");
  }
  Attempt attempt(persistence, asking, deadline);
  Status status = program_binary(device, program, out);
  attempt.end(Event::given);
  return status;
}

Status ask_for_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                      packs::Bytes *out) {
  return ask_for_binary(*loader.device, loader.notes, loader.persistence.get(),
                        loader.deadline_milliseconds, variant.hash(), program, out);
}

std::vector<ExpectedKernel> expected_kernels(packs::VariantRef variant) {
  std::vector<ExpectedKernel> kernels;
  for (const packs::KernelRef kernel : variant.kernels()) {
    kernels.push_back({std::string(kernel.name()), kernel.arguments()});
  }
  return kernels;
}

}  // namespace kiln::runtime
