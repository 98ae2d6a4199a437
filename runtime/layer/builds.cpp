// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/builds.hpp"

#include "runtime/layer/build_report.hpp"
#include "runtime/layer/record.hpp"
#include "runtime/layer/serve.hpp"
#include "runtime/layer/settings.hpp"

namespace kiln::layer {
namespace {

using Lock = std::lock_guard<std::mutex>;

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
  record_program(program, pending->whole, settings().spool);
  pending->notify(program, pending->user);
}

cl_int build_and_record(const ProgramPointer &program, const BuildArguments &arguments,
                        const WholeProgram &whole) {
  if (arguments.notify == nullptr) {
    const cl_int code = by_driver(program, arguments);
    if (code == CL_SUCCESS) record_program(program->handle, whole, settings().spool);
    return code;
  }
  // Left behind where a driver refuses the call and does not call back: some do both.
  auto *pending = new Pending{arguments.notify, arguments.user, whole};
  BuildArguments recording = arguments;
  recording.notify = when_built;
  recording.user = pending;
  return by_driver(program, recording);
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
bool serve(const ProgramPointer &program, const BuildArguments &arguments, cl_device_id device,
           Built *built) {
  const Served served = serve_program(built->program, program->context, device);
  built->rung = served.rung;
  built->reason = served.reason;
  if (served.program == nullptr) return false;
  objects().set_twin(program,
                     std::make_shared<Twin>(served.program, arguments.options_text(), served.log));
  return true;
}

}  // namespace

cl_device_id only_device(cl_program program) {
  cl_uint count = 0;
  cl_device_id device = nullptr;
  const bool one = next.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count,
                                         nullptr) == CL_SUCCESS &&
                   count == 1 &&
                   next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(device), &device,
                                         nullptr) == CL_SUCCESS;
  return one ? device : nullptr;
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

cl_int leave_to_driver(const ProgramPointer &program, bool calls_back,
                       const std::function<cl_int()> &by_driver) {
  if (objects().has_kernels(program)) return CL_INVALID_OPERATION;
  if (calls_back) objects().set_twin(program, nullptr);
  const cl_int code = by_driver();
  const bool tried = code == CL_SUCCESS || code == CL_BUILD_PROGRAM_FAILURE ||
                     code == CL_COMPILE_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS ||
                     code == CL_INVALID_COMPILER_OPTIONS;
  if (tried) objects().set_twin(program, nullptr);
  program->native = program->native || tried || calls_back;
  return code;
}

cl_int build(const ProgramPointer &program, const BuildArguments &arguments) {
  {
    const Lock lock(program->building);
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
    const bool served = ours && !records && serve(program, arguments, device, &built);
    cl_int code = CL_SUCCESS;
    if (!served) {
      code = leave_to_driver(program, arguments.notify != nullptr, [&] {
        return records ? build_and_record(program, arguments, *whole)
                       : by_driver(program, arguments);
      });
    }
    if (records) built.reason = code == CL_SUCCESS ? kRecorded : "the driver does not build it";
    append_report(built);
    if (!served) return code;
  }
  if (arguments.notify != nullptr) arguments.notify(program->handle, arguments.user);
  return CL_SUCCESS;
}

}  // namespace kiln::layer
