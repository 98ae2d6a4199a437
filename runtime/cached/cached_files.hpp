// SPDX-License-Identifier: Apache-2.0
// Cached programs as files of an overlay: a pack for each program and driver, with the driver's
// binary. OVERLAY/noted has, in a folder for each driver, the programs that `kiln overlay build` is
// still to build: a base pack for each, or the new launches of a program that has a binary.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/descriptor.hpp"
#include "runtime/overlay/overlay.hpp"

namespace kiln::cached {

// A device's driver, which files are named after.
struct DriverKey {
  std::string key;  // canonical text of the device's binary key
  std::uint64_t key_hash = 0;
  std::uint64_t number = 0;  // runtime::driver_number(): it changes when all strings stay the same
};

inline constexpr char kNoted[] = "/noted";  // below the overlay's folder

using runtime::kPackSuffix;
using runtime::kPartSuffix;

// Suffixes of files in OVERLAY/noted/DRIVER, behind the program's name, besides kPackSuffix.
inline constexpr char kLaunchesSuffix[] = ".launches";  // lines of new launches
inline constexpr char kRefusedSuffix[] = ".refused";    // why the program has no binary

// The largest file of launches or of a refusal, in bytes.
inline constexpr std::uint64_t kMaxText = std::uint64_t{1} << 20;

// Limits of an overlay that the layer uses: an application may build new programs at each start.
inline constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;  // bytes
inline constexpr std::size_t kMaxNoted = 4096;                   // files for each driver

// Returns the name of the driver's folder in OVERLAY/noted: both numbers as 16 digits, joined by
// "-".
std::string driver_name(const DriverKey &driver);

// Returns the name of the program's pack in the overlay: the program's name and driver_name(),
// joined by "-". With kPartSuffix, returns that of a mark, an empty file: the program is a part of
// a cached link.
std::string file_name(const std::string &program, const DriverKey &driver,
                      const char *suffix = kPackSuffix);

// Returns whether the contents are one program with one variant, whose source and options give its
// name. Reads the source.
bool is_one_program(const packs::Contents &contents, const std::string &name);

// Opens a folder below the overlay's, and makes what is missing. Fails with Code::io_error, with
// the path, also if others may write to it (runtime::Folder).
packs::Status open_folder(const std::string &overlay, const std::string &below,
                          runtime::Folder *out);

// Writes the program to the overlay, whole or not at all; unsynced, since a damaged file is
// replaced. `contents` has one program with one variant, and one target with the driver's binary.
// Then makes room (kLimit).
packs::Status write_cached(const std::string &overlay, const DriverKey &driver,
                           packs::Contents contents);

// An open and checked file of a cached program.
struct CachedFile {
  std::shared_ptr<const packs::Pack> pack;  // null: there is none, and the rest is without meaning
  packs::Contents contents;
  packs::Descriptor file;
  std::uint64_t size = 0;
};
// Opens the program's file in the overlay and notes the use. Its pack is null if there is no file,
// if it is damaged or does not hold this program for this driver, or if another user may have
// written it. A file's name proves nothing.
CachedFile open_cached(const std::string &overlay, const DriverKey &driver,
                       const std::string &program);

// Returns the contents of all sound files of cached programs, for any driver, by name. Fails with
// Code::io_error, with the path.
packs::Result<std::vector<packs::Contents>> read_all_cached(const std::string &overlay);

// Returns whether the program's pack, or with kPartSuffix the mark of a part, is there and is
// private.
bool has_cached(const std::string &overlay, const DriverKey &driver, const std::string &program,
                const char *suffix = kPackSuffix);

// Returns "DEVICE (driver VERSION)"; either may be empty.
std::string driver_label(const std::string &device, const std::string &version);

// Returns, for people, the device and driver of a file that the overlay has of the program for
// another driver; empty if there is none. Lists the folder.
std::string other_driver(const std::string &overlay, const DriverKey &driver,
                         const std::string &program);

struct Counts {
  std::size_t cached = 0;
  std::map<std::string, std::size_t> noted;  // programs by driver_name()
  // Kinds of programs whose text differs at each start of a command, so that they are not noted.
  std::size_t varying = 0;
  std::size_t all_noted() const;
};
// Counts the programs, without opening their packs. Fails with Code::io_error, with the path.
packs::Result<Counts> count_programs(const std::string &overlay);

// Reads a file of text in a driver's folder for noted programs. Empty if it is absent or too large,
// or if others may write to it.
std::string read_text(const runtime::Folder &folder, const std::string &name);

}  // namespace kiln::cached
