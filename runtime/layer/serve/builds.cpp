// SPDX-License-Identifier: Apache-2.0
// Decides whether a stand-in serves a build or the driver does it, and notes the driver's builds.
// An application's own binaries are loaded and built behind the overlay's markers.
#include "runtime/layer/serve/builds.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "kiln/packs/bytes.hpp"
#include "runtime/layer/base/asked_once.hpp"
#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/record/launches.hpp"
#include "runtime/layer/record/record.hpp"
#include "runtime/layer/serve/pack_programs.hpp"
#include "runtime/layer/serve/refusals.hpp"
#include "runtime/layer/serve/sub_devices.hpp"
#include "runtime/opencl/query.hpp"
#include "runtime/source/logical_lines.hpp"

namespace kiln::layer {

namespace {

using packs::Code;
using packs::Status;

constexpr char kOtherFiles[] =
    "the driver does not find its files by quotes in -I as Kiln does; write -I without quotes";

cl_int by_driver(const ProgramPointer &program, const BuildArguments &arguments) {
  return next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                             arguments.options, arguments.notify, arguments.user);
}

// A build by the driver that may end after clBuildProgram has returned.
struct Pending {
  Notify notify;
  void *user;
  Devices devices;
  WholeProgram whole;
};

// Watches the launches of `program` if they matter. A program for several devices has a file for
// each of them, and a launch belongs to one of these files, so its launches are not watched.
void watch(cl_program program, const LaunchFile &file) {
  if (file.path.empty() || only_device(program) == nullptr) return;
  launches().set_program(program, file.path, file.lines);
}

void CL_CALLBACK when_built(cl_program program, void *user) {
  std::unique_ptr<Pending> pending(static_cast<Pending *>(user));
  (void)note_built(program, program, pending->devices, pending->whole);
  const Notify notify = pending->notify;
  void *const own = pending->user;
  pending = nullptr;
  notify(program, own);
}

// Lets the driver build what the application gave, and notes the result. Sets the reason to the
// outcome, or to the expected outcome if the driver will build later.
cl_int build_and_note(const ProgramPointer &program, const BuildArguments &arguments,
                      const Devices &devices, const WholeProgram &whole, Built *report) {
  if (arguments.notify == nullptr) {
    const cl_int code = by_driver(program, arguments);
    if (code == CL_SUCCESS) {
      set_outcome(note_built(program->handle, program->handle, devices, whole), report);
    }
    return code;
  }
  // Leaks if the driver does not call back, as in call_back().
  auto *pending = new Pending{arguments.notify, arguments.user, devices, whole};
  BuildArguments noting = arguments;
  noting.notify = when_built;
  noting.user = pending;
  const cl_int code = by_driver(program, noting);
  if (code == CL_SUCCESS) set_outcome({}, report);
  return code;
}

// Has the driver build the text that was named, so that the binary is of this text and of no file.
// Returns null if the driver fails.
cl_program build_named(cl_context context, const WholeProgram &whole, const Options &options,
                       const Devices &devices) {
  const cl_program made = create_named(context, whole);
  if (made == nullptr) return made;
  launches().set_program(made, "");  // the driver may reuse a handle
  if (next.clBuildProgram(made, static_cast<cl_uint>(devices.size()), devices.data(),
                          options.or_null(whole.options), nullptr, nullptr) == CL_SUCCESS) {
    return made;
  }
  next.clReleaseProgram(made);
  return nullptr;
}

void set_only_with_files(Built *report) {
  report->reason = "the driver does not build the text that has its files in it";
  report->recorded = Recorded::no;
}

// Notes what the driver makes of the text that was named, after it has built what the application
// gave: a driver that does not find the files must not be given a text that has them.
void note_separate_build(const ProgramPointer &program, const Options &options,
                         const Devices &devices, const WholeProgram &whole, Built *report) {
  const cl_program made = build_named(program->context, whole, options, devices);
  if (made == nullptr) return set_only_with_files(report);
  const Status noted_status = note_built(made, program->handle, devices, whole);
  launches().set_program(made, "");
  next.clReleaseProgram(made);
  set_outcome(noted_status, report);
}

// Returns the devices that a program which stands for the application's must be built for: those
// in `asked`, and those for which it stands already. Fails with the reason if none can stand.
packs::Result<Devices> devices_to_stand_for(const ProgramPointer &program,
                                            const std::string &options, const WholeProgram &whole,
                                            const Devices &all, const Devices &asked) {
  if (program->native) {  // kernels unknown to the layer may be attached
    return Status::error(Code::failed, "the driver built it before");
  }
  const StandInPointer stand_in = objects().stand_in_of(program->handle);
  if (stand_in == nullptr || stand_in->is_compiled || contains_all(asked, stand_in->devices))
    return asked;
  if (stand_in->whole.name != whole.name || stand_in->options.text != options) {
    return Status::error(Code::failed, "it was built otherwise for other devices before");
  }
  Devices both;
  for (const cl_device_id device : all) {
    if (contains(asked, device) || contains(stand_in->devices, device)) both.push_back(device);
  }
  return both;
}

// Has the driver build the program for the stand-in's devices, unless `devices` includes them all,
// so that the others stay built when the stand-in goes.
void build_others(const ProgramPointer &program, const Devices &devices) {
  const StandInPointer stand_in = objects().stand_in_of(program->handle);
  if (stand_in == nullptr || stand_in->is_compiled || contains_all(devices, stand_in->devices))
    return;
  (void)next.clBuildProgram(program->handle, static_cast<cl_uint>(stand_in->devices.size()),
                            stand_in->devices.data(),
                            stand_in->options.or_null(stand_in->options.text), nullptr, nullptr);
}

Status note_each(cl_program built, const Devices &devices, const WholeProgram &whole,
                 LaunchFile *launches) {
  Status status;
  for (const Part &part : parts_of(built, devices)) {
    if (Status s = note_program(part, whole, launches); !s.ok()) status = std::move(s);
  }
  return status;
}

runtime::DriverTask task_of(const BinaryArguments &arguments) {
  return {packs::xxh3(arguments.binaries[0], arguments.lengths[0]), KILN_RUNG_EXACT};
}

cl_program by_driver(const BinaryArguments &arguments, cl_int *status, cl_int *code) {
  return next.clCreateProgramWithBinary(arguments.context, arguments.count, arguments.devices,
                                        arguments.lengths, arguments.binaries, status, code);
}

// Returns the size of the binaries of a call that the driver has accepted.
std::size_t bytes_of(const BinaryArguments &arguments) {
  return std::accumulate(arguments.lengths, arguments.lengths + arguments.count, std::size_t{0});
}

bool context_has_device(cl_context context, cl_device_id device) {
  const auto devices =
      runtime::query_values<Devices>([&](std::size_t room, void *out, std::size_t *size) {
        return next.clGetContextInfo(context, CL_CONTEXT_DEVICES, room, out, size);
      });
  return devices && contains(*devices, device);
}

// Returns whether the layer handles the call. An invalid call is left to the driver: the layer must
// not query objects that may not exist.
bool layer_handles(const BinaryArguments &arguments) {
  return !settings().record && !settings().overlay.empty() && arguments.count == 1 &&
         arguments.devices != nullptr && arguments.lengths != nullptr &&
         arguments.binaries != nullptr && arguments.binaries[0] != nullptr &&
         arguments.lengths[0] != 0 && context_has_device(arguments.context, arguments.devices[0]);
}

// "cl-0123... (kernels a, b)"; most of a program's kernels tell nothing more about it.
std::string name_of(const Built &built) {
  constexpr std::size_t kShown = 4;
  std::string text = built.program.empty() ? "a program" : built.program;
  std::size_t shown = 0;
  for (const std::string &kernel : built.kernels) {
    if (shown == kShown) break;
    text += packs::concat({shown++ == 0 ? " (kernels " : ", ", kernel});
  }
  if (shown == 0) return text;
  return text + (shown < built.kernels.size() ? ", ...)" : ")");
}

// One call of clBuildProgram: what it asks for, and what there is for it.
struct Call {
  const ProgramPointer &program;
  const BuildArguments &arguments;
  Options options;
  packs::Result<WholeProgram> whole;
  Devices devices;                // as asked; all of the program if that is for the driver to judge
  packs::Result<Devices> stands;  // for which a stand-in would be built, or why none can stand
  bool is_given = false;          // the text that was named is what the application gave
  Served served = {};
};

packs::Result<Devices> stands_of(const ProgramPointer &program, const std::string &options,
                                 const packs::Result<WholeProgram> &whole,
                                 const packs::Result<Devices> &asked) {
  if (!asked.ok()) return asked.status();
  if (!whole.ok()) return whole.status();
  packs::Result<Devices> stands =
      devices_to_stand_for(program, options, *whole, devices_of(program->handle), *asked);
  if (stands.ok() && !finds_files(program->context, (*asked)[0], *whole)) {
    return Status::error(Code::failed, kOtherFiles);
  }
  return stands;
}

Call call_of(const ProgramPointer &program, const BuildArguments &arguments) {
  const Options options = arguments.given_options();
  packs::Result<WholeProgram> whole = whole_of(*program, options.text);
  const packs::Result<Devices> asked = devices_asked(arguments, program->handle);
  packs::Result<Devices> stands = stands_of(program, options.text, whole, asked);
  Call call{program,
            arguments,
            options,
            std::move(whole),
            asked.ok() ? *asked : devices_of(program->handle),
            std::move(stands)};
  call.is_given = call.whole.ok() && is_as_given(*call.whole, *program, options.text);
  if (!call.stands.ok()) {
    call.served.reason = call.stands.status().message;
    call.served.is_unknown =
        call.is_given && !settings().record && !can_serve(call.whole->name, call.devices);
  } else if (!settings().record) {
    call.served = serve_program(call.whole->name, program->context, *call.stands);
  }
  return call;
}

// How a build is done.
enum class Way : std::uint8_t {
  serve,            // what was loaded stands for the program
  refuse,           // not at all: the settings require a binary
  stand_in,         // the driver builds the text that was named; that stands for it, and is noted
  note,             // the driver builds what the application gave, and that is noted
  note_separately,  // the same, but the text that was named is noted
  pass,             // the driver builds what the application gave
};

Way way_of(const Call &call) {
  if (call.served.program != nullptr) return Way::serve;
  if (requires_binaries()) return Way::refuse;
  const bool keeps = settings().record || (call.served.is_unknown && !settings().overlay.empty());
  if (!keeps || !call.whole.ok()) return Way::pass;
  if (call.is_given) return Way::note;
  if (!call.stands.ok()) return Way::pass;
  return call.whole->may_be_missing ? Way::note_separately : Way::stand_in;
}

// Has what was loaded serve the build, and earlier ones, from here on; fills in the report.
void take_stand_in(const Call &call, Built *built) {
  const Served &served = call.served;
  built->rung = served.rung;
  built->reason = served.miss;
  auto stand_in = std::make_shared<StandIn>(served.program, *call.whole, call.options, *call.stands,
                                            served.logs, served.tuned);
  stand_in->last_built = call.devices;
  stand_in->unlaunched = served.unlaunched;
  stand_in->order.names = served.kernels;
  objects().set_stand_in(call.program, stand_in);
  watch(served.program, served.launches);
}

// Builds the text that was named, notes it, and has it stand for the application's program. Returns
// false if the driver does not build it.
bool build_stand_in_and_note(const Call &call, Built *report) {
  const Devices &devices = *call.stands;
  const cl_program made = build_named(call.program->context, *call.whole, call.options, devices);
  if (made == nullptr) return false;
  auto stand_in =
      std::make_shared<StandIn>(made, *call.whole, call.options, devices,
                                std::vector<std::string>(devices.size()), TunedProgram());
  next.clRetainProgram(made);
  stand_in->of_text = runtime::Handle<cl_program>(made, next.clReleaseProgram);
  stand_in->asked = true;
  stand_in->last_built = call.devices;
  objects().set_stand_in(call.program, stand_in);
  set_outcome(note_built(made, made, devices, *call.whole), report);
  return true;
}

// Has the driver build what the application gave. `before` is the program's last compilation, which
// it keeps if the driver refuses the call; `lock` is as for leave_to_driver().
cl_int build_by_driver(const Call &call, Way way, const CompilationPointer &before,
                       std::unique_lock<std::mutex> *lock, Built *built) {
  const ProgramPointer &program = call.program;
  const BuildArguments &arguments = call.arguments;
  if (way != Way::pass) built->set_driver_refused();  // replaced unless the driver refuses
  build_others(program, call.devices);
  const cl_int code = leave_to_driver(program, lock, arguments.notify != nullptr, [&] {
    return way == Way::note ? build_and_note(program, arguments, call.devices, *call.whole, built)
                            : by_driver(program, arguments);
  });
  if (!has_tried(code)) objects().set_compilation(program, before);
  if (code == CL_SUCCESS && way == Way::stand_in) set_only_with_files(built);
  if (code == CL_SUCCESS && way == Way::note_separately) {
    note_separate_build(program, call.options, *call.stands, *call.whole, built);
  }
  report_build(*built, arguments.notify == nullptr ? program->handle : nullptr);
  return code;
}

cl_program refuse_own_binary(const std::string &why, cl_int *status, cl_int *code) {
  Built built;
  built.reason = "the application's own binary: " + why;
  report_build(built, nullptr);
  if (status != nullptr) *status = CL_INVALID_BINARY;
  *code = CL_INVALID_BINARY;
  return nullptr;
}

}  // namespace

