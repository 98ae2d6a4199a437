// SPDX-License-Identifier: Apache-2.0
// A marker is on disk while a driver handles bytes that it is not yet known to survive, so that a
// process that ends there leaves a trace for the next one.
//
// A process with unproven tasks owns one marker file, locked while it lives; the file's
// slots say which tasks are being tried. The first slot written is synced to disk. Later ones
// are not: they outlive the process all the same, and after a power failure the synced file still
// shows that something was tried. A binary that the overlay stored since the machine's boot is not
// worth a sync, which takes milliseconds: the next boot is the proof that the machine may have
// failed over it, and from then on the slot is synced. Proven tasks get no marker.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

#include "runtime/overlay/journal.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::runtime {

inline constexpr unsigned kMarkerSlots = 32;     // attempts of a loader at once; more have none
inline constexpr unsigned kMarkerSlotSize = 40;  // bytes

// Clears the slots of all markers of this process. Async-signal-safe. With `keep_own`, keeps the
// slots for which the calling thread is in the driver.
void clear_live_markers(bool keep_own);

// One attempt in a marker. `deadline` is in milliseconds of the monotonic clock; 0: none.
struct MarkerSlot {
  std::uint64_t driver = 0;
  std::uint64_t deadline = 0;
  DriverTask task;
};

// What happened to another process in the driver (it died, or it is stuck), as a sentence.
struct Death {
  kiln_rung rung;
  const char *text;
};

// The markers of one loader, and its driver's journal. Any thread may call.
class Markers {
 public:
  Markers() = default;
  Markers(const Markers &) = delete;
  Markers &operator=(const Markers &) = delete;
  ~Markers();

  // Reads the journal of `driver`, then looks for markers of processes that ended inside a driver,
  // and records those deaths. `label` is the driver's name as shown to people. `deaths` gets the
  // new deaths of this driver, and the tasks on which living processes have exceeded their
  // deadlines. The latter are not recorded: those processes may come back from the driver.
  // `machine` is as for Overlay::open(). A file system may keep the locks of a machine to itself,
  // so the marker of another machine's process counts as held until it is a day old.
  void open(const Folder *folder, std::uint32_t machine, std::uint64_t driver,
            const std::string &label, std::vector<Death> *deaths);

  History history(const DriverTask &task) const;
  // As in Persistence; records passed_over once.
  void record(const DriverTask &task, Event event);
  // With `syncs`, the marker is on disk before this returns, if no earlier slot was synced.
  packs::Status attempt(const DriverTask &task, std::uint32_t deadline, bool syncs,
                        std::unique_ptr<Marker> *out);

 private:
  int take_slot(const DriverTask &task, std::uint32_t deadline, bool syncs, int *slot);
  int open_marker();
  int write_slot(int slot, const std::uint8_t *bytes);
  void clear_slot(int slot);
  class SlotMarker;
  Journal read_journal(std::uint64_t driver) const;
  // The deaths that one open() finds.
  struct Found {
    std::vector<Death> *deaths;
    std::vector<std::uint64_t> ids{};  // tasks of all deaths, new or not
  };

  std::string new_marker_name() const;
  // Returns whether a process of another machine made the marker.
  bool is_foreign(const std::string &name) const;
  bool collect(const std::string &name, Found *found);
  bool record_death(std::uint64_t driver, const Record &record, Found *found);
  int append(std::uint64_t driver, const std::string &label, const Record &record, bool sync) const;
  int rewrite(std::uint64_t driver, const std::string &label, const Record &last) const;

  const Folder *folder_ = nullptr;
  std::uint32_t machine_ = 0;
  std::uint64_t driver_ = 0;
  std::string label_;
  mutable std::mutex mutex_;  // guards the members below
  Journal journal_;
  std::vector<std::uint64_t> passed_over_;  // tasks skipped at this start
  std::vector<std::uint64_t> stuck_;        // tasks of living processes past their deadlines
  packs::KeptDescriptor marker_;
  std::string marker_name_;
  pid_t owner_ = 0;  // the process that made the marker: a forked child makes its own
  std::array<bool, kMarkerSlots> busy_{};
  bool synced_ = false;  // a slot of the marker was synced
  bool broken_ = false;  // the marker's file could not be written to, and is gone
};

// File names: "d-<driver>" is a journal, "a-<number>" a marker. In a folder that machines share,
// the upper half of a marker's number is the machine's number.
inline constexpr char kJournalPrefix[] = "d-";
inline constexpr char kMarkerPrefix[] = "a-";

// Removes a marker that no living process holds, and holds it meanwhile so that none can take it.
// Returns 0, ENOENT, EBUSY or another number of errno.
int remove_dead_marker(const Folder &folder, const std::string &name);

}  // namespace kiln::runtime
