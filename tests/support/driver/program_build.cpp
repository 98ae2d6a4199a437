// SPDX-License-Identifier: Apache-2.0
// Building, and what a program says of itself.
#include <cstring>

#include "tests/support/cuda/shapes.hpp"
#include "tests/support/driver/binary.hpp"
#include "tests/support/driver/contexts.hpp"
#include "tests/support/driver/programs.hpp"

namespace kiln::driver {
namespace {

const BinaryRules &rules_of(const Program &program) {
  return program.devices.front()->script->binary;
}

cl_int fail_build(Program *program, cl_int code, const std::string &log) {
  program->status = CL_BUILD_ERROR;
  program->log = log.empty() ? "the script of the test driver refuses this build" : log;
  return code;
}

// What stale binaries do in clBuildProgram, if the script says there.
cl_int respond_at_build(const Program &program) {
  const BinaryRules &rules = rules_of(program);
  if (program.form != Form::binary || rules.at != Stage::build) return CL_SUCCESS;
  die(program.response);
  return program.response == Response::refuse ? rules.refusal : CL_SUCCESS;
}

// Options as the compiler gets them. What is recompiled behind the application's back gets
// those of its first build; IL gets the script's before the caller's.
std::string effective_options(const Program &program, const char *options) {
  const std::string given = options == nullptr ? "" : options;
  if (program.form == Form::binary)
    return program.response == Response::recompile ? program.options : given;
  if (program.form == Form::il) return program.options + " " + given;
  return given;
}

std::string kernel_names(const Program &program) {
  std::size_t size = 0;
  const cl_icd_dispatch *real = real_driver()->table;
  if (real->clGetProgramInfo(program.raw, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size) !=
      CL_SUCCESS) {
    return {};
  }
  std::string names(size, '\0');
  real->clGetProgramInfo(program.raw, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr);
  return names.c_str();
}

// The real driver's binary for that device.
std::string payload_of(const Program &program, cl_device_id device) {
  const cl_icd_dispatch *real = real_driver()->table;
  cl_uint count = 0;
  real->clGetProgramInfo(program.raw, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
  std::vector<cl_device_id> devices(count);
  std::vector<std::size_t> sizes(count);
  real->clGetProgramInfo(program.raw, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id),
                         devices.data(), nullptr);
  real->clGetProgramInfo(program.raw, CL_PROGRAM_BINARY_SIZES, count * sizeof(std::size_t),
                         sizes.data(), nullptr);
  std::vector<std::string> binaries;
  for (const std::size_t size : sizes) binaries.emplace_back(size, '\0');
  std::vector<char *> places;
  for (std::string &binary : binaries) places.push_back(binary.data());
  if (real->clGetProgramInfo(program.raw, CL_PROGRAM_BINARIES, count * sizeof(char *),
                             places.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  for (cl_uint i = 0; i < count; ++i) {
    if (devices[i] == device) return binaries[i];
  }
  return {};
}

template <typename T>
std::string bytes_of(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

std::vector<std::size_t> sizes_of(const Program &program) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < program.devices.size(); ++i) {
    sizes.push_back(program.size ? *program.size : binary_of(program, i).size());
  }
  return sizes;
}

cl_int copy_binaries(const Program &program, std::size_t size, void *value, std::size_t *size_ret) {
  const std::size_t needed = program.devices.size() * sizeof(char *);
  if (size_ret != nullptr) *size_ret = needed;
  if (value == nullptr) return CL_SUCCESS;
  if (size < needed) return CL_INVALID_VALUE;
  auto *const *places = static_cast<char **>(value);
  for (std::size_t i = 0; i < program.devices.size(); ++i) {
    const std::string binary = binary_of(program, i);
    const std::size_t room = program.size ? *program.size : binary.size();
    if (places[i] != nullptr) std::memcpy(places[i], binary.data(), std::min(room, binary.size()));
  }
  return CL_SUCCESS;
}

}  // namespace

std::string binary_of(const Program &program, std::size_t index) {
  const bool unchanged = program.native || !program.built;
  if (unchanged) return program.given.empty() ? std::string() : program.given[index];
  const Device &device = *program.devices[index];
  const BinaryRules &rules = device.script->binary;
  Binary binary;
  binary.model = rules.model;
  binary.driver_version = rules.driver_version;
  binary.revision = rules.revision;
  binary.generation = program.generation;
  binary.stub = rules.late && !program.kernels_created;
  binary.options = program.options;
  binary.kernels = program.kernels;
  if (rules.source || binary.stub) binary.source = program.source;
  if (!binary.stub) binary.payload = payload_of(program, device.raw);
  const std::string bytes = encode(binary);
  if (rules.shape == Shape::own) return bytes;
  if (rules.shape == Shape::intel) return intel_of(bytes);
  return shapes::ptx_of(rules.ptx_version, rules.compute_capability, bytes);
}

cl_int CL_API_CALL build_program(cl_program id, cl_uint count, const cl_device_id *ids,
                                 const char *options, ProgramNotify notify, void *data) {
  Program *program = program_of(id);
  if (program == nullptr) return CL_INVALID_PROGRAM;
  Call call = call_of("clBuildProgram", *program);
  call.options = effective_options(*program, options);
  const Fault *fault = enter(call);
  if (fault != nullptr) {
    return fail_build(program, fault->action == Action::lie ? CL_SUCCESS : fault->code, fault->log);
  }
  if (const cl_int code = respond_at_build(*program); code != CL_SUCCESS) {
    return fail_build(program, code, {});
  }
  if (program->given_form == Form::ptx) log_call(call_of("jit", *program));
  std::vector<Device *> devices;
  for (cl_uint i = 0; i < count; ++i) devices.push_back(device_of(ids[i]));
  const auto raw = to_real(devices.empty() ? program->devices : devices);
  const std::string passed = effective_options(*program, options);
  const bool as_built = passed.empty() && options == nullptr;
  const cl_int code = real_driver()->table->clBuildProgram(
      program->raw, static_cast<cl_uint>(raw.size()), raw.data(),
      as_built ? nullptr : passed.c_str(), nullptr, nullptr);
  program->built = code == CL_SUCCESS;
  program->kernels_created = program->kernels_created && program->built;
  if (program->built && !program->native) {
    program->options = passed;
    ++program->generation;
    program->kernels = kernel_names(*program);
  }
  if (notify != nullptr) notify(id, data);
  return code;
}

cl_int CL_API_CALL get_program_info(cl_program id, cl_program_info query, std::size_t size,
                                    void *value, std::size_t *size_ret) {
  Program *program = program_of(id);
  if (program == nullptr) return CL_INVALID_PROGRAM;
  Call call = call_of("clGetProgramInfo", *program);
  call.query = query;
  const Fault *fault = enter(call);
  if (fault != nullptr && fault->action != Action::wrong_size) return fault->code;
  if (fault != nullptr) program->size = fault->size;
  switch (query) {
    case CL_PROGRAM_REFERENCE_COUNT:
      return answer_value(cl_uint{program->references}, size, value, size_ret);
    case CL_PROGRAM_CONTEXT: return answer_value(program->context, size, value, size_ret);
    case CL_PROGRAM_NUM_DEVICES:
      return answer_value(static_cast<cl_uint>(program->devices.size()), size, value, size_ret);
    case CL_PROGRAM_DEVICES: return answer(bytes_of(program->devices), size, value, size_ret);
    case CL_PROGRAM_SOURCE:
      return answer((program->form == Form::source ? program->source : "") + '\0', size, value,
                    size_ret);
    case CL_PROGRAM_IL: return answer(program->il, size, value, size_ret);
    case CL_PROGRAM_BINARY_SIZES:
      return answer(bytes_of(sizes_of(*program)), size, value, size_ret);
    case CL_PROGRAM_BINARIES: return copy_binaries(*program, size, value, size_ret);
    default: break;
  }
  return real_driver()->table->clGetProgramInfo(program->raw, query, size, value, size_ret);
}

cl_int CL_API_CALL get_build_info(cl_program id, cl_device_id device, cl_program_build_info query,
                                  std::size_t size, void *value, std::size_t *size_ret) {
  Program *program = program_of(id);
  if (program == nullptr) return CL_INVALID_PROGRAM;
  Call call = call_of("clGetProgramBuildInfo", *program);
  call.query = query;
  if (const Fault *fault = enter(call)) return fault->code;
  if (query == CL_PROGRAM_BUILD_STATUS && program->status) {
    return answer_value(*program->status, size, value, size_ret);
  }
  if (query == CL_PROGRAM_BUILD_LOG && program->status) {
    return answer(program->log + '\0', size, value, size_ret);
  }
  return real_driver()->table->clGetProgramBuildInfo(program->raw, to_real(device), query, size,
                                                     value, size_ret);
}

}  // namespace kiln::driver
