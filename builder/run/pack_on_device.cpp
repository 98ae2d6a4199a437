// SPDX-License-Identifier: Apache-2.0
// Opens loader, queue and contents for one device, and finds programs and variants by name.
#include "builder/run/pack_on_device.hpp"

#include <csignal>

#include <unistd.h>

#include "runtime/api/api.hpp"

namespace kiln::builder {

namespace {

Code code_of(kiln_status status) {
  switch (status) {
    case KILN_OK: return Code::ok;
    case KILN_ERROR_ARGUMENT: return Code::bad_argument;
    case KILN_ERROR_NO_OPENCL: return Code::no_opencl;
    case KILN_ERROR_NO_DEVICE: return Code::no_device;
    case KILN_ERROR_OPENCL: return Code::opencl;
    case KILN_ERROR_PACK_NOT_FOUND: return Code::not_found;
    case KILN_ERROR_PACK_IO: return Code::io_error;
    case KILN_ERROR_PACK_BAD: return Code::root_malformed;
    case KILN_ERROR_PACK_NEWER: return Code::newer_version;
    case KILN_ERROR_NOT_IN_PACK: return Code::not_in_pack;
    case KILN_ERROR_REQUIREMENT: return Code::requirement;
    case KILN_ERROR_NO_RUNG: return Code::no_rung;
    case KILN_ERROR_UNTRUSTED: return Code::untrusted;
  }
  return Code::failed;
}

void end_on_purpose(int signal) {
  kiln_process_ending();
  _exit(128 + signal);
}

}  // namespace

Status status_of(const kiln_error &error) {
  if (error.status == KILN_OK) return {};
  return {code_of(error.status), error.cl_error, error.message};
}

Status pack_changed() { return {Code::failed, "the pack changed while it was in use"}; }

Status PackOnDevice::open(const DeviceInfo &info, const std::string &pack_path,
                          kiln::LoaderOptions options) {
  Status status = open_device(info);
  return status.ok() ? open_another(pack_path, options) : status;
}

Status PackOnDevice::open_device(const DeviceInfo &info) {
  Status status = child.open(info);
  if (!status.ok()) return status;
  std::signal(SIGTERM, end_on_purpose);  // sent by pass_on_interrupts() in the parent
  device = kiln::Device(new kiln_device{child.device});
  return {};
}

Status PackOnDevice::open_another(const std::string &pack_path, kiln::LoaderOptions options) {
  queue = {};
  loader = {};
  options.context = child.context.get();
  Status status = take(kiln::Pack::open_file(pack_path), &pack);
  if (status.ok()) status = take(kiln::Loader::create(device, pack, options), &loader);
  if (status.ok()) status = open_queue();
  if (!status.ok()) return status;
  status = packs::read_contents(pack.get()->pack, &contents);
  return status.ok() ? status : pack_changed();
}

Status PackOnDevice::open_queue() {
  Status status = take(kiln::Queue::create(loader), &queue);
  if (status.cl_error != CL_INVALID_QUEUE_PROPERTIES) return status;
  kiln_queue_options plain{};
  plain.size = sizeof(plain);
  plain.flags = KILN_QUEUE_NO_PROFILING;
  return take(kiln::Queue::create(loader, &plain), &queue);
}

kiln::Program PackOnDevice::adopt(const std::string &program, const std::string &variant,
                                  runtime::BuiltProgram built) const {
  auto loaded = std::make_shared<runtime::LoadedProgram>();
  loaded->loader = loader.get()->loader;
  loaded->name = program;
  // Of a pack whose contents were read, so that every program was checked.
  (void)file().find_variant(program, variant, &loaded->variant);
  loaded->built = std::move(built);
  return kiln::Program(new kiln_program{std::move(loaded)});
}

const packs::Pack &PackOnDevice::file() const { return *pack.get()->pack; }

Result<PackOnDevice::Found> PackOnDevice::find(const std::string &program,
                                               const std::string &variant) const {
  Found found;
  found.program = find_program(contents, program);
  if (found.program != nullptr) found.variant = find_variant(*found.program, variant);
  if (found.variant == nullptr) return pack_changed();
  return found;
}

const packs::Program *find_program(const packs::Contents &contents, const std::string &name) {
  for (const packs::Program &program : contents.programs) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

const packs::Variant *find_variant(const packs::Program &program, const std::string &name) {
  for (const packs::Variant &variant : program.variants) {
    if (variant.name == name) return &variant;
  }
  return nullptr;
}

const runtime::Report &report_of(const kiln::Loaded &loaded) {
  return *loaded.report.get()->report;
}

}  // namespace kiln::builder
