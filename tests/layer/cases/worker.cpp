// SPDX-License-Identifier: Apache-2.0
// The application that makes a sequence's calls, and says all that it can see of them.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "tests/layer/cases/worker.hpp"

#include <CL/cl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "tests/layer/cases/sequence.hpp"

namespace kiln::cases {
namespace {

constexpr std::size_t kOfSubDevices = 3;  // contexts from here on
constexpr std::size_t kOut = 16, kBytes = kOut * sizeof(cl_int);

struct Context {
  cl_context context = nullptr;
  std::vector<cl_device_id> devices;
};

enum class State { none, compiled, executable };

struct Slot {
  cl_program program = nullptr;
  std::size_t context = 0;
  bool linked = false;
  // Of the last call that built it. PoCL tells of other devices that it was built for them, and
  // dies of links and launches there.
  State state = State::none;
  std::vector<cl_device_id> devices;
};

struct KernelSlot {
  cl_kernel kernel = nullptr;
  std::size_t context = 0;
  bool linked = false;
  cl_device_id device = nullptr;
};

void CL_CALLBACK count_call(cl_program, void *user) { ++*static_cast<std::atomic<int> *>(user); }

class Application {
 public:
  Application(std::string driver, std::uint64_t block)
      : is_rusticl_(driver == "rusticl"),
        words_(vocabulary(block, driver)),
        variables_(environment(block, driver)) {}

  bool open() {
    cl_platform_id platform = nullptr;
    cl_uint count = 0;
    std::vector<cl_device_id> all(2);
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, all.data(), &count) != CL_SUCCESS) {
      return false;
    }
    all.resize(std::min<std::size_t>(count, 2));
    std::sort(all.begin(), all.end(), [](auto a, auto b) { return units_of(a) > units_of(b); });
    add_context({all[0]});
    add_context({all[0]});
    add_context(all);
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    std::vector<cl_device_id> parts(2);
    if (is_rusticl_) return true;  // has no such function
    if (clCreateSubDevices(all[0], equally, 2, parts.data(), &count) == CL_SUCCESS && count != 0) {
      parts.resize(std::min<std::size_t>(count, 2));
      add_context({parts[0]});
      add_context({all[0], parts[0]});
      add_context(parts);
    }
    return true;
  }

  std::string run(const Sequence &sequence) {
    said_.str("");
    for (const Call &call : sequence) make(call);
    // At the end each built program is launched: only its result shows which code it is.
    for (unsigned i = 0; i < kPrograms; ++i) {
      if (programs_[i].program == nullptr || !is_built(programs_[i])) continue;
      make({Op::kernel, 0, i, 0, 0});
      make({Op::launch, 0, 1, 0, 0});
    }
    for (KernelSlot &slot : kernels_) release(&slot);
    for (Slot &slot : programs_) release(&slot);
    return said_.str();
  }

