// SPDX-License-Identifier: Apache-2.0
// The on-device build: jobs run in child processes, and binaries are proven before they are kept.
// Blobs of results wait on disk, and failures that are alike are grouped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "builder/jobs/build_observer.hpp"
#include "builder/jobs/earlier_binaries.hpp"
#include "builder/jobs/job_runner.hpp"
#include "builder/jobs/job_store.hpp"
#include "builder/jobs/origin.hpp"
#include "builder/jobs/plan.hpp"
#include "builder/run/reference.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/found_notes.hpp"

namespace kiln::builder {

// Keeps the blobs of a build's results on disk, so that memory does not grow with them. The file
// has no name, lies below TMPDIR or /tmp, is made when it is first needed, and lives as long as any
// of its blobs. Not thread-safe.
class Spill {
 public:
  // Moves the bytes of a blob from memory to the file. They stay in memory if there are fewer than
  // 4096, or if the file cannot be made or written.
  void take(packs::BlobSource *blob);
  // Moves the bytes of a binary and its cache entries.
  void take(packs::Binary *binary);

 private:
  std::shared_ptr<const packs::Descriptor> file_;
  std::uint64_t size_ = 0;
  bool is_refused_ = false;  // the disk refused
};

struct BuildOptions : PlanOptions {
  std::size_t jobs = 1;  // number that run in parallel
  StoreOptions store{};
  ReferenceOptions references{};  // references to compare results with
  std::string input{};            // manifest or pack; files of references lie beside it
};

// A job that gave no binary, with the driver's message or the way it died.
struct JobFailure {
  std::string job;
  std::string text;
};

struct BuildResult {
  packs::Contents contents;  // base and one target for each distinct device
  std::vector<JobFailure> failures;
  std::vector<JobFailure> left_out;    // variants that require a proof and have none here, and why
  std::vector<JobFailure> unfinished;  // jobs whose binary is not final, and why
  // Jobs whose binary has a workaround, since it is wrong as the variant says it.
  std::vector<std::pair<std::string, JobFault>> worked_around;
  std::vector<packs::Judged> judged;  // what jobs found, or did not find, about their variants
  std::vector<JobFailure>
      limits_not_checked;  // jobs with limits for which the compiler tells no figure
  // Why references of programs are not used: they were not found.
  std::vector<std::string> missing_references;
  std::size_t compiled = 0;
  std::size_t stored = 0;  // binaries that the store had
  std::size_t proven = 0;  // earlier binaries whose results were compared again
  std::size_t reused = 0;
  std::size_t skipped = 0;
  // Of jobs that ran: by the target's key and the variant's hash the origin of what was to be made.
  std::map<std::pair<std::string, packs::Digest>, Origin> wanted{};
  std::set<std::pair<std::string, packs::Digest>> dropped{};  // whose earlier binaries are not kept
  bool require_proof = false;
  ProofOrigins proofs{};         // of the base's variants
  NotKept not_kept{};            // earlier binaries of other jobs
  std::size_t other_shards = 0;  // jobs left to other shards
  Status store_status{};         // why the store was not used, or no longer used

  // Adds what an earlier pack has beside this result, as keep_earlier() does. Leaves out binaries
  // of dropped jobs. Of jobs that ran leaves out binaries of another origin and, if a proof is
  // required, those without one.
  void keep(packs::Contents earlier);
};

// Runs the plan for `devices`, which list_devices() returned. `earlier` holds the contents of the
// output file if it exists: its targets for other devices are kept, with the binaries whose
// variants are still in `base`.
//
// For each job that compiles, a child process builds the program from its source (from IL if the
// device takes no source), creates the kernels, reads the driver's binary and finishes it. Another
// child loads and launches the result, which is packed if its results are right (result_check.hpp).
// Both children do one job after another, start with empty caches of the driver, and are replaced
// after a death. A crash, a hang or an error fails only that job. In a finisher it costs only
// finality: the driver's own binary is packed. `options.jobs` jobs run in parallel; the result is
// in the plan's order for any number of them.
//
// Jobs in the store are not compiled, and compiled jobs are stored at once. A job that another
// builder with the same store is running is left to that builder, and waited for at the end.
// `observer` may be null.
BuildResult build_on_devices(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const packs::Contents &earlier, const BuildOptions &options,
                             BuildObserver *observer);

struct JobPlan {
  std::vector<PlannedJob> jobs;
  std::vector<bool> stored;  // for each job, whether it would be run and the store has it
  Status store_status{};     // why the store was not used
};

// Returns the jobs that build_on_devices() would do. If there is a store, opens Mesa's devices as a
// build does.
JobPlan plan_build(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                   const packs::Contents &earlier, const BuildOptions &options);

// Failures with the same log, since one fault of a source or a driver fails many jobs.
struct FailureGroup {
  std::string text;
  std::vector<std::string> jobs;  // at least one
};

// Groups failures by log, in the order of the first of each; the jobs, too, keep their order. Pure.
std::vector<FailureGroup> group_failures(const std::vector<JobFailure> &failures);

}  // namespace kiln::builder
