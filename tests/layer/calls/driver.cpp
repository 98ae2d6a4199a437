// SPDX-License-Identifier: Apache-2.0
#include "tests/layer/calls/driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>

namespace kiln::test {
namespace {

enum class Kind { none, context, program, kernel, queue, memory, sampler };

// Stands behind every handle.
struct Object {
  Kind kind = Kind::none;
  unsigned references = 0;
  Object *parent = nullptr;            // holds a reference
  std::vector<cl_device_id> devices;   // of a context or a program
  std::vector<cl_device_id> built;     // the devices that a program was built for
  std::string text, options, il, log;  // of a program
  std::string name;                    // of a kernel
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  bool from_binary = false;
  bool has_failed = false;
  unsigned kernels = 0;  // of a program
  std::size_t size = 0;  // of memory
};

char platform_object;
std::deque<Object> &slots = *new std::deque<Object>;
std::vector<Object *> &free_slots = *new std::vector<Object *>;
char device_objects[4];
char sub_device_objects[2];

// Counts a call; true, with the code, where it is scripted to fail.
bool fails(const char *function, cl_int *code) {
  Driver &d = driver();
  ++d.calls[function];
  const auto found = d.fails.find(function);
  if (found == d.fails.end()) return false;
  *code = found->second;
  return true;
}

template <typename T>
T make(Kind kind, Object *parent) {
  if (free_slots.empty()) free_slots.push_back(&slots.emplace_back());
  Object *made = free_slots.back();
  free_slots.pop_back();
  *made = Object();
  made->kind = kind;
  made->references = 1;
  made->parent = parent;
  if (parent != nullptr) ++parent->references;
  ++driver().live;
  return reinterpret_cast<T>(made);
}

// Null for a null handle, and for one that is of no such object.
template <typename T>
Object *find(T handle, Kind kind) {
  auto *found = reinterpret_cast<Object *>(handle);
  if (found == nullptr) return nullptr;
  const bool is_one = std::any_of(slots.begin(), slots.end(), [&](const Object &slot) {
    return &slot == found && slot.kind == kind;
  });
  if (!is_one) ++driver().misuses;
  return is_one ? found : nullptr;
}

void drop(Object *object) {
  if (object == nullptr || --object->references != 0) return;
  Object *parent = object->parent;
  if (object->kind == Kind::kernel) --parent->kernels;
  *object = Object();
  free_slots.push_back(object);
  --driver().live;
  drop(parent);
}

template <typename T, Kind kKind>
cl_int CL_API_CALL retain(T handle) {
  static const char *const names[] = {"",
                                      "clRetainContext",
                                      "clRetainProgram",
                                      "clRetainKernel",
                                      "clRetainCommandQueue",
                                      "clRetainMemObject",
                                      "clRetainSampler"};
  cl_int code = CL_SUCCESS;
  if (fails(names[static_cast<int>(kKind)], &code)) return code;
  Object *found = find(handle, kKind);
  if (found == nullptr) return CL_INVALID_VALUE;
  ++found->references;
  return CL_SUCCESS;
}

template <typename T, Kind kKind>
cl_int CL_API_CALL release(T handle) {
  static const char *const names[] = {"",
                                      "clReleaseContext",
                                      "clReleaseProgram",
                                      "clReleaseKernel",
                                      "clReleaseCommandQueue",
                                      "clReleaseMemObject",
                                      "clReleaseSampler"};
  cl_int code = CL_SUCCESS;
  if (fails(names[static_cast<int>(kKind)], &code)) return code;
  Object *found = find(handle, kKind);
  if (found == nullptr) return CL_INVALID_VALUE;
  drop(found);
  return CL_SUCCESS;
}

cl_int answer(const void *value, std::size_t bytes, std::size_t room, void *out,
              std::size_t *size) {
  if (out != nullptr && room < bytes) return CL_INVALID_VALUE;
  if (out != nullptr) std::memcpy(out, value, bytes);
  if (size != nullptr) *size = bytes;
  return CL_SUCCESS;
}

cl_int answer(const std::string &text, std::size_t room, void *out, std::size_t *size) {
  return answer(text.c_str(), text.size() + 1, room, out, size);
}

template <typename T>
cl_int answer_value(T value, std::size_t room, void *out, std::size_t *size) {
  return answer(&value, sizeof(value), room, out, size);
}

cl_int CL_API_CALL get_platforms(cl_uint count, cl_platform_id *out, cl_uint *total) {
  if (total != nullptr) *total = 1;
  if (count > 0) *out = reinterpret_cast<cl_platform_id>(&platform_object);
  return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info what, std::size_t room, void *out,
                                 std::size_t *size) {
  return what == CL_PLATFORM_NAME ? answer(driver().platform, room, out, size) : CL_INVALID_VALUE;
}

cl_int CL_API_CALL get_devices(cl_platform_id, cl_device_type, cl_uint count, cl_device_id *out,
                               cl_uint *total) {
  const std::size_t all = driver().names.size();
  if (total != nullptr) *total = static_cast<cl_uint>(all);
  for (std::size_t i = 0; i < count && i < all; ++i) out[i] = driver_device(i);
  return CL_SUCCESS;
}

bool is_sub_device(cl_device_id device) {
  const char *at = reinterpret_cast<char *>(device);
  return at == &sub_device_objects[0] || at == &sub_device_objects[1];
}

// Programs are of parents, if there are sub-devices.
cl_device_id real(cl_device_id device) {
  return driver().has_sub_devices && is_sub_device(device) ? driver_device(0) : device;
}

std::vector<cl_device_id> real(const cl_device_id *begin, cl_uint count) {
  std::vector<cl_device_id> found;
  for (cl_uint i = 0; i < count; ++i) {
    const cl_device_id device = real(begin[i]);
    if (std::find(found.begin(), found.end(), device) == found.end()) found.push_back(device);
  }
  return found;
}

cl_int CL_API_CALL create_sub_devices(cl_device_id, const cl_device_partition_property *,
                                      cl_uint room, cl_device_id *out, cl_uint *count) {
  if (count != nullptr) *count = 2;
  for (cl_uint i = 0; out != nullptr && i < room && i < 2; ++i) out[i] = driver_sub_device(i);
  return CL_SUCCESS;
}

std::string name_of(cl_device_id device) {
  return driver().names.at(
      static_cast<std::size_t>(reinterpret_cast<char *>(device) - device_objects));
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, std::size_t room,
                               void *out, std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetDeviceInfo", &code)) return code;
  const std::size_t sides[3] = {64, 64, 64};
  switch (what) {
    case CL_DEVICE_PLATFORM: return answer_value<void *>(&platform_object, room, out, size);
    case CL_DEVICE_NAME: return answer(name_of(device), room, out, size);
    case CL_DRIVER_VERSION: return answer(driver().driver_version, room, out, size);
    case CL_DEVICE_VERSION: return answer(driver().device_version, room, out, size);
    case CL_DEVICE_IL_VERSION: return answer("SPIR-V_1.0", room, out, size);
    case CL_DEVICE_EXTENSIONS: return answer("", room, out, size);
    case CL_DEVICE_ADDRESS_BITS: return answer_value<cl_uint>(64, room, out, size);
    case CL_DEVICE_COMPILER_AVAILABLE: return answer_value<cl_bool>(CL_TRUE, room, out, size);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return answer(sides, sizeof(sides), room, out, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_context CL_API_CALL create_context(
    const cl_context_properties *, cl_uint count, const cl_device_id *devices,
    void(CL_CALLBACK *)(const char *, const void *, std::size_t, void *), void *, cl_int *code) {
  const auto made = make<cl_context>(Kind::context, nullptr);
  find(made, Kind::context)->devices.assign(devices, devices + count);
  if (code != nullptr) *code = CL_SUCCESS;
  return made;
}

cl_int CL_API_CALL context_info(cl_context context, cl_context_info what, std::size_t room,
                                void *out, std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetContextInfo", &code)) return code;
  const Object *found = find(context, Kind::context);
  if (found == nullptr) return CL_INVALID_CONTEXT;
  if (what != CL_CONTEXT_DEVICES) return CL_INVALID_VALUE;
  return answer(found->devices.data(), found->devices.size() * sizeof(cl_device_id), room, out,
                size);
}

cl_program make_program(const char *function, cl_context context, cl_int *code, Object **out) {
  cl_int own = CL_SUCCESS;
  Object *within = nullptr;
  const bool failed = fails(function, &own);
  if (!failed && (within = find(context, Kind::context)) == nullptr) own = CL_INVALID_CONTEXT;
  if (code != nullptr) *code = own;
  if (own != CL_SUCCESS || failed) return nullptr;
  const auto made = make<cl_program>(Kind::program, within);
  *out = find(made, Kind::program);
  (*out)->devices = real(within->devices.data(), static_cast<cl_uint>(within->devices.size()));
  return made;
}

// Refuses calls as OpenCL says that a driver must.
cl_program CL_API_CALL from_source(cl_context context, cl_uint count, const char **texts,
                                   const std::size_t *lengths, cl_int *code) {
  bool valid = count != 0 && texts != nullptr;
  for (cl_uint i = 0; valid && i < count; ++i) valid = texts[i] != nullptr;
  if (!valid) {
    cl_int own = CL_INVALID_VALUE;
    (void)fails("clCreateProgramWithSource", &own);
    if (code != nullptr) *code = own;
    return nullptr;
  }
  Object *made = nullptr;
  const cl_program program = make_program("clCreateProgramWithSource", context, code, &made);
  for (cl_uint i = 0; made != nullptr && i < count; ++i) {
    const bool sized = lengths != nullptr && lengths[i] != 0;
    made->text += sized ? std::string(texts[i], lengths[i]) : std::string(texts[i]);
  }
  return program;
}

cl_program CL_API_CALL from_il(cl_context context, const void *il, std::size_t size, cl_int *code) {
  Object *made = nullptr;
  const cl_program program = make_program("clCreateProgramWithIL", context, code, &made);
  if (made != nullptr) {
    made->il.assign(static_cast<const char *>(il), size);
    made->text = made->il.substr(std::min<std::size_t>(20, size));  // behind a module's header
  }
  return program;
}

cl_program CL_API_CALL from_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                   const std::size_t *lengths, const unsigned char **binaries,
                                   cl_int *statuses, cl_int *code) {
  cl_int own = CL_SUCCESS;
  std::string text;
  bool valid = count != 0 && devices != nullptr && lengths != nullptr && binaries != nullptr;
  for (cl_uint i = 0; valid && i < count; ++i) valid = binaries[i] != nullptr && lengths[i] != 0;
  if (!valid) own = CL_INVALID_VALUE;
  if (valid && count > 1 && !driver().takes_together) own = CL_INVALID_BINARY;
  for (cl_uint i = 0; valid && i < count; ++i) {
    const std::string binary(reinterpret_cast<const char *>(binaries[i]), lengths[i]);
    const std::string begin = binary_of(name_of(devices[i]), "");
    const bool fits = binary.compare(0, begin.size(), begin) == 0;
    if (statuses != nullptr) statuses[i] = fits ? CL_SUCCESS : CL_INVALID_BINARY;
    if (fits) text = binary.substr(begin.size());
    if (!fits) own = CL_INVALID_BINARY;
  }
  if (own != CL_SUCCESS) {
    (void)fails("clCreateProgramWithBinary", &own);
    if (code != nullptr) *code = own;
    return nullptr;
  }
  Object *made = nullptr;
  const cl_program program = make_program("clCreateProgramWithBinary", context, code, &made);
  if (made == nullptr) return program;
  made->devices.assign(devices, devices + count);
  made->text = text;
  made->from_binary = true;
  return program;
}

cl_program CL_API_CALL from_built_in(cl_context context, cl_uint, const cl_device_id *,
                                     const char *names, cl_int *code) {
  Object *made = nullptr;
  const cl_program program =
      make_program("clCreateProgramWithBuiltInKernels", context, code, &made);
  if (made == nullptr) return program;
  made->text = std::string("kernel void ") + names + "()";
  made->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  made->built = made->devices;
  return program;
}

using Notify = void(CL_CALLBACK *)(cl_program, void *);

// What building and compiling have in common.
cl_int translate(const char *function, cl_program program, cl_uint count,
                 const cl_device_id *devices, const char *options, cl_program_binary_type type,
                 Notify notify, void *user) {
  cl_int code = CL_SUCCESS;
  const bool failed = fails(function, &code);
  Object *found = find(program, Kind::program);
  if (failed) return code;
  if (found == nullptr) return CL_INVALID_PROGRAM;
  if ((count == 0) != (devices == nullptr) || (notify == nullptr && user != nullptr)) {
    if (notify != nullptr && driver().calls_back_refused) notify(program, user);
    return CL_INVALID_VALUE;
  }
  if (found->kernels != 0) return CL_INVALID_OPERATION;
  for (cl_uint i = 0; i < count; ++i) {
    const auto &all = found->devices;
    if (std::find(all.begin(), all.end(), real(devices[i])) == all.end()) return CL_INVALID_DEVICE;
  }
  found->options = options == nullptr ? "" : options;
  if (driver().joins_options) {
    found->options.erase(std::remove(found->options.begin(), found->options.end(), ' '),
                         found->options.end());
  }
  driver().built.push_back(found->text + ", " + (options == nullptr ? "NULL" : options));
  if (driver().on_build) driver().on_build();
  if (devices == nullptr) {
    found->built = found->devices;
  } else {
    found->built = real(devices, count);
  }
  found->type = type;
  const auto has = [&](const char *word) { return found->text.find(word) != std::string::npos; };
  const bool misses =
      (!driver().takes_files && has("#include")) ||
      (!driver().reads_quotes && found->options.find("-I \"") != std::string::npos &&
       (has("#include") || has("__has_include")));
  found->has_failed = misses || found->text.find("BROKEN") != std::string::npos;
  found->log = found->has_failed ? "it is broken" : "";
  if (found->has_failed) {
    code = type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE ? CL_BUILD_PROGRAM_FAILURE
                                                     : CL_COMPILE_PROGRAM_FAILURE;
  }
  if (notify != nullptr) notify(program, user);
  return code;
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                         const char *options, Notify notify, void *user) {
  return translate("clBuildProgram", program, count, devices, options,
                   CL_PROGRAM_BINARY_TYPE_EXECUTABLE, notify, user);
}

cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id *devices,
                           const char *options, cl_uint headers, const cl_program *programs,
                           const char **names, Notify notify, void *user) {
  if ((headers == 0) != (programs == nullptr) || (headers == 0) != (names == nullptr)) {
    ++driver().calls["clCompileProgram"];
    return CL_INVALID_VALUE;
  }
  return translate("clCompileProgram", program, count, devices, options,
                   CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, notify, user);
}

cl_program CL_API_CALL link(cl_context context, cl_uint count, const cl_device_id *devices,
                            const char *options, cl_uint parts, const cl_program *programs,
                            Notify notify, void *user, cl_int *code) {
  const bool valid = parts != 0 && programs != nullptr && (count == 0) == (devices == nullptr);
  cl_int own = valid ? CL_SUCCESS : CL_INVALID_VALUE;
  std::string text;
  for (cl_uint i = 0; own == CL_SUCCESS && i < parts; ++i) {
    const Object *part = find(programs[i], Kind::program);
    if (part == nullptr) {
      own = CL_INVALID_PROGRAM;
    } else if (part->has_failed || (part->type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT &&
                                    part->type != CL_PROGRAM_BINARY_TYPE_LIBRARY)) {
      own = CL_INVALID_OPERATION;
    } else {
      text += part->text;
    }
  }
  if (own == CL_SUCCESS && text.find("UNLINKABLE") != std::string::npos) {
    own = CL_LINK_PROGRAM_FAILURE;
  }
  if (own != CL_SUCCESS) {
    (void)fails("clLinkProgram", &own);
    if (code != nullptr) *code = own;
    return nullptr;
  }
  Object *made = nullptr;
  const cl_program linked = make_program("clLinkProgram", context, code, &made);
  if (made == nullptr) return linked;
  made->text = text;
  made->options = options == nullptr ? "" : options;
  if (count != 0) made->devices.assign(devices, devices + count);
  made->built = made->devices;
  const bool is_library = made->options.find("-create-library") != std::string::npos;
  made->type = is_library ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  if (notify != nullptr) notify(linked, user);
  return linked;
}

std::vector<std::string> kernels_of(const Object &program) {
  std::vector<std::string> names;
  const std::string word = "kernel void ";
  for (std::size_t at = 0; (at = program.text.find(word, at)) != std::string::npos;) {
    const std::size_t label = program.text.rfind("FOR_", at);
    const bool labelled = label != std::string::npos && program.text.find(' ', label) == at - 1;
    at += word.size();
    const std::string name = program.text.substr(at, program.text.find('(', at) - at);
    const auto is_for = [&](cl_device_id device) {
      return !labelled || program.text.compare(label, at - word.size() - label,
                                               "FOR_" + name_of(device) + " ") == 0;
    };
    if (std::any_of(program.devices.begin(), program.devices.end(), is_for)) names.push_back(name);
  }
  if (driver().turns_kernels && program.from_binary) std::reverse(names.begin(), names.end());
  return names;
}

cl_uint arguments_of(const Object &kernel) {
  const std::string &text = kernel.parent->text;
  const std::size_t begin = text.find("kernel void " + kernel.name + "(");
  const std::size_t open = text.find('(', begin);
  const std::string list = text.substr(open + 1, text.find(')', open) - open - 1);
  return list.empty() ? 0 : 1 + static_cast<cl_uint>(std::count(list.begin(), list.end(), ','));
}

bool is_built(const Object &program, cl_device_id device) {
  return std::find(program.built.begin(), program.built.end(), device) != program.built.end();
}

cl_int CL_API_CALL build_info(cl_program program, cl_device_id device, cl_program_build_info what,
                              std::size_t room, void *out, std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetProgramBuildInfo", &code)) return code;
  const Object *found = find(program, Kind::program);
  if (found == nullptr) return CL_INVALID_PROGRAM;
  const auto &all = found->devices;
  if (std::find(all.begin(), all.end(), real(device)) == all.end()) return CL_INVALID_DEVICE;
  const bool built = is_built(*found, real(device));
  const cl_build_status status = !built              ? CL_BUILD_NONE
                                 : found->has_failed ? CL_BUILD_ERROR
                                                     : CL_BUILD_SUCCESS;
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return answer_value(status, room, out, size);
    case CL_PROGRAM_BUILD_OPTIONS: return answer(found->options, room, out, size);
    case CL_PROGRAM_BINARY_TYPE:
      return answer_value<cl_program_binary_type>(built ? found->type : CL_PROGRAM_BINARY_TYPE_NONE,
                                                  room, out, size);
    case CL_PROGRAM_BUILD_LOG:
      return built ? answer(found->log, room, out, size) : CL_INVALID_VALUE;
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, std::size_t room,
                                void *out, std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetProgramInfo", &code)) return code;
  const Object *found = find(program, Kind::program);
  if (found == nullptr) return CL_INVALID_PROGRAM;
  std::vector<std::string> binaries;
  std::vector<std::size_t> sizes;
  for (const cl_device_id device : found->devices) {
    const bool built = is_built(*found, device) && !found->has_failed;
    if (driver().gives_last_built && !built) continue;
    binaries.push_back(built ? binary_of(name_of(device), found->text) : "");
    sizes.push_back(binaries.back().size());
  }
  const std::size_t count = found->devices.size();
  switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT:
      return answer_value<cl_uint>(
          found->references - (driver().counts_kernels ? 0 : found->kernels), room, out, size);
    case CL_PROGRAM_CONTEXT:
      return answer_value(reinterpret_cast<cl_context>(found->parent), room, out, size);
    case CL_PROGRAM_NUM_DEVICES: return answer_value(static_cast<cl_uint>(count), room, out, size);
    case CL_PROGRAM_DEVICES:
      return answer(found->devices.data(), count * sizeof(cl_device_id), room, out, size);
    case CL_PROGRAM_SOURCE: return answer(found->from_binary ? "" : found->text, room, out, size);
    case CL_PROGRAM_IL: return answer(found->il.data(), found->il.size(), room, out, size);
    case CL_PROGRAM_NUM_KERNELS:
      return found->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE
                 ? CL_INVALID_PROGRAM_EXECUTABLE
                 : answer_value(kernels_of(*found).size(), room, out, size);
    case CL_PROGRAM_KERNEL_NAMES: {
      if (found->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) return CL_INVALID_PROGRAM_EXECUTABLE;
      std::string all;
      for (const std::string &name : kernels_of(*found)) all += (all.empty() ? "" : ";") + name;
      return answer(all, room, out, size);
    }
    case CL_PROGRAM_BINARY_SIZES:
      return answer(sizes.data(), sizes.size() * sizeof(std::size_t), room, out, size);
    case CL_PROGRAM_BINARIES: {
      if (size != nullptr) *size = sizes.size() * sizeof(char *);
      if (out == nullptr) return CL_SUCCESS;
      if (room < sizes.size() * sizeof(char *)) return CL_INVALID_VALUE;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        char *place = static_cast<char **>(out)[i];
        if (place != nullptr) std::memcpy(place, binaries[i].data(), sizes[i]);
      }
      return CL_SUCCESS;
    }
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL set_constant(cl_program program, cl_uint, std::size_t, const void *) {
  ++driver().calls["clSetProgramSpecializationConstant"];
  return find(program, Kind::program) == nullptr ? CL_INVALID_PROGRAM : CL_SUCCESS;
}

cl_kernel make_kernel(Object *program, const std::string &name) {
  const auto made = make<cl_kernel>(Kind::kernel, program);
  find(made, Kind::kernel)->name = name;
  ++program->kernels;
  return made;
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code) {
  cl_int own = CL_SUCCESS;
  const bool failed = fails("clCreateKernel", &own);
  Object *found = find(program, Kind::program);
  if (!failed && (found == nullptr || name == nullptr)) own = CL_INVALID_VALUE;
  if (own == CL_SUCCESS &&
      (found->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE || found->has_failed)) {
    own = CL_INVALID_PROGRAM_EXECUTABLE;
  }
  if (own == CL_SUCCESS) {
    const auto names = kernels_of(*found);
    const bool has_it = std::find(names.begin(), names.end(), name) != names.end();
    if (!has_it) own = CL_INVALID_KERNEL_NAME;
  }
  if (code != nullptr) *code = own;
  return own == CL_SUCCESS ? make_kernel(found, name) : nullptr;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint room, cl_kernel *out,
                                  cl_uint *count) {
  cl_int code = CL_SUCCESS;
  const bool failed = fails("clCreateKernelsInProgram", &code);
  Object *found = find(program, Kind::program);
  if (failed) return code;
  if (found == nullptr) return CL_INVALID_PROGRAM;
  if (found->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) return CL_INVALID_PROGRAM_EXECUTABLE;
  const auto names = kernels_of(*found);
  if (out != nullptr && room < names.size()) return CL_INVALID_VALUE;
  if (count != nullptr) *count = static_cast<cl_uint>(names.size());
  for (std::size_t i = 0; out != nullptr && i < names.size(); ++i) {
    out[i] = make_kernel(found, names[i]);
  }
  return CL_SUCCESS;
}

cl_kernel CL_API_CALL clone(cl_kernel kernel, cl_int *code) {
  cl_int own = CL_SUCCESS;
  const bool failed = fails("clCloneKernel", &own);
  const Object *found = find(kernel, Kind::kernel);
  if (!failed && found == nullptr) own = CL_INVALID_KERNEL;
  if (code != nullptr) *code = own;
  return own == CL_SUCCESS ? make_kernel(found->parent, found->name) : nullptr;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  ++driver().calls["clReleaseKernel"];
  Object *found = find(kernel, Kind::kernel);
  if (found == nullptr) return CL_INVALID_KERNEL;
  drop(found);
  return CL_SUCCESS;
}

cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_kernel_info what, std::size_t room, void *out,
                               std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetKernelInfo", &code)) return code;
  const Object *found = find(kernel, Kind::kernel);
  if (found == nullptr) return CL_INVALID_KERNEL;
  const bool lost = found->parent->from_binary && !driver().keeps_attributes;
  switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return answer(found->name, room, out, size);
    case CL_KERNEL_NUM_ARGS: return answer_value(arguments_of(*found), room, out, size);
    case CL_KERNEL_REFERENCE_COUNT:
      return answer_value<cl_uint>(found->references, room, out, size);
    case CL_KERNEL_PROGRAM:
      return answer_value(reinterpret_cast<cl_program>(found->parent), room, out, size);
    case CL_KERNEL_ATTRIBUTES: return answer(lost ? "" : "an attribute", room, out, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what,
                                 std::size_t room, void *out, std::size_t *size) {
  ++driver().calls["clGetKernelArgInfo"];
  const Object *found = find(kernel, Kind::kernel);
  if (found == nullptr) return CL_INVALID_KERNEL;
  if (index >= arguments_of(*found)) return CL_INVALID_ARG_INDEX;
  const bool asked = found->parent->options.find("-cl-kernel-arg-info") != std::string::npos;
  const bool is_known =
      found->parent->from_binary ? driver().keeps_attributes : asked || driver().tells_arguments;
  if (!is_known) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  return what == CL_KERNEL_ARG_NAME ? answer("argument " + std::to_string(index), room, out, size)
                                    : CL_INVALID_VALUE;
}

cl_int CL_API_CALL work_group_info(cl_kernel kernel, cl_device_id, cl_kernel_work_group_info what,
                                   std::size_t room, void *out, std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetKernelWorkGroupInfo", &code)) return code;
  if (find(kernel, Kind::kernel) == nullptr) return CL_INVALID_KERNEL;
  const std::size_t side = driver().required_side;
  const std::size_t required[3] = {side, side, side};
  switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE: return answer_value<std::size_t>(64, room, out, size);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
      return answer(required, sizeof(required), room, out, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t, const void *) {
  cl_int code = CL_SUCCESS;
  if (fails("clSetKernelArg", &code)) return code;
  const Object *found = find(kernel, Kind::kernel);
  if (found == nullptr) return CL_INVALID_KERNEL;
  return index < arguments_of(*found) ? CL_SUCCESS : CL_INVALID_ARG_INDEX;
}

cl_int CL_API_CALL set_shared(cl_kernel kernel, cl_uint index, const void *) {
  return set_argument(kernel, index, sizeof(void *), nullptr);
}

void *CL_API_CALL allocate_shared(cl_context, cl_svm_mem_flags, std::size_t size, cl_uint) {
  cl_int code = CL_SUCCESS;
  return fails("clSVMAlloc", &code) ? nullptr : std::malloc(size);
}

void CL_API_CALL free_shared(cl_context, void *memory) {
  ++driver().calls["clSVMFree"];
  std::free(memory);
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id,
                                          cl_command_queue_properties, cl_int *code) {
  if (code != nullptr) *code = CL_SUCCESS;
  return make<cl_command_queue>(Kind::queue, find(context, Kind::context));
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags, std::size_t size, void *,
                                 cl_int *code) {
  cl_int own = CL_SUCCESS;
  const bool failed = fails("clCreateBuffer", &own);
  if (code != nullptr) *code = own;
  if (failed) return nullptr;
  const auto made = make<cl_mem>(Kind::memory, find(context, Kind::context));
  find(made, Kind::memory)->size = size;
  return made;
}

cl_mem CL_API_CALL create_image(cl_context, cl_mem_flags, const cl_image_format *,
                                const cl_image_desc *, void *, cl_int *code) {
  if (code != nullptr) *code = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  return nullptr;
}

cl_int CL_API_CALL memory_info(cl_mem memory, cl_mem_info what, std::size_t room, void *out,
                               std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetMemObjectInfo", &code)) return code;
  const Object *found = find(memory, Kind::memory);
  if (found == nullptr) return CL_INVALID_MEM_OBJECT;
  if (what == CL_MEM_TYPE) {
    return answer_value<cl_mem_object_type>(CL_MEM_OBJECT_BUFFER, room, out, size);
  }
  return what == CL_MEM_SIZE ? answer_value(found->size, room, out, size) : CL_INVALID_VALUE;
}

cl_sampler CL_API_CALL create_sampler(cl_context context, cl_bool, cl_addressing_mode,
                                      cl_filter_mode, cl_int *code) {
  if (code != nullptr) *code = CL_SUCCESS;
  return make<cl_sampler>(Kind::sampler, find(context, Kind::context));
}

cl_int CL_API_CALL sampler_info(cl_sampler sampler, cl_sampler_info what, std::size_t room,
                                void *out, std::size_t *size) {
  cl_int code = CL_SUCCESS;
  if (fails("clGetSamplerInfo", &code)) return code;
  if (find(sampler, Kind::sampler) == nullptr) return CL_INVALID_SAMPLER;
  switch (what) {
    case CL_SAMPLER_NORMALIZED_COORDS: return answer_value<cl_bool>(CL_TRUE, room, out, size);
    case CL_SAMPLER_ADDRESSING_MODE:
      return answer_value<cl_addressing_mode>(CL_ADDRESS_CLAMP, room, out, size);
    case CL_SAMPLER_FILTER_MODE:
      return answer_value<cl_filter_mode>(CL_FILTER_LINEAR, room, out, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL launch(cl_command_queue, cl_kernel kernel, cl_uint dimensions,
                          const std::size_t *, const std::size_t *global, const std::size_t *local,
                          cl_uint, const cl_event *, cl_event *) {
  cl_int code = CL_SUCCESS;
  if (fails("clEnqueueNDRangeKernel", &code)) return code;
  const Object *found = find(kernel, Kind::kernel);
  if (found == nullptr) return CL_INVALID_KERNEL;
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (global == nullptr) return CL_INVALID_GLOBAL_WORK_SIZE;
  Launched made{found->name, {global, global + dimensions}, {}};
  if (local != nullptr) made.local.assign(local, local + dimensions);
  if (local != nullptr && made.local == driver().refused_local) return CL_INVALID_WORK_GROUP_SIZE;
  driver().launches.push_back(std::move(made));
  return CL_SUCCESS;
}

cl_int CL_API_CALL task(cl_command_queue queue, cl_kernel kernel, cl_uint, const cl_event *,
                        cl_event *) {
  const std::size_t one = 1;
  ++driver().calls["clEnqueueTask"];
  return launch(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr);
}

cl_int CL_API_CALL finish(cl_command_queue) {
  cl_int code = CL_SUCCESS;
  (void)fails("clFinish", &code);
  return code;
}

cl_int CL_API_CALL wait(cl_uint, const cl_event *) { return CL_SUCCESS; }

cl_int CL_API_CALL read_buffer(cl_command_queue, cl_mem, cl_bool, std::size_t, std::size_t, void *,
                               cl_uint, const cl_event *, cl_event *) {
  ++driver().calls["clEnqueueReadBuffer"];
  return CL_SUCCESS;
}

cl_int CL_API_CALL not_expected() { return CL_INVALID_OPERATION; }

// Answers a query by `ask`, or with the scripted fault.
template <typename Ask>
cl_int spoil(const Driver::Query &query, std::size_t room, void *out, std::size_t *size,
             const Ask &ask) {
  Driver &d = driver();
  d.asked.insert(query);
  const bool is_it = !(query < d.spoiled) && !(d.spoiled < query);
  if (d.fault == Driver::Fault::none || !is_it) return ask(room, out, size);
  if (d.fault == Driver::Fault::refused) return CL_OUT_OF_RESOURCES;
  std::size_t whole = 0;
  if (const cl_int code = ask(0, nullptr, &whole); code != CL_SUCCESS) return code;
  std::string bytes(whole, '\0');
  if (const cl_int code = ask(whole, bytes.data(), nullptr); code != CL_SUCCESS) return code;
  const bool is_text = whole > 1 && bytes.find('\0') == whole - 1;
  switch (d.fault) {
    case Driver::Fault::short_by_one: bytes.resize(whole == 0 ? 0 : whole - 1); break;
    case Driver::Fault::unterminated:
      if (is_text) bytes.back() = 'x';
      break;
    default: break;
  }
  if (out != nullptr && room < bytes.size()) return CL_INVALID_VALUE;
  if (out != nullptr) std::copy(bytes.begin(), bytes.end(), static_cast<char *>(out));
  if (size != nullptr) {
    *size = d.fault == Driver::Fault::huge ? ~std::size_t{0} / 2 : bytes.size();
  }
  return CL_SUCCESS;
}

// An entry of the table whose answers can be spoiled.
template <auto Function, const char *kName, typename = decltype(Function)>
struct Query;
template <auto Function, const char *kName, typename Of, typename What>
struct Query<Function, kName, cl_int(CL_API_CALL *)(Of, What, std::size_t, void *, std::size_t *)> {
  static cl_int CL_API_CALL call(Of of, What what, std::size_t room, void *out, std::size_t *size) {
    return spoil({kName, what}, room, out, size,
                 [&](std::size_t own_room, void *own_out, std::size_t *own_size) {
                   return Function(of, what, own_room, own_out, own_size);
                 });
  }
};
template <auto Function, const char *kName, typename Of, typename With, typename What>
struct Query<Function, kName,
             cl_int(CL_API_CALL *)(Of, With, What, std::size_t, void *, std::size_t *)> {
  static cl_int CL_API_CALL call(Of of, With with, What what, std::size_t room, void *out,
                                 std::size_t *size) {
    return spoil({kName, what}, room, out, size,
                 [&](std::size_t own_room, void *own_out, std::size_t *own_size) {
                   return Function(of, with, what, own_room, own_out, own_size);
                 });
  }
};
constexpr char kPlatformInfo[] = "clGetPlatformInfo";
constexpr char kDeviceInfo[] = "clGetDeviceInfo";
constexpr char kContextInfo[] = "clGetContextInfo";
constexpr char kProgramInfo[] = "clGetProgramInfo";
constexpr char kBuildInfo[] = "clGetProgramBuildInfo";
constexpr char kKernelInfo[] = "clGetKernelInfo";
constexpr char kArgumentInfo[] = "clGetKernelArgInfo";
constexpr char kWorkGroupInfo[] = "clGetKernelWorkGroupInfo";

}  // namespace

Driver &driver() {
  static Driver &the_driver = *new Driver;
  return the_driver;
}

cl_device_id driver_device(std::size_t index) {
  return reinterpret_cast<cl_device_id>(&device_objects[index]);
}

cl_device_id driver_sub_device(std::size_t index) {
  return reinterpret_cast<cl_device_id>(&sub_device_objects[index]);
}

cl_icd_dispatch driver_table() {
  cl_icd_dispatch table{};
  void *entries[sizeof(table) / sizeof(void *)];
  std::fill(std::begin(entries), std::end(entries), reinterpret_cast<void *>(not_expected));
  std::memcpy(static_cast<void *>(&table), entries, sizeof(table));
  table.clGetExtensionFunctionAddressForPlatform = [](cl_platform_id, const char *) -> void * {
    return nullptr;
  };
  table.clGetPlatformIDs = get_platforms;
  table.clGetPlatformInfo = Query<platform_info, kPlatformInfo>::call;
  table.clGetDeviceIDs = get_devices;
  table.clGetDeviceInfo = Query<device_info, kDeviceInfo>::call;
  table.clCreateSubDevices = create_sub_devices;
  table.clCreateContext = create_context;
  table.clGetContextInfo = Query<context_info, kContextInfo>::call;
  table.clRetainContext = retain<cl_context, Kind::context>;
  table.clReleaseContext = release<cl_context, Kind::context>;
  table.clCreateProgramWithSource = from_source;
  table.clCreateProgramWithIL = from_il;
  table.clCreateProgramWithBinary = from_binary;
  table.clCreateProgramWithBuiltInKernels = from_built_in;
  table.clBuildProgram = build;
  table.clCompileProgram = compile;
  table.clLinkProgram = link;
  table.clRetainProgram = retain<cl_program, Kind::program>;
  table.clReleaseProgram = release<cl_program, Kind::program>;
  table.clGetProgramInfo = Query<program_info, kProgramInfo>::call;
  table.clGetProgramBuildInfo = Query<build_info, kBuildInfo>::call;
  table.clSetProgramSpecializationConstant = set_constant;
  table.clCreateKernel = create_kernel;
  table.clCreateKernelsInProgram = create_kernels;
  table.clCloneKernel = clone;
  table.clRetainKernel = retain<cl_kernel, Kind::kernel>;
  table.clReleaseKernel = release_kernel;
  table.clGetKernelInfo = Query<kernel_info, kKernelInfo>::call;
  table.clGetKernelArgInfo = Query<argument_info, kArgumentInfo>::call;
  table.clGetKernelWorkGroupInfo = Query<work_group_info, kWorkGroupInfo>::call;
  table.clSetKernelArg = set_argument;
  table.clSetKernelArgSVMPointer = set_shared;
  table.clSVMAlloc = allocate_shared;
  table.clSVMFree = free_shared;
  table.clCreateCommandQueue = create_queue;
  table.clRetainCommandQueue = retain<cl_command_queue, Kind::queue>;
  table.clReleaseCommandQueue = release<cl_command_queue, Kind::queue>;
  table.clCreateBuffer = create_buffer;
  table.clCreateImage = create_image;
  table.clGetMemObjectInfo = memory_info;
  table.clRetainMemObject = retain<cl_mem, Kind::memory>;
  table.clReleaseMemObject = release<cl_mem, Kind::memory>;
  table.clCreateSampler = create_sampler;
  table.clGetSamplerInfo = sampler_info;
  table.clRetainSampler = retain<cl_sampler, Kind::sampler>;
  table.clReleaseSampler = release<cl_sampler, Kind::sampler>;
  table.clEnqueueNDRangeKernel = launch;
  table.clEnqueueTask = task;
  table.clFinish = finish;
  table.clWaitForEvents = wait;
  table.clEnqueueReadBuffer = read_buffer;
  return table;
}

}  // namespace kiln::test
