// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/builds.hpp"

#include "runtime/layer/build_report.hpp"
#include "runtime/layer/devices.hpp"
#include "runtime/layer/kept.hpp"
#include "runtime/layer/record.hpp"
#include "runtime/layer/serve.hpp"
#include "runtime/layer/settings.hpp"

namespace kiln::layer {
namespace {

cl_int by_driver(const ProgramPointer &program, const BuildArguments &arguments) {
  return next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                             arguments.options, arguments.notify, arguments.user);
}

// A build by the driver that may end after clBuildProgram has returned.
struct Pending {
  Notify notify;
  void *user;
  WholeProgram whole;
};

void CL_CALLBACK when_built(cl_program program, void *user) {
  const std::unique_ptr<Pending> pending(static_cast<Pending *>(user));
  note_built(program, pending->whole);
  pending->notify(program, pending->user);
}

cl_int build_and_note(const ProgramPointer &program, const BuildArguments &arguments,
                      const WholeProgram &whole) {
  if (arguments.notify == nullptr) {
    const cl_int code = by_driver(program, arguments);
    if (code == CL_SUCCESS) note_built(program->handle, whole);
    return code;
  }
  // Left behind where a driver refuses the call and does not call back: some do both.
  auto *pending = new Pending{arguments.notify, arguments.user, whole};
  BuildArguments noting = arguments;
  noting.notify = when_built;
  noting.user = pending;
  return by_driver(program, noting);
}

// Why the layer has nothing to do with the build; empty if it has.
std::string why_not(const Program &program, const BuildArguments &arguments, cl_device_id device,
                    const packs::Result<WholeProgram> &whole) {
  std::string why = whole.ok() ? "" : whole.status().message;
  if (!settings().record) {
    // Kernels that the layer does not know may be attached to it.
    if (program.native) why = "the driver built it before";
    const std::string passed = why_passed(arguments, device);
    if (!passed.empty()) why = passed;
  }
  return why;
}

// Whether a twin serves the build from here on; fills in what is to be reported.
bool take_twin(const ProgramPointer &program, const std::string &options, const Served &served,
               Built *built) {
  built->rung = served.rung;
  built->reason = served.reason;
  if (served.program == nullptr) return false;
  objects().set_twin(program, std::make_shared<Twin>(served.program, options, served.log));
  return true;
}

}  // namespace

void note_built(cl_program built, const WholeProgram &whole) {
  if (settings().record) {
    record_program(built, whole, settings().spool);
  } else {
    keep_program(built, whole);
  }
}

std::string why_passed(const BuildArguments &arguments, cl_device_id only) {
  const bool well_formed = (arguments.device_count == 0) == (arguments.devices == nullptr) &&
                           (arguments.notify != nullptr || arguments.user == nullptr);
  if (!well_formed) return "its arguments are for the driver to judge";
  if (only == nullptr) return "its context has several devices";
  const bool others =
      arguments.device_count > 1 || (arguments.devices != nullptr && arguments.devices[0] != only);
  return others ? "it is built for other devices" : "";
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
    Built built;
    const std::string options = arguments.options_text();
    const auto whole = whole_program(program->source, options);
    const cl_device_id device = only_device(program->handle);
    built.program = whole.ok() ? whole->name : program_name(program->source, options);
    built.reason = why_not(*program, arguments, device, whole);
    const bool ours = built.reason.empty();
    const bool records = ours && settings().record;
    Served served;
    if (ours && !records) served = serve_program(built.program, program->context, device);
    const bool is_served = ours && !records && take_twin(program, options, served, &built);
    const bool keeps = served.is_unknown && !settings().overlay.empty();
    cl_int code = CL_SUCCESS;
    if (!is_served) {
      code = leave_to_driver(program, &lock, arguments.notify != nullptr, [&] {
        return records || keeps ? build_and_note(program, arguments, *whole)
                                : by_driver(program, arguments);
      });
    }
    if (records || keeps) built.reason = code == CL_SUCCESS ? noted() : kRefused;
    append_report(built);
    if (!is_served) return code;
  }
  if (arguments.notify != nullptr) arguments.notify(program->handle, arguments.user);
  return CL_SUCCESS;
}

}  // namespace kiln::layer