Status note_built(cl_program built, cl_program launched, const Devices &devices,
                  const WholeProgram &whole) {
  LaunchFile file;
  const Status status = settings().record ? record_program(built, devices, whole, settings().spool)
                                          : note_each(built, devices, whole, &file);
  if (status.ok()) watch(launched, file);
  if (status.ok() && !settings().record) report_noted();
  if (!status.ok() && status.code != Code::requirement) {
    complain_once((settings().record ? "not recorded: " : "not noted: ") + status.message);
  }
  return status;
}

void refuse(const ProgramPointer &program, const Options &options, const Devices &devices,
            Built *built) {
  if (!program->is_il) {
    for (std::string &name : source::kernels_in(program->source)) {
      built->kernels.insert(std::move(name));
    }
  }
  refuse(built);
  objects().set_stand_in(program, nullptr);
  objects().set_refusal(program, std::make_shared<Refusal>(Refusal{
                                     packs::concat({"Kiln compiles nothing here: ", name_of(*built),
                                                    ": ", built->reason, "\n"}),
                                     options, devices}));
}

void refuse(Built *built) {
  built->refused = true;
  built->rung.clear();
  built->reason += packs::concat({" (KILN_REQUIRE=", require_word(), ")"});
  complain(packs::concat({"refused ", name_of(*built), ": ", built->reason}));
  report_build(*built, nullptr);
}

