// SPDX-License-Identifier: Apache-2.0
// Gathers what a job needs from the base pack, the measurements and the references.
#include "builder/jobs/resolved_jobs.hpp"

namespace kiln::builder {

TuningsByVariant::TuningsByVariant(const std::vector<packs::Tuning> &all) {
  for (const packs::Tuning &tuning : all) {
    by_variant_[{tuning.program, tuning.variant}].push_back(tuning);
  }
}

const std::vector<packs::Tuning> &TuningsByVariant::of(const std::string &program,
                                                       const std::string &variant) const {
  if (by_variant_.empty()) return none_;
  const auto found = by_variant_.find({program, variant});
  return found == by_variant_.end() ? none_ : found->second;
}

ResolvedJobs::ResolvedJobs(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                           const PlanOptions &options, const ReferenceOptions &references,
                           const std::string &input, const std::string &sources)
    : base_(base),
      devices_(devices),
      options_(options),
      tunings_(options.tunings),
      checks_(find_checks(base.programs, references, input, sources)),
      proofs_(base, checks_) {
  for (std::size_t p = 0; p < base.programs.size(); ++p) {
    for (const packs::Variant &variant : base.programs[p].variants) {
      alike_[variant.hash].push_back({p, &variant});
    }
  }
}

Job ResolvedJobs::of(const PlannedJob &planned) const {
  const packs::Program &program = base_.programs[planned.program];
  const packs::Variant &variant = program.variants[planned.variant];
  const DeviceInfo &device = devices_[planned.device];
  Job job{options_, device, program, variant,
          tuned_sizes(tunings_.of(program.name, variant.name), program.name, variant.name,
                      device.description.profile)};
  job.check = &check_of(planned);
  job.duplicates = duplicates_of(planned);
  if (needs_proof(variant)) job.gpu_archs.clear();  // code that was not launched has no proof
  return job;
}

Origin ResolvedJobs::origin_of(const PlannedJob &planned) const {
  const Job job = of(planned);
  const bool launches = job.device.virtual_device == nullptr;
  return {made_from(job), launches ? proofs_.of(job.variant) : "", !job.check->off,
          !job.check->off && job.check->has_reference(job.program, job.variant),
          made_with_workaround(job)};
}

// Returns the duplicates of the job's variant which the device can run and whose reference adds a
// check: they belong to another program, or have other arguments or another tolerance.
std::vector<Duplicate> ResolvedJobs::duplicates_of(const PlannedJob &planned) const {
  const packs::Program &program = base_.programs[planned.program];
  const packs::Variant &variant = program.variants[planned.variant];
  std::vector<Duplicate> duplicates;
  for (const auto &[place, other] : alike_.at(variant.hash)) {
    const packs::Program &owner = base_.programs[place];
    const bool alike = &owner == &program && other->arguments == variant.arguments &&
                       other->tolerance == variant.tolerance;
    if (other == &variant || alike || !checks_[place].has_reference(owner, *other)) continue;
    if (!runtime::check_requirements(other->requirements, devices_[planned.device].capabilities)
             .ok()) {
      continue;
    }
    duplicates.push_back({&owner, other, &checks_[place]});
  }
  return duplicates;
}

}  // namespace kiln::builder
