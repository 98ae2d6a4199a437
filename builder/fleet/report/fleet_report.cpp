// SPDX-License-Identifier: Apache-2.0
// Evaluates each different device once, and sums up by profile, model, driver and key.
#include "builder/fleet/report/fleet_report.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "builder/fleet/report/fill_command.hpp"
#include "builder/fleet/report/target_use.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/pack_sizes.hpp"
#include "builder/machine/device_info.hpp"
#include "kiln/packs/bytes.hpp"

namespace kiln::builder {
namespace {

using Described = std::shared_ptr<const DescribedDevice>;
using ProgramLoads = std::map<std::string, FleetLoad>;  // without those the device cannot run

// Gives rows the identity of the pack's target with their key. A row's own identity may differ in
// bytes that are not UTF-8, which no JSON can hold: then the target's key counts.
void use_targets(const std::vector<FleetPack> &packs, Fleet *fleet) {
  std::unordered_map<std::uint64_t, Described> targets;
  for (const FleetPack &pack : packs) {
    for (const packs::Target &target : pack.contents.targets) {
      auto &place = targets[packs::xxh3(target.key)];
      if (!place) place = device_of(target);
    }
  }
  std::map<std::pair<const DescribedDevice *, std::uint64_t>, Described> corrected;
  for (FleetDevice &row : fleet->devices) {
    const auto found = targets.find(row.key_hash);
    if (found == targets.end()) continue;
    if (!row.described) {
      row.described = found->second;
      name_row(&row);
    } else if (row.described->device.key().hash() != row.key_hash) {
      Described &place = corrected[{row.described.get(), row.key_hash}];
      if (!place) {
        auto made = std::make_shared<DescribedDevice>(*row.described);
        made->device.description.key = found->second->device.key();
        place = std::move(made);
      }
      row.described = place;
    }
  }
}

class Matcher {
 public:
  explicit Matcher(const std::vector<FleetPack> &packs) {
    for (const FleetPack &pack : packs) {
      has_tunings_ = has_tunings_ || !pack.contents.tunings.empty();
      for (const packs::Program &program : pack.contents.programs) {
        programs_[program.name].push_back(&pack);
      }
    }
  }

  std::size_t programs() const { return programs_.size(); }

  // Returns what the device loads each program from: the best of the packs.
  const ProgramLoads &loads_of(const Described &device) {
    const auto [at, is_new] = known_.try_emplace(device ? likeness_of(*device) : std::string());
    if (!is_new) return at->second;
    for (const auto &[program, packs] : programs_) {
      ProgramLoad best{device ? FleetLoad::none : FleetLoad::unknown, !device};
      for (const FleetPack *pack : packs) {
        if (!device) break;
        const ProgramLoad load = load_of(pack->pack, program, device);
        if (!load.is_for_device) continue;
        best.load = best.is_for_device ? std::min(best.load, load.load) : load.load;
        best.is_for_device = true;
      }
      if (best.is_for_device) at->second.emplace(program, best.load);
    }
    return at->second;
  }

  // Returns a pack that a build of one of these programs can begin with; null if there is none.
  const FleetPack *pack_for(const std::map<std::string, FleetLoad> &programs) const {
    for (const auto &program : programs) {
      for (const FleetPack *pack : programs_.at(program.first)) {
        if (can_build(*pack, program.first)) return pack;
      }
    }
    return nullptr;
  }