packs::Result<Devices> devices_asked(const BuildArguments &arguments, cl_program program) {
  const Devices all = devices_of(program);
  const bool well_formed = (arguments.device_count == 0) == (arguments.devices == nullptr) &&
                           (arguments.notify != nullptr || arguments.user == nullptr);
  if (!well_formed || all.empty()) {
    return Status::error(Code::bad_argument, "its arguments are for the driver to judge");
  }
  if (arguments.devices == nullptr) return all;
  Devices asked;
  for (cl_uint i = 0; i < arguments.device_count; ++i) {
    const cl_device_id device = device_in(program, arguments.devices[i]);
    if (!contains(all, device)) {
      return Status::error(Code::failed, "it is built for a device that is not one of the program");
    }
    if (!contains(asked, device)) asked.push_back(device);
  }
  return asked;
}

bool finds_files(cl_context context, cl_device_id device, const WholeProgram &whole) {
  if (whole.finding_source.empty() || requires_binaries()) return true;
  static auto &known = *new AskedOnce<std::pair<cl_device_id, std::string>, bool>;
  return known.find({device, whole.include_options + "\n" + whole.finding_source}, [&] {
    const char *text = whole.finding_source.c_str();
    cl_int code = CL_SUCCESS;
    const runtime::Handle<cl_program> made(
        next.clCreateProgramWithSource(context, 1, &text, nullptr, &code), next.clReleaseProgram);
    return made && next.clBuildProgram(made.get(), 1, &device, whole.include_options.c_str(),
                                       nullptr, nullptr) == CL_SUCCESS;
  });
}

