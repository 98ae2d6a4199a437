// SPDX-License-Identifier: Apache-2.0
// Runs the plan's jobs in parallel, and collects their results with what earlier builds left.
#include "builder/build/device_build.hpp"

#include <algorithm>

#include "builder/build/job.hpp"
#include "builder/build/job_runner.hpp"
#include "builder/finish/mesa_harvest.hpp"
#include "builder/finish/proof.hpp"
#include "builder/process/status_json.hpp"
#include "builder/process/worker_pool.hpp"

namespace kiln::builder {
namespace {

bool has_variant(const packs::Contents &contents, const packs::Digest &hash) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.hash == hash) return true;
    }
  }
  return false;
}

bool has_any(const packs::Target &target) {
  return !target.binaries.empty() || !target.intermediates.empty();
}

// Keeps the earlier entries of variants that got no new binary.
void keep_entries(const std::vector<packs::Binary> &earlier, std::vector<packs::Binary> *entries) {
  for (const packs::Binary &one : earlier) {
    const bool known = std::any_of(entries->begin(), entries->end(), [&](const packs::Binary &b) {
      return b.variant == one.variant;
    });
    if (!known) entries->push_back(one);
  }
}

// A job that compiles, and how far it is.
struct Task {
  enum class State { waiting, running, over };

  std::string name;
  const packs::Program &program;
  const packs::Variant &variant;
  const DeviceInfo &device;
  TunedSizes tuned;
  const packs::Bytes &opening;
  State state = State::waiting;
  JobResult result{};  // once it is over; without a binary in it:
  Status status{Code::process, "no process could be started"};
};

const packs::Program &program_of(const packs::Contents &base, const Job &job) {
  return base.programs[job.program];
}

const packs::Variant &variant_of(const packs::Contents &base, const Job &job) {
  return base.programs[job.program].variants[job.variant];
}

// Of each device for which something is to be compiled, what its driver compiles whenever it opens
// it; empty where the driver has no cache for that. A harvest that fails is seen by the jobs.
std::vector<packs::Bytes> harvest_openings(const std::vector<DeviceInfo> &devices,
                                           const std::vector<Job> &plan,
                                           const BuildOptions &options) {
  std::vector<packs::Bytes> openings(devices.size());
  for (std::size_t d = 0; d < devices.size() && options.finish; ++d) {
    const bool compiles = std::any_of(plan.begin(), plan.end(), [&](const Job &job) {
      return job.device == d && job.need == Need::compile;
    });
    if (compiles && devices[d].description.finishing == runtime::Finishing::shader_cache) {
      (void)harvest_opening(devices[d], options.timeout).move_to(&openings[d]);
    }
  }
  return openings;
}

// In the plan's order.
std::vector<Task> make_tasks(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const std::vector<packs::Tuning> &tunings,
                             const std::vector<packs::Bytes> &openings,
                             const std::vector<Job> &plan) {
  std::vector<Task> tasks;
  for (const Job &job : plan) {
    if (job.need != Need::compile) continue;
    const DeviceInfo &device = devices[job.device];
    const packs::Program &program = program_of(base, job);
    const packs::Variant &variant = variant_of(base, job);
    tasks.push_back({job_name(base, devices, job), program, variant, device,
                     tuned_sizes(tunings, program.name, variant.name, device.description.profile),
                     openings[job.device]});
  }
  return tasks;
}

Task *next_task(std::vector<Task> &tasks) {
  const auto next = std::find_if(tasks.begin(), tasks.end(), [](const Task &task) {
    return task.state == Task::State::waiting;
  });
  return next == tasks.end() ? nullptr : &*next;
}

// Names the first of those that run.
void tell(const std::vector<Task> &tasks, std::size_t done, const JobProgress &progress) {
  if (!progress) return;
  const auto running = std::find_if(tasks.begin(), tasks.end(), [](const Task &task) {
    return task.state == Task::State::running;
  });
  if (running != tasks.end()) progress(running->name, done, tasks.size());
}

void end_task(Task *task, const WorkerPool::Done &done) {
  task->state = Task::State::over;
  task->status = done.answer ? status_from(*done.answer)
                             : Status(Code::process, "the process that ran the job died");
  if (task->status.ok()) task->result = job_result(task->variant, *done.answer);
}

// Fails with Code::failed if there is no place for the drivers' caches.
Status run_tasks(std::vector<Task> &tasks, const BuildOptions &options,
                 const JobProgress &progress) {
  if (tasks.empty()) return {};
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  const auto request = [&](std::size_t place) -> JobRequest {
    const Task &task = tasks[place];
    return {task.device,    task.program, task.variant, {options.timeout, options.memory},
            options.finish, task.tuned,   options.also, task.opening};
  };
  JobRunner runner(request, folder->path());  // each of the pool's processes has a copy of it
  WorkerPool pool(
      std::clamp<std::size_t>(options.jobs, 1, tasks.size()),
      [&](std::size_t place) { return runner.run(place); }, [&] { return runner.is_well(); });
  for (std::size_t done = 0; done < tasks.size(); ++done) {
    while (pool.has_idle()) {
      Task *task = next_task(tasks);
      if (task == nullptr) break;
      task->state = Task::State::running;
      pool.start(static_cast<std::size_t>(task - tasks.data()));
    }
    if (!pool.has_busy()) break;  // no worker is left
    tell(tasks, done, progress);
    const WorkerPool::Done piece = pool.wait();
    end_task(&tasks[piece.piece], piece);
  }
  return {};
}