 private:
  static cl_uint units_of(cl_device_id device) {
    cl_uint units = 0;
    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, nullptr);
    return units;
  }

  void add_context(const std::vector<cl_device_id> &devices) {
    cl_int code = CL_SUCCESS;
    const cl_context made = clCreateContext(nullptr, static_cast<cl_uint>(devices.size()),
                                            devices.data(), nullptr, nullptr, &code);
    if (made != nullptr) contexts_.push_back({made, devices});
  }

  template <typename Value>
  void say(const char *name, const Value &value) {
    said_ << " " << name << "=" << value;
  }

  void release(Slot *slot) {
    if (slot->program != nullptr) clReleaseProgram(slot->program);
    *slot = {};
  }

  void release(KernelSlot *slot) {
    if (slot->kernel != nullptr) clReleaseKernel(slot->kernel);
    *slot = {};
  }

  static bool is_built(const Slot &slot) { return slot.state == State::executable; }

  // What the drivers say of it must fit, too: a served program must be told as built.
  void set_state(Slot *slot, cl_int code, const std::vector<cl_device_id> &list, bool compiles) {
    if (code == CL_INVALID_VALUE || code == CL_INVALID_DEVICE || code == CL_INVALID_OPERATION) {
      return;
    }
    slot->state = code != CL_SUCCESS ? State::none : compiles ? State::compiled : State::executable;
    slot->devices = list.empty() ? contexts_[slot->context].devices : list;
  }

  std::vector<cl_device_id> chosen(std::size_t context, unsigned set) const {
    const auto &all = contexts_[context].devices;
    if (set == 1) return {};
    if (set == 2) return {all.back()};
    if (set == 3) return {all.rbegin(), all.rend()};
    return set == 4 ? all : std::vector<cl_device_id>{all[0]};
  }

  // The arguments of build, compile and link that may be malformed.
  struct Common {
    std::vector<cl_device_id> list;
    cl_uint count = 0;
    const cl_device_id *devices = nullptr;
    void(CL_CALLBACK *notify)(cl_program, void *) = nullptr;
    void *user = nullptr;
  };

  Common common(std::size_t context, unsigned set, unsigned manner) {
    Common made;
    made.list = chosen(context, set);
    if (manner == 6) made.list = contexts_.back().devices;  // perhaps not the context's
    if (manner == 7 && !is_rusticl_ && !made.list.empty()) made.list.push_back(made.list[0]);
    // PoCL 3.1 writes behind its memory for a longer list.
    made.list.resize(std::min(made.list.size(), contexts_[context].devices.size()));
    made.count = static_cast<cl_uint>(made.list.size());
    made.devices = made.list.empty() ? nullptr : made.list.data();
    if (manner == 3) made.devices = nullptr, made.count = 1;
    if (manner == 4) made.devices = contexts_[context].devices.data(), made.count = 0;
    calls_ = 0;
    if (manner == 1) made.notify = count_call;
    if (manner == 1 || manner == 2) made.user = &calls_;
    return made;
  }

  // Some drivers build in a thread of their own.
  void wait_for_call(unsigned manner, cl_int code) {
    if (manner != 1 || code != CL_SUCCESS) return;
    for (int i = 0; i < 20000 && calls_ == 0; ++i) usleep(500);
    say("called", calls_.load());
  }

  static const char *or_null(const std::string &text) {
    return text == "NULL" ? nullptr : text.c_str();
  }

  void create(const Call &call) {
    Slot &slot = programs_[call.a % kPrograms];
    release(&slot);
    slot.context = call.c % contexts_.size();
    slot.program = created(words_.texts[call.b % words_.texts.size()], slot.context, call.d);
  }

  // `cut`: one string with its length, one with zero at its end, or some strings of both kinds.
  cl_program created(const std::string &text, std::size_t context, unsigned cut) {
    std::vector<std::string> parts;
    const std::size_t size = cut < 2 ? text.size() + 1 : text.size() / cut + 1;
    for (std::size_t at = 0; at < text.size(); at += size) parts.push_back(text.substr(at, size));
    std::vector<const char *> starts;
    std::vector<std::size_t> lengths;
    for (std::string &part : parts) {
      lengths.push_back(cut == 0 || (cut == 2 && lengths.empty()) ? part.size() : 0);
      if (lengths.back() != 0) part += "no part of the text";
      starts.push_back(part.c_str());
    }
    cl_int code = CL_SUCCESS;
    const cl_program made =
        clCreateProgramWithSource(contexts_[context].context, static_cast<cl_uint>(parts.size()),
                                  starts.data(), cut == 1 ? nullptr : lengths.data(), &code);
    if (code != CL_SUCCESS) say("create", code);
    return made;
  }

  void build(const Call &call) {
    Slot &slot = programs_[call.a % kPrograms];
    if (slot.program == nullptr) return;
    const Common given = common(slot.context, call.c, call.d);
    const std::string &options = words_.options[call.b % words_.options.size()];
    const cl_int code = clBuildProgram(slot.program, given.count, given.devices, or_null(options),
                                       given.notify, given.user);
    say("build", code);
    wait_for_call(call.d, code);
    set_state(&slot, code, given.list, false);
    say_program(slot);
  }

  void compile(const Call &call) {
    Slot &slot = programs_[call.a % kPrograms];
    if (slot.program == nullptr) return;
    std::vector<cl_program> headers;
    std::vector<const char *> names;
    const auto add = [&](const char *name, std::size_t text) {
      headers.push_back(created(words_.texts[text], slot.context, 0));
      names.push_back(name);
    };
    if (call.d == 10 || call.d == 13) add("h.h", kFirstHeader);
    if (call.d == 11 || call.d == 13) add(call.d == 13 ? "g.h" : "h.h", kFirstHeader + 1);
    if (call.d == 12) add("g.h", kFirstHeader);
    if (call.d == 14) add("h.h", kFirstHeader), add("h.h", kFirstHeader + 1);
    // PoCL dies of a link of what was compiled for a sub-device that is not in the context.
    const Common given = common(slot.context, call.c, call.d == 6 ? 0 : call.d);
    const std::string &options = words_.options[call.b % words_.options.size()];
    const bool lacks_names = call.d == 5 && is_rusticl_;  // PoCL dies of it
    const cl_uint count = lacks_names ? 1 : static_cast<cl_uint>(headers.size());
    const cl_int code =
        clCompileProgram(slot.program, given.count, given.devices, or_null(options), count,
                         headers.empty() ? nullptr : headers.data(),
                         names.empty() ? nullptr : names.data(), given.notify, given.user);
    say("compile", code);
    wait_for_call(call.d, code);
    for (const cl_program header : headers) clReleaseProgram(header);
    set_state(&slot, code, given.list, true);
    say_program(slot);
  }

  void link(const Call &call) {
    std::vector<cl_program> parts;
    std::vector<cl_device_id> list;
    std::size_t context = 0;
    for (unsigned i = 0; i < kPrograms; ++i) {
      const Slot &slot = programs_[i];
      if ((call.c >> i & 1) == 0 || slot.state != State::compiled) continue;
      if (parts.empty()) context = slot.context, list = slot.devices;
      if (slot.context != context || slot.devices != list) continue;
      parts.push_back(programs_[i].program);
    }
    // PoCL dies of links for sub-devices.
    if (parts.empty() || context >= kOfSubDevices) return;
    if (call.d == 5) std::reverse(parts.begin(), parts.end());
    if (call.d == 8 && !is_rusticl_) parts.push_back(parts[0]);
    if (call.d == 9 && context < 2) context = 1 - context;  // of the same device
    Common given = common(context, 1, call.d == 6 || call.d == 7 ? 0 : call.d);
    const bool is_whole = list == contexts_[context].devices;
    if (given.devices == nullptr && given.count == 0 && (!is_whole || call.d >= 4)) {
      given.count = static_cast<cl_uint>(list.size());
      given.devices = list.data();
    }
    const std::string &options = words_.link_options[call.b % words_.link_options.size()];
    cl_int code = CL_SUCCESS;
    Slot made;
    made.context = context;
    made.linked = true;
    made.program = clLinkProgram(contexts_[context].context, given.count, given.devices,
                                 or_null(options), static_cast<cl_uint>(parts.size()), parts.data(),
                                 given.notify, given.user, &code);
    say("link", code);
    wait_for_call(call.d, made.program == nullptr ? -1 : code);
    set_state(&made, made.program == nullptr ? -1 : code, list,
              options.find("-create-library") != std::string::npos);
    Slot &slot = programs_[call.a % kPrograms];
    release(&slot);
    slot = made;
    if (slot.program != nullptr) say_program(slot);
  }

  std::string text_of(cl_program program, cl_program_info what) {
    std::size_t size = 0;
    cl_int code = clGetProgramInfo(program, what, 0, nullptr, &size);
    std::string text(size, '\0');
    if (code == CL_SUCCESS) code = clGetProgramInfo(program, what, size, text.data(), nullptr);
    return code == CL_SUCCESS ? text.c_str() : std::to_string(code);
  }

  // rusticl 22.3 names kernels again after each rebuild.
  void say_kernels(cl_program program) {
    std::istringstream names(text_of(program, CL_PROGRAM_KERNEL_NAMES));
    std::set<std::string> sorted;
    for (std::string name; std::getline(names, name, ';');) sorted.insert(name);
    std::string joined;
    for (const std::string &name : sorted) joined += name + ";";
    say("names", joined);
    if (is_rusticl_) return;
    std::size_t count = 0;
    const cl_int code =
        clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(count), &count, nullptr);
    say("count", code == CL_SUCCESS ? static_cast<long>(count) : static_cast<long>(code));
  }

  // Of what is built alone: after a failed build, and for other devices, drivers tell what an
  // earlier call left (docs/use/layer.md).
  void say_program(const Slot &slot) {
    if (slot.state == State::none) return;
    for (const cl_device_id device : slot.devices) {
      const auto info = [&](cl_program_build_info what) {
        cl_int value = 77;
        clGetProgramBuildInfo(slot.program, device, what, sizeof(value), &value, nullptr);
        return value;
      };
      say("status", info(CL_PROGRAM_BUILD_STATUS));
      say("type", info(CL_PROGRAM_BINARY_TYPE));
    }
    if (is_built(slot)) say_kernels(slot.program);
  }

  void query(const Call &call) {
    const Slot &slot = programs_[call.a % kPrograms];
    if (slot.program == nullptr) return;
    say_program(slot);
    cl_uint number = 0;
    for (const cl_program_info what : {CL_PROGRAM_REFERENCE_COUNT, CL_PROGRAM_NUM_DEVICES}) {
      clGetProgramInfo(slot.program, what, sizeof(number), &number, nullptr);
      say("number", number);
    }
    if (slot.state == State::none) return;  // PoCL dies of what was not linked
    if (!slot.linked) say("source", text_of(slot.program, CL_PROGRAM_SOURCE).size());
    std::array<std::size_t, 8> sizes{};
    std::size_t size = 0;
    say("sizes", clGetProgramInfo(slot.program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes),
                                  sizes.data(), &size));
    say("of", size);
    for (std::size_t i = 0; i < size / sizeof(size); ++i) say("any", sizes[i] != 0);
    say("small", clGetProgramInfo(slot.program, CL_PROGRAM_NUM_DEVICES, 1, &number, nullptr));
    say("unknown", clGetProgramInfo(slot.program, 1, sizeof(number), &number, nullptr));
    for (const cl_device_id device : slot.devices) {
      char options[400] = "";
      say("options", clGetProgramBuildInfo(slot.program, device, CL_PROGRAM_BUILD_OPTIONS,
                                           sizeof(options), options, &size));
      std::replace(std::begin(options), std::end(options), ' ', '_');
      say("text", options);
    }
  }

  void make_kernel(const Call &call) {
    const Slot &slot = programs_[call.b % kPrograms];
    if (slot.program == nullptr || !is_built(slot)) return;  // some drivers die of such calls
    KernelSlot &made = kernels_[call.a % kKernels];
    release(&made);
    static constexpr const char *kNames[] = {"k", "w", "k", "no_such"};
    cl_int code = CL_SUCCESS;
    made = {clCreateKernel(slot.program, kNames[call.c % 4], &code), slot.context, slot.linked,
            slot.devices[0]};
    say("kernel", code);
    cl_uint count = 0;
    if (made.kernel == nullptr) return;
    clGetKernelInfo(made.kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr);
    say("arguments", count);
  }

  void make_kernels(const Call &call) {
    const Slot &slot = programs_[call.a % kPrograms];
    if (slot.program == nullptr || !is_built(slot) || is_rusticl_) return;
    std::array<cl_kernel, 8> made{};
    cl_uint count = 0;
    say("kernels", clCreateKernelsInProgram(slot.program, 8, made.data(), &count));
    say("made", count);
    for (const cl_kernel kernel : made) {
      if (kernel != nullptr) clReleaseKernel(kernel);
    }
  }

  static cl_uint references_of(cl_kernel kernel) {
    cl_uint references = 0;
    clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(references), &references, nullptr);
    return references;
  }

  void launch(const Call &call) {
    const KernelSlot &slot = kernels_[call.a % kKernels];
    if (slot.kernel == nullptr) return;
    const cl_device_id device = slot.device;
    std::array<std::size_t, 3> required{};
    clGetKernelWorkGroupInfo(slot.kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                             sizeof(required), required.data(), nullptr);
    say("required", required[0]);
    if (!executes_) return;
    cl_command_queue &queue = queues_[{slot.context, device}];
    const cl_context context = contexts_[slot.context].context;
    cl_int code = CL_SUCCESS;
    if (queue == nullptr) queue = clCreateCommandQueue(context, device, 0, &code);
    std::array<float, 8> in = {1e-38F, 1e8F, 3.25F, 0, 1.1F, 3.3F, -1.3F, 0};
    std::memset(&in[3], 0xff, sizeof(float));
    std::array<cl_int, kOut> out{};
    const cl_mem_flags copies = CL_MEM_COPY_HOST_PTR;
    const cl_mem given = clCreateBuffer(context, copies, sizeof(in), in.data(), &code);
    const cl_mem taken = clCreateBuffer(context, copies, kBytes, out.data(), &code);
    const cl_int n = 7;
    const cl_uint references = references_of(slot.kernel);
    clSetKernelArg(slot.kernel, 0, sizeof(given), static_cast<const void *>(&given));
    clSetKernelArg(slot.kernel, 1, sizeof(taken), static_cast<const void *>(&taken));
    clSetKernelArg(slot.kernel, 2, sizeof(n), &n);
    static constexpr std::size_t kLocal[] = {0, 1, 2, 4};
    const std::size_t local = required[0] != 0 ? required[0] : kLocal[call.b % 4];
    const std::size_t global = local == 0 ? 4 : local * 2;
    code = clEnqueueNDRangeKernel(queue, slot.kernel, 1, nullptr, &global,
                                  local == 0 ? nullptr : &local, 0, nullptr, nullptr);
    say("launch", code);
    if (code == CL_SUCCESS) {
      code = clEnqueueReadBuffer(queue, taken, CL_TRUE, 0, kBytes, out.data(), 0, nullptr, nullptr);
      if (code != CL_SUCCESS) say("read", code);
      said_ << " out=";
      for (const cl_int number : out) said_ << number << ",";
    }
    clFinish(queue);
    // rusticl's thread holds the kernel a little longer.
    for (int i = 0; i < 20000 && references_of(slot.kernel) != references; ++i) usleep(50);
    clReleaseMemObject(given);
    clReleaseMemObject(taken);
  }

  void query_kernel(const Call &call) {
    const KernelSlot &slot = kernels_[call.a % kKernels];
    if (slot.kernel == nullptr) return;
    std::array<char, 200> text{};
    std::size_t size = 0;
    const auto info = [&](cl_kernel_info what) {
      text = {};
      say("info", clGetKernelInfo(slot.kernel, what, text.size(), text.data(), &size));
      say("size", size);
    };
    info(CL_KERNEL_FUNCTION_NAME);
    say("name", text.data());
    say("references", references_of(slot.kernel));
    if (!slot.linked) {
      info(CL_KERNEL_ATTRIBUTES);
      say("attributes", text.data());
      for (const cl_uint index : {0U, 2U, 9U}) {
        for (const cl_kernel_arg_info what : {CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME, 1}) {
          text = {};
          say("argument",
              clGetKernelArgInfo(slot.kernel, index, what, text.size(), text.data(), &size));
          say("is", text.data());
        }
      }
    }
    for (const cl_kernel_work_group_info what :
         {CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
          CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE}) {
      std::array<cl_ulong, 3> numbers{};
      say("group", clGetKernelWorkGroupInfo(slot.kernel, slot.device, what, sizeof(numbers),
                                            numbers.data(), nullptr));
      say("is", numbers[0]);
    }
  }

  void clone(const Call &call) {
    const KernelSlot &from = kernels_[call.b % kKernels];
    if (from.kernel == nullptr || is_rusticl_ || call.a % kKernels == call.b % kKernels) return;
    cl_int code = CL_SUCCESS;
    const KernelSlot made = {clCloneKernel(from.kernel, &code), from.context, from.linked,
                             from.device};
    say("clone", code);
    release(&kernels_[call.a % kKernels]);
    kernels_[call.a % kKernels] = made;
  }

  void make(const Call &call) {
    Slot &slot = programs_[call.a % kPrograms];
    switch (call.op) {
      case Op::create: return create(call);
      case Op::build: return build(call);
      case Op::compile: return compile(call);
      case Op::link: return link(call);
      case Op::kernel: return make_kernel(call);
      case Op::kernels: return make_kernels(call);
      case Op::launch: return launch(call);
      case Op::program_queries: return query(call);
      case Op::kernel_queries: return query_kernel(call);
      case Op::clone_kernel: return clone(call);
      case Op::release_kernel: return release(&kernels_[call.a % kKernels]);
      case Op::release_program: return release(&slot);
      case Op::retain:
        if (slot.program == nullptr) return;
        say("retain", clRetainProgram(slot.program));
        return say("release", clReleaseProgram(slot.program));
      case Op::set_variable:
        if (call.a < variables_.names.size()) {
          setenv(variables_.names[call.a].c_str(), variables_.values[call.a].c_str(), 1);
        }
        return;
      case Op::unset_variable:
        if (call.a < variables_.names.size()) unsetenv(variables_.names[call.a].c_str());
        return;
      case Op::context: {
        const auto &devices = contexts_[0].devices;
        clReleaseContext(clCreateContext(nullptr, 1, devices.data(), nullptr, nullptr, nullptr));
      }
    }
  }

  bool is_rusticl_;
  Vocabulary words_;
  Environment variables_;
  std::vector<Context> contexts_;
  std::array<Slot, kPrograms> programs_;
  std::array<KernelSlot, kKernels> kernels_;
  std::map<std::pair<std::size_t, cl_device_id>, cl_command_queue> queues_;
  std::atomic<int> calls_{0};
  std::ostringstream said_;
  // Intel's driver without hardware builds programs, and does not run them.
  bool executes_ = std::getenv("SetCommandStreamReceiver") == nullptr;
};

}  // namespace

int work(const std::string &driver, std::uint64_t block) {
  const int out = dup(STDOUT_FILENO);  // the driver may write to standard output
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Application application(driver, block);
  if (!application.open()) return kNoDevice;
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer = application.run(sequence_of(line));
    std::replace(answer.begin(), answer.end(), '\n', '|');
    answer += "\n";
    if (write(out, answer.data(), answer.size()) < 0) return 1;
  }
  return 0;
}

}  // namespace kiln::cases
