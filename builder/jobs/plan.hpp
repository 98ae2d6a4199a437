// SPDX-License-Identifier: Apache-2.0
// The plan of a build, and its shards for several builds. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job.hpp"
#include "builder/jobs/origin.hpp"
#include "builder/machine/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// One part of a plan. The default is the first of one, which is everything.
struct Shard {
  std::uint32_t index = 1;  // from 1 to count
  std::uint32_t count = 1;
};

// Parses "2/3" as the second of three. Fails with Code::bad_argument unless both numbers are
// decimal, and the first is from 1 to the second.
Result<Shard> parse_shard(const std::string &text);

// Returns whether the shard has the job of this variant for this binary key. Exactly one of `count`
// shards has it, the same one on every machine and in every version, whatever else is in the plan.
bool has_job(const Shard &shard, const std::string &key, const packs::Digest &variant);

enum class Need {
  compile,      // there is no binary yet
  prove,        // an earlier pack has it; its results are to be compared again
  reuse,        // an earlier pack has it
  skip,         // the device cannot run the variant, a known-bad note leaves it out, or another
                // variant serves in its place
  other_shard,  // another build does it
};

// A job as the plan has it: one variant of one program, for one device, by their places in lists.
struct PlannedJob {
  std::size_t device = 0;   // place in the list of devices given to make_plan
  std::size_t program = 0;  // places in the base contents
  std::size_t variant = 0;
  Need need = Need::compile;
  std::string reason{};  // why, as a sentence without a full stop
};

struct PlanOptions : JobOptions {
  std::vector<packs::Tuning> tunings{};  // measured work-group sizes, of any device
  std::vector<packs::KnownBad> found{};  // what builds found about the base's variants, by name
  bool preferred = false;                // only preferred_variant() of each program
  Shard shard{};                         // jobs of other shards are left to other builds
  bool require_proof = false;            // fail binaries whose results were not compared
  // Earlier binaries serve whatever they were made from and proven by: others made the pack, and
  // their references are not here.
  bool any_origin = false;
};

inline bool is_to_run(Need need) { return need == Need::compile || need == Need::prove; }

// Returns whether a job of that origin compares its results with all that is_compared() asks for.
bool compares_all(const packs::Program &program, const packs::Variant &variant,
                  const DeviceInfo &device, const Origin &origin);

// Returns the origin of what a job would make now.
using OriginOf = std::function<Origin(const PlannedJob &job)>;

// Returns one job for each distinct binary key and variant, in the order of `devices`, then of
// programs and variants in `base`; of several devices with one key, the first gets the jobs.
// `earlier` holds the targets of a pack that was built before; may be empty. Without `origin_of` an
// earlier binary serves whatever it was made from: for packs that others made.
std::vector<PlannedJob> make_plan(const packs::Contents &base,
                                  const std::vector<DeviceInfo> &devices,
                                  const std::vector<packs::Target> &earlier,
                                  const PlanOptions &options = {}, const OriginOf &origin_of = {});

// Number of jobs in a plan, in all and by need.
struct PlanCounts {
  std::size_t jobs = 0, compile = 0, prove = 0, reuse = 0, skip = 0, other_shards = 0;
};
PlanCounts count_jobs(const std::vector<PlannedJob> &plan);

// Returns a job's name: "laplace/scalar for NVIDIA H200 (driver 580)". That of a recorded program
// also names kernels: "cl-.../recorded-1a2b3c4d (Iq, Iqxy, ...) for NVIDIA H200 (driver 580)".
std::string job_name(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                     const PlannedJob &job);

// Parses "sm_100" as 1000: 100 times the major version plus the minor one, which is the last digit.
std::optional<std::uint32_t> parse_architecture(std::string_view text);

// Describes an NVIDIA device of another compute capability (1000 is 10.0), for which the linker of
// `here` makes code. Its identity has only facts that hold for every such device.
DeviceInfo describe_other_gpu(const DeviceInfo &here, std::uint32_t compute_capability);

}  // namespace kiln::builder
