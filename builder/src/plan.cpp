#include "plan.hpp"

#include <set>

namespace kiln::builder {
namespace {

Job decide(const packs::Variant &variant, const DeviceInfo &device,
           const std::vector<packs::Target> &earlier) {
  Job job;
  const std::string key = runtime::key_text(device.description.key);
  if (const auto lacks = runtime::missing_requirement(variant.requirements, device.capabilities)) {
    job.need = Need::skip;
    job.reason = "the variant " + *lacks + ", which the device lacks";
  } else if (earlier_binary(earlier, key, variant.hash) != nullptr) {
    job.need = Need::reuse;
    job.reason = "the output has this binary already";
  } else {
    job.reason = "no binary for this source, these options and this driver yet";
  }
  return job;
}

}  // namespace

const packs::Binary *earlier_binary(const std::vector<packs::Target> &earlier,
                                    const std::string &key, const packs::Name &variant) {
  for (const packs::Target &target : earlier) {
    if (target.key != key) continue;
    for (const packs::Binary &binary : target.binaries) {
      if (binary.variant == variant) return &binary;
    }
  }
  return nullptr;
}

std::vector<Job> make_plan(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                           const std::vector<packs::Target> &earlier) {
  std::vector<Job> jobs;
  std::set<std::string> seen;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (!seen.insert(runtime::key_text(devices[d].description.key)).second) continue;
    std::set<packs::Name> hashes;
    for (std::size_t p = 0; p < base.programs.size(); ++p) {
      for (std::size_t v = 0; v < base.programs[p].variants.size(); ++v) {
        Job job = decide(base.programs[p].variants[v], devices[d], earlier);
        const bool runs = job.need != Need::skip;
        const bool twin = runs && !hashes.insert(base.programs[p].variants[v].hash).second;
        if (twin) job = {0, 0, 0, Need::skip, "another variant has the same source and options"};
        job.device = d;
        job.program = p;
        job.variant = v;
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

std::string job_name(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                     const Job &job) {
  const packs::Program &program = base.programs[job.program];
  return program.name + "/" + program.variants[job.variant].name + " for " +
         devices[job.device].label();
}

}  // namespace kiln::builder
