// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/builds.hpp"

#include <chrono>

#include "runtime/layer/build_report.hpp"
#include "runtime/layer/program_name.hpp"
#include "runtime/layer/record.hpp"
#include "runtime/layer/serve.hpp"
#include "runtime/layer/settings.hpp"

namespace kiln::layer {
namespace {

using Lock = std::lock_guard<std::mutex>;
using Clock = std::chrono::steady_clock;

// The only device of the program's context, or null.
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

std::string options_of(const BuildArguments &arguments) {
  return arguments.options == nullptr ? "" : arguments.options;
}

// Why the layer has nothing to do with the program, or null.
const char *why_passed(const Program &program, const BuildArguments &arguments,
                       cl_device_id device) {
  const bool well_formed = (arguments.device_count == 0) == (arguments.devices == nullptr) &&
                           (arguments.notify != nullptr || arguments.user == nullptr);
  if (!well_formed) return "its arguments are for the driver to judge";
  // Kernels that the layer does not know may be attached to it.
  if (program.native) return "the driver built it before";
  if (depends_on_more(program.source) || depends_on_more(options_of(arguments))) {
    return "it may depend on files or the time";
  }
  if (device == nullptr) return "its context has several devices";
  if (arguments.device_count > 1 ||
      (arguments.devices != nullptr && arguments.devices[0] != device)) {
    return "it is built for other devices";
  }
  return nullptr;
}

void record(cl_program built, const Program &program, const std::string &options) {
  if (depends_on_more(program.source) || depends_on_more(options)) return;
  record_program(built, {program_name(program.source, options), program.source, options},
                 settings().spool);
}

// A build by the driver that may end after clBuildProgram has returned.
struct Pending {
  Notify notify;
  void *user;
  ProgramPointer program;
  std::string options;
};

void CL_CALLBACK when_built(cl_program program, void *user) {
  const std::unique_ptr<Pending> pending(static_cast<Pending *>(user));
  record(program, *pending->program, pending->options);
  pending->notify(program, pending->user);
}

cl_int build_and_record(const ProgramPointer &program, const BuildArguments &arguments) {
  const std::string options = options_of(arguments);
  if (arguments.notify == nullptr) {
    const cl_int code =
        next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                            arguments.options, nullptr, arguments.user);
    if (code == CL_SUCCESS) record(program->handle, *program, options);
    return code;
  }
  // Left behind where a driver refuses the call and does not call back: some do both.
  auto *pending = new Pending{arguments.notify, arguments.user, program, options};
  return next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                             arguments.options, when_built, pending);
}

// Whether a twin serves the build from here on.
bool serve(const ProgramPointer &program, const BuildArguments &arguments) {
  const auto start = Clock::now();
  Built built;
  built.program = program_name(program->source, options_of(arguments));
  const cl_device_id device = only_device(program->handle);
  const char *why = why_passed(*program, arguments, device);
  Served served;
  if (why == nullptr) {
    served = serve_program(built.program, program->context, device);
  } else {
    served.reason = why;
  }
  built.rung = served.rung;
  built.reason = served.reason;
  built.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (!settings().report.empty()) append_report(built, settings().report);
  if (served.program == nullptr) return false;
  objects().set_twin(program,
                     std::make_shared<Twin>(served.program, options_of(arguments), served.log));
  return true;
}

}  // namespace

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
    if (settings().record || !serve(program, arguments)) {
      return leave_to_driver(program, arguments.notify != nullptr, [&] {
        return settings().record
                   ? build_and_record(program, arguments)
                   : next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                                         arguments.options, arguments.notify, arguments.user);
      });
    }
  }
  if (arguments.notify != nullptr) arguments.notify(program->handle, arguments.user);
  return CL_SUCCESS;
}

}  // namespace kiln::layer
