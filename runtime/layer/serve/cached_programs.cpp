// SPDX-License-Identifier: Apache-2.0
// Notes an application's programs and launches in the overlay, and finds what was built of them.
#include "runtime/layer/serve/cached_programs.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <mutex>

#include <fcntl.h>

#include "kiln/packs/writer.hpp"
#include "runtime/cached/cached_files.hpp"
#include "runtime/cached/store_program.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/layer/record/record.hpp"
#include "runtime/layer/serve/noted_starts.hpp"
#include "runtime/layer/serve/signed_packs.hpp"
#include "runtime/overlay/shared_folder.hpp"

namespace kiln::layer {

namespace {

using packs::Code;
using packs::Status;

// Seconds after which a refused program is noted again: a machine may have been busy, or a disk
// full.
constexpr std::time_t kTryAgain = 24 * 3600;

// Asks once for each device, which stays open.
const cached::DriverKey &driver_of(const kiln_device &device) {
  static std::mutex &mutex = *new std::mutex;
  static auto &known = *new std::map<const kiln_device *, cached::DriverKey>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [place, is_new] = known.try_emplace(&device);
  if (is_new) place->second = cached::driver_of(*device.device);
  return place->second;
}

// The driver's folder for noted programs.
struct NotedFolder {
  explicit NotedFolder(const cached::DriverKey &driver)
      : below(packs::concat({cached::kNoted, "/", cached::driver_name(driver)})),
        status(cached::open_folder(settings().overlay, below, &folder)) {}

  std::string path(const std::string &name) const {
    return packs::concat({settings().overlay, below, "/", name});
  }

