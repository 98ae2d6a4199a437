// SPDX-License-Identifier: Apache-2.0
// The overlay: a folder with the binaries that this device had to compile itself, a file
// each, and with the journals and markers of Quarantine. Any number of processes may use one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"
#include "runtime/overlay/entry.hpp"
#include "runtime/overlay/private_folder.hpp"
#include "runtime/overlay/quarantine.hpp"

namespace kiln::runtime {

inline constexpr std::uint64_t kDefaultOverlayLimit = std::uint64_t{64} << 20;
inline constexpr char kRefusalPrefix[] = "l-";  // "l-<driver number>-<subject>"
inline constexpr std::uint64_t kMaxEntrySize = std::uint64_t{256} << 20;

class Overlay {
 public:
  // Opens or makes the folder, and reads what is known of the device's driver. `options` are build
  // options that every program gets besides its own: with others the driver counts as another one,
  // and has other entries.
  static Status open(const char *path, std::uint64_t limit, const Device &device,
                     std::string_view options, std::shared_ptr<Overlay> *out,
                     std::vector<Death> *deaths);

  // Finds from here on what was stored for the same number, and stores for it; 0 is all others.
  void keep_apart(std::uint64_t number) { key_hash_ ^= number; }

  // This device's binary of the variant. `*file` owns the bytes that the entry's views point into.
  // Code::not_found if the overlay has none that this driver takes; another code if its file is
  // damaged or cannot be read.
  Status find(const packs::Digest &variant, packs::Bytes *file, OverlayEntry *entry) const;

  // Writes one; on success it is on disk, and what was used least recently is gone if the limit
  // demands it. `program` and `variant_name` are for people.
  Status store(const packs::Digest &variant, packs::View binary, const std::string &program,
               const std::string &variant_name, packs::Finality finality) const;

  // Remembers what the compiler said when it refused a subject, and gives the log, and in `why` the
  // reason, of an earlier start; "" and `why` as it was if they are gone.
  void keep_refusal(std::uint64_t id, const std::string &why, const std::string &log) const;
  std::string refusal(std::uint64_t id, std::string *why) const;

  Quarantine &quarantine() { return quarantine_; }

 private:
  void evict(std::uint64_t room) const;
  std::string refusal_name(std::uint64_t id) const;

  Folder folder_;
  std::uint64_t limit_ = kDefaultOverlayLimit;
  std::string key_;                   // text of the device's binary key
  std::uint64_t key_hash_ = 0;        // its hash, with that of the options
  std::string driver_;                // its driver's version
  bool made_for_any_driver_ = false;  // the key does not name the driver's version
  std::string driver_number_;         // of the driver and the system, as it is now
  std::string facts_;                 // of the device, as entries carry them
  Quarantine quarantine_;
};

// Removes entries, journals and left-over temporaries; living processes' markers stay.
int clear_overlay(const char *path);

}  // namespace kiln::runtime
