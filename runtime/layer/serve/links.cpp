// SPDX-License-Identifier: Apache-2.0
// Defers compilations that a link may not need, and names links of several programs.
#include "runtime/layer/serve/links.hpp"

#include <vector>

#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/layer/record/launches.hpp"
#include "runtime/layer/record/record.hpp"
#include "runtime/layer/serve/info_answers.hpp"
#include "runtime/layer/serve/pack_programs.hpp"
#include "runtime/layer/serve/refusals.hpp"
#include "runtime/source/build_options.hpp"
#include "runtime/source/logical_lines.hpp"

namespace kiln::layer {
namespace {

constexpr char kUnknownParts[] =
    "it is not of programs that were compiled from source for the same devices, in plain calls";
constexpr char kLibrary[] = "it is a library";

// Returns whether each header has a program and a name.
bool has_whole_headers(const CompileArguments &arguments) {
  const bool none = arguments.header_count == 0;
  if (none != (arguments.headers == nullptr) || none != (arguments.names == nullptr)) return false;
  for (cl_uint i = 0; i < arguments.header_count; ++i) {
    if (arguments.headers[i] == nullptr || arguments.names[i] == nullptr) return false;
  }
  return true;
}

// Returns the headers, or nothing if the layer did not see a header or the driver must judge the
// call.
std::optional<Headers> headers_of(const CompileArguments &arguments) {
  if (!has_whole_headers(arguments)) return {};
  Headers found;
  for (cl_uint i = 0; i < arguments.header_count; ++i) {
    const ProgramPointer header = objects().find(arguments.headers[i], Program::Kind::from_source);
    if (header == nullptr) return {};
    if (!found.emplace(arguments.names[i], header->source).second) return {};
  }
  return found;
}

// Returns whether a link of this program alone, without options, makes what one clBuildProgram
// makes. If it was compiled with more than macros, an option may concern the linker, which has only
// its own: on PoCL -cl-denorms-are-zero of clCompileProgram alone has no effect.
bool links_as_built(const Compilation &compilation) {
  return !compilation.is_library && source::are_macros(compilation.whole.options);
}

// Returns the compilation that the call asks for, or null if the layer does not follow the call.
std::shared_ptr<Compilation> follow(const ProgramPointer &program,
                                    const CompileArguments &arguments) {
  if (arguments.build.notify != nullptr) return nullptr;
  auto devices = devices_asked(arguments.build, program->handle);
  auto headers = headers_of(arguments);
  if (!devices.ok() || !headers) return nullptr;
  auto whole = whole_of(*program, arguments.build.options_text(), *headers);
  if (!whole.ok() || !finds_files(program->context, devices->front(), *whole)) return nullptr;
  auto made = std::make_shared<Compilation>();
  made->whole = *std::move(whole);
  made->options = arguments.build.given_options();
  made->devices = *std::move(devices);
  return made;
}

// The result of a link: the program that one clBuildProgram makes from the only part (see
// links_as_built()), or a program named after its parts and all options.
struct Link {
  WholeProgram whole;  // without parts: as from one clBuildProgram
  std::vector<CompilationPointer> compilations;
  Devices devices;
  bool is_library = false;
};

std::optional<Link> link_of(const LinkArguments &arguments) {
  if (arguments.count == 0 || arguments.programs == nullptr) return {};
  if (arguments.build.notify != nullptr) return {};
  const auto asked = devices_asked(arguments.build, arguments.programs[0]);
  if (!asked.ok()) return {};
  Link made;
  made.devices = *asked;
  std::vector<WholeProgram> parts;
  CompilationPointer compilation;
  for (cl_uint i = 0; i < arguments.count; ++i) {
    const ProgramPointer known = objects().find(arguments.programs[i]);
    compilation = objects().compilation_of(arguments.programs[i]);
    if (known == nullptr || known->context != arguments.context || compilation == nullptr ||
        known->specialised || !contains_all(compilation->devices, made.devices)) {
      return {};
    }
    parts.push_back(compilation->whole);
    made.compilations.push_back(compilation);
  }
  const std::string options = arguments.build.options_text();
  made.is_library = options.find("-create-library") != std::string::npos;
  if (arguments.count == 1 && options.empty() && links_as_built(*compilation)) {
    made.whole = compilation->whole;
  } else {
    made.whole = source::whole_link(std::move(parts), options);
  }
  return made;
}

// Returns whether the application links what was refused, which was reported then.
bool has_refused(const LinkArguments &arguments) {
  for (cl_uint i = 0; arguments.programs != nullptr && i < arguments.count; ++i) {
    if (objects().refusal_of(arguments.programs[i]) != nullptr) return true;
  }
  return false;
}

void add_kernels(const WholeProgram &whole, std::set<std::string> *kernels) {
  if (!whole.is_il && whole.parts.empty()) {
    for (std::string &name : source::kernels_in(whole.source)) kernels->insert(std::move(name));
  }
  for (const WholeProgram &part : whole.parts) add_kernels(part, kernels);
}

// Registers a program from a pack, to answer queries as a linked program does.
void hand_out(const Served &linked, const Link &link, const LinkArguments &arguments) {
  auto known = std::make_shared<Program>();
  known->handle = linked.program;
  known->tuned = linked.tuned;
  known->unlaunched = linked.unlaunched;
  known->order.names = linked.kernels;
  known->parts = link.compilations;
  known->kind = Program::Kind::linked;
  known->context = arguments.context;
  known->source = arguments.build.options_text();
  objects().add(known);
}

// Registers a library with the name made from its parts, which names the links that use it.
void know_library(cl_program linked, cl_context context, const Link &link) {
  auto known = std::make_shared<Program>();
  known->handle = linked;
  known->kind = Program::Kind::library;
  known->context = context;
  auto compilation = std::make_shared<Compilation>();
  compilation->whole = link.whole;
  compilation->devices = link.devices;
  compilation->is_library = true;
  known->compilation = std::move(compilation);
  objects().add(known);
}

// Notes a program that the driver linked, and sets the outcome for the report, whose reason is why
// it was not served.
void note(cl_program linked, const Link &link, Built *built) {
  if (linked == nullptr) return built->set_driver_refused();
  const packs::Status status = note_built(linked, linked, link.devices, link.whole);
  if (status.ok() && !settings().record) note_parts(link.whole, link.devices);
  built->missing = built->reason;
  set_outcome(status, built);
}

// Has the driver link. A stand-in's place is taken by a program from the text that was named. If
// the stand-in is built, that program is built too, so that the driver may refuse it.
cl_program link_by_driver(const LinkArguments &arguments, cl_int *code) {
  const BuildArguments &build = arguments.build;
  const auto back = std::make_shared<CallBack>(CallBack{build.notify, build.user, nullptr, {}});
  std::vector<cl_program> programs;
  for (cl_uint i = 0; arguments.programs != nullptr && i < arguments.count; ++i) {
    const cl_program own = arguments.programs[i];
    compile_deferred(own);
    back->kept.push_back(objects().stand_in_of(own));
    StandIn *stand_in = back->kept.back().get();
    const cl_program of_text = stand_in == nullptr     ? nullptr
                               : stand_in->is_compiled ? stand_in->program
                                                       : built_from_text(stand_in);
    programs.push_back(of_text == nullptr ? own : of_text);
  }
  const bool calls_back = build.notify != nullptr;
  const cl_program linked = next.clLinkProgram(
      arguments.context, build.device_count, build.devices, build.options, arguments.count,
      arguments.programs == nullptr ? nullptr : programs.data(), calls_back ? call_back : nullptr,
      calls_back ? new std::shared_ptr<CallBack>(back) : build.user, code);
  if (linked == nullptr) back->kept.clear();
  return linked;
}

// Has the driver compile the text that was named, in a stand-in, so that no file or header that
// changed since is in the program. Returns the driver's code.
cl_int compile_named(const ProgramPointer &program, const Compilation &compilation,
                     bool keeps_failed) {
  const cl_program made = create_named(program->context, compilation.whole);
  if (made == nullptr) return CL_OUT_OF_HOST_MEMORY;
  launches().set_program(made, "");  // the driver may reuse a handle
  const Devices &devices = compilation.devices;
  const cl_int code =
      next.clCompileProgram(made, static_cast<cl_uint>(devices.size()), devices.data(),
                            compilation.options.or_null(compilation.whole.options), 0, nullptr,
                            nullptr, nullptr, nullptr);
  if (code != CL_SUCCESS && !keeps_failed) {
    next.clReleaseProgram(made);
    return code;
  }
  const std::vector<std::string> own_logs(devices.size());
  objects().set_stand_in(
      program, std::make_shared<StandIn>(made, compilation.whole, compilation.options, devices,
                                         own_logs, TunedProgram(), true));
  auto compiled = std::make_shared<Compilation>(compilation);
  compiled->is_deferred = false;
  objects().set_compilation(program, compiled);
  return code;
}

// Returns whether the driver compiles what the application gave.
bool is_compiled_as_given(const Program &program, const CompileArguments &arguments) {
  const char *text = program.source.data();
  const std::size_t size = program.source.size();
  cl_int code = CL_SUCCESS;
  const runtime::Handle<cl_program> made(
      next.clCreateProgramWithSource(program.context, 1, &text, &size, &code),
      next.clReleaseProgram);
  const BuildArguments &build = arguments.build;
  return made && next.clCompileProgram(made.get(), build.device_count, build.devices, build.options,
                                       arguments.header_count, arguments.headers, arguments.names,
                                       nullptr, nullptr) == CL_SUCCESS;
}

}  // namespace

Done compile(const ProgramPointer &program, const CompileArguments &arguments) {
  std::unique_lock<std::mutex> lock(program->building);
  const BuildArguments &build = arguments.build;
  const DriverCall by_driver = [&](cl_program handle, Notify notify, void *user) {
    return next.clCompileProgram(handle, build.device_count, build.devices, build.options,
                                 arguments.header_count, arguments.headers, arguments.names, notify,
                                 user);
  };
  if (objects().has_kernels(program)) {
    const bool well_formed =
        has_whole_headers(arguments) && devices_asked(build, program->handle).ok();
    return {refuse_with_kernels(program, &lock, well_formed, build, by_driver)};
  }
  const std::shared_ptr<Compilation> compilation = follow(program, arguments);
  // Kernels unknown to the layer may be attached to a program that the driver built.
  const bool can_wait = compilation != nullptr && !program->native && !settings().record;
  if (can_wait &&
      ((links_as_built(*compilation) && can_serve(compilation->whole.name, compilation->devices)) ||
       can_serve_link_of(compilation->whole.name, compilation->devices))) {
    compilation->is_deferred = true;
    objects().set_stand_in(program, nullptr);
    objects().set_refusal(program, nullptr);
    objects().set_compilation(program, compilation);
    return {CL_SUCCESS};
  }
  const CompilationPointer before = objects().compilation_of(program->handle);
  objects().set_compilation(program, nullptr);
  objects().set_refusal(program, nullptr);
  if (requires_binaries()) {
    Built built;
    if (compilation != nullptr) built.program = compilation->whole.name;
    built.reason = "no pack has it or a link of it";
    refuse(program, arguments.build.given_options(), devices_of(program->handle), &built);
    return {CL_COMPILE_PROGRAM_FAILURE, build.notify != nullptr};
  }
  const RefusableCall refusable(
      program, compilation == nullptr ? nullptr : &compilation->whole, build.given_options(),
      compilation == nullptr ? Devices() : compilation->devices, CL_COMPILE_PROGRAM_FAILURE);
  if (RefusalPointer refusal = refusable.find()) {
    objects().set_refusal(program, std::move(refusal));
    return {CL_COMPILE_PROGRAM_FAILURE};
  }
  const bool is_given = compilation != nullptr &&
                        is_as_given(compilation->whole, *program, compilation->options.text);
  const bool may_stand =
      compilation != nullptr && !is_given && !program->native &&
      (!compilation->whole.may_be_missing || is_compiled_as_given(*program, arguments));
  if (may_stand && compile_named(program, *compilation, /*keeps_failed=*/false) == CL_SUCCESS) {
    return {CL_SUCCESS};
  }
  const cl_int code = leave_to_driver(program, &lock, build.notify != nullptr, [&] {
    return by_driver(program->handle, build.notify, build.user);
  });
  if (code == CL_SUCCESS && is_given) objects().set_compilation(program, compilation);
  if (!has_tried(code)) objects().set_compilation(program, before);
  refusable.note(code);
  return {code};
}

void compile_deferred(cl_program handle) {
  const ProgramPointer program = objects().find(handle);
  const CompilationPointer seen = objects().compilation_of(handle);
  if (program == nullptr || seen == nullptr || !seen->is_deferred) return;
  const std::lock_guard<std::mutex> lock(program->building);
  if (objects().compilation_of(handle) != seen) return;  // another thread was faster
  (void)compile_named(program, *seen, /*keeps_failed=*/true);
  if (objects().compilation_of(handle) == seen) objects().set_compilation(program, nullptr);
}

std::optional<cl_int> deferred_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info what, size_t room, void *out,
                                          size_t *size) {
  const CompilationPointer compilation = objects().compilation_of(program);
  if (compilation == nullptr || !compilation->is_deferred) return {};
  constexpr cl_build_status kStatus = CL_BUILD_SUCCESS;
  constexpr cl_program_binary_type kType = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  if (!contains(compilation->devices, device)) {
    return unbuilt_info(program, device, what, room, out, size);
  }
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return answer(&kStatus, sizeof(kStatus), room, out, size);
    case CL_PROGRAM_BINARY_TYPE: return answer(&kType, sizeof(kType), room, out, size);
    case CL_PROGRAM_BUILD_OPTIONS: {
      const std::string options = told_options(context_of(program), device, compilation->options);
      return answer(options.c_str(), options.size() + 1, room, out, size);
    }
    case CL_PROGRAM_BUILD_LOG: return answer("", 1, room, out, size);
    default: compile_deferred(program); return {};
  }
}

