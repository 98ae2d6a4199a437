// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/links.hpp"

#include <filesystem>
#include <vector>

#include "runtime/layer/answer.hpp"
#include "runtime/layer/binaries.hpp"
#include "runtime/layer/build_report.hpp"
#include "runtime/layer/devices.hpp"
#include "runtime/layer/launches.hpp"
#include "runtime/layer/serve.hpp"
#include "runtime/layer/settings.hpp"

namespace kiln::layer {
namespace {

constexpr char kNotAlone[] =
    "it is not of one program that was compiled from source and linked without options";

// Nothing where a header is none that the layer saw, or the driver is to judge the call.
std::optional<Headers> headers_of(const CompileArguments &arguments) {
  const bool none = arguments.header_count == 0;
  if (none != (arguments.headers == nullptr) || none != (arguments.names == nullptr)) return {};
  Headers found;
  for (cl_uint i = 0; i < arguments.header_count; ++i) {
    const ProgramPointer header = objects().find(arguments.headers[i], Program::Kind::from_source);
    if (header == nullptr || arguments.names[i] == nullptr) return {};
    const std::string name = arguments.names[i];
    // By another spelling it would not be found.
    if (std::filesystem::path(name).lexically_normal().generic_string() != name) return {};
    if (!found.emplace(name, header->source).second) return {};
  }
  return found;
}

// What the call is for, or null where the layer does not follow it.
std::shared_ptr<Compilation> follow(const ProgramPointer &program,
                                    const CompileArguments &arguments) {
  if (arguments.build.notify != nullptr) return nullptr;
  auto devices = devices_asked(arguments.build, devices_of(program->handle));
  auto headers = headers_of(arguments);
  if (!devices.ok() || !headers) return nullptr;
  auto whole = whole_of(*program, arguments.build.options_text(), *headers);
  if (!whole.ok()) return nullptr;
  auto made = std::make_shared<Compilation>();
  made->whole = *std::move(whole);
  made->options = arguments.build.options_text();
  made->headers = *std::move(headers);
  made->devices = *std::move(devices);
  return made;
}

// Programs of their own for the headers, which the application may have released.
class HeaderPrograms {
 public:
  HeaderPrograms(cl_context context, const Headers &headers) {
    for (const auto &[name, source] : headers) {
      const char *text = source.c_str();
      const std::size_t size = source.size();
      cl_int code = CL_SUCCESS;
      const cl_program made = next.clCreateProgramWithSource(context, 1, &text, &size, &code);
      if (made == nullptr) continue;  // the compiler says what is missing
      programs_.push_back(made);
      names_.push_back(name.c_str());
    }
  }
  HeaderPrograms(const HeaderPrograms &) = delete;
  HeaderPrograms &operator=(const HeaderPrograms &) = delete;
  ~HeaderPrograms() {
    for (const cl_program program : programs_) next.clReleaseProgram(program);
  }

  cl_uint count() const { return static_cast<cl_uint>(programs_.size()); }
  const cl_program *programs() const { return programs_.empty() ? nullptr : programs_.data(); }
  const char **names() { return names_.empty() ? nullptr : names_.data(); }

