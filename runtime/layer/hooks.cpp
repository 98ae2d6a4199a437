// SPDX-License-Identifier: Apache-2.0
// Functions for programs and kernels that the layer puts before the driver's.
#include "runtime/layer/hooks.hpp"

#include <algorithm>
#include <optional>

#include "runtime/layer/base/asked_once.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/layer/serve/builds.hpp"
#include "runtime/layer/serve/cached_programs.hpp"
#include "runtime/layer/serve/info_answers.hpp"
#include "runtime/layer/serve/kernel_order.hpp"
#include "runtime/layer/serve/links.hpp"
#include "runtime/layer/serve/objects.hpp"
#include "runtime/layer/serve/seen_variables.hpp"
#include "runtime/layer/serve/sub_devices.hpp"

namespace kiln::layer {
namespace {

// Returns the program to query instead of the application's; `stand-in` keeps it alive.
cl_program actual(cl_program program, const StandInPointer &stand_in) {
  return stand_in == nullptr ? program : stand_in->program;
}

// Drivers read variables when they list devices, or make a context.
cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint room,
                                  cl_device_id *devices, cl_uint *count) {
  see_variables();
  return next.clGetDeviceIDs(platform, type, room, devices, count);
}

using ContextNotify = void(CL_CALLBACK *)(const char *, const void *, size_t, void *);

cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                      const cl_device_id *devices, ContextNotify notify, void *user,
                                      cl_int *code) {
  see_variables();
  return next.clCreateContext(properties, count, devices, notify, user, code);
}

cl_context CL_API_CALL create_context_from_type(const cl_context_properties *properties,
                                                cl_device_type type, ContextNotify notify,
                                                void *user, cl_int *code) {
  see_variables();
  return next.clCreateContextFromType(properties, type, notify, user, code);
}

cl_int CL_API_CALL create_sub_devices(cl_device_id parent,
                                      const cl_device_partition_property *properties, cl_uint room,
                                      cl_device_id *made, cl_uint *count) {
  cl_uint own_count = 0;
  const cl_int code = next.clCreateSubDevices(parent, properties, room, made, &own_count);
  if (code != CL_SUCCESS) return code;
  if (made != nullptr) add_sub_devices(parent, made, std::min(room, own_count));
  if (count != nullptr) *count = own_count;
  return code;
}

cl_program CL_API_CALL create_program_with_source(cl_context context, cl_uint count,
                                                  const char **strings, const size_t *lengths,
                                                  cl_int *code) {
  cl_int own_code = CL_SUCCESS;
  const cl_program made =
      next.clCreateProgramWithSource(context, count, strings, lengths, &own_code);
  if (code != nullptr) *code = own_code;
  const bool whole = made != nullptr && own_code == CL_SUCCESS &&
                     std::all_of(strings, strings + count, [](auto *s) { return s != nullptr; });
  if (made != nullptr) launches().set_program(made, "");
  if (!whole) return made;
  auto known = std::make_shared<Program>();
  known->handle = made;
  known->context = context;
  for (cl_uint i = 0; i < count; ++i) {
    if (lengths != nullptr && lengths[i] != 0) {
      known->source.append(strings[i], lengths[i]);
    } else {
      known->source.append(strings[i]);
    }
  }
  objects().add(known);
  return made;
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void *il, size_t length,
                                              cl_int *code) {
  cl_int own_code = CL_SUCCESS;
  const cl_program made = next.clCreateProgramWithIL(context, il, length, &own_code);
  if (code != nullptr) *code = own_code;
  if (made == nullptr) return made;
  launches().set_program(made, "");
  auto known = std::make_shared<Program>();
  known->handle = made;
  known->context = context;
  known->source.assign(static_cast<const char *>(il), length);
  known->is_il = true;
  objects().add(known);
  return made;
}

cl_int CL_API_CALL set_constant(cl_program program, cl_uint id, size_t size, const void *value) {
  const ProgramPointer known = objects().find(program);
  if (known != nullptr) known->specialised = true;
  return next.clSetProgramSpecializationConstant(program, id, size, value);
}

bool is_linked(cl_program program) {
  return objects().find(program, Program::Kind::linked) != nullptr;
}

