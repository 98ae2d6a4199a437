// SPDX-License-Identifier: Apache-2.0
// The on-device build: every job in a process of its own, proven before it is kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "builder/jobs/build_observer.hpp"
#include "builder/jobs/earlier.hpp"
#include "builder/jobs/job_store.hpp"
#include "builder/jobs/plan.hpp"
#include "builder/launch/reference.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/descriptor.hpp"

namespace kiln::builder {

// Keeps the blobs of a build's results on disk, so that memory does not grow with them: in a file
// without a name below TMPDIR or /tmp, which is made when it is first needed and lives as long as a
// blob in it. Not thread-safe.
class Spill {
 public:
  // Moves the bytes of a blob that is in memory to the file. They stay where they are if they are
  // few, or if the file cannot be made or written.
  void take(packs::BlobSource *blob);
  // Of a binary and its auxiliary blob.
  void take(packs::Binary *binary);

 private:
  std::shared_ptr<const packs::Descriptor> file_;
  std::uint64_t size_ = 0;
  bool is_refused_ = false;  // by the disk
};

struct BuildOptions {
  std::chrono::milliseconds timeout{120'000};  // for each step of a job that a driver does
  std::uint64_t memory = 0;                    // bytes that a process may hold; 0: any
  std::size_t jobs = 1;                        // that run in parallel
  bool finish = true;                          // or leave the driver's binaries as they are
  // NVIDIA's compute capabilities, 1000 for 10.0, to make code for, besides the device's own.
  std::vector<std::uint32_t> also{};
  bool preferred = false;  // as PlanOptions has it
  Shard shard{};           // as well
  StoreOptions store{};
  ReferenceOptions references{};  // of what results are compared with
  std::string input{};            // the manifest or pack, beside which references' files lie
  bool require_proof = false;     // binaries whose results were compared with nothing are failures
};

// A job that gave no binary: what the driver said, or how it died.
struct JobFailure {
  std::string job;
  std::string text;
};

struct BuildResult {
  packs::Contents contents;  // base and one target for each distinct device
  std::vector<JobFailure> failures;
  std::vector<JobFailure> left_out;    // variants that require a proof and have none here, and why
  std::vector<JobFailure> unfinished;  // jobs that gave a binary which is not final, and why
  // Why references of programs are not used: they are not there.
  std::vector<std::string> missing_references;
  std::size_t compiled = 0;
  std::size_t stored = 0;  // binaries that the store had
  std::size_t reused = 0;
  std::size_t skipped = 0;
  Refused refused;  // of failed jobs, where proof is required: not to be kept of an earlier pack
  std::size_t other_shards = 0;  // jobs that are left to them
  Status store_status{};         // why the store was not used, or no longer
};

// Runs the plan for `devices`, which list_devices() returned. `earlier` holds the contents of the
// output file if it exists: its targets for other devices are kept, with those of their binaries
// whose variants are still in `base`.
//
// For each job that compiles, a child process builds the program from its source (from IL if the
// device takes no source), creates the kernels, reads the driver's binary and finishes it; another
// child loads and launches the result, which is packed if it computes what it must
// (result_check.hpp). Both do one job after another, with caches of the driver
// that were empty at their start, and are replaced after a death. A crash, a hang or an error fails
// that one job, and in a finisher costs only finality: the driver's own binary is packed.
// `options.jobs` jobs run in parallel; the result is in the plan's order for any number of them.
//
// What the store has is not compiled, and what is compiled is put there at once. A job that another
// builder with the same store is at is left to it, and waited for at the end. `observer` may be
// null.
BuildResult build_on_devices(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const packs::Contents &earlier, const BuildOptions &options,
                             BuildObserver *observer);

// For each job of `plan`, which is make_plan()'s with the same options, whether it would be
// compiled and the store has it. `tunings` are the plan's. Asks drivers what they compile when they
// are opened, if there is a store. Fails as Store::open() does.
Result<std::vector<bool>> stored_jobs(const packs::Contents &base,
                                      const std::vector<DeviceInfo> &devices,
                                      const std::vector<packs::Tuning> &tunings,
                                      const std::vector<Job> &plan, const BuildOptions &options);

// Failures with the same log together, since one fault of a source or a driver fails many jobs.
struct FailureGroup {
  std::string text;
  std::vector<std::string> jobs;  // at least one
};

// In the order of the first of each; the jobs, too, keep their order. Pure.
std::vector<FailureGroup> group_failures(const std::vector<JobFailure> &failures);

}  // namespace kiln::builder
