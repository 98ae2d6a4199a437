// SPDX-License-Identifier: Apache-2.0
// Creates and builds a program from each form, and checks its kernels and arguments.
#include "runtime/load/build.hpp"

#include <set>
#include <string_view>

#include "runtime/load/compiler_lock.hpp"
#include "runtime/opencl/query.hpp"

namespace kiln::runtime {
namespace {

// A larger size is a driver's mistake, not a log.
constexpr cl_uint kMaxDevices = 256;  // of a program

Status create_from_binary(const Device &device, cl_context context, packs::View bytes,
                          cl_program *out) {
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  *out = device.cl->clCreateProgramWithBinary(context, 1, &device.id, &bytes.size, &bytes.data,
                                              &status, &code);
  if (code == CL_SUCCESS && status != CL_SUCCESS) {
    return cl_failure("clCreateProgramWithBinary's binary status", status);
  }
  if (code != CL_SUCCESS) return cl_failure("clCreateProgramWithBinary", code);
  return {};
}

Status create_from_source(const Device &device, cl_context context, packs::View bytes,
                          cl_program *out) {
  const char *text = reinterpret_cast<const char *>(bytes.data);
  cl_int code = CL_SUCCESS;
  *out = device.cl->clCreateProgramWithSource(context, 1, &text, &bytes.size, &code);
  if (code != CL_SUCCESS) return cl_failure("clCreateProgramWithSource", code);
  return {};
}

Status create_from_il(const Device &device, cl_context context, packs::View bytes,
                      cl_program *out) {
  const auto create = create_program_with_il(*device.cl, device.platform,
                                             device.identity.text(Field::device_version));
  if (create == nullptr) {
    return Status::error(Code::opencl, "the driver has no clCreateProgramWithIL");
  }
  cl_int code = CL_SUCCESS;
  *out = create(context, bytes.data, bytes.size, &code);
  if (code != CL_SUCCESS) return cl_failure("clCreateProgramWithIL", code);
  return {};
}

// Gets a number by clGetProgramBuildInfo; false if the driver does not answer.
template <typename T>
bool build_number(const Device &device, cl_program program, cl_program_build_info what, T *out) {
  return device.cl->clGetProgramBuildInfo(program, device.id, what, sizeof(*out), out, nullptr) ==
         CL_SUCCESS;
}

Status create_kernel(const Device &device, cl_program program, const ExpectedKernel &expected,
                     Handle<cl_kernel> *out) {
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = device.cl->clCreateKernel(program, expected.name.c_str(), &code);
  *out = Handle<cl_kernel>(kernel, device.cl->clReleaseKernel);
  if (kernel == nullptr || code != CL_SUCCESS) {
    Status error = cl_failure("clCreateKernel", code);
    error.message = concat({"kernel ", expected.name, ": ", error.message});
    return error;
  }
  cl_uint arguments = 0;
  code = device.cl->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(arguments), &arguments,
                                    nullptr);
  if (code != CL_SUCCESS) return cl_failure("clGetKernelInfo", code);
  if (arguments != expected.arguments && expected.arguments != packs::kUnknownArguments) {
    return Status::error(Code::opencl, {"kernel ", expected.name, " has ", decimal(arguments),
                                        " arguments instead of ", decimal(expected.arguments)});
  }
  return {};
}

}  // namespace

Status create_program(const Device &device, cl_context context, Form form, packs::View bytes,
                      Handle<cl_program> *out) {
  cl_program program = nullptr;
  Status error;
  switch (form) {
    case Form::binary: error = create_from_binary(device, context, bytes, &program); break;
    case Form::il: error = create_from_il(device, context, bytes, &program); break;
    case Form::source: error = create_from_source(device, context, bytes, &program); break;
  }
  // A driver may hand out an object together with an error.
  *out = Handle<cl_program>(program, device.cl->clReleaseProgram);
  if (error.ok() && program == nullptr) {
    return Status::error(Code::opencl, "the driver reported success without a program");
  }
  return error;
}

Status check_built(const Device &device, cl_program program, const char *call) {
  cl_build_status status = CL_BUILD_NONE;
  if (build_number(device, program, CL_PROGRAM_BUILD_STATUS, &status) &&
      status != CL_BUILD_SUCCESS) {
    return Status::error(Code::opencl, {call, " reported success, but the build status is ",
                                        signed_decimal(status)});
  }
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  if (build_number(device, program, CL_PROGRAM_BINARY_TYPE, &type) &&
      type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
    return Status::error(Code::opencl,
                         {call,
                          " reported success, but the program is not an executable: its "
                          "binary type is ",
                          decimal(type)});
  }
  return {};
}

Status create_kernels(const Device &device, const std::vector<ExpectedKernel> &expected,
                      BuiltProgram *built) {
  built->kernels = std::vector<Handle<cl_kernel>>(expected.size());
  Status status;
  for (std::size_t i = 0; i < expected.size() && status.ok(); ++i) {
    status = create_kernel(device, built->program.get(), expected[i], &built->kernels[i]);
  }
  return status;
}

std::vector<std::string> kernel_names(const OpenCL &cl, cl_program program) {
  std::vector<std::string> names;
  std::set<std::string> known;
  const std::string list =
      query_text([&](std::size_t room, void *out, std::size_t *size) {
        return cl.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, room, out, size);
      }).value_or("");
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find(';', start), list.size());
    const std::string name = list.substr(start, end - start);
    if (!name.empty() && known.insert(name).second) names.push_back(name);
    start = end + 1;
  }
  return names;
}

