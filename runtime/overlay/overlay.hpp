// SPDX-License-Identifier: Apache-2.0
// The overlay: a folder with the binaries that this device had to compile itself, one file each,
// and with the journals of drivers and the markers of processes. The layer's cached programs
// (cached_files.hpp) are files of the same folder. Any number of processes may use one folder.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"
#include "runtime/overlay/entry.hpp"
#include "runtime/overlay/markers.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::runtime {

inline constexpr std::uint64_t kDefaultOverlayLimit = std::uint64_t{64} << 20;
inline constexpr std::size_t kMaxOverlayFiles = 4096;
// A cached program's files: kProgramPrefix, ..., and one of these.
inline constexpr char kProgramPrefix[] = "cl-";
inline constexpr char kPackSuffix[] = ".kiln";
inline constexpr char kPartSuffix[] = ".part";
inline constexpr char kRefusalPrefix[] = "l-";  // "l-<driver number>-<task>"
inline constexpr std::uint64_t kMaxEntrySize = std::uint64_t{256} << 20;

class Overlay final : public Persistence {
 public:
  // Opens or makes the folder, and reads the journal of the device's driver. `options` are build
  // options that every program gets besides its own: with other options the driver counts as
  // another driver, with entries of its own. `machine` is 0 if only this machine uses the folder,
  // else machine_number().
  static Status open(const char *path, std::uint64_t limit, const Device &device,
                     std::string_view options, std::uint32_t machine, std::shared_ptr<Overlay> *out,
                     std::vector<Death> *deaths);

  // From now on, finds and stores only binaries for this number; 0 is for loaders without one.
  void set_trust_number(std::uint64_t number) { key_hash_ ^= number; }
  // From now on, also finds binaries in these packs of other users, which are trusted.
  void add_signed_packs(std::vector<std::shared_ptr<const packs::Pack>> packs) {
    others_ = std::move(packs);
  }

  Checked check(const DriverTask &task, const CheckOptions &options) override;
  Status attempt(const DriverTask &task, std::uint32_t deadline,
                 std::unique_ptr<Marker> *out) override;
  void record(const DriverTask &task, Event event, std::string_view text) override;
  Status find(const packs::Digest &variant, unsigned left_out, packs::Bytes *bytes,
              Stored *out) const override;
  void store(LoadedProgram *program, Report *report) override;  // in store.cpp

  // Writes an entry; on success it is on disk. If the limit requires it, the least recently used
  // entries are removed. `program` and `variant_name` are for people.
  Status store_binary(const packs::Digest &variant, unsigned left_out, packs::View binary,
                      const std::string &program, const std::string &variant_name,
                      packs::Finality finality) const;

 private:
  Status find_own(const packs::Digest &variant, unsigned left_out, packs::Bytes *bytes,
                  Stored *out) const;
  // Finds a binary for this device and driver in the packs of other users.
  bool find_others(const packs::Digest &variant, packs::Bytes *bytes, Stored *out) const;
  // Returns whether the task is passed over because of its own history, and records that.
  bool pass_over(const DriverTask &task, const History &history, const CheckOptions &options);
  // Returns whether the task loads or launches a binary that was stored since the machine's boot.
  bool is_stored_now(const DriverTask &task) const;
  void note_stored_now(std::uint64_t id) const;
  // Of store.cpp.
  void keep(LoadedProgram *program, Report *report);
  void finish(LoadedProgram *program);
  // Stores the driver's binary as it is, and notifies the application, for which `rung` is where
  // the program came from. Returns the notice's text.
  std::string store_plain(const LoadedProgram &program, kiln_rung rung);
  Status store_loaded(const LoadedProgram &program, packs::View binary,
                      packs::Finality finality) const;

  std::string refusal_name(std::uint64_t id) const;
  // Returns the name of a variant's entry, with a number for the rungs that known-bad notes leave
  // out: a binary from before there was a note may have been made by such a rung.
  std::string name_of(const packs::Digest &variant, unsigned left_out) const;

  Folder folder_;
  std::uint64_t limit_ = kDefaultOverlayLimit;
  std::string key_;                   // text of the device's binary key
  std::uint64_t key_hash_ = 0;        // hash of the key, combined with the hash of the options
  std::string driver_;                // version of the driver
  bool made_for_any_driver_ = false;  // the key does not name the driver's version
  std::string driver_number_;         // number of the present driver and system
  std::string facts_;                 // facts of the device, for entries
  std::string boot_;                  // boot_id()
  bool has_options_ = false;          // programs get build options that no pack knows of
  std::vector<std::shared_ptr<const packs::Pack>> others_;
  mutable std::mutex mutex_;                       // guards the next member
  mutable std::vector<std::uint64_t> stored_now_;  // ids of tasks, for is_stored_now()
  Markers markers_;
};

// Makes room for `room` more bytes in an overlay of at most `limit` bytes and kMaxOverlayFiles.
// Removes entries, refusals and cached programs, the least recently used first. Also removes old
// journals (kMaxJournals stay), and temporaries of killed processes.
void make_room(const Folder &folder, std::uint64_t limit, std::uint64_t room);

// Removes entries, cached programs, journals and left-over temporaries; living processes' markers
// stay.
int clear_overlay(const char *path);

}  // namespace kiln::runtime
