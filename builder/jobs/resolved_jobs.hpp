// SPDX-License-Identifier: Apache-2.0
// The jobs of a plan with all that decides them: program, device, options, measurements, and their
// origins. Reads the references that results are compared with.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "builder/jobs/origin.hpp"
#include "builder/jobs/plan.hpp"
#include "builder/prove/result_check.hpp"
#include "builder/run/reference.hpp"

namespace kiln::builder {

// Measurements by program and variant, each in their order.
class TuningsByVariant {
 public:
  explicit TuningsByVariant(const std::vector<packs::Tuning> &all);

  const std::vector<packs::Tuning> &of(const std::string &program,
                                       const std::string &variant) const;

 private:
  struct HashOfNames {
    std::size_t operator()(const std::pair<std::string, std::string> &names) const {
      return 31 * std::hash<std::string>()(names.first) + std::hash<std::string>()(names.second);
    }
  };
  std::unordered_map<std::pair<std::string, std::string>, std::vector<packs::Tuning>, HashOfNames>
      by_variant_;
  std::vector<packs::Tuning> none_;
};

// The base pack, the devices and the options must outlive this object.
class ResolvedJobs {
 public:
  // `input` is the manifest or pack beside which files of references lie, and `sources` the path at
  // which write_sources() puts variants that are references.
  ResolvedJobs(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
               const PlanOptions &options, const ReferenceOptions &references,
               const std::string &input, const std::string &sources);
  ResolvedJobs(const ResolvedJobs &) = delete;

  // Return a planned job as it is to run, without the device's entries, and its origin.
  Job of(const PlannedJob &planned) const;
  Origin origin_of(const PlannedJob &planned) const;

  const ResultCheck &check_of(const PlannedJob &planned) const { return checks_[planned.program]; }
  const ProofOrigins &proofs() const { return proofs_; }

 private:
  std::vector<Duplicate> duplicates_of(const PlannedJob &planned) const;

  struct ProgramVariant {
    std::size_t program;
    const packs::Variant *variant;
  };

  const packs::Contents &base_;
  const std::vector<DeviceInfo> &devices_;
  const PlanOptions &options_;
  const TuningsByVariant tunings_;
  const std::vector<ResultCheck> checks_;  // of each program
  const ProofOrigins proofs_;
  // Variants with the same source, options and kernels: one binary serves them all.
  std::unordered_map<packs::Digest, std::vector<ProgramVariant>, HashOfDigest> alike_;
};

}  // namespace kiln::builder
