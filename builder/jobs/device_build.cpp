// SPDX-License-Identifier: Apache-2.0
// Runs the plan's jobs in parallel, and merges their results with earlier builds.
#include "builder/jobs/device_build.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "builder/base/this_process.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/jobs/earlier_binaries.hpp"
#include "builder/jobs/job_runner.hpp"
#include "builder/jobs/job_store.hpp"
#include "builder/jobs/resolved_jobs.hpp"
#include "builder/jobs/workarounds.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/child_process.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/process/worker_pool.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"
#include "builder/statistics/statistics.hpp"

namespace kiln::builder {

namespace {

constexpr std::size_t kLeastSpilled = 4096;  // bytes; smaller blobs stay in memory

packs::Descriptor nameless_file() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "kiln-spill-XXXXXX").string();
  packs::Descriptor file(error ? -1 : mkostemp(name.data(), O_CLOEXEC));
  if (file) unlink(name.c_str());
  return file;
}

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLook = 1s;  // how often an observer is told what runs

// A job that compiles or proves, and its progress.
struct ActiveJob {
  std::size_t number;  // in the plan
  std::string name;
  Job job;
  Origin origin;
  const std::string &platform;
  std::optional<Claims::Claim> claim{};  // while it runs
  Clock::time_point start{};
  std::size_t worker = 0;  // number of the process that runs it
  bool stored = false;     // the store had it
  bool over = false;
  bool left_out = false;  // it requires a proof but has none
  JobFault fault{};
  JobResult result{};  // valid once it is over; without a binary see `status`
  Status status{Code::process, "no process could be started"};

  const packs::Variant &variant() const { return job.variant; }
};

const packs::Program &program_of(const packs::Contents &base, const PlannedJob &job) {
  return base.programs[job.program];
}

const packs::Variant &variant_of(const packs::Contents &base, const PlannedJob &job) {
  return base.programs[job.program].variants[job.variant];
}

std::string sources_in(const std::string &folder) { return folder + "/sources.kiln"; }

// The plan of a build, and its jobs as they are to run. `folder` is where run_jobs() is to write.
// What is given must outlive this object.
struct Planned {
  Planned(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
          const packs::Contents &earlier, const BuildOptions &build, const std::string &folder)
      : options(with_knowledge(base, earlier, build)),
        resolved(base, devices, options, build.references, build.input, sources_in(folder)) {
    OriginOf origin_of;
    if (!options.any_origin)
      origin_of = [&](const PlannedJob &job) { return resolved.origin_of(job); };
    plan = make_plan(base, devices, earlier.targets, options, origin_of);
  }

  // Both packs may have measurements, and notes of what builds found.
  static PlanOptions with_knowledge(const packs::Contents &base, const packs::Contents &earlier,
                                    PlanOptions options) {
    packs::Contents records;
    records.programs = base.programs;
    for (const packs::Contents *from : {&base, &earlier}) {
      (void)packs::merge_tunings(from->tunings, &records);
      packs::keep_found(*from, {}, &records);
    }
    options.tunings = std::move(records.tunings);
    options.found = std::move(records.known_bad);
    return options;
  }

  const PlanOptions options;
  const ResolvedJobs resolved;
  std::vector<PlannedJob> plan;
};

std::vector<std::string> platforms_of(const std::vector<DeviceInfo> &devices) {
  std::vector<std::string> platforms;
  for (const DeviceInfo &device : devices) platforms.push_back(platform_of(device));
  return platforms;
}

// Returns for each device the entries that Mesa adds to its shader cache when it opens the device;
// empty for other drivers, if the device compiles nothing whose launches are known, or after a
// failure, which the jobs then report ("Mesa wrote no shader cache"). Each device's are left in a
// folder of its own in `caches`; if that is empty, nothing is harvested.
std::vector<packs::Bytes> harvest_all_device_entries(const packs::Contents &base,
                                                     const std::vector<DeviceInfo> &devices,
                                                     const std::vector<PlannedJob> &plan,
                                                     const JobOptions &options,
                                                     const std::string &caches) {
  std::vector<packs::Bytes> device_entries(devices.size());
  for (std::size_t d = 0; d < devices.size() && options.finish && !caches.empty(); ++d) {
    const bool compiles = std::any_of(plan.begin(), plan.end(), [&](const PlannedJob &job) {
      return job.device == d && is_to_run(job.need) &&
             knows_launches(program_of(base, job), variant_of(base, job));
    });
    if (compiles && devices[d].virtual_device == nullptr &&
        devices[d].description.finishing == runtime::Finishing::shader_cache) {
      (void)harvest_device_entries(devices[d], options.limits.timeout,
                                   fmt::format("{}/{}", caches, d))
          .move_to(&device_entries[d]);
    }
  }
  return device_entries;
}

