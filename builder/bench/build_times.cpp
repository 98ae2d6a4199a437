// SPDX-License-Identifier: Apache-2.0
// The bare process, and builds with one job and with two.
#include "builder/bench/build_times.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/base/clock.hpp"
#include "builder/build/device_build.hpp"
#include "builder/build/job.hpp"
#include "builder/device/driver_caches.hpp"
#include "builder/finish/result_check.hpp"
#include "builder/measure/sampler.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"

namespace kiln::builder {
namespace {

struct BuildSeconds {
  std::vector<double> bare, one, two;
};

// In the child: how many binaries there are.
nlohmann::json compile_all(const packs::Contents &base, const DeviceInfo &device,
                           const std::vector<Job> &plan, const BuildTimes &times,
                           const std::string &caches) {
  use_driver_caches(caches);
  OpenedPack opened;
  if (const Status s = opened.open_device(device); !s.ok()) return to_json(s);
  const bool by_launching = device.description.finishing == runtime::Finishing::shader_cache;
  const ResultCheck launched;
  std::size_t made = 0;
  for (const Job &job : plan) {
    if (job.need != Need::compile) continue;
    const packs::Program &program = base.programs[job.program];
    JobRequest request{
        device, program, program.variants[job.variant], {times.timeout}, times.finish};
    // Launching is what finishes where the driver keeps what it compiles at a launch.
    if (times.finish && by_launching) request.check = &launched;
    const nlohmann::json answer =
        compile_job(request, &opened, caches + "/launched.kiln", [](JobStage) {});
    made += answer.contains("binary") || answer.contains("intermediate") ? 1 : 0;
  }
  return {{"made", made}};
}

// Seconds.
Result<double> bare(const packs::Contents &base, const DeviceInfo &device,
                    const std::vector<Job> &plan, const BuildTimes &times, std::size_t *made) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  const auto start = Clock::now();
  const ChildResult child =
      fork_call([&] { return compile_all(base, device, plan, times, folder->path()); },
                times.timeout * static_cast<int>(plan.size() + 1));
  if (Status s = child.status(); !s.ok()) return s;
  *made = child.answer.at("made");
  return milliseconds_since(start) / 1000;
}

double build(const packs::Contents &base, const DeviceInfo &device, const BuildTimes &times,
             std::size_t jobs, BuildResult *result) {
  BuildOptions options;
  options.timeout = times.timeout;
  options.finish = times.finish;
  options.jobs = jobs;
  const auto start = Clock::now();
  *result = build_on_devices(base, {device}, {}, options, nullptr);
  return milliseconds_since(start) / 1000;
}

// What a finished job may take by the bare one's time: rusticl's jobs take 20 ms.
double most_for(const DeviceInfo &device) {
  return device.description.finishing == runtime::Finishing::shader_cache ? 1.3 : 1.05;
}

}  // namespace

Result<Figures> measure_build(const packs::Contents &base, const DeviceInfo &device,
                              const BuildTimes &times) {
  const std::vector<Job> plan = make_plan(base, {device}, {}, {times.finish});
  BuildSeconds seconds;
  std::size_t made = 0;
  BuildResult result;
  for (std::size_t round = 0; round < times.rounds; ++round) {
    const auto alone = bare(base, device, plan, times, &made);
    if (!alone.ok()) return alone.status();
    seconds.bare.push_back(*alone);
    seconds.one.push_back(build(base, device, times, 1, &result));
    seconds.two.push_back(build(base, device, times, 2, &result));
  }
  if (made == 0) return Status(Code::requirement, device.label() + ": nothing compiles there");
  const double alone = median(seconds.bare);
  const double one = median(seconds.one);
  const std::string what = fmt::format("{}: {} binaries", device.label(), made);
  const double jobs = static_cast<double>(result.compiled + result.failures.size());
  return Figures{
      {what + ", one bare process", alone, "s"},
      {what + ", kiln build -j1", one, "s"},
      {what + ", -j1 by the bare process", one / alone, "", most_for(device)},
      {what + ", -j2 by -j1", median(seconds.two) / one, "", 0.5},
      {what + ", a job besides", 1000 * (one - alone) / std::max(1.0, jobs), "ms", 5.0},
  };
}

}  // namespace kiln::builder
