// SPDX-License-Identifier: Apache-2.0
// Loads, launches and downloads in a child process, and brings back report, times and planes.
#include "builder/run/run_program.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <CL/cl_ext.h>
#include <unistd.h>

#include "builder/base/table.hpp"
#include "builder/base/this_process.hpp"
#include "builder/problem/plane.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/run/pack_on_device.hpp"
#include "kiln/driver.hpp"
#include "runtime/api/api.hpp"
#include "runtime/identity/note_match.hpp"
#include "runtime/load/report.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

json launched_json(const Launched &launched) {
  json stages = json::array();
  for (std::size_t i = 0; i < launched.times.size(); ++i) {
    const kiln_times &t = launched.times[i];
    const kiln_ndrange &range = launched.ranges[i];
    stages.push_back({{"times", {t.queued, t.submit, t.start, t.end, t.complete}},
                      {"dimensions", range.dimensions},
                      {"global", range.global},
                      {"local", range.local}});
  }
  return {{"stages", stages}, {"host_nanoseconds", launched.host_nanoseconds}};
}

Launched launched_from(const json &in) {
  Launched launched;
  launched.host_nanoseconds = in["host_nanoseconds"];
  for (const json &stage : in["stages"]) {
    const json &t = stage["times"];
    launched.times.push_back({t[0], t[1], t[2], t[3], t[4]});
    kiln_ndrange range{stage["dimensions"], {}, {}, {}};
    for (std::size_t i = 0; i < 3; ++i) {
      range.global[i] = stage["global"][i];
      range.local[i] = stage["local"][i];
    }
    launched.ranges.push_back(range);
  }
  return launched;
}

Status launch(const RunRequest &request, const packs::Variant &variant, Session *session,
              Launched *launched) {
  const std::vector<NDSize> local(variant.kernels.size(), request.local);
  Status status = session->upload(request.inputs);
  if (status.ok()) status = session->fill_outputs(0);
  return status.ok() ? session->launch(local, launched) : status;
}

// Fails if a work-group has several work-items in a dimension where every stage has only one: they
// would only add work-items, which a kernel may take for rows that do not exist.
Status check_local(const Workload &workload, const NDSize &local) {
  for (std::size_t i = 0; i < local.size(); ++i) {
    const auto takes = [&](const Stage &stage) { return local[i] <= 1 || stage.global[i] > 1; };
    if (std::any_of(workload.stages.begin(), workload.stages.end(), takes)) continue;
    return {Code::bad_argument,
            fmt::format("work-groups of {} do not fit a range of {}, which has one work-item in {}",
                        runtime::size_text(3, local),
                        runtime::size_text(3, workload.stages.front().global), "xyz"[i])};
  }
  return {};
}

kiln_ndrange range_of(const RecordedLaunch &launch, const NDSize &local) {
  kiln_ndrange range{launch.dimensions, {}, {}, {}};
  std::copy(launch.global.begin(), launch.global.end(), range.global);
  std::copy(launch.offset.begin(), launch.offset.end(), range.offset);
  std::copy(local.begin(), local.end(), range.local);
  return range;
}

// Repeats the variant's recorded launches and puts the results into `answer`.
Status repeat_launches(const RunRequest &request, const PackOnDevice &opened,
                       const kiln::Program &loaded, const packs::Variant &variant, json *answer) {
  const auto launches = recorded_launches(variant);
  if (!launches.ok()) return launches.status();
  if (opened.cl().clEnqueueFillBuffer == nullptr) {
    return {Code::requirement, "there is no fill command"};
  }
  const cl_command_queue queue = opened.queue.get()->queue.handle.get();
  Launched launched;
  std::vector<std::uint64_t> memory;
  for (const RecordedLaunch &launch : *launches) {
    const NDSize local = request.local[0] != 0 ? request.local : launch.local;
    RepeatedLaunch again(*opened.child.device, opened.child.context.get(), queue);
    RepeatTimes times;
    Status status = again.prepare(loaded.cl(), launch);
    if (status.ok()) status = again.fill(request.content);
    if (status.ok()) status = again.launch(local, &times);
    if (status.ok()) status = again.hash(&memory.emplace_back());
    if (!status.ok()) {
      status.message = launch.kernel + ": " + status.message;
      return status;
    }
    // One after the other, without the work for memory in between.
    const std::uint64_t start =
        launched.times.empty() ? times.device[0] : launched.times.back().end;
    const std::uint64_t end = start + times.device[1] - times.device[0];
    launched.times.push_back({start, start, start, end, end});
    launched.ranges.push_back(range_of(launch, local));
    launched.host_nanoseconds += times.milliseconds * 1e6;
  }
  (*answer)["memory"] = memory;
  (*answer)["outputs"] = json::array();
  (*answer)["launched"] = launched_json(launched);
  return {};
}

