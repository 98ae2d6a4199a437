// SPDX-License-Identifier: Apache-2.0
// Code that the subcommands share that compile: the host step, its tools and store, and the
// progress of jobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/cli/shared/common.hpp"
#include "builder/cli/shared/supervised.hpp"
#include "builder/compile/base_pack.hpp"
#include "builder/jobs/build_observer.hpp"

namespace kiln::cli {

class BuildProgress final : public builder::BuildObserver {
 public:
  void planned(const builder::PlanCounts &counts, std::size_t workers) override;
  void started(const builder::JobLabel &job, std::size_t worker) override;
  void ended(const builder::JobLabel &job, const builder::JobEnd &end) override;
  void still_running(const std::vector<builder::RunningJob> &running) override;

 private:
  void show();

  std::size_t all_ = 0, done_ = 0, compiled_ = 0, failed_ = 0;
  std::map<std::size_t, std::string> running_;  // names by number
  builder::Clock::time_point start_{};          // when the first job started
};

// Default limit of a job's process, in bytes.
inline constexpr std::uint64_t kJobMemory = std::uint64_t{4} << 30;

// The contents to build from, and the variants that failed in the host step or have no IL.
struct Input {
  packs::Contents contents;
  std::vector<builder::VariantFailure> failures;
  std::vector<builder::VariantFailure> without_il;
  // What a manifest's contents were made of: the manifest, its sources, the files that these
  // include, and the host tools. Empty for a base pack or a spool.
  std::set<std::string> files{};
  std::size_t stored = 0;  // variants whose host step was in the store

  int exit_code() const { return failures.empty() ? kDone : kSomeFailed; }
};

// Paths of the host tools, by the variables KILN_CLANG, KILN_LLVM_SPIRV and KILN_SPIRV_VAL; empty:
// they are searched for.
struct HostTools {
  std::string clang = variable("KILN_CLANG");
  std::string llvm_spirv = variable("KILN_LLVM_SPIRV");
  std::string spirv_val = variable("KILN_SPIRV_VAL");
};
bool is_manifest(const std::string &path);  // decides by the file name
// Returns the contents to build from: a pack without its targets, or a manifest after its host
// step. Prints every error and compiler message itself. If there is nothing to build from, returns
// nothing and sets `*exit_code`.
std::optional<Input> compile_manifest(const Result<builder::Manifest> &manifest,
                                      const std::string &path, const HostTools &tools,
                                      const builder::HostStepOptions &options, int *exit_code);
std::optional<Input> read_input(const std::string &path, const HostTools &tools,
                                const builder::HostStepOptions &options, int *exit_code);

// Adds --root, a folder of a manifest's paths.
void add_root_option(CLI::App &command, builder::Roots *roots);

}  // namespace kiln::cli
