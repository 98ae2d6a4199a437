// SPDX-License-Identifier: Apache-2.0
// Cached programs: what the overlay has, for later starts, of programs that no pack has. The layer
// notes the program and its launches, and `kiln overlay build` makes the binary in another process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "runtime/api/api.hpp"
#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/record/launches.hpp"
#include "runtime/overlay/overlay.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::layer {

using source::WholeProgram;

// The overlay of one device's driver, which lives as long as the process.
struct DeviceOverlay {
  std::shared_ptr<runtime::Overlay> overlay;  // null: see `status`
  packs::Status status;
};
// Opens it at the first call for the device. The settings must name an overlay.
const DeviceOverlay &overlay_of(const runtime::Device &device);
// Returns the history of the device's driver; null if the overlay cannot be used.
runtime::Persistence *persistence_of(cl_device_id id);

// Creates a program from the text that was named. Returns null if the driver fails.
cl_program create_named(cl_context context, const WholeProgram &whole);

// The file that new launches of a cached program are added to.
struct LaunchFile {
  std::string path;   // empty: launches do not matter, since the driver does not compile at them
  std::string lines;  // launches that are known
};

// A program that is cached for the device and its current driver. The caller releases the pack. It
// is null if there is no overlay or no file, if the file does not hold this program for this device
// and driver, or if other users could write to it.
struct CachedProgram {
  kiln_pack *pack = nullptr;
  std::optional<packs::BlobSource> binary;  // the pack's only binary
  LaunchFile launches;
};
CachedProgram open_cached_program(const std::string &name, const kiln_device &device);
bool is_cached(const std::string &name, const kiln_device &device);

// Notes the program, and sets the file for its launches if they matter to the driver.
packs::Status note_program(const Part &part, const WholeProgram &program, LaunchFile *launches);

// Returns why neither a pack nor the overlay has the program, for the report: also whether the
// overlay has it for another driver.
std::string missing_text(const std::string &name, const kiln_device &device);

// Sets the report's reason to the outcome of a build; `status` says whether it was recorded or
// noted, and `built->missing` why it was not served.
void set_outcome(const packs::Status &status, Built *built);

// Adds the launch to its file. Complains if that fails.
void note_new_launch(const Launches::Fresh &launch);

// Notes, beside the cached programs, the names of a link's parts for these devices. If the next
// start compiles them in the same way, the link serves it, and the parts need not be compiled.
void note_parts(const WholeProgram &link, const Devices &devices);
bool is_part(const std::string &name, const kiln_device &device);

}  // namespace kiln::layer