Done build_known(cl_program program, const BuildArguments &arguments) {
  const ProgramPointer known = objects().find(program, Program::Kind::from_source);
  if (known != nullptr) return build(known, arguments);
  const ProgramPointer own = objects().find(program, Program::Kind::own_binary);
  if (own != nullptr) return {build_own_binary(own, arguments)};
  return {next.clBuildProgram(program, arguments.device_count, arguments.devices, arguments.options,
                              arguments.notify, arguments.user)};
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint device_count,
                                 const cl_device_id *devices, const char *options, Notify notify,
                                 void *user) {
  const Done done = build_known(program, {device_count, devices, options, notify, user});
  if (done.calls_back) notify(program, user);
  return done.code;
}

cl_program CL_API_CALL create_program_with_binary(cl_context context, cl_uint count,
                                                  const cl_device_id *devices,
                                                  const size_t *lengths,
                                                  const unsigned char **binaries, cl_int *status,
                                                  cl_int *code) {
  cl_int own_code = CL_SUCCESS;
  const cl_program made =
      create_with_binary({context, count, devices, lengths, binaries}, status, &own_code);
  if (made != nullptr) launches().set_program(made, "");
  if (code != nullptr) *code = own_code;
  return made;
}

Done compile_known(cl_program program, const CompileArguments &arguments) {
  const ProgramPointer known = objects().find(program, Program::Kind::from_source);
  if (known != nullptr) return compile(known, arguments);
  const BuildArguments &build = arguments.build;
  return {next.clCompileProgram(program, build.device_count, build.devices, build.options,
                                arguments.header_count, arguments.headers, arguments.names,
                                build.notify, build.user)};
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint device_count,
                                   const cl_device_id *devices, const char *options,
                                   cl_uint header_count, const cl_program *headers,
                                   const char **names, Notify notify, void *user) {
  const Done done = compile_known(
      program, {{device_count, devices, options, notify, user}, header_count, headers, names});
  if (done.calls_back) notify(program, user);
  return done.code;
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint device_count,
                                    const cl_device_id *devices, const char *options, cl_uint count,
                                    const cl_program *programs, Notify notify, void *user,
                                    cl_int *code) {
  cl_int own_code = CL_SUCCESS;
  const cl_program linked =
      link({context, {device_count, devices, options, notify, user}, count, programs}, &own_code);
  if (code != nullptr) *code = own_code;
  return linked;
}

cl_int CL_API_CALL retain_program(cl_program program) {
  const cl_int code = next.clRetainProgram(program);
  if (code == CL_SUCCESS) objects().retain(program);
  return code;
}

cl_int CL_API_CALL release_program(cl_program program) {
  objects().release(program);
  return next.clReleaseProgram(program);
}

cl_int count_references(cl_program program, cl_uint *count) {
  return next.clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(*count), count, nullptr);
}

cl_int reference_count(cl_program program, size_t room, void *out, size_t *size) {
  cl_uint count = 0;
  const cl_int code = count_references(program, &count);
  if (code != CL_SUCCESS) return code;
  count -= objects().uncounted(program);
  return answer(&count, sizeof(count), room, out, size);
}

// Asks the application's own program for properties that no build changes.
cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info what, size_t room,
                                    void *out, size_t *size) {
  switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT: return reference_count(program, room, out, size);
    case CL_PROGRAM_CONTEXT:
    case CL_PROGRAM_NUM_DEVICES:
    case CL_PROGRAM_DEVICES: return next.clGetProgramInfo(program, what, room, out, size);
    case CL_PROGRAM_IL:
      return is_linked(program) ? answer("", 0, room, out, size)
                                : next.clGetProgramInfo(program, what, room, out, size);
    case CL_PROGRAM_SOURCE:
      return is_linked(program) ? answer("", 1, room, out, size)
                                : next.clGetProgramInfo(program, what, room, out, size);
    default: {
      compile_deferred(program);
      const StandInPointer stand_in = objects().stand_in_of(program);
      if (stand_in != nullptr && (what == CL_PROGRAM_BINARY_SIZES || what == CL_PROGRAM_BINARIES)) {
        return binaries_info(program, *stand_in, what, room, out, size);
      }
      const ProgramPointer known =
          what == CL_PROGRAM_KERNEL_NAMES ? objects().find(program) : nullptr;
      const auto names = known == nullptr ? std::nullopt : names_in_order(known, stand_in.get());
      if (names) return answer(names->c_str(), names->size() + 1, room, out, size);
      return next.clGetProgramInfo(actual(program, stand_in), what, room, out, size);
    }
  }
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id asked,
                                          cl_program_build_info what, size_t room, void *out,
                                          size_t *size) {
  const cl_device_id device = device_in(program, asked);
  if (const RefusalPointer refusal = objects().refusal_of(program)) {
    return refused_info(program, *refusal, device, what, room, out, size);
  }
  const auto deferred = deferred_build_info(program, device, what, room, out, size);
  if (deferred) return *deferred;
  const bool asks_options = what == CL_PROGRAM_BUILD_OPTIONS;
  const ProgramPointer linked =
      asks_options ? objects().find(program, Program::Kind::linked) : nullptr;
  if (linked != nullptr && contains(devices_of(program), device)) {
    const std::string told = told_link_options(device, linked->source);
    return answer(told.c_str(), told.size() + 1, room, out, size);
  }
  const StandInPointer stand_in = objects().stand_in_of(program);
  if (stand_in == nullptr) {
    return next.clGetProgramBuildInfo(program, asked, what, room, out, size);
  }
  if (!contains(stand_in->devices, device))
    return unbuilt_info(program, device, what, room, out, size);
  const std::string &log = stand_in->log_of(device);
  if (!asks_options && (what != CL_PROGRAM_BUILD_LOG || log.empty())) {
    return next.clGetProgramBuildInfo(stand_in->program, device, what, room, out, size);
  }
  const std::string text =
      asks_options ? told_options(context_of(program), device, stand_in->options) : log;
  return answer(text.c_str(), text.size() + 1, room, out, size);
}

