// SPDX-License-Identifier: Apache-2.0
// Writes kept programs into the overlay's folder, finds them, and removes stale ones.
#include "runtime/spool/kept.hpp"

#include <unistd.h>
#include <cstring>
#include <ctime>

#include "kiln/packs/writer.hpp"
#include "runtime/identity/target.hpp"
#include "runtime/load/build.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/private_folder.hpp"
#include "runtime/spool/devices.hpp"
#include "runtime/spool/record.hpp"
#include "runtime/spool/settings.hpp"

namespace kiln::layer {
namespace {

using packs::Code;
using packs::Status;

// Of a user's own overlay; made if it is missing.
Status open_folder(std::string *path, runtime::Folder *folder) {
  runtime::Folder overlay;
  *path = settings().overlay + "/programs";
  int error = runtime::Folder::open(settings().overlay.c_str(), &overlay);
  if (error == 0) error = runtime::Folder::open(path->c_str(), folder);
  return error == 0 ? Status() : Status::error(Code::io_error, {*path, ": ", std::strerror(error)});
}

// Of the program for the device, whichever its driver.
std::string name_of_device(const std::string &program, const runtime::Device &device) {
  return program + "-" + packs::hex64(device.key().hash()) + "-";
}

// A driver may be replaced without a change of any string that it reports.
std::string file_name(const std::string &program, const runtime::Device &device) {
  return name_of_device(program, device) + packs::hex64(runtime::driver_number(device)) + ".kiln";
}

bool compiles_at_launches(const kiln_device &device) {
  return device.device->description.finishing == runtime::Finishing::launches;
}

// The only variant of what keep_program() keeps, and its only binary; null in another pack.
packs::Variant *only_variant(packs::Contents *contents) {
  const bool is_kept = contents->programs.size() == 1 &&
                       contents->programs[0].variants.size() == 1 &&
                       contents->targets.size() == 1 && contents->targets[0].binaries.size() == 1;
  return is_kept ? &contents->programs[0].variants[0] : nullptr;
}

Status add_binary(cl_program built, const runtime::Device &device, packs::Contents *contents) {
  packs::Bytes bytes;
  if (Status s = runtime::program_binary(device, built, &bytes); !s.ok()) return s;
  packs::Binary binary{contents->programs[0].variants[0].hash, packs::BlobSource(std::move(bytes)),
                       runtime::build_log(device, built)};
  binary.finish.why_not = "an application's own";
  packs::Target target = runtime::target_of(device.identity, device.description);
  target.binaries.push_back(std::move(binary));
  contents->targets.push_back(std::move(target));
  return {};
}

constexpr char kOfPart[] = ".part";

// Whether a file of the program's is of another driver, or of a process that was killed long ago.
bool is_over(const runtime::Folder &folder, const std::string &file, const std::string &name) {
  constexpr std::time_t kLongest = 3600;  // seconds that somebody may write
  constexpr std::string_view kTemporary = ".tmp";
  struct stat info;
  if (file == name) return false;
  const bool is_temporary =
      file.size() > kTemporary.size() &&
      file.compare(file.size() - kTemporary.size(), file.size(), kTemporary) == 0;
  if (!is_temporary) return true;
  return folder.status(file, &info) == 0 && std::time(nullptr) - info.st_mtime > kLongest;
}

// Nothing if there is none.
std::optional<std::string> kept_file(const std::string &program, const kiln_device &device,
                                     const char *suffix = "") {
  std::string path;
  runtime::Folder folder;
  struct stat info;
  if (settings().overlay.empty() || !open_folder(&path, &folder).ok()) return std::nullopt;
  const std::string file = file_name(program, *device.device) + suffix;
  if (folder.status(file, &info) != 0) return std::nullopt;
  return path + "/" + file;
}

}  // namespace

bool is_kept(const std::string &name, const kiln_device &device) {
  return kept_file(name, device).has_value();
}

void keep_parts(const std::vector<std::string> &names, const kiln_device &device) {
  std::string path;
  runtime::Folder folder;
  if (!open_folder(&path, &folder).ok()) return;
  for (const std::string &name : names) {
    (void)folder.write_file(file_name(name, *device.device) + kOfPart, nullptr, 0);
  }
}

bool is_part(const std::string &name, const kiln_device &device) {
  return kept_file(name, device, kOfPart).has_value();
}

Kept open_kept(const std::string &name, const kiln_device &device) {
  const auto path = kept_file(name, device);
  Kept kept;
  packs::Contents contents;
  packs::Bytes lines;
  if (!path || kiln_pack_open_file(path->c_str(), &kept.pack, nullptr) != KILN_OK) {
    return {};  // a damaged one is replaced
  }
  if (!compiles_at_launches(device)) return kept;
  if (!packs::read_contents(kept.pack->pack, &contents).ok()) return kept;
  const packs::Variant *variant = only_variant(&contents);
  const bool readable =
      variant != nullptr && (!variant->launches || variant->launches->read(&lines).ok());
  if (readable) kept.file = {*path, std::string(lines.begin(), lines.end())};
  return kept;
}

Status keep_launched(cl_program built, const KeptFile &file) {
  kiln_device *device = nullptr;
  kiln_error error{};
  if (find_device(only_device(built), &device, &error) != KILN_OK) {
    return Status::error(Code::opencl, error.message);
  }
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  packs::Bytes bytes;
  if (access(file.path.c_str(), F_OK) != 0) return {};
  if (Status s = packs::Pack::open_file(file.path.c_str(), &pack); !s.ok()) return s;
  if (Status s = packs::read_contents(pack, &contents); !s.ok()) return s;
  packs::Variant *variant = only_variant(&contents);
  if (variant == nullptr) return {};
  packs::Binary &binary = contents.targets[0].binaries[0];
  if (Status s = runtime::program_binary(*device->device, built, &bytes); !s.ok()) return s;
  if (bytes.size() > binary.blob.blob().raw_size()) {
    binary.blob = packs::BlobSource(std::move(bytes));
  }
  variant->launches = packs::BlobSource(packs::Bytes(file.lines.begin(), file.lines.end()));
  return packs::write_pack(contents, file.path);
}

Status keep_program(cl_program built, const Part &part, const WholeProgram &program,
                    KeptFile *file) {
  kiln_error error{};
  kiln_device *device = nullptr;
  if (find_device(part.device, &device, &error) != KILN_OK) {
    return Status::error(Code::opencl, error.message);
  }
  std::string path;
  runtime::Folder folder;
  if (Status s = open_folder(&path, &folder); !s.ok()) return s;
  std::vector<std::string> names;
  if (folder.list(&names) != 0 || names.size() >= kMostKept) {
    return Status::error(Code::over_limit, {path, " is full"});
  }
  auto contents = contents_of(part.program.get(), program);
  if (!contents) return without_kernels();
  if (Status s = add_binary(built, *device->device, &*contents); !s.ok()) return s;
  const std::string name = file_name(program.name, *device->device);
  const std::string same = name_of_device(program.name, *device->device);
  for (const std::string &other : names) {
    const bool is_same = other.compare(0, same.size(), same) == 0;
    if (is_same && is_over(folder, other, name)) (void)folder.remove(other);
  }
  if (Status s = packs::write_pack(*contents, path + "/" + name); !s.ok()) return s;
  if (compiles_at_launches(*device)) *file = {path + "/" + name, ""};
  return {};
}

}  // namespace kiln::layer