cl_program built_from_text(StandIn *stand_in) {
  const std::lock_guard<std::mutex> lock(stand_in->asking);
  if (stand_in->asked) return stand_in->of_text.get();
  stand_in->asked = true;
  if (requires_binaries()) return nullptr;
  const cl_program made = create_named(context_of(stand_in->program), stand_in->whole);
  if (made == nullptr) return nullptr;
  runtime::Handle<cl_program> built(made, next.clReleaseProgram);
  if (next.clBuildProgram(
          made, static_cast<cl_uint>(stand_in->devices.size()), stand_in->devices.data(),
          stand_in->options.or_null(stand_in->whole.options), nullptr, nullptr) == CL_SUCCESS) {
    stand_in->of_text = std::move(built);
  }
  return stand_in->of_text.get();
}

cl_int refuse_with_kernels(const ProgramPointer &program, std::unique_lock<std::mutex> *lock,
                           bool well_formed, const BuildArguments &arguments,
                           const DriverCall &call) {
  const auto back =
      std::make_shared<CallBack>(CallBack{arguments.notify, arguments.user, program->handle, {}});
  back->kept.push_back(objects().stand_in_of(program->handle));
  lock->unlock();  // the callback may build the program again
  if (well_formed || back->kept[0] == nullptr) return CL_INVALID_OPERATION;
  const bool calls_back = arguments.notify != nullptr;
  const cl_int code = call(back->kept[0]->program, calls_back ? call_back : nullptr,
                           calls_back ? new std::shared_ptr<CallBack>(back) : arguments.user);
  back->kept.clear();
  return code == CL_SUCCESS ? CL_INVALID_OPERATION : code;
}