// Returns the jobs in the plan's order.
std::vector<ActiveJob> jobs_to_run(const packs::Contents &base,
                                   const std::vector<DeviceInfo> &devices,
                                   const packs::Contents &earlier, const ResolvedJobs &resolved,
                                   const std::vector<PlannedJob> &plan, const BuildOptions &options,
                                   const std::vector<packs::Bytes> &device_entries,
                                   const std::vector<std::string> &platforms) {
  const EarlierBinaries known(earlier.targets);
  std::vector<ActiveJob> jobs;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const PlannedJob &job = plan[i];
    if (!is_to_run(job.need)) continue;
    jobs.push_back({i, job_name(base, devices, job), resolved.of(job), resolved.origin_of(job),
                    platforms[job.device]});
    jobs.back().job.device_entries = device_entries[job.device];
    jobs.back().job.parallel = options.jobs > 1;
    if (job.need != Need::prove) continue;
    const std::string &key = devices[job.device].description.key.text();
    jobs.back().job.earlier = known.binary(key, jobs.back().variant().hash);
    jobs.back().job.earlier_intermediate = known.intermediate(key, jobs.back().variant().hash);
  }
  return jobs;
}

// Returns what is known of the binary, or of the intermediate.
std::vector<packs::Statistic> statistics_in(const JobResult &result) {
  const auto &made = result.binary ? result.binary : result.intermediate;
  return made ? made->statistics : std::vector<packs::Statistic>();
}

JobLabel label_of(const ActiveJob &active) {
  return {active.number, active.name, active.job.program.name, active.variant().name,
          active.job.device.label()};
}

// Returns what the observer is told of the job's end.
JobEnd end_of(const ActiveJob &active, std::chrono::milliseconds took) {
  const JobResult &made = active.result;
  const auto &binary = made.binary ? made.binary : made.intermediate;
  return {active.stored       ? How::stored
          : made.proven_again ? How::proven
                              : How::compiled,
          took,
          active.status,
          binary ? &*binary : nullptr,
          made.build_microseconds,
          made.load_microseconds,
          active.left_out,
          &active.job.device_entries};
}

// A run of the jobs from the first to the last: each is taken from the store, run, or left to
// another builder.
class JobRun {
 public:
  // `folder` is for the drivers' caches.
  JobRun(std::vector<ActiveJob> &jobs, const BuildOptions &options, BuildObserver &observer,
         const std::string &folder)
      : jobs_(jobs),
        options_(options),
        observer_(observer),
        runner_([&](std::size_t place) { return jobs[place].job; }, folder),
        pool_(
            std::clamp<std::size_t>(options.jobs, 1, jobs.size()),
            [this](std::size_t place) { return runner_.run(place); },
            [this] { return runner_.is_well(); }),
        store_(options.store) {}

  Status run() {
    for (;;) {
      while (pool_.has_idle() && next_ < jobs_.size()) {
        const Action action = action_at(next_);
        begin(next_++, action, store_.claim(action));
      }
      if (pool_.has_busy()) {
        look();
        if (const auto done = pool_.wait_for(kLook)) end(*done);
      } else if (pool_.has_idle() && !claimed_by_others_.empty()) {
        const std::size_t place = *claimed_by_others_.begin();
        claimed_by_others_.erase(claimed_by_others_.begin());
        observer_.waiting(label_of(jobs_[place]));
        const Action action = action_at(place);
        begin(place, action, store_.await(action));
      } else {
        return store_.status();  // no job is left, or no worker to run it
      }
    }
  }

 private:
  Action action_at(std::size_t place) const {
    const ActiveJob &active = jobs_[place];
    return store_.is_open() ? action_of(active.job, active.origin, active.platform) : Action("");
  }

  // Returns whether the answer may be stored: it comes from the job, and not from an I/O error, a
  // full disk, or a missing device or linker on this machine.
  bool is_of_the_job(const ActiveJob &active, const nlohmann::json &answer) const {
    switch (status_from(answer).code) {
      case Code::no_space:
      case Code::io_error:
      case Code::no_device:
      case Code::no_opencl: return false;
      default: break;
    }
    const bool links = options_.finish && active.job.device.virtual_device == nullptr &&
                       active.job.device.description.finishing == runtime::Finishing::linker;
    return !links || answer.contains("error") || answer.contains("binary");
  }