  std::string below;
  runtime::Folder folder;
  Status status;
};

// Returns whether the driver's code depends on the launches.
bool compiles_at_launches(const kiln_device &device) {
  const runtime::Finishing finishing = device.device->description.finishing;
  return finishing == runtime::Finishing::launches || finishing == runtime::Finishing::shader_cache;
}

Status find_part_device(const Part &part, kiln_device **device) {
  kiln_error error{};
  if (find_device(part.device, device, &error) == KILN_OK) return {};
  return Status::error(Code::opencl, error.message);
}

LaunchFile launch_file(const NotedFolder &noted, const std::string &program,
                       const packs::Bytes &known) {
  if (!noted.status.ok()) return {};
  const std::string name = program + cached::kLaunchesSuffix;
  std::string lines(known.begin(), known.end());
  lines += cached::read_text(noted.folder, name);
  return {noted.path(name), std::move(lines)};
}

std::string label_of(const kiln_device &device) {
  const runtime::Identity &identity = device.device->identity;
  return cached::driver_label(identity.text(runtime::Field::device_name),
                              identity.text(runtime::Field::driver_version));
}

// Writes a base pack for `kiln overlay build`, unless there is one.
Status note_part(const Part &part, const WholeProgram &program, const kiln_device &device,
                 LaunchFile *launches) {
  const NotedFolder noted(driver_of(device));
  if (!noted.status.ok()) return noted.status;
  struct stat info {};
  const std::string refused = program.name + cached::kRefusedSuffix;
  if (noted.folder.status(refused, &info) == 0 && std::time(nullptr) - info.st_mtime < kTryAgain) {
    const std::string why = cached::read_text(noted.folder, refused);
    return Status::error(Code::requirement, "the overlay cannot have it: " + why);
  }
  const std::string name = program.name + cached::kPackSuffix;
  if (noted.folder.status(name, &info) == 0) {
    note_second_start(driver_of(device), program.name);
  } else {
    std::vector<std::string> names;
    if (noted.folder.list(&names) == 0 && names.size() >= cached::kMaxNoted) {
      return Status::error(Code::over_limit, "too many programs wait for 'kiln overlay build'");
    }
    auto contents = cached::contents_of(next_table(), part.program.get(), program);
    if (!contents) return cached::without_kernels();
    contents->producer = label_of(device);
    if (varies_at_each_start(driver_of(device), contents->programs[0])) {
      return Status::error(Code::requirement,
                           "each start has another text for these kernels, so it is not built");
    }
    packs::WriteOptions options;
    options.is_private = true;
    options.is_synced = false;
    if (Status s = packs::write_raw_pack(*contents, noted.path(name), options); !s.ok()) return s;
  }
  if (compiles_at_launches(device)) *launches = launch_file(noted, program.name, {});
  return {};
}

}  // namespace

const DeviceOverlay &overlay_of(const runtime::Device &device) {
  static std::mutex &mutex = *new std::mutex;
  static auto &opened = *new std::map<const runtime::Device *, DeviceOverlay>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [place, is_new] = opened.try_emplace(&device);
  if (is_new) {
    DeviceOverlay &out = place->second;
    const auto notes = runtime::known_driver_notes(device.identity, device.description);
    std::vector<runtime::Death> deaths;  // not read: a refusal has its reason
    const std::uint32_t machine = settings().shared.empty() ? 0 : runtime::machine_number();
    out.status = runtime::Overlay::open(settings().overlay.c_str(), cached::kLimit, device,
                                        notes.options, machine, &out.overlay, &deaths);
    if (out.status.ok()) out.overlay->add_signed_packs(signed_packs());
  }
  return place->second;
}

runtime::Persistence *persistence_of(cl_device_id id) {
  kiln_device *device = nullptr;
  if (next_opencl() == nullptr || find_device(id, &device, nullptr) != KILN_OK) return nullptr;
  return overlay_of(*device->device).overlay.get();
}

bool is_cached(const std::string &name, const kiln_device &device) {
  return !settings().overlay.empty() &&
         cached::has_cached(settings().overlay, driver_of(device), name);
}

cl_program create_named(cl_context context, const WholeProgram &whole) {
  const char *text = whole.source.data();
  const std::size_t size = whole.source.size();
  cl_int code = CL_SUCCESS;
  return whole.is_il ? next.clCreateProgramWithIL(context, text, size, &code)
                     : next.clCreateProgramWithSource(context, 1, &text, &size, &code);
}

void note_parts(const WholeProgram &link, const Devices &devices) {
  runtime::Folder folder;
  if (link.parts.empty() || !cached::open_folder(settings().overlay, "", &folder).ok()) return;
  for (const cl_device_id id : devices) {
    kiln_device *device = nullptr;
    if (find_device(id, &device, nullptr) != KILN_OK) continue;
    for (const WholeProgram &part : link.parts) {
      const std::string name =
          cached::file_name(part.name, driver_of(*device), cached::kPartSuffix);
      (void)folder.write_file(name, nullptr, 0);
    }
  }
}

bool is_part(const std::string &name, const kiln_device &device) {
  return !settings().overlay.empty() &&
         cached::has_cached(settings().overlay, driver_of(device), name, cached::kPartSuffix);
}

CachedProgram open_cached_program(const std::string &name, const kiln_device &device) {
  CachedProgram found;
  if (settings().overlay.empty()) return found;
  packs::Bytes lines;
  const cached::DriverKey &driver = driver_of(device);
  cached::CachedFile opened = cached::open_cached(settings().overlay, driver, name);
  if (opened.pack == nullptr) return found;
  note_second_start(driver, name);
  found.pack = new kiln_pack{std::move(opened.pack)};
  found.binary = opened.contents.targets[0].binaries[0].blob;
  const packs::Variant &variant = opened.contents.programs[0].variants[0];
  const bool readable = !variant.launches || variant.launches->read(&lines).ok();
  if (readable && compiles_at_launches(device)) {
    found.launches = launch_file(NotedFolder(driver), name, lines);
  }
  return found;
}

Status note_program(const Part &part, const WholeProgram &program, LaunchFile *launches) {
  kiln_device *device = nullptr;
  if (Status s = find_part_device(part, &device); !s.ok()) return s;
  return note_part(part, program, *device, launches);
}

std::string missing_text(const std::string &name, const kiln_device &device) {
  const std::string missing = "no pack has it";
  if (settings().overlay.empty()) return missing;
  const std::string other = cached::other_driver(settings().overlay, driver_of(device), name);
  if (other.empty()) return missing;
  const std::string own = label_of(device);
  return other == own
             ? missing + "; the overlay has it from before the driver or system changed"
             : packs::concat({missing, "; the overlay has it for ", other, ", not for ", own});
}

void set_outcome(const Status &status, Built *built) {
  const bool record = settings().record;
  if (status.ok()) {
    built->recorded = Recorded::yes;
    built->reason =
        record ? "it is recorded" : built->missing + "; it is noted for 'kiln overlay build'";
  } else {
    // A library of functions has no kernels.
    built->recorded = status.code == Code::requirement ? Recorded::needless : Recorded::no;
    built->reason = (record ? "it is not recorded: " : built->missing + "; ") + status.message;
  }
}

// The folder is made anew if `kiln overlay build` has removed it meanwhile.
void note_new_launch(const Launches::Fresh &launch) {
  if (!launches().add_launch(launch.program, launch.text + "\n")) return;
  const std::string below = launch.file.substr(settings().overlay.size());
  const std::size_t slash = below.rfind('/');
  runtime::Folder folder;
  packs::Descriptor file;
  struct stat info {};
  Status status = cached::open_folder(settings().overlay, below.substr(0, slash), &folder);
  if (status.ok()) {
    const int failed =
        folder.open_file(below.substr(slash + 1), O_WRONLY | O_APPEND | O_CREAT, &file, &info);
    if (failed != 0) status = runtime::file_failure(launch.file, failed);
  }
  const std::string line = launch.text + "\n";
  if (status.ok() && !packs::write_line(file.get(), line.data(), line.size())) {
    status = Status::error(Code::io_error, launch.file + ": a line was not written");
  }
  if (!status.ok()) complain_once("a launch was not noted: " + status.message);
}

}  // namespace kiln::layer