bool has_tried(cl_int code) {
  return code == CL_SUCCESS || code == CL_BUILD_PROGRAM_FAILURE ||
         code == CL_COMPILE_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS ||
         code == CL_INVALID_COMPILER_OPTIONS;
}

cl_int leave_to_driver(const ProgramPointer &program, std::unique_lock<std::mutex> *lock,
                       bool calls_back, const std::function<cl_int()> &by_driver) {
  if (objects().has_kernels(program)) return CL_INVALID_OPERATION;
  if (calls_back) {
    objects().set_stand_in(program, nullptr);
    program->native = true;
    lock->unlock();
    return by_driver();
  }
  const cl_int code = by_driver();
  const bool tried = has_tried(code);
  if (tried) objects().set_stand_in(program, nullptr);
  program->native = program->native || tried;
  return code;
}

void CL_CALLBACK call_back(cl_program program, void *user) {
  std::unique_ptr<std::shared_ptr<CallBack>> held(static_cast<std::shared_ptr<CallBack> *>(user));
  CallBack &to = **held;
  if (to.program != nullptr) program = to.program;
  const Notify notify = to.notify;
  void *const own = to.user;
  to.kept.clear();
  held = nullptr;
  notify(program, own);
}

Done build(const ProgramPointer &program, const BuildArguments &arguments) {
  std::unique_lock<std::mutex> lock(program->building);
  if (objects().has_kernels(program)) {
    const bool well_formed = devices_asked(arguments, program->handle).ok();
    return {refuse_with_kernels(program, &lock, well_formed, arguments,
                                [&](cl_program stand_in, Notify notify, void *user) {
                                  return next.clBuildProgram(stand_in, arguments.device_count,
                                                             arguments.devices, arguments.options,
                                                             notify, user);
                                })};
  }
  const CompilationPointer before = objects().compilation_of(program->handle);
  objects().set_compilation(program, nullptr);
  objects().set_refusal(program, nullptr);
  launches().set_program(program->handle, "");
  Built built;  // its time begins
  const Call call = call_of(program, arguments);
  built.program =
      call.whole.ok() ? call.whole->name : program_name(program->source, call.options.text);
  built.reason = call.served.reason;
  built.nearest = call.served.nearest;
  const bool is_missed = call.stands.ok() && call.served.is_unknown && call.devices.size() == 1;
  built.missing = is_missed ? call.served.reason : "no pack has it";
  cl_int code = CL_SUCCESS;
  const Way way = way_of(call);
  const bool is_named =
      call.stands.ok() && arguments.notify == nullptr && (way == Way::note || way == Way::stand_in);
  const RefusableCall refusable(program, is_named ? &*call.whole : nullptr, call.options,
                                call.devices, CL_BUILD_PROGRAM_FAILURE);
  if (RefusalPointer refusal = refusable.find()) {
    objects().set_refusal(program, std::move(refusal));
    built.reason = kStillRefused;
    report_build(built, nullptr);
    return {CL_BUILD_PROGRAM_FAILURE};
  }
  switch (way) {
    case Way::serve: take_stand_in(call, &built); break;
    case Way::refuse:
      refuse(program, call.options, call.devices, &built);
      code = CL_BUILD_PROGRAM_FAILURE;
      break;
    case Way::stand_in:
      if (build_stand_in_and_note(call, &built)) break;
      [[fallthrough]];
    default:
      code = build_by_driver(call, way, before, &lock, &built);
      refusable.note(code);
      return {code};
  }
  if (code == CL_SUCCESS) report_build(built, objects().stand_in_of(program->handle)->program);
  return {code, arguments.notify != nullptr};
}