  void begin(std::size_t place, const Action &action, std::optional<Claims::Claim> claim) {
    ActiveJob &active = jobs_[place];
    if (!claim) {
      claimed_by_others_.insert(place);
    } else if (const auto answer = store_.find(action, active.origin.made_with_workaround)) {
      active.stored = true;
      take(&active, *answer);
    } else {
      active.claim = std::move(claim);
      active.start = Clock::now();
      running_.insert(place);
      active.worker = pool_.start(place);
      observer_.started(label_of(active), active.worker);
    }
  }

  void end(const WorkerPool::Done &done) {
    ActiveJob &active = jobs_[done.piece];
    running_.erase(done.piece);
    nlohmann::json answer =
        done.answer ? *done.answer
                    : to_json(Status(Code::process, "the process that ran the job died"));
    if (answer.contains("fault") || answer.contains("error"))
      answer["workarounds"] = active.origin.made_with_workaround;
    if (done.answer && is_of_the_job(active, answer)) {
      store_.put(action_at(done.piece), answer,
                 static_cast<std::int64_t>(milliseconds_since(active.start)));
    }
    active.claim.reset();
    take(&active, answer);
  }

  void take(ActiveJob *active, const nlohmann::json &answer) {
    active->status = status_from(answer);
    active->fault = fault_of(answer);
    if (active->status.ok()) active->result = job_result(active->variant(), answer);
    const bool requires_proof = needs_proof(active->variant());
    if (active->status.ok() && (options_.require_proof || requires_proof)) {
      active->status = drop_unproven(&active->result, requires_proof);
      active->left_out = requires_proof && !active->status.ok();  // which is no failure
      if (active->left_out) active->status.code = Code::requirement;
    }
    if (const std::string beyond = beyond_limits(active->variant(), statistics_in(active->result));
        !beyond.empty()) {
      active->status = Status(Code::failed, beyond);
      active->result = {};
    }
    const auto keep = [&](std::optional<packs::Binary> *binary) {
      if (!*binary) return;
      active->origin.note_in(&(*binary)->finish);
      spill_.take(&**binary);
    };
    keep(&active->result.binary);
    keep(&active->result.intermediate);
    for (JobResult::OtherGpu &gpu : active->result.other_gpus) keep(&gpu.binary);
    active->over = true;
    observer_.ended(label_of(*active), end_of(*active, active->stored ? 0ms : since(*active)));
  }

  static std::chrono::milliseconds since(const ActiveJob &active) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - active.start);
  }

  void look() {
    if (Clock::now() - looked_ < kLook) return;
    looked_ = Clock::now();
    std::vector<RunningJob> running;
    for (const std::size_t place : running_) {
      const ActiveJob &active = jobs_[place];
      running.push_back({active.worker, label_of(active), since(active)});
    }
    observer_.still_running(running);
  }

  std::vector<ActiveJob> &jobs_;
  const BuildOptions &options_;
  BuildObserver &observer_;
  JobRunner runner_;  // each of the pool's processes has a copy
  WorkerPool pool_;
  JobStore store_;  // after the pool: its file must not be open in the workers
  Spill spill_;
  std::size_t next_ = 0;
  std::set<std::size_t> running_;
  Clock::time_point looked_ = Clock::now();
  std::set<std::size_t> claimed_by_others_;  // other builders are running these jobs
};

// Runs the jobs; `folder` is for the drivers' caches. Fails with Code::failed if it cannot be
// written.
Status run_jobs(const packs::Contents &base, std::vector<ActiveJob> &jobs,
                const BuildOptions &options, const std::string &folder, BuildObserver &observer,
                BuildResult *result) {
  if (jobs.empty()) return {};
  if (Status s = write_sources(base.programs, sources_in(folder)); !s.ok()) return s;
  std::set<std::string> missing;
  for (const ActiveJob &active : jobs) {
    const bool launches = active.job.device.virtual_device == nullptr;
    const ResultCheck &check = *active.job.check;
    if (launches && !check.off && !check.missing.empty()) missing.insert(check.missing);
  }
  result->missing_references.assign(missing.begin(), missing.end());
  result->store_status = JobRun(jobs, options, observer, folder).run();
  return {};
}

