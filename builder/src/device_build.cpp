#include "device_build.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "build_job.hpp"
#include "worker_pool.hpp"

namespace kiln::builder {
namespace {

packs::Target make_target(const DeviceInfo &device) {
  packs::Target target;
  target.key = runtime::key_text(device.description.key);
  target.profile = device.description.profile;
  target.family = device.description.family;
  target.model = device.description.model;
  target.compiler = device.description.compiler;
  for (std::size_t i = 0; i < runtime::kFieldCount; ++i) {
    const auto field = static_cast<runtime::Field>(i);
    if (const auto &value = device.identity[field]) {
      target.identity.emplace_back(runtime::field_name(field), *value);
    }
  }
  return target;
}

bool has_variant(const packs::Contents &contents, const packs::Name &hash) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.hash == hash) return true;
    }
  }
  return false;
}

// Targets of the earlier pack that were not built now: what is still of use in them.
void keep_others(const std::vector<packs::Target> &earlier, packs::Contents *contents) {
  std::set<std::string> built;
  for (const packs::Target &target : contents->targets) built.insert(target.key);
  for (packs::Target target : earlier) {
    if (built.count(target.key) != 0) continue;
    std::erase_if(target.binaries,
                  [&](const packs::Binary &b) { return !has_variant(*contents, b.variant); });
    if (!target.binaries.empty()) contents->targets.push_back(std::move(target));
  }
}

// A job that compiles, and how far it is.
struct Task {
  enum class State { waiting, running, over };

  std::string name;
  const packs::Variant &variant;
  const DeviceInfo &device;
  const packs::BlobSource *input;  // as job_input gives it
  State state = State::waiting;
  std::optional<packs::Binary> binary{};  // once it is over; without one:
  std::string error = "no process could be started";
};

const packs::Variant &variant_of(const packs::Contents &base, const Job &job) {
  return base.programs[job.program].variants[job.variant];
}

// In the plan's order.
std::vector<Task> make_tasks(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const std::vector<Job> &plan) {
  std::vector<Task> tasks;
  for (const Job &job : plan) {
    if (job.need != Need::compile) continue;
    const DeviceInfo &device = devices[job.device];
    const packs::Variant &variant = variant_of(base, job);
    tasks.push_back({job_name(base, devices, job), variant, device, job_input(variant, device)});
  }
  return tasks;
}

bool same_input(const Task &a, const Task &b) {
  return a.input != nullptr && b.input != nullptr && a.input->name() == b.input->name() &&
         a.variant.options == b.variant.options;
}

// The next to start, or null. Drivers cache what they compile by source and options, and not each
// of them expects another process in the same entry: tasks that would share one take turns.
Task *next_task(std::vector<Task> &tasks) {
  for (Task &task : tasks) {
    if (task.state != Task::State::waiting) continue;
    const bool entry_in_use = std::any_of(tasks.begin(), tasks.end(), [&](const Task &other) {
      return other.state == Task::State::running && same_input(task, other);
    });
    if (!entry_in_use) return &task;
  }
  return nullptr;
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
  if (!done.answer) {
    task->error = "the process that ran the job died";
  } else if (done.answer->contains("error")) {
    task->error = (*done.answer)["error"];
  } else {
    task->binary = job_binary(task->variant, *done.answer);
  }
}

void run_tasks(std::vector<Task> &tasks, const BuildOptions &options, const JobProgress &progress) {
  WorkerPool pool(std::clamp<std::size_t>(options.jobs, 1, tasks.size()), [&](std::size_t place) {
    return run_job(tasks[place].device, tasks[place].variant, options.timeout);
  });
  for (std::size_t done = 0; done < tasks.size(); ++done) {
    while (pool.has_idle()) {
      Task *task = next_task(tasks);
      if (task == nullptr) break;
      task->state = Task::State::running;
      pool.start(static_cast<std::size_t>(task - tasks.data()));
    }
    if (!pool.has_busy()) return;  // no worker is left
    tell(tasks, done, progress);
    const WorkerPool::Done piece = pool.wait();
    end_task(&tasks[piece.piece], piece);
  }
}

}  // namespace

BuildResult build_on_devices(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const std::vector<packs::Target> &earlier, const BuildOptions &options,
                             const JobProgress &progress) {
  BuildResult result;
  result.contents = base;
  const std::vector<Job> plan = make_plan(base, devices, earlier);
  std::vector<Task> tasks = make_tasks(base, devices, plan);
  if (!tasks.empty()) run_tasks(tasks, options, progress);
  auto task = tasks.begin();
  std::map<std::size_t, packs::Target> targets;
  for (const Job &job : plan) {
    packs::Target &target =
        targets.try_emplace(job.device, make_target(devices[job.device])).first->second;
    if (job.need == Need::skip) {
      ++result.skipped;
    } else if (job.need == Need::reuse) {
      ++result.reused;
      target.binaries.push_back(*earlier_binary(earlier, target.key, variant_of(base, job).hash));
    } else if (task->binary) {
      ++result.compiled;
      target.binaries.push_back(std::move(*task++->binary));
    } else {
      result.failures.push_back({task->name, std::move(task->error)});
      ++task;
    }
  }
  for (auto &[index, target] : targets) {
    if (!target.binaries.empty()) result.contents.targets.push_back(std::move(target));
  }
  keep_others(earlier, &result.contents);
  return result;
}

}  // namespace kiln::builder