cl_program create_with_binary(const BinaryArguments &arguments, cl_int *status, cl_int *code) {
  const auto start = std::chrono::steady_clock::now();
  runtime::Persistence *persistence =
      layer_handles(arguments) ? persistence_of(arguments.devices[0]) : nullptr;
  if (persistence == nullptr) {
    const cl_program made = by_driver(arguments, status, code);
    if (made != nullptr) report_own_binary(bytes_of(arguments), start);
    return made;
  }
  const runtime::DriverTask task = task_of(arguments);
  const runtime::Checked checked = persistence->check(task, {});
  if (!checked) return refuse_own_binary(checked.reason, status, code);
  cl_program made = nullptr;
  {
    const runtime::Attempt attempt(persistence, task, 0);
    made = by_driver(arguments, status, code);
  }
  if (made == nullptr) return made;
  report_own_binary(bytes_of(arguments), start);
  auto known = std::make_shared<Program>();
  known->handle = made;
  known->context = arguments.context;
  known->kind = Program::Kind::own_binary;
  known->binary = task.id;
  objects().add(known);
  return made;
}

cl_int build_own_binary(const ProgramPointer &program, const BuildArguments &arguments) {
  const auto call = [&] {
    return next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                               arguments.options, arguments.notify, arguments.user);
  };
  const cl_device_id device = only_device(program->handle);
  runtime::Persistence *persistence = device == nullptr ? nullptr : persistence_of(device);
  if (persistence == nullptr || arguments.notify != nullptr) return call();
  runtime::Attempt attempt(persistence, {program->binary, KILN_RUNG_EXACT}, 0);
  const cl_int code = call();
  if (code == CL_SUCCESS) attempt.end(runtime::Event::taken);
  return code;
}

}  // namespace kiln::layer
