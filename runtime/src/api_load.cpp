// The C API: OpenCL, devices, packs and loading.
#include <algorithm>
#include <cstring>

#include "api.hpp"
#include "text.hpp"

using namespace kiln::runtime;

namespace kiln::runtime {

kiln_status report_error(const Error &error, kiln_error *out) {
  if (out != nullptr) {
    out->status = error.status;
    out->cl_error = error.cl_error;
    const std::size_t size = utf8_prefix(error.message, sizeof(out->message) - 1);
    std::memcpy(out->message, error.message.data(), size);
    out->message[size] = '\0';
  }
  return error.status;
}

kiln_status null_argument(const char *function, kiln_error *out) {
  return report_error(failure(KILN_ERROR_ARGUMENT,
                              std::string(function) + ": an argument that must not be NULL is"),
                      out);
}

namespace {

kiln_status open_pack(const packs::Status &status, std::shared_ptr<const packs::Pack> pack,
                      kiln_pack **out, kiln_error *error) {
  if (!status.ok()) return report_error(pack_failure(status), error);
  *out = new kiln_pack{std::move(pack)};
  return KILN_OK;
}

Error make_loader(const std::shared_ptr<const Device> &device, cl_context context,
                  const std::shared_ptr<const packs::Pack> &pack, Loader *out) {
  out->device = device;
  out->pack = pack;
  if (context == nullptr) return create_context(*device, &out->context);
  const cl_int code = device->cl->clRetainContext(context);
  if (code != CL_SUCCESS) return cl_failure("clRetainContext", code);
  out->context = Handle<cl_context>(context, device->cl->clReleaseContext);
  return {};
}

}  // namespace
}  // namespace kiln::runtime

kiln_status kiln_opencl_open(const char *const *candidates, size_t count, kiln_opencl **out,
                             kiln_error *error) {
  KILN_REQUIRE(out != nullptr && (count == 0 || candidates != nullptr), error);
  KILN_REQUIRE(std::find(candidates, candidates + count, nullptr) == candidates + count, error);
  const LibraryCandidates usual = default_opencl_candidates();
  auto cl = std::make_shared<OpenCL>();
  std::string tried;
  const bool loaded = count == 0 ? load_opencl(usual.names, usual.count, cl.get(), &tried)
                                 : load_opencl(candidates, count, cl.get(), &tried);
  if (!loaded) {
    return report_error(failure(KILN_ERROR_NO_OPENCL, "no usable OpenCL library; tried:\n" + tried),
                        error);
  }
  *out = new kiln_opencl{std::move(cl)};
  return KILN_OK;
}

void kiln_opencl_release(kiln_opencl *opencl) { delete opencl; }

kiln_status kiln_device_count(kiln_opencl *opencl, size_t *out, kiln_error *error) {
  KILN_REQUIRE(opencl != nullptr && out != nullptr, error);
  std::vector<DeviceId> ids;
  if (Error e = list_devices(*opencl->cl, &ids); !e.ok()) return report_error(e, error);
  *out = ids.size();
  return KILN_OK;
}