std::string build_log(const Device &device, cl_program program) {
  return query_text([&](std::size_t room, void *out, std::size_t *size) {
           return device.cl->clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, room,
                                                   out, size);
         })
      .value_or("");
}

const char *binary_options(const Device &device, std::string_view options) {
  static constexpr char kFlush[] = "-cl-denorms-are-zero";
  const bool flushes = device.description.finishing == Finishing::launches &&
                       options.find(kFlush) != std::string_view::npos;
  return flushes ? kFlush : nullptr;
}

UsingCompiler::UsingCompiler() { pthread_rwlock_rdlock(&KILN_COMPILER_LOCK); }
UsingCompiler::~UsingCompiler() { pthread_rwlock_unlock(&KILN_COMPILER_LOCK); }

NobodyCompiles::NobodyCompiles() : locked_(pthread_rwlock_trywrlock(&KILN_COMPILER_LOCK) == 0) {}
NobodyCompiles::~NobodyCompiles() {
  if (locked_) pthread_rwlock_unlock(&KILN_COMPILER_LOCK);
}

BuildOutcome build_program(const Device &device, cl_context context, Form form, packs::View bytes,
                           std::string_view options, const std::vector<ExpectedKernel> &expected,
                           std::string_view working) {
  if (form == Form::source && !working.empty()) {
    const std::string all = concat({options, working});
    BuildOutcome first = build_program(device, context, form, bytes, all, expected);
    const cl_int code = first.error.cl_error;
    if (code != CL_INVALID_BUILD_OPTIONS && code != CL_BUILD_PROGRAM_FAILURE) return first;
    BuildOutcome second = build_program(device, context, form, bytes, options, expected);
    // A genuine error is in the source, and the first compilation reported it, too.
    const bool is_silent = !second.error.ok() && second.log.empty();
    if (is_silent && code == CL_BUILD_PROGRAM_FAILURE) second.log = std::move(first.log);
    return second;
  }
  const UsingCompiler using_compiler;
  BuildOutcome outcome;
  BuiltProgram &built = outcome.built;
  outcome.error = create_program(device, context, form, bytes, &built.program);
  if (!outcome.error.ok()) return outcome;
  const std::string passed = form == Form::il ? il_options(options) : std::string(options);
  const cl_int code = device.cl->clBuildProgram(
      built.program.get(), 1, &device.id,
      form == Form::binary ? binary_options(device, options) : passed.c_str(), nullptr, nullptr);
  outcome.error = code == CL_SUCCESS ? check_built(device, built.program.get(), "clBuildProgram")
                                     : cl_failure("clBuildProgram", code);
  if (form != Form::binary || !outcome.error.ok()) {
    outcome.log = build_log(device, built.program.get());
  }
  if (outcome.error.ok()) outcome.error = create_kernels(device, expected, &built);
  return outcome;
}

Status program_binary(const Device &device, cl_program program, packs::Bytes *out) {
  const UsingCompiler using_compiler;  // some drivers compile the rest when they are asked
  cl_uint count = 0;
  cl_int code =
      device.cl->clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
  if (code != CL_SUCCESS) return cl_failure("clGetProgramInfo", code);
  if (count > kMaxDevices) {
    return Status::error(Code::opencl, {"the driver reports ", decimal(count), " devices"});
  }
  std::vector<cl_device_id> devices(count);
  std::vector<std::size_t> sizes(count);
  code = device.cl->clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id),
                                     devices.data(), nullptr);
  if (code != CL_SUCCESS) return cl_failure("clGetProgramInfo", code);
  std::size_t answered = count * sizeof(std::size_t);
  code = device.cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof(std::size_t),
                                     sizes.data(), &answered);
  if (code != CL_SUCCESS) return cl_failure("clGetProgramInfo", code);
  // PoCL lists only the binaries of devices that the program was built for.
  if (count > 1 && answered == sizeof(std::size_t)) {
    devices[0] = device.id;
  } else if (answered != count * sizeof(std::size_t)) {
    return Status::error(Code::opencl, "the driver does not say which device has which binary");
  }
  // Other devices of the context get memory too: a driver may ignore that a pointer is null.
  std::vector<packs::Bytes> binaries(count);
  std::vector<unsigned char *> places(count);
  std::uint64_t left = packs::kMaxBlobSize;
  for (cl_uint i = 0; i < count; ++i) {
    if (sizes[i] > left) {
      return Status::error(Code::opencl,
                           {"the driver reports a binary of ", decimal(sizes[i]), " bytes"});
    }
    left -= sizes[i];
    binaries[i].resize(sizes[i]);
    places[i] = binaries[i].data();
  }
  code = device.cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof(unsigned char *),
                                     places.data(), nullptr);
  if (code != CL_SUCCESS) return cl_failure("clGetProgramInfo", code);
  for (cl_uint i = 0; i < count; ++i) {
    if (devices[i] != device.id) continue;
    if (binaries[i].empty()) return Status::error(Code::opencl, "the driver's binary is empty");
    *out = std::move(binaries[i]);
    return {};
  }
  return Status::error(Code::opencl, "the program was not built for this device");
}

std::string il_options(std::string_view options) {
  std::string kept;
  std::string_view rest = options;
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    const std::string_view word = rest.substr(0, space);
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    if (word.substr(0, 4) != "-cl-" || word.substr(0, 8) == "-cl-std=" ||
        word == "-cl-kernel-arg-info") {
      continue;
    }
    if (!kept.empty()) kept += ' ';
    kept += word;
  }
  return kept;
}

}  // namespace kiln::runtime
