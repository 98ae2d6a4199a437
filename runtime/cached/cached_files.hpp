// SPDX-License-Identifier: Apache-2.0
// Cached programs as files of an overlay. OVERLAY/programs has a pack for each program and driver,
// with the driver's binary. OVERLAY/noted has, in a folder for each driver, the programs that
// `kiln overlay build` is still to build: a base pack for each, or the new launches of a program
// that has a binary.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kiln/packs/contents.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::cached {

// A device's driver, which files are named after.
struct Driver {
  std::string key;  // canonical text of the device's binary key
  std::uint64_t key_hash = 0;
  std::uint64_t number = 0;  // runtime::driver_number(): it changes when all strings stay the same
};

// Folders below the overlay's.
inline constexpr char kPrograms[] = "/programs";
inline constexpr char kNoted[] = "/noted";

// Suffixes of files in OVERLAY/noted/DRIVER, behind the program's name.
inline constexpr char kPackSuffix[] = ".kiln";
inline constexpr char kLaunchesSuffix[] = ".launches";  // lines of new launches
inline constexpr char kRefusedSuffix[] = ".refused";    // why the program has no binary

// The largest file of launches or of a refusal, in bytes.
inline constexpr std::uint64_t kMostText = std::uint64_t{1} << 20;

inline constexpr std::size_t kMostCached = 4096;  // an application may build new ones at each start

// Returns the name of the driver's folder in OVERLAY/noted: both numbers as 16 digits, joined by
// "-".
std::string driver_name(const Driver &driver);

// Returns the name of the program's pack in OVERLAY/programs.
std::string file_name(const std::string &program, const Driver &driver);

// Returns whether the contents are one program with one variant, whose source and options give its
// name. Reads the source.
bool is_one_program(const packs::Contents &contents, const std::string &name);

// Opens a folder below the overlay's, and makes what is missing. Fails with Code::io_error, with
// the path, also if others may write to it (runtime::Folder).
packs::Status open_folder(const std::string &overlay, const std::string &below,
                          runtime::Folder *out);

// Writes the program to OVERLAY/programs, whole or not at all; unsynced, since a damaged file is
// replaced. `contents` has one program with one variant, and one target with the driver's binary.
// Removes the program's files of other drivers with the same binary key. If there are kMostCached
// files, removes the least recently used first.
packs::Status write_cached(const std::string &overlay, const Driver &driver,
                           packs::Contents contents);

// Opens the program's file in OVERLAY/programs and notes the use. Returns null if there is no file,
// if it is damaged or does not hold this program for this driver, or if another user may have
// written it. A file's name proves nothing.
std::shared_ptr<const packs::Pack> open_cached(const std::string &overlay, const Driver &driver,
                                               const std::string &program,
                                               packs::Contents *contents);

// Returns whether the program's file, or with a suffix the file beside it, is there and is private.
bool has_cached(const std::string &overlay, const Driver &driver, const std::string &program,
                const char *suffix = "");

// Returns "DEVICE (driver VERSION)".
std::string driver_label(const std::string &device, const std::string &version);

// Returns, for people, the device and driver of a file that OVERLAY/programs has of the program for
// another driver; empty if there is none. Lists the folder.
std::string other_driver(const std::string &overlay, const Driver &driver,
                         const std::string &program);

// Suffix of a mark beside a program's pack: the program is a part of a cached link.
inline constexpr char kPartSuffix[] = ".part";

struct Counts {
  std::size_t cached = 0;                    // files in OVERLAY/programs
  std::map<std::string, std::size_t> noted;  // programs by driver_name()
  std::size_t all_noted() const;
};
// Counts the programs, without opening them. Fails with Code::io_error, with the path.
packs::Result<Counts> count_programs(const std::string &overlay);

// Reads a file of text in a driver's folder for noted programs. Empty if it is absent or too large,
// or if others may write to it.
std::string read_text(const runtime::Folder &folder, const std::string &name);

}  // namespace kiln::cached
