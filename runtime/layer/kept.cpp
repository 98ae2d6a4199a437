// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/kept.hpp"

#include <unistd.h>
#include <cstring>

#include "kiln/packs/writer.hpp"
#include "runtime/identity/target.hpp"
#include "runtime/layer/devices.hpp"
#include "runtime/layer/record.hpp"
#include "runtime/layer/settings.hpp"
#include "runtime/load/build.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/private_folder.hpp"

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

std::string build_log(cl_program built, cl_device_id device) {
  std::size_t size = 0;
  if (next.clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
      CL_SUCCESS) {
    return "";
  }
  std::string log(size, '\0');
  if (next.clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) !=
      CL_SUCCESS) {
    return "";
  }
  return log.substr(0, log.find('\0'));
}

Status add_binary(cl_program built, const runtime::Device &device, packs::Contents *contents) {
  packs::Bytes bytes;
  if (Status s = runtime::program_binary(device, built, &bytes); !s.ok()) return s;
  packs::Binary binary{contents->programs[0].variants[0].hash, packs::BlobSource(std::move(bytes)),
                       build_log(built, device.id)};
  binary.finish.why_not = "an application's own";
  packs::Target target = runtime::target_of(device.identity, device.description);
  target.binaries.push_back(std::move(binary));
  contents->targets.push_back(std::move(target));
  return {};
}

// Nothing if there is none.
std::optional<std::string> kept_file(const std::string &program, const kiln_device &device) {
  std::string path;
  runtime::Folder folder;
  struct stat info;
  if (settings().overlay.empty() || !open_folder(&path, &folder).ok()) return std::nullopt;
  const std::string file = file_name(program, *device.device);
  if (folder.status(file, &info) != 0) return std::nullopt;
  return path + "/" + file;
}

}  // namespace

bool is_kept(const std::string &name, const kiln_device &device) {
  return kept_file(name, device).has_value();
}

kiln_pack *open_kept(const std::string &name, const kiln_device &device) {
  const auto file = kept_file(name, device);
  kiln_pack *pack = nullptr;
  const bool opened = file && kiln_pack_open_file(file->c_str(), &pack, nullptr) == KILN_OK;
  return opened ? pack : nullptr;  // a damaged one is replaced
}

Status keep_program(cl_program built, const WholeProgram &program) {
  kiln_error error{};
  kiln_device *device = nullptr;
  if (find_device(only_device(built), &device, &error) != KILN_OK) {
    return Status::error(Code::opencl, error.message);
  }
  std::string path;
  runtime::Folder folder;
  if (Status s = open_folder(&path, &folder); !s.ok()) return s;
  std::vector<std::string> names;
  if (folder.list(&names) != 0 || names.size() >= kMostKept) {
    return Status::error(Code::over_limit, {path, " is full"});
  }
  auto contents = contents_of(built, program);
  if (!contents) return without_kernels();
  if (Status s = add_binary(built, *device->device, &*contents); !s.ok()) return s;
  const std::string file = file_name(program.name, *device->device);
  const std::string same = name_of_device(program.name, *device->device);
  for (const std::string &name : names) {
    if (name != file && name.compare(0, same.size(), same) == 0) (void)folder.remove(name);
  }
  return packs::write_pack(*contents, path + "/" + file);
}

}  // namespace kiln::layer
