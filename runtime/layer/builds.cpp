// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/builds.hpp"

#include "runtime/layer/build_report.hpp"
#include "runtime/layer/devices.hpp"
#include "runtime/layer/launches.hpp"
#include "runtime/layer/record.hpp"
#include "runtime/layer/serve.hpp"
#include "runtime/layer/settings.hpp"

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
  WholeProgram whole;
  Given given;
};

// Its launches are watched where they matter to the file.
void watch(cl_program program, const KeptFile &file, const Given &given) {
  if (file.path.empty()) return;
  launches().set_program(program, file.path, file.lines, std::make_shared<Given>(given));
}

Status note_unchanged(cl_program built, const WholeProgram &whole, const Given &given) {
  const Status status = check_unchanged(whole, given.source, given.options);
  if (!status.ok()) {
    complain_once("a program is not noted: " + status.message);
    return status;
  }
  KeptFile file;
  const Status noted = note_built(built, whole, &file);
  if (noted.ok()) watch(built, file, given);
  return noted;
}

void CL_CALLBACK when_built(cl_program program, void *user) {
  const std::unique_ptr<Pending> pending(static_cast<Pending *>(user));
  (void)note_unchanged(program, pending->whole, pending->given);
  pending->notify(program, pending->user);
}

// `*reason` is what became of it, or is to become when the driver has built it.
cl_int build_and_note(const ProgramPointer &program, const BuildArguments &arguments,
                      const WholeProgram &whole, std::string *reason) {
  const Given given{program->source, arguments.options_text(), program->is_il};
  if (arguments.notify == nullptr) {
    const cl_int code = by_driver(program, arguments);
    if (code == CL_SUCCESS) *reason = noted(note_unchanged(program->handle, whole, given));
    return code;
  }
  // Left behind where a driver refuses the call and does not call back: some do both.
  auto *pending = new Pending{arguments.notify, arguments.user, whole, given};
  BuildArguments noting = arguments;
  noting.notify = when_built;
  noting.user = pending;
  const cl_int code = by_driver(program, noting);
  if (code == CL_SUCCESS) *reason = noted({});
  return code;
}

// Whether the layer has to do with the build. Fails with why not.
Status judge(const Program &program, const BuildArguments &arguments, cl_device_id device,
             const packs::Result<WholeProgram> &whole) {
  if (settings().record) return whole.status();
  if (Status s = can_follow(arguments, device); !s.ok()) return s;
  // Kernels that the layer does not know may be attached to it.
  if (program.native) return Status::error(Code::failed, "the driver built it before");
  return whole.status();
}

// Whether a twin serves the build from here on; fills in what is to be reported.
bool take_twin(const ProgramPointer &program, const std::string &options, const Served &served,
               Built *built) {
  built->rung = served.rung;
  built->reason = served.reason;
  if (served.program == nullptr) return false;
  objects().set_twin(program, std::make_shared<Twin>(served.program, options, served.log));
  watch(served.program, served.kept, {program->source, options, program->is_il});
  return true;
}

}  // namespace

Status note_built(cl_program built, const WholeProgram &whole, KeptFile *file) {
  const Status status = settings().record ? record_program(built, whole, settings().spool)
                                          : keep_program(built, whole, file);
  if (!status.ok() && status.code != Code::requirement) {
    complain_once((settings().record ? "not recorded: " : "not kept: ") + status.message);
  }
  return status;
}

Status can_follow(const BuildArguments &arguments, cl_device_id only) {
  const bool well_formed = (arguments.device_count == 0) == (arguments.devices == nullptr) &&
                           (arguments.notify != nullptr || arguments.user == nullptr);
  if (!well_formed) {
    return Status::error(Code::bad_argument, "its arguments are for the driver to judge");
  }
  if (only == nullptr) return Status::error(Code::failed, "its context has several devices");
  const bool others =
      arguments.device_count > 1 || (arguments.devices != nullptr && arguments.devices[0] != only);
  return others ? Status::error(Code::failed, "it is built for other devices") : Status();
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
    const cl_device_id device = only_device(program->handle);
    built.program = whole.ok() ? whole->name : program_name(program->source, options);
    const Status judged = judge(*program, arguments, device, whole);
    built.reason = judged.message;
    const bool ours = judged.ok();
    const bool records = ours && settings().record;
    Served served;
    if (ours && !records) served = serve_program(built.program, program->context, device);
    const bool is_served = ours && !records && take_twin(program, options, served, &built);
    const bool keeps = served.is_unknown && !settings().overlay.empty();
    cl_int code = CL_SUCCESS;
    if (records || keeps) built.reason = kRefused;  // unless it does
    if (!is_served) {
      code = leave_to_driver(program, &lock, arguments.notify != nullptr, [&] {
        return records || keeps ? build_and_note(program, arguments, *whole, &built.reason)
                                : by_driver(program, arguments);
      });
    }
    append_report(built);
    if (!is_served) return code;
  }
  if (arguments.notify != nullptr) arguments.notify(program->handle, arguments.user);
  return CL_SUCCESS;
}

}  // namespace kiln::layer
