// SPDX-License-Identifier: Apache-2.0
// The C API: OpenCL and devices, and how errors are reported.
#include <algorithm>
#include <cstring>

#include "runtime/api/api.hpp"
#include "runtime/text/driver_strings.hpp"

using namespace kiln::runtime;

namespace kiln::runtime {

kiln_status report_error(const Status &error, kiln_error *out) {
  if (out != nullptr) {
    out->status = status_of(error.code);
    out->cl_error = error.cl_error;
    const std::size_t size = utf8_prefix(error.message, sizeof(out->message) - 1);
    std::memcpy(out->message, error.message.data(), size);
    out->message[size] = '\0';
  }
  return status_of(error.code);
}

kiln_status null_argument(const char *function, kiln_error *out) {
  return report_error(
      Status::error(Code::bad_argument, {function, ": a required argument is NULL"}), out);
}

}  // namespace kiln::runtime

unsigned kiln_version(void) { return KILN_VERSION; }

kiln_status kiln_opencl_open(const char *const *candidates, size_t count, kiln_opencl **out,
                             kiln_error *error) {
  KILN_REQUIRE(out != nullptr && (count == 0 || candidates != nullptr), error);
  KILN_REQUIRE(std::find(candidates, candidates + count, nullptr) == candidates + count, error);
  const LibraryCandidates usual = default_opencl_candidates();
  auto cl = std::make_shared<OpenCL>();
  if (count == 0) candidates = usual.names;
  Status e = load_opencl(candidates, count == 0 ? usual.count : count, cl.get());
  if (!e.ok()) return report_error(e, error);
  *out = new kiln_opencl{std::move(cl)};
  return KILN_OK;
}

void kiln_opencl_release(kiln_opencl *opencl) { delete opencl; }

kiln_status kiln_device_count(kiln_opencl *opencl, size_t *out, kiln_error *error) {
  KILN_REQUIRE(opencl != nullptr && out != nullptr, error);
  std::vector<DeviceId> ids;
  if (Status e = list_devices(*opencl->cl, &ids); !e.ok()) return report_error(e, error);
  *out = ids.size();
  return KILN_OK;
}

kiln_status kiln_device_open(kiln_opencl *opencl, size_t index, kiln_device **out,
                             kiln_error *error) {
  KILN_REQUIRE(opencl != nullptr && out != nullptr, error);
  std::vector<DeviceId> ids;
  if (Status e = list_devices(*opencl->cl, &ids); !e.ok()) return report_error(e, error);
  if (index >= ids.size()) {
    return report_error(Status::error(Code::no_device, {"no device ", decimal(index),
                                                        ", there are ", decimal(ids.size())}),
                        error);
  }
  *out = new kiln_device{open_device(opencl->cl, ids[index])};
  return KILN_OK;
}

kiln_status kiln_device_from_cl(kiln_opencl *opencl, cl_device_id device, kiln_device **out,
                                kiln_error *error) {
  KILN_REQUIRE(opencl != nullptr && device != nullptr && out != nullptr, error);
  cl_platform_id platform = nullptr;
  const cl_int code =
      opencl->cl->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, nullptr);
  if (code != CL_SUCCESS) return report_error(cl_failure("clGetDeviceInfo", code), error);
  *out = new kiln_device{open_device(opencl->cl, {platform, device})};
  return KILN_OK;
}

void kiln_device_release(kiln_device *device) { delete device; }

cl_device_id kiln_device_cl(const kiln_device *device) {
  return device == nullptr ? nullptr : device->device->id;
}

const char *kiln_device_info(const kiln_device *device, const char *name) {
  if (device == nullptr || name == nullptr) return nullptr;
  const Device &d = *device->device;
  if (const auto field = field_from_name(name)) {
    const auto &value = d.identity[*field];
    if (value) return value->c_str();
  }
  // "profile" is the vendor profile; OpenCL's own is "device_profile".
  if (std::strcmp(name, "profile") == 0) return d.description.profile;
  if (std::strcmp(name, "key") == 0) return d.key().text().c_str();
  const std::pair<const char *, const std::string &> extracted[] = {
      {"family", d.description.family},
      {"model", d.description.model},
      {"compiler", d.description.compiler}};
  for (const auto &[known, value] : extracted) {
    if (std::strcmp(name, known) == 0 && !value.empty()) return value.c_str();
  }
  return nullptr;
}