 private:
  std::vector<cl_program> programs_;
  std::vector<const char *> names_;
};

// The program that the call makes, if it is one that a single build makes, too; and its devices.
CompilationPointer linked_alone(const LinkArguments &arguments, Devices *devices) {
  if (arguments.count != 1 || arguments.programs == nullptr) return nullptr;
  const ProgramPointer known = objects().find(arguments.programs[0]);
  if (known == nullptr || known->context != arguments.context) return nullptr;
  const auto asked = devices_asked(arguments.build, devices_of(known->handle));
  const bool plain =
      asked.ok() && arguments.build.notify == nullptr && arguments.build.options_text().empty();
  const auto compilation = plain ? objects().compilation_of(known->handle) : nullptr;
  if (compilation == nullptr || !contains_all(compilation->devices, *asked)) return nullptr;
  *devices = *asked;
  return compilation;
}

// Says of a program that a pack gave what a linked one says.
void hand_out(cl_program linked, cl_context context) {
  auto known = std::make_shared<Program>();
  known->handle = linked;
  known->kind = Program::Kind::linked;
  known->context = context;
  objects().add(known);
}

// Of what is linked no source is known to take it again from when it was launched.
packs::Status note_linked(cl_program linked, const Devices &devices, const WholeProgram &whole) {
  KeptFile unwatched;
  return note_built(linked, devices, whole, &unwatched);
}

cl_program link_by_driver(const LinkArguments &arguments, cl_int *code) {
  const BuildArguments &build = arguments.build;
  return next.clLinkProgram(arguments.context, build.device_count, build.devices, build.options,
                            arguments.count, arguments.programs, build.notify, build.user, code);
}

}  // namespace

cl_int compile(const ProgramPointer &program, const CompileArguments &arguments) {
  std::unique_lock<std::mutex> lock(program->building);
  if (objects().has_kernels(program)) return CL_INVALID_OPERATION;
  const std::shared_ptr<Compilation> compilation = follow(program, arguments);
  // Kernels that the layer does not know may be attached to what the driver built.
  const bool can_wait = compilation != nullptr && !program->native && !settings().record;
  if (can_wait && can_serve(compilation->whole.name, compilation->devices)) {
    compilation->is_deferred = true;
    objects().set_twin(program, nullptr);
    objects().set_compilation(program, compilation);
    return CL_SUCCESS;
  }
  objects().set_compilation(program, nullptr);
  const BuildArguments &build = arguments.build;
  const cl_int code = leave_to_driver(program, &lock, build.notify != nullptr, [&] {
    return next.clCompileProgram(program->handle, build.device_count, build.devices, build.options,
                                 arguments.header_count, arguments.headers, arguments.names,
                                 build.notify, build.user);
  });
  const bool known = code == CL_SUCCESS && compilation != nullptr &&
                     check_unchanged(compilation->whole, program->source, compilation->options,
                                     compilation->headers)
                         .ok();
  if (known) objects().set_compilation(program, compilation);
  return code;
}

void compile_deferred(cl_program handle) {
  const ProgramPointer program = objects().find(handle);
  const CompilationPointer seen = objects().compilation_of(handle);
  if (program == nullptr || seen == nullptr || !seen->is_deferred) return;
  std::unique_lock<std::mutex> lock(program->building);
  if (objects().compilation_of(handle) != seen) return;  // another thread was faster
  HeaderPrograms headers(program->context, seen->headers);
  (void)leave_to_driver(program, &lock, false, [&] {
    return next.clCompileProgram(handle, static_cast<cl_uint>(seen->devices.size()),
                                 seen->devices.data(), seen->options.c_str(), headers.count(),
                                 headers.programs(), headers.names(), nullptr, nullptr);
  });
  auto compiled = std::make_shared<Compilation>(*seen);
  compiled->is_deferred = false;
  objects().set_compilation(program, compiled);
}

std::optional<cl_int> deferred_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info what, size_t room, void *out,
                                          size_t *size) {
  const CompilationPointer compilation = objects().compilation_of(program);
  if (compilation == nullptr || !compilation->is_deferred) return {};
  constexpr cl_build_status kStatus = CL_BUILD_SUCCESS;
  constexpr cl_program_binary_type kType = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  const std::string &options = compilation->options;
  if (!contains(compilation->devices, device)) {
    return unbuilt_info(program, device, what, room, out, size);
  }
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return answer(&kStatus, sizeof(kStatus), room, out, size);
    case CL_PROGRAM_BINARY_TYPE: return answer(&kType, sizeof(kType), room, out, size);
    case CL_PROGRAM_BUILD_OPTIONS:
      return answer(options.c_str(), options.size() + 1, room, out, size);
    case CL_PROGRAM_BUILD_LOG: return answer("", 1, room, out, size);
    default: compile_deferred(program); return {};
  }
}

cl_program link(const LinkArguments &arguments, cl_int *code) {
  Devices devices;
  const CompilationPointer alone = linked_alone(arguments, &devices);
  Built built;
  bool notes = alone != nullptr && settings().record;
  if (alone == nullptr) built.reason = kNotAlone;
  if (alone != nullptr) built.program = alone->whole.name;
  if (alone != nullptr && !settings().record) {
    const Served served = serve_program(built.program, arguments.context, devices);
    built.reason = served.reason;
    if (served.program != nullptr) {
      built.rung = served.rung;
      hand_out(served.program, arguments.context);
      append_report(built);
      *code = CL_SUCCESS;
      return served.program;
    }
    notes = served.is_unknown && !settings().overlay.empty();
  }
  for (cl_uint i = 0; arguments.programs != nullptr && i < arguments.count; ++i) {
    compile_deferred(arguments.programs[i]);
  }
  const cl_program linked = link_by_driver(arguments, code);
  if (linked != nullptr) launches().set_program(linked, "");
  if (notes)
    built.reason = linked == nullptr ? kRefused : noted(note_linked(linked, devices, alone->whole));
  append_report(built);
  return linked;
}

}  // namespace kiln::layer
