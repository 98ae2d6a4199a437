// SPDX-License-Identifier: Apache-2.0
// Launches a small problem again and again in each of three ways, and takes the median of rounds.
#include "tests/bench/kiln_bench/launch_overhead.hpp"

#include <algorithm>
#include <optional>

#include "builder/launch/opened_pack.hpp"
#include "builder/launch/session.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/tune/sampler.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr ProblemSize kSize{8, 8, 1};  // of the problem that the kernel gets

// A loaded kernel with arguments, and what they name.
struct LoadedVariant {
  OpenedPack opened;
  std::optional<Session> session;
  std::string program;
  std::string variant;

  const kiln::Kernel &kernel() const { return session->kernels().front(); }
  kiln_ndrange range() const {
    const Stage &stage = session->workload().stages.front();
    return {stage.dimensions, {stage.global[0], stage.global[1], stage.global[2]}, {}, {}};
  }
};

// Loads the variant that the runtime chooses and gives its first kernel what the manifest says.
Status load_program(LoadedVariant *s, const packs::Program &program) {
  kiln::Loaded loaded = s->opened.loader.load(program.name);
  if (!loaded.program) return status_of(loaded.program.error());
  s->program = program.name;
  s->variant = loaded.program->variant();
  const auto found = s->opened.find(program.name, s->variant);
  if (!found.ok()) return found.status();
  const auto workload = plan_workload(program, *found->variant, kSize, {});
  if (!workload.ok()) return workload.status();
  s->session.emplace(s->opened.cl(), s->opened.loader, s->opened.queue);
  Status status = s->session->load(*loaded.program, *found->variant);
  return status.ok() ? s->session->bind(*workload) : status;
}

Status prepare(const DeviceInfo &info, const LaunchBenchOptions &options, LoadedVariant *s) {
  Status status = s->opened.open(info, options.pack_path);
  if (!status.ok()) return status;
  status = {Code::not_in_pack, "the pack has no programs"};
  for (const packs::Program &program : s->opened.contents.programs) {
    if (!options.program.empty() && program.name != options.program) continue;
    status = load_program(s, program);
    if (status.ok()) return {};
  }
  return status;
}

// One way of launching: runs `launches` of them, and says what failed.
struct Way {
  std::function<Status()> run;
  std::vector<double> nanoseconds;  // of each launch, by round
};

Status bare_launches(const LoadedVariant &s, const kiln_ndrange &range, std::size_t launches,
                     cl_event *event) {
  const cl_command_queue queue = s.opened.queue.cl();
  const cl_kernel kernel = s.kernel().cl();
  for (std::size_t i = 0; i < launches; ++i) {
    cl_event next = nullptr;
    const cl_int code = s.opened.cl().clEnqueueNDRangeKernel(
        queue, kernel, range.dimensions, nullptr, range.global, range.local, 0, nullptr, &next);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueNDRangeKernel", code);
    if (*event != nullptr) s.opened.cl().clReleaseEvent(*event);
    *event = next;
  }
  return {};
}

Status kiln_launches(const LoadedVariant &s, std::size_t launches, kiln_event **event) {
  kiln_error error{};
  const kiln_ndrange range = s.range();
  for (std::size_t i = 0; i < launches; ++i) {
    if (kiln_launch(s.opened.queue.get(), s.kernel().get(), &range, nullptr, 0, event, &error) !=
        KILN_OK) {
      return status_of(error);
    }
  }
  return {};
}

Status measure(const LoadedVariant &s, const LaunchBenchOptions &options, Way (&ways)[3]) {
  for (std::size_t round = 0; round <= options.rounds; ++round) {
    for (std::size_t turn = 0; turn < 3; ++turn) {
      Way &way = ways[(round + turn) % 3];  // so that none is always first after the wait
      const auto start = Clock::now();
      Status status = way.run();
      const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
      if (status.ok()) status = status_of(s.opened.queue.finish());
      if (!status.ok()) return status;
      // The first round makes what later ones use again.
      if (round > 0) {
        way.nanoseconds.push_back(taken.count() / static_cast<double>(options.launches));
      }
    }
  }
  return {};
}

const char *recording_name(kiln_recording kind) {
  switch (kind) {
    case KILN_RECORDING_COMMAND_BUFFER: return "command buffer";
    case KILN_RECORDING_RECORDABLE_QUEUE: return "recordable queue";
    case KILN_RECORDING_NONE: break;
  }
  return "none";
}

json measure_in_child(const DeviceInfo &info, const LaunchBenchOptions &options) {
  LoadedVariant s;
  Status status = prepare(info, options, &s);
  if (!status.ok()) return to_json(status);
  auto planned = s.kernel().plan(s.range());
  kiln::Sequence sequence;
  status = take(kiln::Sequence::begin(s.opened.queue), &sequence);
  for (std::size_t i = 0; i < options.launches && status.ok(); ++i) {
    status = status_of(sequence.add(s.kernel(), s.range()));
  }
  if (status.ok()) status = status_of(sequence.end());
  if (!status.ok()) return to_json(status);
  cl_event bare = nullptr;
  kiln_event *event = nullptr;
  kiln::Event whole;
  Way ways[3] = {{[&] { return bare_launches(s, *planned, options.launches, &bare); }, {}},
                 {[&] { return kiln_launches(s, options.launches, &event); }, {}},
                 {[&] { return status_of(sequence.run(&whole)); }, {}}};
  status = measure(s, options, ways);
  kiln_event_release(event);
  if (bare != nullptr) s.opened.cl().clReleaseEvent(bare);
  if (!status.ok()) return to_json(status);
  return {{"program", s.program},
          {"variant", s.variant},
          {"recording", recording_name(sequence.kind())},
          {"bare", median(ways[0].nanoseconds)},
          {"kiln", median(ways[1].nanoseconds)},
          {"sequence", median(ways[2].nanoseconds)}};
}

}  // namespace

LaunchRow bench_launch(const DeviceInfo &device, const LaunchBenchOptions &options) {
  LaunchRow row;
  row.device = device.label();
  const ChildResult child =
      fork_call([&] { return measure_in_child(device, options); }, options.timeout);
  row.status = child.status();
  if (!row.status.ok()) return row;
  row.program = child.answer["program"];
  row.variant = child.answer["variant"];
  row.recording = child.answer["recording"];
  row.bare = child.answer["bare"];
  row.kiln = child.answer["kiln"];
  row.sequence = child.answer["sequence"];
  return row;
}

json to_json(const LaunchRow &row) {
  if (!row.status.ok()) return {{"device", row.device}, {"error", row.status.message}};
  return {{"device", row.device},        {"program", row.program},
          {"variant", row.variant},      {"recording", row.recording},
          {"bare_ns", row.bare},         {"kiln_ns", row.kiln},
          {"sequence_ns", row.sequence}, {"ns_above_bare", row.above_bare()},
          {"ratio_to_bare", row.ratio()}};
}

}  // namespace kiln::builder