// Launches the loaded program and puts the results into `answer`.
Status launch(const RunRequest &request, const PackOnDevice &opened, const kiln::Program &loaded,
              json *answer) {
  const auto found = opened.find(request.program, loaded.variant());
  if (!found.ok()) return found.status();
  const auto &[program, variant] = *found;
  if (variant->launches) return repeat_launches(request, opened, loaded, *variant, answer);
  const auto workload = plan_workload(*program, *variant, request.size, request.parameters);
  if (!workload.ok()) return workload.status();
  Session session(opened.cl(), opened.loader, opened.queue);
  Launched launched;
  std::vector<Plane> outputs;
  Status status = over_limits(opened.cl(), opened.child.device->id, *workload);
  if (status.ok()) status = check_local(*workload, request.local);
  if (status.ok()) status = session.load(loaded, *variant);
  if (status.ok()) status = session.bind(*workload);
  if (status.ok()) status = launch(request, *variant, &session, &launched);
  if (status.ok()) status = session.download(program_shape(*program), &outputs);
  if (!status.ok()) return status;
  (*answer)["outputs"] = to_json(outputs);
  (*answer)["launched"] = launched_json(launched);
  return {};
}

std::string final_text(const runtime::Report &report) {
  const std::string &why_not = report.why_not_final;
  switch (report.final) {
    case KILN_FINAL_YES: return "  final: its first launch compiles nothing\n";
    case KILN_FINAL_NO: return fmt::format("  not final: {}\n", why_not);
    case KILN_FINAL_UNKNOWN: break;
  }
  return why_not.empty() ? "" : fmt::format("  not known to be final: {}\n", why_not);
}

// Returns the workaround of the binary that was loaded, with the fault that a build found.
std::string workaround_text(const packs::Contents &contents, const runtime::Report &report) {
  const packs::Program *program = find_program(contents, report.program);
  const packs::Variant *variant =
      program == nullptr ? nullptr : find_variant(*program, report.variant);
  if (variant == nullptr || report.rung != KILN_RUNG_EXACT) return {};
  std::string fault;
  for (const packs::KnownBad &note : contents.known_bad) {
    if (packs::is_found(note.rungs) && note[packs::NoteText::program] == program->name &&
        note[packs::NoteText::variant] == variant->name &&
        runtime::fits_device(note.view(), report.device->identity, report.device->description)) {
      fault = "; as it is: " + note[packs::NoteText::reason];
    }
  }
  for (const packs::Target &target : contents.targets) {
    if (target.key != report.device->description.key.text()) continue;
    for (const packs::Binary &binary : target.binaries) {
      if (binary.variant != variant->hash || binary.finish.workaround.empty()) continue;
      return fmt::format("  workaround: {}{}\n", binary.finish.workaround, fault);
    }
  }
  return {};
}

std::string value_text(const std::optional<std::string> &value) {
  return value ? "\"" + *value + "\"" : "nothing";
}

std::string nearest_text(const runtime::Report &report) {
  const auto nearest = report.nearest();
  if (!nearest) return {};
  std::string text = fmt::format("  nearest target: {}\n", nearest->target);
  for (const runtime::Difference &d : nearest->differs) {
    text += fmt::format("    {}: the pack has {}, the device has {}\n", d.field, value_text(d.pack),
                        value_text(d.device));
  }
  return text;
}

// Formats a load report for people: a line for each rung, then other facts, and the nearest target
// if no binary was exact.
std::string report_text(const runtime::Report &report) {
  const runtime::Identity &identity = report.device->identity;
  const std::string device = runtime::device_label(identity.text(runtime::Field::device_name),
                                                   identity.text(runtime::Field::driver_version));
  std::string text = fmt::format("{}/{} on {}: {}, {:.2f} ms\n", report.program, report.variant,
                                 device, runtime::rung_name(report.rung), report.milliseconds);
  for (const runtime::RungResult &rung : report.rungs) {
    text += fmt::format("  {}\t{}{}{}\n", runtime::rung_name(rung.rung),
                        runtime::outcome_name(rung.outcome), rung.reason.empty() ? "" : ": ",
                        rung.reason);
    if (!rung.log.empty()) text += rung.log + "\n";
  }
  text = table_text(text) + final_text(report);
  if (report.recompiled == true) text += "  the driver silently recompiled the binary\n";
  for (const std::string &note : report.notes) text += fmt::format("  note: {}\n", note);
  return text + nearest_text(report);
}