cl_program link(const LinkArguments &arguments, cl_int *code) {
  const std::optional<Link> known = link_of(arguments);
  Built built;
  bool notes = false;
  built.reason = known ? kLibrary : kUnknownParts;
  built.recorded = known ? Recorded::needless : Recorded::no;  // unless it is no library
  if (known) built.program = known->whole.name;
  if (known && !known->is_library) {
    Served served;
    served.is_unknown = settings().record;
    if (!settings().record) {
      served = serve_program(built.program, arguments.context, known->devices);
    }
    built.reason = served.reason;
    built.recorded = Recorded::no;
    if (served.program != nullptr) {
      built.rung = served.rung;
      built.reason = served.miss;
      built.nearest = served.nearest;
      hand_out(served, *known, arguments);
      report_build(built, served.program);
      *code = CL_SUCCESS;
      return served.program;
    }
    notes = served.is_unknown && (settings().record || !settings().overlay.empty());
  }
  if (requires_binaries()) {
    *code = CL_INVALID_OPERATION;
    if (has_refused(arguments)) return nullptr;
    if (known) add_kernels(known->whole, &built.kernels);
    refuse(&built);
    *code = CL_LINK_PROGRAM_FAILURE;
    return nullptr;
  }
  const cl_program linked = link_by_driver(arguments, code);
  if (linked != nullptr) launches().set_program(linked, "");
  if (notes) note(linked, *known, &built);
  if (linked != nullptr && known && known->is_library) {
    know_library(linked, arguments.context, *known);
  }
  report_build(built, linked);
  return linked;
}

}  // namespace kiln::layer