class Collector {
 public:
  Collector(const std::vector<DeviceInfo> &devices, const std::vector<packs::Target> &earlier,
            BuildResult *result)
      : devices_(devices), earlier_(earlier), result_(*result) {}

  // Fails if the earlier binary of a job is beyond the variant's limits.
  Status judge(const packs::Variant &variant, const PlannedJob &job, const std::string &name) {
    const std::string key = devices_[job.device].description.key.text();
    const auto *made = earlier_.binary(key, variant.hash);
    if (made == nullptr) made = earlier_.intermediate(key, variant.hash);
    if (made == nullptr) return {};
    const std::string beyond = beyond_limits(variant, made->statistics);
    if (beyond.empty()) {
      note_unmeasured(variant, made->statistics, name);
      return {};
    }
    result_.dropped.emplace(key, variant.hash);
    result_.failures.push_back({name, beyond});
    return {Code::failed, beyond};
  }

  // Adds the earlier binaries of a job, and returns the binary, or the intermediate; null if there
  // is none.
  const packs::Binary *reuse(const PlannedJob &job, const packs::Digest &variant) {
    ++result_.reused;
    packs::Target &target = target_of(devices_[job.device]);
    const packs::Target *known = earlier_.target(target.key);
    if (known != nullptr && !target.cache_entries) target.cache_entries = known->cache_entries;
    const auto *binary = earlier_.binary(target.key, variant);
    if (binary != nullptr) add(*binary, &target);
    const auto *intermediate = earlier_.intermediate(target.key, variant);
    if (intermediate != nullptr) target.intermediates.push_back(*intermediate);
    return binary != nullptr ? binary : intermediate;
  }

  void made(ActiveJob *active) {
    result_.wanted.insert(
        {{active->job.device.description.key.text(), active->variant().hash}, active->origin});
    note_fault(*active);
    JobResult &made = active->result;
    if (!made.binary && !made.intermediate) {
      (active->left_out ? result_.left_out : result_.failures)
          .push_back({active->name, std::move(active->status.message)});
      return;
    }
    ++(active->stored ? result_.stored : made.proven_again ? result_.proven : result_.compiled);
    note_unmeasured(active->variant(), statistics_in(made), active->name);
    packs::Target &target = target_of(active->job.device);
    const packs::Finish &finish = (made.binary ? *made.binary : *made.intermediate).finish;
    if (finish.finality == packs::Finality::no || finish.why_not == kNoLaunch) {
      result_.unfinished.push_back({active->name, finish.why_not});
    }
    const packs::Bytes &entries = active->job.device_entries;
    if (!entries.empty()) target.cache_entries = packs::BlobSource(entries);
    if (made.binary) {
      // This device's own binary replaces one that another device made for it.
      if (held_[target.key].erase(made.binary->variant) != 0) {
        std::erase_if(target.binaries, [&](const packs::Binary &binary) {
          return binary.variant == made.binary->variant;
        });
      }
      add(std::move(*made.binary), &target);
    }
    if (made.intermediate) target.intermediates.push_back(std::move(*made.intermediate));
    for (JobResult::OtherGpu &gpu : made.other_gpus) add_for_other_gpu(*active, &gpu);
  }

  void finish() {
    note_faulty();
    for (packs::Target &target : targets_) {
      if (has_any(target)) result_.contents.targets.push_back(std::move(target));
    }
  }

 private:
  // Notes what was wrong with the variant as it says it, so that no device of this kind compiles it
  // so. An earlier note of this driver goes if this job compared as much as it could have.
  void note_fault(const ActiveJob &active) {
    packs::KnownBad note = found_note(active.job.program, active.variant(), active.job.device,
                                      active.fault.il_is_right);
    const auto &made = active.result.binary ? active.result.binary : active.result.intermediate;
    if (made ? packs::is_compared(active.job.program, active.variant(), made->finish)
             : !active.fault.what.empty() && compares_all(active.job.program, active.variant(),
                                                          active.job.device, active.origin)) {
      result_.judged.push_back({active.variant().hash, note});
    }
    if (active.fault.what.empty()) return;
    note[packs::NoteText::reason] = active.fault.what;
    if (active.fault.workaround.empty()) {
      faulty_.emplace_back(&active, std::move(note));
      return;
    }
    packs::add_found(std::move(note), &result_.contents);
    result_.worked_around.push_back({active.name, active.fault});
  }