// The driver calls it in the child, whose output the parent reads.
void CL_CALLBACK print_text(const char *text, std::size_t size, std::size_t, void *) {
  std::fwrite(text, 1, size, stdout);
}

// Replaces the context of a device with cl_arm_printf by one whose driver calls print_text(): it
// prints nowhere else. Other drivers print to standard output. Fails with Code::opencl.
Status take_prints(OpenedDevice *child) {
  constexpr cl_context_properties kBytes = 1 << 20;  // what OpenCL 1.2 has at least
  const runtime::Device &device = *child->device;
  if (!device.capabilities.has_extension("cl_arm_printf")) return {};
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM,
      reinterpret_cast<cl_context_properties>(device.platform),
      CL_PRINTF_CALLBACK_ARM,
      reinterpret_cast<cl_context_properties>(&print_text),
      CL_PRINTF_BUFFERSIZE_ARM,
      kBytes,
      0};
  cl_int code = CL_SUCCESS;
  child->context = {device.cl->clCreateContext(properties, 1, &device.id, nullptr, nullptr, &code),
                    device.cl->clReleaseContext};
  return child->context ? Status() : runtime::cl_failure("clCreateContext", code);
}

// Opens the request's device, pack and overlay.
Status open_for(const RunRequest &request, PackOnDevice *opened) {
  kiln::LoaderOptions options;
  if (!request.overlay.empty()) options.use_overlay(request.overlay.c_str());
  Status status = opened->open_device(request.device);
  if (status.ok() && request.prints) status = take_prints(&opened->child);
  return status.ok() ? opened->open_another(request.pack_path, options) : status;
}

int add_report(const kiln_progress *progress, void *user) {
  json report = json::parse(kiln_report_json(progress->report));
  const double estimate = kiln_report_estimate(progress->report);
  report["estimated_milliseconds"] = estimate < 0 ? json() : json(estimate);
  static_cast<json *>(user)->push_back(std::move(report));
  return 0;
}

json dry_run_in_child(const RunRequest &request) {
  PackOnDevice opened;
  if (const Status status = open_for(request, &opened); !status.ok()) return to_json(status);
  json reports = json::array();
  const kiln::Status done =
      opened.loader.prefetch(&add_report, &reports, request.flags | KILN_PREFETCH_DRY_RUN);
  json answer = to_json(status_of(done));
  answer["reports"] = std::move(reports);
  return answer;
}

json run_in_child(const RunRequest &request) {
  PackOnDevice opened;
  Status status = open_for(request, &opened);
  if (!status.ok()) return to_json(status);
  kiln::Loaded loaded = opened.loader.load(request.program, request.variant, request.flags);
  json answer = to_json(status_of(loaded.program.error()));
  // The commands print this document; no code reads values from it.
  answer["report"] = json::parse(loaded.report.json());
  answer["report_text"] =
      report_text(report_of(loaded)) + workaround_text(opened.contents, report_of(loaded));
  if (loaded.program) answer["variant"] = loaded.program->variant();
  if (!loaded.program || !request.launch) return answer;
  if (status = launch(request, opened, *loaded.program, &answer); !status.ok()) {
    status.code = Code::opencl;  // the loaded program cannot be launched, whatever the reason
    answer.update(to_json(status));
  }
  if (request.prints) std::fflush(stdout);
  return answer;
}

// Returns what became of the child, for a person.
Status end_of(const RunRequest &request, const ChildResult &child) {
  if (child.ok()) return child.status();
  return {Code::opencl, request.device.label() + ": " + child.reason()};
}

}  // namespace

Result<std::vector<nlohmann::json>> dry_run_loads(const RunRequest &request) {
  const ChildResult child = fork_call([&] { return dry_run_in_child(request); }, request.timeout);
  if (Status status = end_of(request, child); !status.ok()) return status;
  return child.answer["reports"].get<std::vector<json>>();
}

RunResult run_program(const RunRequest &request) {
  RunResult result;
  const ChildResult child = fork_call([&] { return run_in_child(request); }, request.timeout);
  result.status = end_of(request, child);
  if (!child.ok()) return result;
  const json &answer = child.answer;
  result.report = answer.value("report", json());
  result.report_text = answer.value("report_text", "");
  result.variant = answer.value("variant", "");
  if (!result.status.ok() || !request.launch) return result;
  result.launched = launched_from(answer["launched"]);
  result.outputs = planes_from(answer["outputs"]);
  result.memory = answer.value("memory", result.memory);
  if (request.prints) result.printed = child.output;
  return result;
}

}  // namespace kiln::builder
