// SPDX-License-Identifier: Apache-2.0
// An overlay folder as values, for `kiln overlay` to show and export.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/cached/cached_files.hpp"

namespace kiln::builder {

// One binary of an overlay.
struct OverlayBinary {
  std::string file;     // name in the folder
  Status status;        // why an unsound binary cannot be used
  std::string program;  // this and all later fields are empty if there is a fault
  std::string variant;
  std::string device;  // "name (driver version)"
  bool quarantined = false;
  std::int64_t last_used = 0;  // seconds since 1970, to the day
  packs::Target target;        // with this one binary, or this one intermediate

  const packs::Binary &binary() const {
    return target.binaries.empty() ? target.intermediates.front() : target.binaries.front();
  }
};

// Facts about one driver.
struct OverlayDriver {
  std::string device;  // label, may be empty
  std::size_t proven = 0;
  std::size_t recompiled = 0;
  std::size_t deaths = 0;  // tasks that the driver died of and never accepted since
};

struct OverlayFolder {
  std::vector<OverlayBinary> binaries;  // by file name
  std::vector<OverlayDriver> drivers;   // by file name
  cached::Counts programs;              // of applications that know nothing of Kiln
  std::vector<packs::Contents> cached;  // of these programs, the sound ones that no driver died of
};

// Reads everything; never writes. Fails with Code::io_error if the folder cannot be read.
Result<OverlayFolder> read_overlay(const std::string &path);

// Returns the sound binaries that no driver died of, as targets for merging into a pack, and the
// cached programs. Has no other programs: the pack has them.
packs::Contents overlay_contents(const OverlayFolder &folder);

// Returns, as a line without its end, how many kinds of programs are not noted since their text
// differs at each start, and where to look.
std::string varying_text(const cached::Counts &programs);

nlohmann::json to_json(const OverlayFolder &folder);

}  // namespace kiln::builder