// Finds out, while kernels of a stand-in are created, whether the driver counts a kernel as a
// reference to its program.
class KernelCount {
 public:
  KernelCount(cl_program stand_in, const ProgramPointer &program)
      : stand_in_(stand_in), program_(program) {
    (void)count_references(stand_in_, &before_);
  }
  void see() {
    cl_uint after = before_;
    if (count_references(stand_in_, &after) == CL_SUCCESS)
      program_->counts_kernels = after != before_;
  }

 private:
  cl_program stand_in_;
  const ProgramPointer &program_;
  cl_uint before_ = 0;
};

// Makes the kernel hold the application's program, as if the driver had built that program.
void hold(cl_kernel kernel, const ProgramPointer &program) {
  next.clRetainProgram(program->handle);
  objects().add_kernel(kernel, program);
}

// Registers a kernel of a stand-in.
void adopt(cl_kernel kernel, const ProgramPointer &program, const StandIn &stand_in) {
  hold(kernel, program);
  launches().add_kernel(kernel, stand_in.program);
  tuned_kernels().add(kernel, stand_in.tuned);
  launch_markers().add_kernel(kernel, stand_in.unlaunched);
}

// Registers a kernel of a program without a stand-in; `known` is null if the layer has not seen the
// program.
void watch_kernel(cl_kernel kernel, cl_program program, const ProgramPointer &known) {
  launches().add_kernel(kernel, program);
  if (known == nullptr) return;
  tuned_kernels().add(kernel, known->tuned);
  launch_markers().add_kernel(kernel, known->unlaunched);
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code) {
  const ProgramPointer known = objects().find(program);
  const StandInPointer stand_in = known == nullptr ? nullptr : objects().begin_kernel(known);
  if (stand_in == nullptr) {
    const cl_kernel made = next.clCreateKernel(program, name, code);
    if (made != nullptr) watch_kernel(made, program, known);
    return made;
  }
  KernelCount count(stand_in->program, known);
  const cl_kernel kernel = next.clCreateKernel(stand_in->program, name, code);
  if (kernel != nullptr) {
    count.see();
    adopt(kernel, known, *stand_in);
  }
  objects().end_kernel(known);
  return kernel;
}