 private:
  // Returns what decides the loads of a device: models count only where packs have measurements.
  std::string likeness_of(const DescribedDevice &described) const {
    const runtime::Device &device = described.device;
    std::string text = device.key().text() + device.identity.text(runtime::Field::driver_version);
    if (has_tunings_) text += device.description.family + "\n" + device.description.model + "\n";
    if (!described.has_capabilities) return text;
    const nlohmann::json capabilities = device.capabilities;
    return text + capabilities.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

  static bool can_build(const FleetPack &pack, const std::string &name) {
    for (const packs::Program &program : pack.contents.programs) {
      if (program.name != name) continue;
      return std::any_of(program.variants.begin(), program.variants.end(),
                         [](const auto &v) { return v.source || v.il32 || v.il64; });
    }
    return false;
  }

  std::map<std::string, std::vector<const FleetPack *>> programs_;
  bool has_tunings_ = false;
  std::unordered_map<std::string, ProgramLoads> known_;  // by likeness_of()
};

FleetPair pair_of(const FleetDevice &device, const ProgramLoads &loads) {
  FleetPair pair{device, loads.empty() ? FleetLoad::none : FleetLoad::exact, {}};
  for (const auto &[program, load] : loads) {
    pair.load = std::max(pair.load, load);
    if (load != FleetLoad::exact) pair.programs.emplace_back(program, load);
  }
  return pair;
}

std::string driver_of(const FleetDevice &device) {
  if (device.driver.empty()) return device.profile;
  return device.profile.empty() ? device.driver : device.profile + " " + device.driver;
}

bool gains_more(const FleetWeight &a, const FleetWeight &b) {
  return std::tie(a.devices, a.starts) > std::tie(b.devices, b.starts);
}

void set_commands(const Matcher &matcher, const FleetDevice &device, FleetGap *gap) {
  gap->device = device.label();
  gap->is_described = device.described != nullptr;
  const VirtualWord virtual_word = virtual_word_of(device);
  gap->products = virtual_word.products;
  if (gap->load == FleetLoad::unknown) {
    gap->command = "kiln devices --json";
    return;
  }
  const FleetPack *pack = matcher.pack_for(gap->programs);
  if (pack == nullptr) return;
  gap->command = device_command(pack->path, device);
  if (virtual_word.word.empty()) return;
  gap->virtual_command = virtual_command(pack->path, device, virtual_word.word);
  gap->virtual_needs = virtual_word.needs;
}

void add_gaps(const Matcher &matcher, FleetReport *report) {
  struct Seen {
    FleetGap gap;
    std::set<std::string> models;
    const FleetDevice *most = nullptr;
  };
  std::map<std::uint64_t, Seen> gaps;
  for (const FleetPair &pair : report->pairs) {
    if (pair.load == FleetLoad::exact) continue;
    Seen &seen = gaps[pair.device.key_hash];
    seen.gap.load = seen.most == nullptr ? pair.load : std::max(seen.gap.load, pair.load);
    seen.gap.gain.add(pair.device);
    seen.models.insert(pair.device.model);
    for (const auto &[program, load] : pair.programs) {
      const auto at = seen.gap.programs.try_emplace(program, load).first;
      at->second = std::max(at->second, load);
    }
    if (seen.most == nullptr || pair.device.devices > seen.most->devices) {
      seen.most = &pair.device;
    }
  }
  for (auto &[key_hash, seen] : gaps) {
    seen.gap.key_hash = key_hash;
    seen.gap.models = seen.models.size();
    set_commands(matcher, *seen.most, &seen.gap);
    report->gaps.push_back(std::move(seen.gap));
  }
  std::stable_sort(report->gaps.begin(), report->gaps.end(),
                   [](const FleetGap &a, const FleetGap &b) { return gains_more(a.gain, b.gain); });
}

// Adds the targets that no device takes, and the programs that no report names.
Status add_unused(const Fleet &fleet, const FleetPack &pack, FleetReport *report) {
  const auto sizes = measure_pack(*pack.pack, pack.contents, pack.pack->superblock().pack_size);
  if (!sizes.ok()) return {sizes.status().code, pack.path + ": " + sizes.status().message};
  const InventoryMatch match = match_inventory(pack.contents, fleet.devices);
  for (std::size_t i = 0; i < match.uses.size(); ++i) {
    if (!match.uses[i].empty()) continue;
    const TargetSizes &target = sizes->targets[i];
    report->unused_targets.push_back(
        {pack.path, target.label, packs::xxh3(target.key), target.section + target.own.stored});
  }
  if (fleet.programs.empty()) return {};
  for (const ProgramSizes &program : sizes->programs) {
    if (fleet.programs.contains(packs::xxh3(program.name))) continue;
    std::uint64_t bytes = 0;
    for (const BlobSizes &own : program.own) bytes += own.stored;
    report->unused_programs.push_back({pack.path, program.name, 0, bytes});
  }
  return {};
}

void add_reports(const Fleet &fleet, FleetReport *report) {
  std::unordered_map<std::uint64_t, std::string> drivers;
  for (const FleetDevice &row : fleet.devices) drivers.emplace(row.key_hash, driver_of(row));
  for (const ReportedDevice &row : fleet.reports) {
    const auto found = drivers.find(row.key_hash);
    std::string driver = found == drivers.end() ? row.name : found->second;
    if (driver.empty()) driver = "unknown";
    DriverReports &sums = report->reports[driver];
    sums.loads += row.loads;
    sums.compiled += row.compiled;
    sums.deaths += row.deaths;
    sums.refusals += row.refusals;
    sums.first_results.add(row.first_results);
  }
}

void sort_unused(std::vector<UnusedPart> *parts) {
  std::stable_sort(parts->begin(), parts->end(),
                   [](const UnusedPart &a, const UnusedPart &b) { return a.bytes > b.bytes; });
}

}  // namespace

void FleetWeight::add(const FleetDevice &device) {
  devices += device.devices;
  starts += device.starts;
}

double FleetReport::exact_percent() const {
  const auto exact = static_cast<double>(shares[0].devices);
  return 100 * exact / static_cast<double>(all.devices);
}

Result<FleetReport> make_fleet_report(Fleet fleet, const std::vector<FleetPack> &packs) {
  complete_rows(&fleet);
  use_targets(packs, &fleet);
  FleetReport report;
  Matcher matcher(packs);
  report.programs = matcher.programs();
  report.lines = fleet.lines;
  report.faults = fleet.faults;
  report.first_faults = fleet.first_faults;
  for (const FleetDevice &device : fleet.devices) {
    const FleetPair pair = pair_of(device, matcher.loads_of(device.described));
    const auto load = static_cast<std::size_t>(pair.load);
    report.all.add(device);
    report.shares[load].add(device);
    report.profiles[device.profile][load].add(device);
    report.models[device.model][load].add(device);
    report.drivers[driver_of(device)][load].add(device);
    report.pairs.push_back(pair);
  }
  if (report.all.devices == 0) {
    return Status(Code::bad_input, "the inventories have no device");
  }
  std::stable_sort(report.pairs.begin(), report.pairs.end(),
                   [](const FleetPair &a, const FleetPair &b) {
                     const bool a_done = a.load == FleetLoad::exact;
                     const bool b_done = b.load == FleetLoad::exact;
                     if (a_done != b_done) return b_done;
                     return std::tie(a.device.devices, a.device.starts) >
                            std::tie(b.device.devices, b.device.starts);
                   });
  add_gaps(matcher, &report);
  for (const FleetPack &pack : packs) {
    if (Status s = add_unused(fleet, pack, &report); !s.ok()) return s;
  }
  sort_unused(&report.unused_targets);
  sort_unused(&report.unused_programs);
  add_reports(fleet, &report);
  return report;
}

}  // namespace kiln::builder
