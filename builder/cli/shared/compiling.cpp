// SPDX-License-Identifier: Apache-2.0
// Prints the host step's faults, each once, and shows how far the jobs are.
#include "builder/cli/shared/compiling.hpp"

#include <cstdlib>
#include <map>

#include <unistd.h>

#include <fmt/format.h>

#include "builder/jobs/device_build.hpp"

namespace kiln::cli {
namespace {

// Prints each text once, because variants of one file have the same faults and warnings.
void pass_on_once(const std::string &text, std::set<std::string> *printed) {
  if (printed->insert(text).second) pass_on(text);
}

// Returns what failures that are alike have in common: the first error without its place.
std::string first_error(const builder::VariantFailure &failure) {
  const std::string &text = failure.status.message;
  const std::string own_name = failure.program + "/" + failure.variant + ": ";
  if (text.starts_with(own_name)) return text.substr(own_name.size());
  const std::size_t at = text.find(": error: ");
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}

// Prints failures that are alike once, with the variants that have them. `of_one` may be empty.
void print_alike(const std::vector<builder::VariantFailure> &failures, const char *of_one,
                 const char *of_several) {
  std::vector<builder::JobFailure> all;
  std::map<std::string, std::string> firsts;  // by what is alike, the first whole message
  for (const builder::VariantFailure &failure : failures) {
    all.push_back({failure.program + "/" + failure.variant, first_error(failure)});
    firsts.emplace(all.back().text, failure.status.message);
  }
  for (const builder::FailureGroup &group : builder::group_failures(all)) {
    pass_on(firsts[group.text]);
    if (group.jobs.size() == 1) {
      if (*of_one != 0) complain(fmt::format(fmt::runtime(of_one), group.jobs.front()));
      continue;
    }
    complain(fmt::format(fmt::runtime(of_several), count(group.jobs.size(), "variant")));
    for (const std::string &job : group.jobs) pass_on("  " + job);
  }
}

void print_faults(const builder::BasePack &base) {
  std::set<std::string> printed;
  for (const std::string &warning : base.warnings) pass_on_once(warning, &printed);
  print_alike(base.failures, base.bad_sources ? "" : "{} does not compile", "{} fail alike:");
  print_alike(base.without_il, "warning: {} has no IL, its source is all there is",
              "warning: {} have no IL, their source is all there is:");
}

}  // namespace

std::optional<Input> compile_manifest(const Result<builder::Manifest> &manifest,
                                      const std::string &path, const HostTools &tools,
                                      const builder::HostStepOptions &options, int *exit_code) {
  if (!manifest.ok()) {
    pass_on(manifest.status().message);
    *exit_code = kBadManifest;
    return std::nullopt;
  }
  builder::ToolchainRequest request;
  request.clang = tools.clang;
  request.llvm_spirv = tools.llvm_spirv;
  request.spirv_val = tools.spirv_val;
  const auto toolchain = builder::find_toolchain(request);
  if (!toolchain.ok()) {
    pass_on(toolchain.status().message);
    *exit_code = kNoDevice;
    return std::nullopt;
  }
  builder::BasePack base =
      builder::make_base_pack(*manifest, path, *toolchain, options,
                              [](const std::string &what, std::size_t done, std::size_t all) {
                                progress("compiling " + what, done, all);
                              });
  end_progress();
  if (!base.store_status.ok()) {
    complain("going on without the store: " + base.store_status.message);
  }
  print_faults(base);
  if (base.bad_sources) {
    *exit_code = kBadManifest;
    return std::nullopt;
  }
  for (const auto *tool : {&toolchain->clang, &toolchain->llvm_spirv, &toolchain->spirv_val}) {
    if (!tool->empty()) base.files.insert(tool->string());
  }
  return Input{std::move(base.contents), std::move(base.failures), std::move(base.without_il),
               std::move(base.files), base.stored};
}

void BuildProgress::planned(const builder::PlanCounts &counts, std::size_t /*workers*/) {
  all_ = counts.compile + counts.prove;
}

void BuildProgress::started(const builder::JobLabel &job, std::size_t /*worker*/) {
  if (start_ == builder::Clock::time_point()) start_ = builder::Clock::now();
  running_.emplace(job.number, job.name);
  show();
}

void BuildProgress::ended(const builder::JobLabel &job, const builder::JobEnd &end) {
  if (end.how == builder::How::reused) return;
  ++done_;
  if (end.binary == nullptr) ++failed_;
  if (running_.erase(job.number) == 0) return;
  ++compiled_;
  show();
}

void BuildProgress::still_running(const std::vector<builder::RunningJob> & /*running*/) { show(); }

void BuildProgress::show() {
  show_progress({done_, all_, compiled_, builder::milliseconds_since(start_) / 1000, failed_,
                 running_.size(), running_.empty() ? "" : running_.begin()->second});
}

bool is_manifest(const std::string &path) {
  return path.size() >= 5 && path.compare(path.size() - 5, 5, ".toml") == 0;
}

std::optional<Input> read_input(const std::string &path, const HostTools &tools,
                                const builder::HostStepOptions &options, int *exit_code) {
  if (is_manifest(path)) {
    auto input = compile_manifest(builder::read_manifest(path, options.roots), path, tools, options,
                                  exit_code);
    if (input) input->files.insert(path);
    return input;
  }
  if (!options.roots.empty()) {
    *exit_code = fail({Code::bad_argument, "--root is for the paths in a manifest"});
    return std::nullopt;
  }
  auto pack = read_checked_pack(path);
  if (!pack.ok()) {
    *exit_code = fail(pack.status());
    return std::nullopt;
  }
  pack->contents.targets.clear();
  return Input{std::move(pack->contents), {}, {}};
}

void add_root_option(CLI::App &command, builder::Roots *roots) {
  command
      .add_option_function<std::vector<std::string>>(
          "--root",
          [roots](const std::vector<std::string> &all) {
            for (const std::string &one : all) {
              const std::size_t equals = one.find('=');
              if (equals == std::string::npos || equals == 0 || equals + 1 == one.size()) {
                throw CLI::ValidationError("--root", "expected NAME=DIR, not " + one);
              }
              (*roots)[one.substr(0, equals)] = one.substr(equals + 1);
            }
          },
          "Use DIR for NAME in manifest paths of the form NAME:PATH; overrides [roots]; repeatable")
      ->type_name("NAME=DIR")
      ->expected(1)
      ->take_all();
}

}  // namespace kiln::cli