  // Where nothing helps, the text itself may be at fault. A note then only serves to lead devices
  // to another variant.
  void note_faulty() {
    for (auto &faulty : faulty_) {
      const ActiveJob &active = *faulty.first;
      const packs::Target &target = target_of(active.job.device);
      const auto is_right = [&](const packs::Variant &other) {
        return other.hash != active.variant().hash &&
               std::any_of(target.binaries.begin(), target.binaries.end(), [&](const auto &binary) {
                 return binary.variant == other.hash && !binary.finish.proof.empty();
               });
      };
      const auto &variants = active.job.program.variants;
      if (std::any_of(variants.begin(), variants.end(), is_right)) {
        packs::add_found(std::move(faulty.second), &result_.contents);
      }
    }
  }

  void note_unmeasured(const packs::Variant &variant,
                       const std::vector<packs::Statistic> &statistics, const std::string &name) {
    const std::string limits_not_checked = unmeasured_limits(variant, statistics);
    if (!limits_not_checked.empty())
      result_.limits_not_checked.push_back({name, limits_not_checked});
  }

  void add_for_other_gpu(const ActiveJob &active, JobResult::OtherGpu *gpu) {
    const DeviceInfo device = describe_other_gpu(active.job.device, gpu->compute_capability);
    if (!gpu->binary) {
      result_.failures.push_back({active.name + ", for compute capability " +
                                      device.identity.text(runtime::Field::compute_capability),
                                  std::move(gpu->status.message)});
      return;
    }
    packs::Target &target = target_of(device);
    // A binary that such a device made itself is known to work there.
    const auto *own = earlier_.binary(target.key, gpu->binary->variant);
    if (own != nullptr && own->finish.finality == packs::Finality::yes) return;
    add(std::move(*gpu->binary), &target);
  }

  // Adds the binary unless the target has one of that variant.
  void add(packs::Binary binary, packs::Target *target) {
    if (held_[target->key].insert(binary.variant).second) {
      target->binaries.push_back(std::move(binary));
    }
  }

  packs::Target &target_of(const DeviceInfo &device) {
    const auto [place, is_new] = places_.emplace(device.description.key.text(), targets_.size());
    if (is_new) targets_.push_back(make_target(device));
    return targets_[place->second];
  }

  const std::vector<DeviceInfo> &devices_;
  const EarlierBinaries earlier_;
  BuildResult &result_;
  std::vector<packs::Target> targets_;                   // in the plan's order
  std::unordered_map<std::string, std::size_t> places_;  // by key
  std::unordered_map<std::string, DigestSet> held_;      // variants with a binary, by key
  std::vector<std::pair<const ActiveJob *, packs::KnownBad>> faulty_;
};

}  // namespace

void Spill::take(packs::BlobSource *blob) {
  if (!blob->raw() || blob->raw()->size() < kLeastSpilled || is_refused_) return;
  if (!file_) file_ = std::make_shared<const packs::Descriptor>(nameless_file());
  const std::uint64_t place = size_, size = blob->raw()->size();
  if (!*file_ || packs::write_all(file_->get(), {blob->raw()->data(), size}, place) != 0) {
    is_refused_ = true;
    return;
  }
  size_ += size;
  *blob = packs::BlobSource(blob->name(), size, [file = file_, place, size](packs::Bytes *out) {
    out->resize(size);
    std::size_t read = size;
    const int error = packs::read_all(file->get(), place, out->data(), &read);
    if (error == 0 && read == size) return packs::Status();
    const std::string why =
        error != 0 ? std::strerror(error) : fmt::format("ends after {} of {} bytes", read, size);
    return packs::Status(packs::Code::io_error, "temporary file: " + why);
  });
}

void Spill::take(packs::Binary *binary) {
  take(&binary->blob);
  if (binary->cache_entries) take(&*binary->cache_entries);
}

