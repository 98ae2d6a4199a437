// SPDX-License-Identifier: Apache-2.0
// Makes a program of one device of each binary that a program of several has.
#include "runtime/spool/parts.hpp"

#include "runtime/load/build.hpp"

namespace kiln::layer {
namespace {

runtime::Handle<cl_program> held(cl_program program) {
  next.clRetainProgram(program);
  return {program, next.clReleaseProgram};
}

runtime::Handle<cl_program> part_of(cl_program built, cl_device_id id) {
  kiln_device *device = nullptr;
  cl_context context = nullptr;
  packs::Bytes bytes;
  const bool known = find_device(id, &device, nullptr) == KILN_OK &&
                     next.clGetProgramInfo(built, CL_PROGRAM_CONTEXT, sizeof(context), &context,
                                           nullptr) == CL_SUCCESS &&
                     runtime::program_binary(*device->device, built, &bytes).ok();
  if (!known) return held(built);
  runtime::BuildOutcome part = runtime::build_program(
      *device->device, context, runtime::Form::binary, {bytes.data(), bytes.size()}, "", {});
  return part.error.ok() ? std::move(part.built.program) : held(built);
}

}  // namespace

std::vector<Part> parts_of(cl_program built, const Devices &devices) {
  std::vector<Part> parts;
  const Devices kinds = devices.size() == 1 ? devices : different(devices);
  for (const cl_device_id device : kinds) {
    parts.push_back({device, kinds.size() == 1 ? held(built) : part_of(built, device)});
  }
  return parts;
}

}  // namespace kiln::layer
