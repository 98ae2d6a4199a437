// SPDX-License-Identifier: Apache-2.0
// Decides whether a twin serves a build or the driver does it, and notes the driver's builds. An
// application's own binaries are loaded and built behind the overlay's markers.
#include "runtime/layer/builds.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "kiln/packs/bytes.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/quarantine.hpp"
#include "runtime/spool/build_report.hpp"
#include "runtime/spool/devices.hpp"
#include "runtime/spool/launches.hpp"
#include "runtime/spool/record.hpp"
#include "runtime/spool/serve.hpp"
#include "runtime/spool/settings.hpp"

namespace kiln::layer {

namespace {

using packs::Code;
using packs::Status;

cl_int by_driver(const ProgramPointer &program, const BuildArguments &arguments) {
  return next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                             arguments.options, arguments.notify, arguments.user);
}

// A build by the driver that may end after clBuildProgram has returned.
struct Pending {
  Notify notify;
  void *user;
  Devices devices;
  Given given;
};

// Watches the launches of `program`, which stands for the application's `own`, if the file stores
// launches. A program for several devices has a file for each of them, and a launch belongs to one
// of these files, so its launches are not watched.
void watch(cl_program program, cl_program own, const KeptFile &file, const Given &given) {
  if (file.path.empty() || only_device(own) == nullptr) return;
  launches().set_program(program, file.path, file.lines, std::make_shared<Given>(given));
}

Status note_unchanged(cl_program built, const Devices &devices, const Given &given) {
  const Status status = check_unchanged(given.whole, given.source, given.options);
  if (!status.ok()) {
    complain_once("a program is not noted: " + status.message);
    return status;
  }
  KeptFile file;
  const Status noted = note_built(built, devices, given.whole, &file);
  if (noted.ok()) watch(built, built, file, given);
  return noted;
}

void CL_CALLBACK when_built(cl_program program, void *user) {
  const std::unique_ptr<Pending> pending(static_cast<Pending *>(user));
  (void)note_unchanged(program, pending->devices, pending->given);
  pending->notify(program, pending->user);
}

// Lets the driver build, and notes the result. Sets `*reason` to the outcome, or to the expected
// outcome if the driver will build later.
cl_int build_and_note(const ProgramPointer &program, const BuildArguments &arguments,
                      const Devices &devices, const WholeProgram &whole, std::string *reason) {
  const Given given{program->source, arguments.options_text(), whole};
  if (arguments.notify == nullptr) {
    const cl_int code = by_driver(program, arguments);
    if (code == CL_SUCCESS) *reason = noted(note_unchanged(program->handle, devices, given));
    return code;
  }
  // Leaks if a driver refuses the call and never calls back. Some drivers refuse and call back, so
  // it cannot be freed here.
  auto *pending = new Pending{arguments.notify, arguments.user, devices, given};
  BuildArguments noting = arguments;
  noting.notify = when_built;
  noting.user = pending;
  const cl_int code = by_driver(program, noting);
  if (code == CL_SUCCESS) *reason = noted({});
  return code;
}

// Finds a program for `devices`, and adds the devices in `all` for which the same program was built
// before; or returns no program and the reason.
Served serve(const ProgramPointer &program, const std::string &options,
             const packs::Result<WholeProgram> &whole, const Devices &all, Devices *devices) {
  Served served;
  if (!whole.ok()) {
    served.reason = whole.status().message;
    return served;
  }
  if (program->native) {  // kernels unknown to the layer may be attached
    served.is_unknown = !can_serve(whole->name, *devices);
    served.reason = "the driver built it before";
    return served;
  }
  const TwinPointer twin = objects().twin_of(program->handle);
  if (twin != nullptr && !twin->is_compiled && !contains_all(*devices, twin->devices)) {
    if (twin->whole.name != whole->name || twin->options.text != options) {
      served.is_unknown = !can_serve(whole->name, *devices);
      served.reason = "it was built otherwise for other devices before";
      return served;
    }
    const Devices asked = std::move(*devices);
    devices->clear();
    for (const cl_device_id device : all) {
      const bool is_one = contains(asked, device) || contains(twin->devices, device);
      if (is_one) devices->push_back(device);
    }
  }
  return serve_program(whole->name, program->context, *devices);
}

// Has a twin serve the build from here on; fills in the report.
void take_twin(const ProgramPointer &program, const WholeProgram &whole, const Options &options,
               const Devices &devices, const Served &served, Built *built) {
  built->rung = served.rung;
  built->reason = served.miss;
  built->nearest = served.nearest;
  objects().set_twin(program, std::make_shared<Twin>(served.program, whole, options, devices,
                                                     served.logs, served.tuned));
  watch(served.program, program->handle, served.kept, {program->source, options.text, whole});
}

// Has the driver build the program for the twin's devices, unless `devices` includes them all, so
// that the others stay built when the twin goes.
void build_others(const ProgramPointer &program, const Devices &devices) {
  const TwinPointer twin = objects().twin_of(program->handle);
  if (twin == nullptr || twin->is_compiled || contains_all(devices, twin->devices)) return;
  (void)next.clBuildProgram(program->handle, static_cast<cl_uint>(twin->devices.size()),
                            twin->devices.data(), twin->options.or_null(twin->options.text),
                            nullptr, nullptr);
}

Status keep_for_each(cl_program built, const Devices &devices, const WholeProgram &whole,
                     KeptFile *file) {
  Status status;
  for (const Part &part : parts_of(built, devices)) {
    if (Status s = keep_program(built, part, whole, file); !s.ok()) status = std::move(s);
  }
  return status;
}

// The overlay's quarantine for one device's driver.
struct Guard {
  runtime::Folder folder;
  runtime::Quarantine quarantine;
};

std::unique_ptr<Guard> open_guard(cl_device_id id) {
  kiln_device *device = nullptr;
  if (next_opencl() == nullptr || find_device(id, &device, nullptr) != KILN_OK) return nullptr;
  auto guard = std::make_unique<Guard>();
  if (runtime::Folder::open(settings().overlay.c_str(), &guard->folder) != 0) return nullptr;
  std::vector<runtime::Death> deaths;  // not read: check() gives the reason of a refusal
  guard->quarantine.open(&guard->folder, runtime::driver_number(*device->device),
                         runtime::device_label(kiln_device_info(device, "device_name"),
                                               kiln_device_info(device, "driver_version")),
                         &deaths);
  return guard;
}

// Returns the device's quarantine, which lives as long as the process; null if no overlay can be
// used.
runtime::Quarantine *quarantine_of(cl_device_id device) {
  static std::mutex &mutex = *new std::mutex;
  static auto &guards = *new std::map<cl_device_id, std::unique_ptr<Guard>>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [place, is_new] = guards.try_emplace(device);
  if (is_new) place->second = open_guard(device);
  return place->second == nullptr ? nullptr : &place->second->quarantine;
}

runtime::BlobUse subject_of(const BinaryArguments &arguments) {
  return {packs::xxh3(arguments.binaries[0], arguments.lengths[0]), KILN_RUNG_EXACT};
}

cl_program by_driver(const BinaryArguments &arguments, cl_int *status, cl_int *code) {
  return next.clCreateProgramWithBinary(arguments.context, arguments.count, arguments.devices,
                                        arguments.lengths, arguments.binaries, status, code);
}

bool is_of(cl_context context, cl_device_id device) {
  std::size_t size = 0;
  if (next.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size) != CL_SUCCESS) {
    return false;
  }
  std::vector<cl_device_id> devices(size / sizeof(cl_device_id));
  return next.clGetContextInfo(context, CL_CONTEXT_DEVICES, size, devices.data(), nullptr) ==
             CL_SUCCESS &&
         std::find(devices.begin(), devices.end(), device) != devices.end();
}

