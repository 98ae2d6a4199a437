// SPDX-License-Identifier: Apache-2.0
// Which devices of a fleet still compile, why, and what to build next.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/fleet/report/inventory.hpp"
#include "builder/fleet/report/match.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct FleetPack {
  std::string path;
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
};

struct FleetWeight {
  std::uint64_t devices = 0;
  std::uint64_t starts = 0;

  void add(const FleetDevice &device);
};

// Weights by what the worst of a device's programs is loaded from. A program none of whose variants
// the device can run counts only if that is so for every program.
using FleetShares = std::array<FleetWeight, kFleetLoads>;

// A model with a driver, and what it loads.
struct FleetPair {
  FleetDevice device;
  FleetLoad load = FleetLoad::none;                         // of the worst program
  std::vector<std::pair<std::string, FleetLoad>> programs;  // those that are not exact
};

// A binary key with programs that are not exact. Several models may have one key.
struct FleetGap {
  std::uint64_t key_hash = 0;
  std::string device;    // label of the most frequent model
  std::string products;  // and SoCs, as far as Kiln knows them
  std::size_t models = 0;
  FleetLoad load = FleetLoad::none;
  FleetWeight gain;
  std::map<std::string, FleetLoad> programs;
  bool is_described = false;    // false: only the key's hash is known
  std::string command;          // to run on a host with such a device
  std::string virtual_command;  // empty: no virtual device is known to make its binaries
  std::string virtual_needs;    // "Mesa 25.0.7"; may be empty
};

struct UnusedPart {
  std::string pack, name;
  std::uint64_t key_hash = 0;  // 0: a program
  std::uint64_t bytes = 0;     // as stored, without what other targets or programs share
};

struct DriverReports {
  std::uint64_t loads = 0, compiled = 0, deaths = 0, refusals = 0;
  Durations first_results;
};

// What an earlier report said of all devices.
struct EarlierReport {
  std::string name;  // of its file, without folder and ending
  FleetShares shares{};
};

struct FleetReport {
  FleetWeight all;
  FleetShares shares{};
  std::map<std::string, FleetShares> profiles, models, drivers;
  std::vector<FleetPair> pairs;  // the worst first
  std::vector<FleetGap> gaps;    // the largest gain first: devices, then starts
  std::vector<UnusedPart> unused_targets;
  std::vector<UnusedPart> unused_programs;  // only if there are report lines
  std::size_t programs = 0;
  std::map<std::string, DriverReports> reports;  // by driver
  std::vector<EarlierReport> earlier;            // the oldest first, as the caller ordered them
  std::uint64_t lines = 0, faults = 0;
  std::vector<std::string> first_faults;

  // Returns the percentage of devices that load every program from an exact binary.
  double exact_percent() const;
};

// Makes the report. Completes the rows of `fleet` by identities of the packs' targets. Fails with
// Code::bad_input if the inventories have no device, and as measure_pack() does.
Result<FleetReport> make_fleet_report(Fleet fleet, const std::vector<FleetPack> &packs);

// Reads what fleet_report_json() gave. Fails with Code::bad_input, the file named.
Result<EarlierReport> read_earlier_report(const std::string &path);

// Returns a line for each of the largest gaps, at most `most`, with the commands that fill it.
std::string gaps_text(const FleetReport &report, std::size_t most);
// Returns the report for people, names as from printable_line().
std::string fleet_report_text(const FleetReport &report);
// Returns the report with all pairs and gaps, schema 1.
nlohmann::json fleet_report_json(const FleetReport &report);
// Returns the report as one page of HTML, which fetches nothing.
std::string fleet_report_page(const FleetReport &report);

}  // namespace kiln::builder