class Collector {
 public:
  Collector(const std::vector<DeviceInfo> &devices, const std::vector<packs::Target> &earlier,
            BuildResult *result)
      : devices_(devices), earlier_(earlier), result_(*result) {}

  void reuse(const Job &job, const packs::Digest &variant) {
    ++result_.reused;
    packs::Target &target = target_of(devices_[job.device]);
    const auto known = std::find_if(earlier_.begin(), earlier_.end(),
                                    [&](const packs::Target &t) { return t.key == target.key; });
    if (known != earlier_.end() && !target.auxiliary) target.auxiliary = known->auxiliary;
    if (const auto *binary = earlier_binary(earlier_, target.key, variant)) {
      target.binaries.push_back(*binary);
    }
    if (const auto *intermediate = earlier_intermediate(earlier_, target.key, variant)) {
      target.intermediates.push_back(*intermediate);
    }
  }

  void made(Task *task) {
    JobResult &made = task->result;
    if (!made.binary && !made.intermediate) {
      result_.failures.push_back({task->name, std::move(task->status.message)});
      return;
    }
    ++result_.compiled;
    packs::Target &target = target_of(task->device);
    const packs::Finish &finish = (made.binary ? *made.binary : *made.intermediate).finish;
    if (finish.finality == packs::Finality::no) {
      result_.unfinished.push_back({task->name, finish.why_not});
    }
    if (!task->opening.empty()) target.auxiliary = packs::BlobSource(task->opening);
    if (made.binary) target.binaries.push_back(std::move(*made.binary));
    if (made.intermediate) target.intermediates.push_back(std::move(*made.intermediate));
    for (JobResult::Also &also : made.also) add_elsewhere(*task, &also);
  }

  void finish() {
    for (auto &[key, target] : targets_) {
      if (has_any(target)) result_.contents.targets.push_back(std::move(target));
    }
  }

 private:
  void add_elsewhere(const Task &task, JobResult::Also *also) {
    const DeviceInfo device = elsewhere(task.device, also->compute_capability);
    if (!also->binary) {
      result_.failures.push_back({task.name + ", for compute capability " +
                                      device.identity.text(runtime::Field::compute_capability),
                                  std::move(also->status.message)});
      return;
    }
    packs::Target &target = target_of(device);
    // What such a device made itself is known to work there.
    const auto *own = earlier_binary(earlier_, target.key, also->binary->variant);
    if (own != nullptr && own->finish.finality == packs::Finality::yes) return;
    if (earlier_binary({target}, target.key, also->binary->variant) != nullptr) return;
    target.binaries.push_back(std::move(*also->binary));
  }

  packs::Target &target_of(const DeviceInfo &device) {
    const std::string &key = device.description.key.text();
    const auto known = std::find_if(targets_.begin(), targets_.end(),
                                    [&](const auto &pair) { return pair.first == key; });
    if (known != targets_.end()) return known->second;
    return targets_.emplace_back(key, make_target(device)).second;
  }

  const std::vector<DeviceInfo> &devices_;
  const std::vector<packs::Target> &earlier_;
  BuildResult &result_;
  std::vector<std::pair<std::string, packs::Target>> targets_;  // by key, in the plan's order
};

}  // namespace

void keep_earlier(const packs::Contents &earlier, packs::Contents *contents) {
  for (packs::Target target : earlier.targets) {
    const auto gone = [&](const packs::Binary &b) { return !has_variant(*contents, b.variant); };
    std::erase_if(target.binaries, gone);
    std::erase_if(target.intermediates, gone);
    const auto now = std::find_if(contents->targets.begin(), contents->targets.end(),
                                  [&](const packs::Target &t) { return t.key == target.key; });
    if (now != contents->targets.end()) {
      keep_entries(target.binaries, &now->binaries);
      keep_entries(target.intermediates, &now->intermediates);
    } else if (has_any(target)) {
      contents->targets.push_back(std::move(target));
    }
  }
}

BuildResult build_on_devices(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const packs::Contents &earlier, const BuildOptions &options,
                             const JobProgress &progress) {
  BuildResult result;
  result.contents = base;
  packs::Contents records;  // both have measurements
  packs::merge_records(base, &records);
  packs::merge_records(earlier, &records);
  const std::vector<Job> plan =
      make_plan(base, devices, earlier.targets,
                {options.finish, records.tunings, options.also, options.preferred, options.shard});
  const std::vector<packs::Bytes> openings = harvest_openings(devices, plan, options);
  std::vector<Task> tasks = make_tasks(base, devices, records.tunings, openings, plan);
  if (const Status s = run_tasks(tasks, options, progress); !s.ok()) {
    for (Task &task : tasks) task.status = s;
  }
  Collector collector(devices, earlier.targets, &result);
  auto task = tasks.begin();
  for (const Job &job : plan) {
    if (job.need == Need::skip) {
      ++result.skipped;
    } else if (job.need == Need::other_shard) {
      ++result.other_shards;
    } else if (job.need == Need::reuse) {
      collector.reuse(job, variant_of(base, job).hash);
    } else {
      collector.made(&*task++);
    }
  }
  collector.finish();
  keep_earlier(earlier, &result.contents);
  return result;
}

}  // namespace kiln::builder