// Returns whether the layer handles the call. An invalid call is left to the driver: the layer must
// not query objects that may not exist.
bool is_followed(const BinaryArguments &arguments) {
  return !settings().overlay.empty() && arguments.count == 1 && arguments.devices != nullptr &&
         arguments.lengths != nullptr && arguments.binaries != nullptr &&
         arguments.binaries[0] != nullptr && arguments.lengths[0] != 0 &&
         is_of(arguments.context, arguments.devices[0]);
}

cl_program refuse(const std::string &why, cl_int *status, cl_int *code) {
  Built built;
  built.reason = "the application's own binary: " + why;
  append_report(built);
  if (status != nullptr) *status = CL_INVALID_BINARY;
  *code = CL_INVALID_BINARY;
  return nullptr;
}

}  // namespace

Status note_built(cl_program built, const Devices &devices, const WholeProgram &whole,
                  KeptFile *file) {
  const Status status = settings().record ? record_program(built, devices, whole, settings().spool)
                                          : keep_for_each(built, devices, whole, file);
  if (!status.ok() && status.code != Code::requirement) {
    complain_once((settings().record ? "not recorded: " : "not kept: ") + status.message);
  }
  return status;
}

packs::Result<Devices> devices_asked(const BuildArguments &arguments, const Devices &all) {
  const bool well_formed = (arguments.device_count == 0) == (arguments.devices == nullptr) &&
                           (arguments.notify != nullptr || arguments.user == nullptr);
  if (!well_formed || all.empty()) {
    return Status::error(Code::bad_argument, "its arguments are for the driver to judge");
  }
  if (arguments.devices == nullptr) return all;
  Devices asked;
  for (cl_uint i = 0; i < arguments.device_count; ++i) {
    const cl_device_id device = arguments.devices[i];
    if (!contains(all, device)) {
      return Status::error(Code::failed, "it is built for other devices");
    }
    if (!contains(asked, device)) asked.push_back(device);
  }
  return asked;
}

