// SPDX-License-Identifier: Apache-2.0
// Asks the rungs for their offers, as runtime/load/ladder.cpp does, for devices that are described
// and not opened.
#include "builder/fleet/report/match.hpp"

#include <algorithm>

#include "runtime/load/tuning.hpp"

namespace kiln::builder {
namespace {

using packs::VariantRef;

bool offers(const runtime::Rung &rung, const runtime::Wanted &wanted) {
  if (!is_listed(rung, *wanted.loader.device) || !may_try(rung, wanted).ok()) return false;
  const auto all = offers_of(rung, wanted);
  return std::any_of(all.begin(), all.end(), [](const auto &offer) { return bool(offer); });
}

// Without capabilities neither requirements nor compilers can be judged: only the target's binaries
// tell, since they were built for such a device.
FleetLoad load_by_identity(const runtime::Loader &loader, const std::string &program) {
  packs::ProgramRef found;
  if (!loader.pack->find_program(program, &found).ok() || !found) return FleetLoad::unknown;
  for (const VariantRef variant : found.variants()) {
    if (offers(*runtime::find_rung(KILN_RUNG_EXACT), {loader, program, variant})) {
      return FleetLoad::exact;
    }
  }
  return FleetLoad::unknown;
}

}  // namespace

FleetLoad load_from(const runtime::Rung &rung) {
  return static_cast<FleetLoad>(&rung - runtime::find_rung(KILN_RUNG_EXACT));
}

const char *fleet_load_name(FleetLoad load) {
  if (load == FleetLoad::unknown) return "unknown";
  if (load == FleetLoad::none) return "none";
  return runtime::find_rung(KILN_RUNG_EXACT)[static_cast<std::size_t>(load)].name;
}

ProgramLoad load_of(const std::shared_ptr<const packs::Pack> &pack, const std::string &program,
                    const std::shared_ptr<const DescribedDevice> &device) {
  runtime::Loader loader;
  loader.device = {device, &device->device};
  loader.pack = pack;
  loader.notes = runtime::known_driver_notes(device->device.identity, device->device.description);
  runtime::select_known_bad(&loader);
  if (!device->has_capabilities) return {load_by_identity(loader, program)};
  std::vector<VariantRef> failed;
  for (;;) {
    runtime::Choice choice;
    if (!runtime::choose_variant(*pack, device->device, program, {}, packs::SizeClass::large,
                                 failed, &choice)
             .ok()) {
      return {FleetLoad::none, !failed.empty()};
    }
    for (const runtime::Rung &rung : runtime::rungs()) {
      if (offers(rung, {loader, program, choice.variant})) return {load_from(rung)};
    }
    failed.push_back(choice.variant);
  }
}

std::shared_ptr<const DescribedDevice> device_of(const packs::Target &target) {
  auto made = std::make_shared<DescribedDevice>();
  runtime::Device &device = made->device;
  for (const auto &[name, value] : target.identity) {
    if (const auto field = runtime::field_from_name(name)) device.identity.set(*field, value);
  }
  device.description = runtime::describe(device.identity);
  if (const auto key = runtime::parse_facts(target.key)) {
    device.description.key = runtime::BinaryKey(*key);
  }
  device.capabilities.profile = device.description.profile;
  device.capabilities.compute_capability =
      runtime::compute_capability_of(device.description.key.facts());
  return made;
}

}  // namespace kiln::builder