BuildResult build_on_devices(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const packs::Contents &earlier, const BuildOptions &options,
                             BuildObserver *observer) {
  BuildObserver nobody;
  BuildObserver &watcher = observer != nullptr ? *observer : nobody;
  BuildResult result;
  result.contents = base;
  std::erase_if(result.contents.known_bad,
                [](const packs::KnownBad &note) { return packs::is_found(note.rungs); });
  const auto folder = TemporaryFolder::make();  // without it the jobs fail
  const std::string scratch = folder.ok() ? folder->path() : "";
  const Planned planned(base, devices, earlier, options, scratch);
  const std::vector<PlannedJob> &plan = planned.plan;
  watcher.planned(count_jobs(plan), options.jobs);
  const std::string opened = folder.ok() ? scratch + "/opened" : "";
  const std::vector<packs::Bytes> device_entries =
      harvest_all_device_entries(base, devices, plan, options, opened);
  begin_caches_with(opened);
  const std::vector<std::string> platforms = platforms_of(devices);
  std::vector<ActiveJob> jobs = jobs_to_run(base, devices, earlier, planned.resolved, plan, options,
                                            device_entries, platforms);
  Status status = folder.status();
  if (status.ok()) status = run_jobs(base, jobs, options, scratch, watcher, &result);
  if (!status.ok()) {
    for (ActiveJob &active : jobs) active.status = status;
  }
  for (const ActiveJob &active : jobs) {
    if (!active.over) watcher.ended(label_of(active), end_of(active, 0ms));
  }
  Collector collector(devices, earlier.targets, &result);
  auto active = jobs.begin();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const PlannedJob &job = plan[i];
    if (job.need == Need::skip) {
      ++result.skipped;
      result.dropped.emplace(devices[job.device].description.key.text(),
                             variant_of(base, job).hash);
    } else if (job.need == Need::other_shard) {
      ++result.other_shards;
    } else if (job.need == Need::reuse) {
      const std::string name = job_name(base, devices, job);
      const Status judged = collector.judge(variant_of(base, job), job, name);
      const packs::Binary *binary =
          judged.ok() ? collector.reuse(job, variant_of(base, job).hash) : nullptr;
      watcher.ended({i, name, program_of(base, job).name, variant_of(base, job).name,
                     devices[job.device].label()},
                    {How::reused, 0ms, judged, binary});
    } else {
      collector.made(&*active++);
    }
  }
  collector.finish();
  if (options.any_origin) {
    for (auto &[job, origin] : result.wanted) origin = {};
  } else {
    result.proofs = planned.resolved.proofs();
  }
  packs::keep_found(base, result.judged, &result.contents);
  result.require_proof = options.require_proof;
  result.keep(earlier);
  return result;
}

void BuildResult::keep(packs::Contents earlier) {
  for (packs::Target &target : earlier.targets) {
    const auto is_dropped = [&](const packs::Binary &binary) {
      if (dropped.count({target.key, binary.variant}) != 0) return true;
      const auto own = wanted.find({target.key, binary.variant});
      if (own == wanted.end()) return false;
      return !fit_of(binary.finish, own->second).serves() ||
             (require_proof && binary.finish.proof.empty());
    };
    std::erase_if(target.binaries, is_dropped);
    std::erase_if(target.intermediates, is_dropped);
  }
  const NotKept now = keep_earlier(earlier, proofs, &contents);
  not_kept.stale += now.stale;
  not_kept.beyond += now.beyond;
  packs::keep_found(earlier, judged, &contents);
  packs::settle_found(&contents, nullptr);
  std::erase_if(contents.targets, [](const packs::Target &target) { return !has_any(target); });
}

JobPlan plan_build(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                   const packs::Contents &earlier, const BuildOptions &options) {
  Planned planned(base, devices, earlier, options, "");
  JobPlan out{std::move(planned.plan), {}, {}};
  out.stored.assign(out.jobs.size(), false);
  std::error_code error;
  if (!std::filesystem::exists(options.store.file, error)) return out;
  const auto opened = TemporaryFolder::make();
  if (!opened.ok()) return out;
  const std::vector<packs::Bytes> device_entries =
      harvest_all_device_entries(base, devices, out.jobs, options, opened->path());
  const std::vector<std::string> platforms = platforms_of(devices);
  JobStore store(options.store);
  out.store_status = store.status();
  for (const ActiveJob &active : jobs_to_run(base, devices, earlier, planned.resolved, out.jobs,
                                             options, device_entries, platforms)) {
    const Action action = action_of(active.job, active.origin, active.platform);
    const std::string &workarounds = active.origin.made_with_workaround;
    out.stored[active.number] = store.find(action, workarounds).has_value();
  }
  return out;
}

std::vector<FailureGroup> group_failures(const std::vector<JobFailure> &failures) {
  std::vector<FailureGroup> groups;
  std::map<std::string_view, std::size_t> places;
  for (const JobFailure &failure : failures) {
    const auto [place, is_new] = places.emplace(failure.text, groups.size());
    if (is_new) groups.push_back({failure.text, {}});
    groups[place->second].jobs.push_back(failure.job);
  }
  return groups;
}

}  // namespace kiln::builder