cl_int CL_API_CALL create_kernels_in_program(cl_program program, cl_uint room, cl_kernel *kernels,
                                             cl_uint *count) {
  const ProgramPointer known = objects().find(program);
  const StandInPointer stand_in = known == nullptr ? nullptr : objects().begin_kernel(known);
  cl_uint made = 0;
  if (stand_in == nullptr) {
    const cl_int code = next.clCreateKernelsInProgram(program, room, kernels, &made);
    if (code == CL_SUCCESS && count != nullptr) *count = made;
    if (code == CL_SUCCESS && kernels != nullptr && known != nullptr) {
      put_in_order(known, nullptr, kernels, std::min(made, room));
    }
    for (cl_uint i = 0; code == CL_SUCCESS && kernels != nullptr && i < made && i < room; ++i) {
      watch_kernel(kernels[i], program, known);
    }
    return code;
  }
  KernelCount references(stand_in->program, known);
  const cl_int code = next.clCreateKernelsInProgram(stand_in->program, room, kernels, &made);
  if (code == CL_SUCCESS) {
    if (kernels != nullptr && made != 0) references.see();
    if (count != nullptr) *count = made;
    if (kernels != nullptr) {
      put_in_order(known, stand_in.get(), kernels, std::min(made, room));
    }
    for (cl_uint i = 0; kernels != nullptr && i < made && i < room; ++i) {
      adopt(kernels[i], known, *stand_in);
    }
  }
  objects().end_kernel(known);
  return code;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int *code) {
  const cl_kernel kernel = next.clCloneKernel(source, code);
  if (kernel == nullptr) return kernel;
  if (const ProgramPointer known = objects().program_of(source)) hold(kernel, known);
  launches().add_clone(kernel, source);
  tuned_kernels().add_clone(kernel, source);
  launch_markers().add_clone(kernel, source);
  return kernel;
}

cl_int CL_API_CALL retain_kernel(cl_kernel kernel) {
  const cl_int code = next.clRetainKernel(kernel);
  if (code != CL_SUCCESS) return code;
  objects().retain_kernel(kernel);
  launches().retain(kernel);
  tuned_kernels().retain(kernel);
  launch_markers().retain(kernel);
  return code;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  launches().release(kernel);
  tuned_kernels().release(kernel);
  launch_markers().release(kernel);
  const cl_program done = objects().release_kernel(kernel);
  const cl_int code = next.clReleaseKernel(kernel);
  if (done != nullptr) next.clReleaseProgram(done);
  return code;
}

// Returns the same kernel of a program built from the text, for queries that binaries cannot
// answer; null if there is none. The caller releases it.
cl_kernel same_kernel(cl_kernel kernel, const ProgramPointer &known) {
  const std::string name = kernel_name(kernel);
  if (name.empty()) return nullptr;
  const StandInPointer stand_in = objects().stand_in_of(known->handle);
  const cl_program program = stand_in == nullptr ? nullptr : built_from_text(stand_in.get());
  cl_int code = CL_SUCCESS;
  return program == nullptr ? nullptr : next.clCreateKernel(program, name.c_str(), &code);
}

// Drivers' binaries may lose the attributes, so an empty text does not prove that there were none.
bool lost_attributes(cl_kernel kernel) {
  std::size_t size = 0;
  return next.clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, 0, nullptr, &size) != CL_SUCCESS ||
         size <= 1;
}

// What a driver says of the arguments of a program that it built without -cl-kernel-arg-info.
struct Unasked {
  bool tells = true;
  // Codes for other questions than OpenCL's, for an index that is too high, and for both.
  cl_int unknown = CL_INVALID_VALUE, beyond = CL_INVALID_ARG_INDEX, both = CL_INVALID_ARG_INDEX;
};

// Asks the driver what it says with the options of this stand-in. PoCL tells if the options were
// NULL; its binaries always do.
Unasked ask_unasked(const StandIn &stand_in, cl_device_id device) {
  Unasked found;
  const cl_program made =
      create_named(context_of(stand_in.program), {"", "kernel void f(int argument) {}", "", false});
  if (made == nullptr) return found;
  cl_int code =
      next.clBuildProgram(made, 1, &device, stand_in.options.or_null(""), nullptr, nullptr);
  const cl_kernel kernel = code == CL_SUCCESS ? next.clCreateKernel(made, "f", &code) : nullptr;
  if (kernel != nullptr) {
    const auto ask = [kernel](cl_uint index, cl_kernel_arg_info what) {
      std::size_t size = 0;
      return next.clGetKernelArgInfo(kernel, index, what, 0, nullptr, &size);
    };
    found.tells = ask(0, CL_KERNEL_ARG_NAME) != CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    found.unknown = ask(0, 0);
    found.beyond = ask(1, CL_KERNEL_ARG_NAME);
    found.both = ask(1, 0);
    next.clReleaseKernel(kernel);
  }
  next.clReleaseProgram(made);
  return found;
}

Unasked unasked_of(const StandIn &stand_in) {
  static auto &known = *new AskedOnce<std::pair<cl_device_id, bool>, Unasked>;
  const cl_device_id device = stand_in.devices[0];
  return known.find({device, stand_in.options.is_null},
                    [&] { return ask_unasked(stand_in, device); });
}

