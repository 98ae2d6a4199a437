// SPDX-License-Identifier: Apache-2.0
// What a build would do, and the part of it that one of several builds does. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The first of one by default, which is everything.
struct Shard {
  std::uint32_t index = 1;  // from 1 to count
  std::uint32_t count = 1;
};

// Of "2/3" the second of three; else bad_argument. Both numbers have decimal digits alone.
Result<Shard> parse_shard(const std::string &text);

// Whether that shard has the jobs of the target with this binary key and of the variant with this
// hash. Exactly one of `count` shards does, the same one on every machine and in every version,
// whatever else is in the plan.
bool has_job(const Shard &shard, const std::string &key, const packs::Digest &variant);

enum class Need {
  compile,      // there is no binary yet
  reuse,        // an earlier pack has it
  skip,         // the device cannot run the variant
  other_shard,  // another build does it
};

// program x variant x options x target.
struct Job {
  std::size_t device = 0;   // place in the list of devices given to make_plan
  std::size_t program = 0;  // places in the base contents
  std::size_t variant = 0;
  Need need = Need::compile;
  std::string reason;  // why, as a sentence without a full stop
};

struct PlanOptions {
  bool finish = true;                    // compile again what could be final and is not
  std::vector<packs::Tuning> tunings{};  // measured work-group sizes, of any device
  std::vector<std::uint32_t> also{};     // as BuildOptions has them
  bool preferred = false;                // of each program one variant alone: preferred_variant()
  Shard shard{};                         // the jobs of others are left to other builds
  bool require_proof = false;            // compile again what has no proof
};

// One job for each device and variant, in the order of devices, then programs and
// variants as they stand in `base`. Devices with the same binary key get their jobs once.
// `earlier` holds the targets of a pack that was built before; may be empty.
std::vector<Job> make_plan(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                           const std::vector<packs::Target> &earlier,
                           const PlanOptions &options = {});

// How many jobs a plan has, and of which need.
struct PlanCounts {
  std::size_t jobs = 0, compile = 0, reuse = 0, skip = 0, other_shards = 0;
};
PlanCounts count_jobs(const std::vector<Job> &plan);

// "laplace/scalar for NVIDIA H200 (driver 580)".
std::string job_name(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                     const Job &job);

// The device for which NVIDIA's linker on `here` makes code of another compute capability, 1000 for
// 10.0: its identity is what is known of any such device.
DeviceInfo elsewhere(const DeviceInfo &here, std::uint32_t compute_capability);

}  // namespace kiln::builder
