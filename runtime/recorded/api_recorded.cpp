// SPDX-License-Identifier: Apache-2.0
// The C API of recorded programs' names, and of programs that an overlay keeps.
#include <cstring>
#include <map>
#include <mutex>

#include <fcntl.h>
#include <unistd.h>

#include "kiln/recorded.h"
#include "runtime/api/api.hpp"
#include "runtime/cached/store_program.hpp"
#include "runtime/load/loader.hpp"
#include "runtime/overlay/overlay.hpp"
#include "runtime/source/driver_variables.hpp"
#include "runtime/source/whole_program.hpp"

using kiln::packs::Code;
using kiln::packs::Result;
using kiln::packs::Status;
using kiln::runtime::report_error;
using kiln::source::WholeProgram;

namespace cached = kiln::cached;
namespace runtime = kiln::runtime;

namespace {

Result<WholeProgram> named_program(std::string_view source, const char *options) {
  // The driver is not known here.
  const std::string_view variable = kiln::source::variable_that_changes_code("", environ);
  if (!variable.empty()) return Status::error(Code::not_in_pack, {variable, " is set"});
  auto whole = kiln::source::whole_program(source, options);
  if (!whole.ok()) return Status::error(Code::not_in_pack, {whole.status().message});
  return whole;
}

// A device and its driver. Stays as long as the process, since querying a device takes a hundred
// calls.
struct OpenedDevice {
  std::shared_ptr<const runtime::Device> device;
  cached::DriverKey driver;
};

Status open_device(cl_device_id id, OpenedDevice *out) {
  static const auto &loaded = *[] {
    const runtime::LibraryCandidates usual = runtime::default_opencl_candidates();
    auto cl = std::make_shared<runtime::OpenCL>();
    Status status = runtime::load_opencl(usual.names, usual.count, cl.get());
    return new std::pair<Status, std::shared_ptr<const runtime::OpenCL>>(std::move(status), cl);
  }();
  const auto &[status, cl] = loaded;
  if (!status.ok()) return status;
  cl_platform_id platform = nullptr;
  const cl_int code =
      cl->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, nullptr);
  if (code != CL_SUCCESS) return runtime::cl_failure("clGetDeviceInfo", code);
  out->device = runtime::open_device(cl, {platform, id});
  out->driver = cached::driver_of(*out->device);
  return {};
}

Status find_device(cl_device_id id, const OpenedDevice **out) {
  static std::mutex &mutex = *new std::mutex;
  static auto &devices = *new std::map<cl_device_id, OpenedDevice>;
  const std::lock_guard<std::mutex> lock(mutex);
  OpenedDevice &opened = devices[id];
  if (opened.device == nullptr) {
    if (Status s = open_device(id, &opened); !s.ok()) return s;
  }
  *out = &opened;
  return {};
}

Status find(const char *overlay, cl_device_id id, const std::string &name, int *file,
            std::uint64_t *size) {
  if (!kiln::source::is_program_name(name)) {
    return Status::error(Code::bad_argument, "kiln_recorded_find: no name of a program");
  }
  const OpenedDevice *device = nullptr;
  if (Status s = find_device(id, &device); !s.ok()) return s;
  cached::CachedFile found = cached::open_cached(overlay, device->driver, name);
  if (found.pack == nullptr) {
    const std::string other = cached::other_driver(overlay, device->driver, name);
    return Status::error(Code::not_in_pack,
                         {"the overlay has no program ", name,
                          other.empty() ? "" : " for this driver, but for ", other});
  }
  *file = found.file.release();
  *size = found.size;
  return {};
}

// Returns the program's own handle, or builds the text that was named if the driver was given
// another one: then it may have read other files.
Status text_of(const runtime::Device &device, cl_program program, bool is_given,
               const WholeProgram &whole, runtime::Handle<cl_program> *made) {
  if (is_given) return {};
  cl_context context = nullptr;
  cl_int code =
      device.cl->clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr);
  if (code != CL_SUCCESS) return runtime::cl_failure("clGetProgramInfo", code);
  const auto *text = reinterpret_cast<const std::uint8_t *>(whole.source.data());
  runtime::BuildOutcome outcome = runtime::build_program(
      device, context, runtime::Form::source, {text, whole.source.size()}, whole.options, {});
  *made = std::move(outcome.built.program);
  return std::move(outcome.error);
}

Status store(const char *overlay, cl_device_id id, cl_program program, std::string_view source,
             const char *options, const std::string &name) {
  const auto whole = named_program(source, options);
  if (!whole.ok()) return whole.status();
  if (whole->name != name) {
    return Status::error(Code::not_in_pack, "a file that the program includes was changed");
  }
  const OpenedDevice *opened = nullptr;
  if (Status s = find_device(id, &opened); !s.ok()) return s;
  const runtime::Device &device = *opened->device;
  runtime::Handle<cl_program> made;
  const bool is_given = whole->source == source && whole->options == options;
  if (Status s = text_of(device, program, is_given, *whole, &made); !s.ok()) return s;
  const cl_program built = made ? made.get() : program;
  auto contents = cached::contents_of(*device.cl, built, *whole);
  if (!contents) return cached::without_kernels();
  const auto notes = runtime::known_driver_notes(device.identity, device.description);
  std::shared_ptr<runtime::Overlay> persistence;
  std::vector<runtime::Death> deaths;  // not read: a refusal has its reason
  if (Status s = runtime::Overlay::open(overlay, cached::kLimit, device, notes.options, 0,
                                        &persistence, &deaths);
      !s.ok()) {
    return s;
  }
  return cached::store_program(overlay, opened->driver, device, built, *std::move(contents),
                               persistence.get());
}

}  // namespace

kiln_status kiln_recorded_name(const char *source, size_t size, const char *options, char *name,
                               size_t room, kiln_error *error) {
  KILN_REQUIRE(source != nullptr && options != nullptr && name != nullptr, error);
  if (room < KILN_RECORDED_NAME_SIZE) {
    return report_error(Status::error(Code::bad_argument, {__func__, ": no room for a name"}),
                        error);
  }
  const auto whole = named_program({source, size}, options);
  if (!whole.ok()) return report_error(whole.status(), error);
  std::memcpy(name, whole->name.c_str(), KILN_RECORDED_NAME_SIZE);
  return KILN_OK;
}

kiln_status kiln_recorded_find(const char *overlay, cl_device_id device, const char *name,
                               int *file, uint64_t *size, kiln_error *error) {
  KILN_REQUIRE(overlay != nullptr && device != nullptr && name != nullptr, error);
  KILN_REQUIRE(file != nullptr && size != nullptr, error);
  const Status status = find(overlay, device, name, file, size);
  return status.ok() ? KILN_OK : report_error(status, error);
}

kiln_status kiln_recorded_store(const char *overlay, cl_device_id device, cl_program program,
                                const char *source, size_t size, const char *options,
                                const char *name, kiln_error *error) {
  KILN_REQUIRE(overlay != nullptr && device != nullptr && program != nullptr, error);
  KILN_REQUIRE(source != nullptr && options != nullptr && name != nullptr, error);
  const Status status = store(overlay, device, program, {source, size}, options, name);
  return status.ok() ? KILN_OK : report_error(status, error);
}