// Returns what the driver would say, had it compiled the kernel's program and did it hide the
// arguments; nothing if it does not hide them.
std::optional<cl_int> hidden_argument(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what) {
  const ProgramPointer known = objects().program_of(kernel);
  const StandInPointer stand_in = known == nullptr ? nullptr : objects().stand_in_of(known->handle);
  if (stand_in == nullptr ||
      stand_in->options.text.find("-cl-kernel-arg-info") != std::string::npos) {
    return {};
  }
  const Unasked unasked = unasked_of(*stand_in);
  if (unasked.tells) return {};
  cl_uint count = 0;
  const cl_int code =
      next.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr);
  if (code != CL_SUCCESS) return code;
  const bool is_known = what >= CL_KERNEL_ARG_ADDRESS_QUALIFIER && what <= CL_KERNEL_ARG_NAME;
  if (index < count) return is_known ? CL_KERNEL_ARG_INFO_NOT_AVAILABLE : unasked.unknown;
  return is_known ? unasked.beyond : unasked.both;
}

cl_int CL_API_CALL get_kernel_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what,
                                       size_t room, void *out, size_t *size) {
  if (const auto hidden = hidden_argument(kernel, index, what)) return *hidden;
  const cl_int code = next.clGetKernelArgInfo(kernel, index, what, room, out, size);
  const ProgramPointer known =
      code == CL_KERNEL_ARG_INFO_NOT_AVAILABLE ? objects().program_of(kernel) : nullptr;
  const cl_kernel same = known == nullptr ? nullptr : same_kernel(kernel, known);
  if (same == nullptr) return code;
  const cl_int again = next.clGetKernelArgInfo(same, index, what, room, out, size);
  next.clReleaseKernel(same);
  return again;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info what, size_t room, void *out,
                                   size_t *size) {
  const bool is_special = what == CL_KERNEL_PROGRAM || what == CL_KERNEL_ATTRIBUTES;
  const ProgramPointer known = is_special ? objects().program_of(kernel) : nullptr;
  if (known != nullptr && what == CL_KERNEL_PROGRAM) {
    return answer(&known->handle, sizeof(known->handle), room, out, size);
  }
  const bool lost = known != nullptr && lost_attributes(kernel);
  const cl_kernel same = lost ? same_kernel(kernel, known) : nullptr;
  if (same == nullptr) return next.clGetKernelInfo(kernel, what, room, out, size);
  const cl_int code = next.clGetKernelInfo(same, what, room, out, size);
  next.clReleaseKernel(same);
  return code;
}

}  // namespace

void set_hooks(cl_icd_dispatch *table) {
  const bool is_idle = !settings().record && settings().packs.empty() &&
                       settings().overlay.empty() && settings().require == Require::nothing &&
                       settings().report.empty() && settings().report_folder.empty();
  if (is_idle) return;
  see_variables();
  set_launch_hooks(table);
  table->clGetDeviceIDs = get_device_ids;
  table->clCreateContext = create_context;
  table->clCreateContextFromType = create_context_from_type;
  if (table->clCreateSubDevices != nullptr) table->clCreateSubDevices = create_sub_devices;
  table->clCreateProgramWithSource = create_program_with_source;
  if (table->clCreateProgramWithIL != nullptr) {
    table->clCreateProgramWithIL = create_program_with_il;
  }
  if (table->clSetProgramSpecializationConstant != nullptr) {
    table->clSetProgramSpecializationConstant = set_constant;
  }
  table->clCreateProgramWithBinary = create_program_with_binary;
  table->clBuildProgram = build_program;
  table->clCompileProgram = compile_program;
  table->clLinkProgram = link_program;
  table->clRetainProgram = retain_program;
  table->clReleaseProgram = release_program;
  table->clGetProgramInfo = get_program_info;
  table->clGetProgramBuildInfo = get_program_build_info;
  table->clCreateKernel = create_kernel;
  table->clCreateKernelsInProgram = create_kernels_in_program;
  if (table->clCloneKernel != nullptr) table->clCloneKernel = clone_kernel;
  table->clRetainKernel = retain_kernel;
  table->clReleaseKernel = release_kernel;
  table->clGetKernelInfo = get_kernel_info;
  table->clGetKernelArgInfo = get_kernel_arg_info;
}

}  // namespace kiln::layer
