// SPDX-License-Identifier: Apache-2.0
// Building an application's program: from a pack, by the driver, or from a binary that the
// application keeps itself.
#pragma once

#include <functional>

#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/layer/serve/cached_programs.hpp"
#include "runtime/layer/serve/objects.hpp"

namespace kiln::layer {

using Notify = void(CL_CALLBACK *)(cl_program, void *);

// The arguments of clBuildProgram, which clCompileProgram and clLinkProgram share.
struct BuildArguments {
  cl_uint device_count;
  const cl_device_id *devices;
  const char *options;  // may be null
  Notify notify;        // may be null
  void *user;

  std::string options_text() const { return options == nullptr ? "" : options; }
  Options given_options() const { return {options_text(), options == nullptr}; }
};

// What a call returns, and whether the caller must call the application back before. A callback may
// throw or end its thread, and nothing is destroyed then in the layer's functions above it on the
// stack (CMakeLists.txt). So while the application is called back, the layer holds no lock and no
// object of the driver's, and little memory.
struct Done {
  cl_int code;
  bool calls_back = false;
};

// Returns whether nothing may be left to the driver's compiler.
inline bool requires_binaries() { return settings().require != Require::nothing; }

// Returns the devices of the program that the call names, each once; sub-devices as device_in().
// Fails with the reason why the call is left to the driver.
packs::Result<Devices> devices_asked(const BuildArguments &arguments, cl_program program);

// Returns whether the driver finds the program's files where Kiln has found them. Asks the driver
// if it depends on quotes in the options, once for the same folders: PoCL 3.1 takes quotes of -I
// for a part of the name, and Intel's driver refuses quotes around all of -I.
bool finds_files(cl_context context, cl_device_id device, const WholeProgram &whole);

// Stores the driver's build for these devices in the spool, or in the overlay for later starts,
// and then watches the launches of `launched` for the overlay. Complains if that fails.
packs::Status note_built(cl_program built, cl_program launched, const Devices &devices,
                         const WholeProgram &whole);

// Returns the stand-in's program as the driver builds it from the text that was named. Builds it
// once; the stand-in owns it. Returns null if the driver fails.
cl_program built_from_text(StandIn *stand_in);

// Has the program's build or compilation fail, since the settings require a binary that there is
// not; says so on standard error and in the report.
void refuse(const ProgramPointer &program, const Options &options, const Devices &devices,
            Built *built);
// The same for a link, which leaves no program.
void refuse(Built *built);

// Does clBuildProgram, with a stand-in if there is one.
Done build(const ProgramPointer &program, const BuildArguments &arguments);

// A call of clBuildProgram or clCompileProgram with the application's arguments, but for the
// program and the callback.
using DriverCall = std::function<cl_int(cl_program, Notify, void *user)>;

// Returns the code of a build or compilation while kernels of the stand-in are alive:
// CL_INVALID_OPERATION, as drivers say. Drivers find some faults of a call before the kernels, each
// driver others, so a call that is not `well_formed` goes to the driver with the stand-in, whose
// kernels the driver knows. `lock` holds `building`, and is released.
cl_int refuse_with_kernels(const ProgramPointer &program, std::unique_lock<std::mutex> *lock,
                           bool well_formed, const BuildArguments &arguments,
                           const DriverCall &call);

// Returns whether a driver that returns this code has tried to build or compile, so that the
// program is not what it was before the call.
bool has_tried(cl_int code);

// A callback of the application's, which the driver calls through call_back().
struct CallBack {
  Notify notify;
  void *user;
  cl_program program;                // for which the application is called back; null: the driver's
  std::vector<StandInPointer> kept;  // until then
};

// Given to the driver with a new std::shared_ptr<CallBack>, which it deletes. That leaks if a
// driver refuses the call and does not call back: some do, so it cannot be freed by the caller.
void CL_CALLBACK call_back(cl_program program, void *user);

// Has the driver build or compile the handle; `lock` holds `building`. Returns
// CL_INVALID_OPERATION, as a driver does, if kernels of the stand-in are alive. Drops the stand-in,
// unless the driver refuses the call. If there is a callback, drops the stand-in first and releases
// the lock: the callback may query the program and build it again while the driver is still at
// work.
cl_int leave_to_driver(const ProgramPointer &program, std::unique_lock<std::mutex> *lock,
                       bool calls_back, const std::function<cl_int()> &by_driver);

// Binaries that an application keeps itself. With an overlay, they go to the driver behind markers:
// a binary that killed two processes is refused like a stale one, and the application compiles its
// source.
struct BinaryArguments {
  cl_context context;
  cl_uint count;
  const cl_device_id *devices;
  const size_t *lengths;
  const unsigned char **binaries;
};

// Does clCreateProgramWithBinary; `status` may be null, `code` must not be.
cl_program create_with_binary(const BinaryArguments &arguments, cl_int *status, cl_int *code);

// Does clBuildProgram for a program from create_with_binary().
cl_int build_own_binary(const ProgramPointer &program, const BuildArguments &arguments);

}  // namespace kiln::layer