cl_program create_named(cl_context context, const WholeProgram &whole) {
  const char *text = whole.source.data();
  const std::size_t size = whole.source.size();
  cl_int code = CL_SUCCESS;
  return whole.is_il ? next.clCreateProgramWithIL(context, text, size, &code)
                     : next.clCreateProgramWithSource(context, 1, &text, &size, &code);
}

cl_program built_from_text(Twin *twin) {
  const std::lock_guard<std::mutex> lock(twin->asking);
  if (twin->asked) return twin->of_text.get();
  twin->asked = true;
  const cl_program made = create_named(context_of(twin->program), twin->whole);
  if (made == nullptr) return nullptr;
  runtime::Handle<cl_program> built(made, next.clReleaseProgram);
  if (next.clBuildProgram(made, static_cast<cl_uint>(twin->devices.size()), twin->devices.data(),
                          twin->options.or_null(twin->whole.options), nullptr,
                          nullptr) == CL_SUCCESS) {
    twin->of_text = std::move(built);
  }
  return twin->of_text.get();
}

cl_int leave_to_driver(const ProgramPointer &program, std::unique_lock<std::mutex> *lock,
                       bool calls_back, const std::function<cl_int()> &by_driver) {
  if (objects().has_kernels(program)) return CL_INVALID_OPERATION;
  if (calls_back) {
    objects().set_twin(program, nullptr);
    program->native = true;
    lock->unlock();
    return by_driver();
  }
  const cl_int code = by_driver();
  const bool tried = code == CL_SUCCESS || code == CL_BUILD_PROGRAM_FAILURE ||
                     code == CL_COMPILE_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS ||
                     code == CL_INVALID_COMPILER_OPTIONS;
  if (tried) objects().set_twin(program, nullptr);
  program->native = program->native || tried;
  return code;
}

cl_int build(const ProgramPointer &program, const BuildArguments &arguments) {
  {
    std::unique_lock<std::mutex> lock(program->building);
    if (objects().has_kernels(program)) return CL_INVALID_OPERATION;
    objects().set_compilation(program, nullptr);
    launches().set_program(program->handle, "");
    Built built;
    const std::string options = arguments.options_text();
    const auto whole = whole_of(*program, options);
    built.program = whole.ok() ? whole->name : program_name(program->source, options);
    const Devices all = devices_of(program->handle);
    const auto asked = devices_asked(arguments, all);
    const Devices devices = asked.ok() ? *asked : all;
    const bool records = whole.ok() && settings().record;
    Served served;
    Devices to_serve = devices;
    if (!asked.ok()) {
      served.reason = asked.status().message;
    } else if (!records) {
      served = serve(program, options, whole, all, &to_serve);
    }
    const bool is_served = served.program != nullptr;
    built.reason = served.reason;
    if (is_served) {
      take_twin(program, *whole, arguments.given_options(), to_serve, served, &built);
    }
    const bool keeps = served.is_unknown && !settings().overlay.empty();
    cl_int code = CL_SUCCESS;
    if (records || keeps) built.reason = kRefused;  // replaced unless the driver refuses
    if (!is_served) {
      build_others(program, devices);
      code = leave_to_driver(program, &lock, arguments.notify != nullptr, [&] {
        return records || keeps ? build_and_note(program, arguments, devices, *whole, &built.reason)
                                : by_driver(program, arguments);
      });
    }
    append_report(built);
    if (!is_served) return code;
  }
  if (arguments.notify != nullptr) arguments.notify(program->handle, arguments.user);
  return CL_SUCCESS;
}

cl_program create_with_binary(const BinaryArguments &arguments, cl_int *status, cl_int *code) {
  runtime::Quarantine *quarantine =
      is_followed(arguments) ? quarantine_of(arguments.devices[0]) : nullptr;
  if (quarantine == nullptr) return by_driver(arguments, status, code);
  const runtime::BlobUse subject = subject_of(arguments);
  const packs::Status allowed = quarantine->check(subject);
  if (!allowed.ok()) return refuse(allowed.message, status, code);
  cl_program made = nullptr;
  {
    const runtime::Guarded guarded(quarantine, subject, 0);
    made = by_driver(arguments, status, code);
  }
  if (made == nullptr) return made;
  auto known = std::make_shared<Program>();
  known->handle = made;
  known->context = arguments.context;
  known->kind = Program::Kind::own_binary;
  known->binary = subject.id;
  objects().add(known);
  return made;
}

cl_int build_foreign(const ProgramPointer &program, const BuildArguments &arguments) {
  const auto call = [&] {
    return next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                               arguments.options, arguments.notify, arguments.user);
  };
  const cl_device_id device = only_device(program->handle);
  runtime::Quarantine *quarantine = device == nullptr ? nullptr : quarantine_of(device);
  if (quarantine == nullptr || arguments.notify != nullptr) return call();
  runtime::Guarded guarded(quarantine, {program->binary, KILN_RUNG_EXACT}, 0);
  const cl_int code = call();
  if (code == CL_SUCCESS) guarded.end(runtime::Verdict::taken);
  return code;
}

}  // namespace kiln::layer
