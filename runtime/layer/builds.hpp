// SPDX-License-Identifier: Apache-2.0
// Building an application's program: from a pack, by the driver, or of a binary that the
// application keeps itself.
#pragma once

#include <functional>

#include "runtime/layer/objects.hpp"
#include "runtime/spool/kept.hpp"

namespace kiln::layer {

using Notify = void(CL_CALLBACK *)(cl_program, void *);

// The arguments of a clBuildProgram, or those that a clCompileProgram or clLinkProgram shares.
struct BuildArguments {
  cl_uint device_count;
  const cl_device_id *devices;
  const char *options;  // may be null
  Notify notify;        // may be null
  void *user;

  std::string options_text() const { return options == nullptr ? "" : options; }
  Options given_options() const { return {options_text(), options == nullptr}; }
};

// The devices of such a call, of `all` of a program, each once. Fails with why it is left to the
// driver, whichever program it is for.
packs::Result<Devices> devices_asked(const BuildArguments &arguments, const Devices &all);

// Notes what the driver built for the devices: in the spool, or for later starts in the overlay,
// where `file` says. What fails is complained about.
packs::Status note_built(cl_program built, const Devices &devices, const WholeProgram &whole,
                         KeptFile *file);

// A program of the text that was named: files may have changed since then. Null if the driver does
// not make it.
cl_program create_named(cl_context context, const WholeProgram &whole);

// The twin's program, built by the driver from the text that was named, once; owned by the twin.
// Null if the driver does not build it.
cl_program built_from_text(Twin *twin);

// clBuildProgram, with a twin where there is one, and then with the callback from this thread.
cl_int build(const ProgramPointer &program, const BuildArguments &arguments);

// Lets the driver build or compile the handle; `lock` holds `building`. A twin goes, unless kernels
// of it are alive, for which the answer is CL_INVALID_OPERATION as a driver's is, or the driver
// refuses the call. With a callback, which may ask for the program and build it again while the
// driver is at it, the twin goes first, and the lock is given up.
cl_int leave_to_driver(const ProgramPointer &program, std::unique_lock<std::mutex> *lock,
                       bool calls_back, const std::function<cl_int()> &by_driver);

// Binaries that an application keeps itself. Where there is an overlay they are given to the driver
// behind its markers: one that two processes died of is refused, as a stale one is, and the
// application compiles its source.
struct BinaryArguments {
  cl_context context;
  cl_uint count;
  const cl_device_id *devices;
  const size_t *lengths;
  const unsigned char **binaries;
};

// clCreateProgramWithBinary; `status` may be null, `code` is not.
cl_program create_with_binary(const BinaryArguments &arguments, cl_int *status, cl_int *code);

// clBuildProgram of what create_with_binary() made.
cl_int build_foreign(const ProgramPointer &program, const BuildArguments &arguments);

}  // namespace kiln::layer
