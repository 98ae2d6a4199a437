// SPDX-License-Identifier: Apache-2.0
// Quarantine: a marker is on disk while a driver handles bytes that it has not yet proven to
// survive, so that a process that ends there leaves a trace for the next one.
//
// A process with something unproven owns one marker file, locked (flock) while it lives; its
// slots say what is being tried. The first slot written is synced to the disk, later ones are
// left to the system: they outlive the process, and after a power failure the synced file
// still shows that something was tried. No marker is written for what is proven.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include <sys/types.h>

#include "runtime/overlay/journal.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::runtime {

// What an attempt works on. The id names the bytes together with the way they are built.
struct BlobUse {
  std::uint64_t id = 0;
  kiln_rung rung = KILN_RUNG_ERROR;
};

// What a marker says of one attempt. `deadline` is in milliseconds of the monotonic clock; 0:
// none.
struct MarkerSlot {
  std::uint64_t driver = 0;
  std::uint64_t deadline = 0;
  BlobUse subject;
};

// A death that an earlier or another process left behind, as a sentence.
struct Death {
  kiln_rung rung;
  const char *text;
};

// Of the loads of one loader. Any thread may call.
class Quarantine {
 public:
  static constexpr unsigned kSlots = 32;  // attempts at once; more go unguarded

  Quarantine() = default;
  Quarantine(const Quarantine &) = delete;
  Quarantine &operator=(const Quarantine &) = delete;
  ~Quarantine();

  // Reads what is known of `driver`, then looks for markers of processes that ended inside a
  // driver, and records those deaths. `label` is what people call the driver. `deaths` gets those
  // of this driver that were new, and what living processes have been given for longer than their
  // deadlines allow, which is not recorded: they may come back.
  void open(const Folder *folder, std::uint64_t driver, const std::string &label,
            std::vector<Death> *deaths);

  // Ok if the subject may be tried, else why it is in quarantine. `last`: nothing else is left to
  // try, so that it is passed over for some starts only (journal.hpp).
  packs::Status check(const BlobUse &subject, bool last = false);
  // The same for what happened to the subject alone, whatever others did on its rung.
  bool passes_over(const BlobUse &subject, bool last);
  Verdict fate(std::uint64_t id) const;

  // Before the driver sees an unproven subject. `deadline` in milliseconds, 0 for none.
  // Returns the slot, or -1 with `*error` set if no marker could be written.
  int begin(const BlobUse &subject, std::uint32_t deadline, int *error);
  // After it. A fate other than none is recorded; none is for what failed in good order.
  void end(int slot, const BlobUse &subject, Verdict fate);
  // Records a fate without an attempt.
  void record(const Record &record);

 private:
  int open_marker();
  int write_slot(int slot, const std::uint8_t *bytes);
  void clear_slot(int slot);
  Journal read_journal(std::uint64_t driver) const;
  void collect(const std::string &name, std::vector<Death> *deaths);
  bool record_death(std::uint64_t driver, const Record &record, std::vector<Death> *deaths);
  void note(const Record &record);
  int append(std::uint64_t driver, const std::string &label, const Record &record, bool sync) const;
  int rewrite(std::uint64_t driver, const std::string &label, const Record &last) const;

  const Folder *folder_ = nullptr;
  std::uint64_t driver_ = 0;
  std::string label_;
  mutable std::mutex mutex_;  // guards what follows
  Journal journal_;
  Descriptor marker_;
  std::string marker_name_;
  pid_t owner_ = 0;  // the process that made the marker: a forked child makes its own
  std::array<bool, kSlots> busy_{};
};

// "d-<driver>", a journal's name; "a-<number>", a marker's.
inline constexpr char kJournalPrefix[] = "d-";
inline constexpr char kMarkerPrefix[] = "a-";

// Whether a living process holds that marker.
bool marker_is_alive(const Folder &folder, const std::string &name);

}  // namespace kiln::runtime
