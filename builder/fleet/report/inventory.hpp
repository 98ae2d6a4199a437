// SPDX-License-Identifier: Apache-2.0
// Reads a fleet's inventories and reports, JSON files of millions of lines. Keeps only sums.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// What is known of one kind of device. Immutable.
struct DescribedDevice {
  runtime::Device device;         // without OpenCL
  bool has_capabilities = false;  // false: only the identity is known
};

// Devices of one model with one driver.
struct FleetDevice {
  std::uint64_t key_hash = 0;
  std::string profile, model, driver;                // empty: unknown
  std::string name;                                  // what OpenCL calls the device, or the model
  std::shared_ptr<const DescribedDevice> described;  // null: only the hash is known
  std::uint64_t devices = 0;
  std::uint64_t starts = 0;
  bool loads = false;  // a report's line has the key

  // Returns "AMD Radeon RX 6600 (driver 25.0.7)"; the key's hash if nothing else is known.
  std::string label() const;
};

// Fills in the names that are unknown, from the identity if there is one.
void name_row(FleetDevice *row);

// Durations, counted by size, so that memory does not grow with their number.
class Durations {
 public:
  void add(double milliseconds);
  void add(const Durations &others);
  std::uint64_t count() const { return count_; }
  double median() const;  // to 3%; 0 if there are none
  double largest() const { return largest_; }

 private:
  std::map<int, std::uint64_t> counts_;  // by 16 times the logarithm to base 2
  std::uint64_t count_ = 0;
  double largest_ = 0;
};

// The sums of the report lines about one binary key or, without one, about one device's name.
struct ReportedDevice {
  std::uint64_t key_hash = 0;  // 0: the lines have none
  std::string name;            // as in the first line; may be empty
  std::uint64_t loads = 0;
  std::uint64_t compiled = 0;  // loads that gave no binary for the device
  std::uint64_t deaths = 0;    // rungs that were left out since the driver had died of them
  std::uint64_t refusals = 0;  // rungs that failed
  Durations first_results;     // after a process began
};

struct Fleet {
  std::vector<FleetDevice> devices;
  std::vector<ReportedDevice> reports;
  std::unordered_set<std::uint64_t> programs;  // hashes of the names in report lines
  std::uint64_t lines = 0;                     // lines and documents that were read
  std::uint64_t faults = 0;                    // those that were passed over
  std::vector<std::string> first_faults;       // "FILE:17: this is no JSON"
};

// Adds files to a fleet. docs/operate/fleet.md lists the lines. The text is untrusted. Memory grows
// with the number of different devices, not with the number of lines.
class FleetReader {
 public:
  // What a file says: an inventory counts devices and starts; a report tells only what was loaded.
  enum class Kind : std::uint8_t { inventory, report };

  explicit FleetReader(Fleet *fleet) : fleet_(*fleet) {}

  // Reads a file; "-" is standard input. Fails with Code::bad_input if it cannot be read. A line
  // with a fault is counted and passed over.
  Status add_file(const std::string &path, Kind kind);
  // The same for an open file; `name` is for messages.
  Status add(std::istream &in, const std::string &name, Kind kind);

 private:
  // A process, and the row of `reports` of its last load.
  struct Process {
    std::uint64_t id = 0;
    std::size_t row = ~std::size_t{0};
  };
  using Shared = std::shared_ptr<const DescribedDevice>;

  void take_line(std::string_view line);
  void take_object(const nlohmann::json &line);
  Status take_list(const nlohmann::json &list);
  Status take_device(const nlohmann::json &line);
  Status take_load(const nlohmann::json &line);
  void count_start(std::uint64_t process, std::uint64_t key_hash);
  void add_report(const nlohmann::json &line, std::uint64_t key_hash, std::uint64_t id);
  void add_first_result(const nlohmann::json &line, std::uint64_t key_hash, const Process *process);
  Status describe(const nlohmann::json &line, Shared *out);
  FleetDevice &row_of(const nlohmann::json &line, std::uint64_t key_hash, const Shared &described);
  ReportedDevice &reported(const nlohmann::json &line, std::uint64_t key_hash);
  void fault(std::size_t number, const std::string &what);

  Fleet &fleet_;
  std::string name_;
  Kind kind_ = Kind::inventory;
  std::size_t number_ = 0;        // of the line
  std::string pending_;           // the lines of a document that is not complete
  std::size_t pending_line_ = 0;  // where the document begins
  nlohmann::json document_;       // the last, in whose memory the next is made
  std::unordered_map<std::uint64_t, std::size_t> rows_, reports_;  // by hashes of what they say
  std::unordered_map<std::uint64_t, Shared> described_;            // by the hash of what it says
  // By hash, so that memory is bounded: a process is forgotten when another takes its place.
  std::vector<Process> processes_;
  std::vector<std::uint64_t> starts_;  // hashes of a process with a key
};

// Gives rows that have only a key's hash the identity that another row of this key has, and joins
// rows that then are equal. A row that only reports know stands for one device; rows of no device
// and no start go.
void complete_rows(Fleet *fleet);

}  // namespace kiln::builder