kiln_status kiln_device_open(kiln_opencl *opencl, size_t index, kiln_device **out,
                             kiln_error *error) {
  KILN_REQUIRE(opencl != nullptr && out != nullptr, error);
  std::vector<DeviceId> ids;
  if (Error e = list_devices(*opencl->cl, &ids); !e.ok()) return report_error(e, error);
  if (index >= ids.size()) {
    return report_error(
        failure(KILN_ERROR_NO_DEVICE,
                "no device " + std::to_string(index) + ", there are " + std::to_string(ids.size())),
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

const char *kiln_device_fact(const kiln_device *device, const char *name) {
  if (device == nullptr || name == nullptr) return nullptr;
  const Device &d = *device->device;
  if (const auto field = field_from_name(name)) {
    const auto &value = d.identity[*field];
    if (value) return value->c_str();
  }
  // "profile" is the vendor profile; OpenCL's own is the fact "device_profile".
  if (std::strcmp(name, "profile") == 0) return d.description.profile;
  if (std::strcmp(name, "key") == 0) return d.key.c_str();
  const std::pair<const char *, const std::string &> extracted[] = {
      {"family", d.description.family},
      {"model", d.description.model},
      {"compiler", d.description.compiler}};
  for (const auto &[known, value] : extracted) {
    if (std::strcmp(name, known) == 0 && !value.empty()) return value.c_str();
  }
  return nullptr;
}

kiln_status kiln_pack_open_file(const char *path, kiln_pack **out, kiln_error *error) {
  KILN_REQUIRE(path != nullptr && out != nullptr, error);
  std::shared_ptr<const kiln::packs::Pack> pack;
  const auto status = kiln::packs::Pack::open_file(path, &pack);
  return open_pack(status, std::move(pack), out, error);
}

kiln_status kiln_pack_open_descriptor(int fd, uint64_t offset, uint64_t length, kiln_pack **out,
                                      kiln_error *error) {
  KILN_REQUIRE(out != nullptr, error);
  std::shared_ptr<const kiln::packs::Pack> pack;
  const auto status = kiln::packs::Pack::open_descriptor(fd, offset, length, &pack);
  return open_pack(status, std::move(pack), out, error);
}

kiln_status kiln_pack_open_memory(const void *memory, size_t size, kiln_pack **out,
                                  kiln_error *error) {
  KILN_REQUIRE(memory != nullptr && out != nullptr, error);
  std::shared_ptr<const kiln::packs::Pack> pack;
  const auto status =
      kiln::packs::Pack::open_memory({static_cast<const uint8_t *>(memory), size}, &pack);
  return open_pack(status, std::move(pack), out, error);
}

void kiln_pack_release(kiln_pack *pack) { delete pack; }

kiln_status kiln_loader_create(kiln_device *device, cl_context context, kiln_pack *pack,
                               kiln_loader **out, kiln_error *error) {
  KILN_REQUIRE(device != nullptr && pack != nullptr && out != nullptr, error);
  auto loader = std::make_shared<Loader>();
  Error e = make_loader(device->device, context, pack->pack, loader.get());
  if (!e.ok()) return report_error(e, error);
  *out = new kiln_loader{std::move(loader)};
  return KILN_OK;
}

void kiln_loader_release(kiln_loader *loader) { delete loader; }

cl_context kiln_loader_context(const kiln_loader *loader) {
  return loader == nullptr ? nullptr : loader->loader->context.get();
}

kiln_status kiln_load(kiln_loader *loader, const char *program, const char *variant, unsigned flags,
                      kiln_program **out, kiln_report **report, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && program != nullptr && out != nullptr, error);
  auto *result = new kiln_report;
  std::shared_ptr<LoadedProgram> loaded;
  const Error e = load(loader->loader, program, variant == nullptr ? "" : variant, flags, &loaded,
                       &result->report);
  if (report != nullptr) {
    *report = result;
  } else {
    delete result;
  }
  if (!e.ok()) return report_error(e, error);
  *out = new kiln_program{std::move(loaded)};
  return KILN_OK;
}

void kiln_program_release(kiln_program *program) { delete program; }

cl_program kiln_program_cl(const kiln_program *program) {
  return program == nullptr ? nullptr : program->program->built.program.get();
}

void kiln_report_release(kiln_report *report) { delete report; }

kiln_rung kiln_report_rung(const kiln_report *report) {
  return report == nullptr ? KILN_RUNG_ERROR : report->report.rung;
}

const char *kiln_report_reason(const kiln_report *report, kiln_rung rung, kiln_outcome *outcome) {
  if (report == nullptr) return nullptr;
  for (const RungResult &result : report->report.rungs) {
    if (result.rung != rung) continue;
    if (outcome != nullptr) *outcome = result.outcome;
    return result.reason.c_str();
  }
  return nullptr;
}

double kiln_report_milliseconds(const kiln_report *report) {
  return report == nullptr ? 0 : report->report.milliseconds;
}

const char *kiln_report_json(kiln_report *report) {
  if (report == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(report->mutex);
  if (report->json.empty()) report->json = report->report.json();
  return report->json.c_str();
}
