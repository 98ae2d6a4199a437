// SPDX-License-Identifier: Apache-2.0
// Which notes are about a driver, telling the application, and what a build is checked by.
#include "runtime/load/loader.hpp"

#include "kiln/packs/text.hpp"

namespace kiln::runtime {
namespace {

const kiln_driver_note kNotes[] = {
    // It writes its binary anew whenever it is asked.
    {sizeof(kiln_driver_note), "Oclgrind", nullptr, nullptr, KILN_DRIVER_NEVER_COMPARE, nullptr},
};

bool is_about(const kiln_driver_note &note, const Identity &identity,
              const Description &description) {
  const std::string_view who = note.who == nullptr ? "" : note.who;
  const std::string &version = identity.text(Field::driver_version);
  return (who.empty() || who == description.profile ||
          who == identity.text(Field::platform_name)) &&
         (note.from == nullptr || packs::compare_versions(version, note.from) >= 0) &&
         (note.below == nullptr || packs::compare_versions(version, note.below) < 0);
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

void notify(const Loader &loader, const kiln_notice &notice) {
  if (loader.notice != nullptr) loader.notice(&notice, loader.notice_user);
}

std::vector<ExpectedKernel> expected_kernels(packs::VariantRef variant) {
  std::vector<ExpectedKernel> kernels;
  for (const packs::KernelRef kernel : variant.kernels()) {
    kernels.push_back({std::string(kernel.name()), kernel.arguments()});
  }
  return kernels;
}

}  // namespace kiln::runtime
