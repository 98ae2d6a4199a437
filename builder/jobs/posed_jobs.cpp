// SPDX-License-Identifier: Apache-2.0
// Keeps one job runner, and reads each job from its file: the process that compiles was forked
// before later jobs came.
#include "builder/jobs/posed_jobs.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/jobs/job_runner.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/machine/virtual_device.hpp"
#include "builder/process/serving_child.hpp"
#include "builder/process/temporary_folder.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

class PosedJobs {
 public:
  PosedJobs(std::string folder, const std::string &caches)
      : folder_(std::move(folder)),
        runner_([this](std::size_t job) { return job_of(job); }, caches) {}

  json answer(const json &order) {
    JobOptions &options = options_;
    options.limits = {std::chrono::milliseconds(order["timeout"].get<std::int64_t>()),
                      order["memory"].get<std::uint64_t>()};
    options.finish = order["finish"];
    options.has_hardware = false;
    if (Status s = find_device(); !s.ok()) return to_json(s);
    if (Status s = read(order["job"]); !s.ok()) return to_json(s);
    harvest();
    json answer = runner_.run(order["job"]);
    json out = to_json(status_from(answer));
    if (!out.contains("error")) out = write(answer, posed_job_output(folder_, job_));
    out["last"] = !runner_.is_well();
    return out;
  }

 private:
  const packs::Variant &variant() const { return contents_.programs[0].variants[0]; }

  Status find_device() {
    if (device_) return {};
    auto devices = list_devices();
    if (!devices.ok()) return devices.status();
    if (devices->size() != 1) return {Code::no_device, "the driver does not report one device"};
    device_ = std::move(devices->front());
    return {};
  }

  Status read(std::size_t job) {
    if (job == job_) return {};
    std::shared_ptr<const packs::Pack> pack;
    const std::string input = posed_job_input(folder_, job);
    if (Status s = packs::Pack::open_file(input.c_str(), &pack); !s.ok()) return s;
    if (Status s = packs::read_contents(pack, &contents_); !s.ok()) return s;
    job_ = job;
    return {};
  }

  // Takes the entries that Mesa adds to its cache when it opens the device, before the first job
  // that needs them. Its failure is reported by that job ("Mesa wrote no shader cache").
  void harvest() {
    const bool needed = options_.finish &&
                        device_->description.finishing == runtime::Finishing::shader_cache &&
                        knows_launches(contents_.programs[0], variant());
    if (!needed || !device_entries_.empty()) return;
    const auto caches = TemporaryFolder::make();
    if (!caches.ok()) return;
    (void)harvest_device_entries(*device_, options_.limits.timeout, caches->path())
        .move_to(&device_entries_);
  }

  // Called in this process, and in the one that compiles.
  Job job_of(std::size_t job) {
    if (Status s = read(job); !s.ok()) throw std::runtime_error(s.message);
    Job out{options_, *device_, contents_.programs[0], variant()};
    out.device_entries = device_entries_;
    return out;
  }

  json write(const json &answer, const std::string &path) const {
    JobResult result = job_result(variant(), answer);
    if (!result.binary) return to_json(Status(Code::failed, "the driver gave no binary"));
    packs::Target target = make_target(*device_);
    target.binaries = {*std::move(result.binary)};
    packs::Contents made;
    made.programs = contents_.programs;
    made.targets = {std::move(target)};
    packs::WriteOptions options;
    options.purpose = packs::Purpose::raw;
    if (Status s = packs::write_pack(made, path, options); !s.ok()) return to_json(s);
    return {{"build_microseconds", result.build_microseconds},
            {"load_microseconds", result.load_microseconds}};
  }

  const std::string folder_;
  JobOptions options_;
  std::optional<DeviceInfo> device_;
  packs::Bytes device_entries_;
  packs::Contents contents_;  // of the job
  std::size_t job_ = 0;       // jobs begin at 1
  JobRunner runner_;
};

}  // namespace

int answer_posed_jobs(const std::string &folder) {
  const auto caches = TemporaryFolder::make();
  if (!caches.ok()) return 126;
  PosedJobs jobs(folder, caches->path());
  return answer_orders([&](const json &order) { return jobs.answer(order); });
}

}  // namespace kiln::builder
