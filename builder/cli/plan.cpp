// SPDX-License-Identifier: Apache-2.0
// kiln plan: what a build would do.
#include "builder/jobs/plan.hpp"

#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/jobs/device_build.hpp"

namespace kiln::cli {
namespace {

struct PlanArguments {
  std::string input;
  std::string selector;
  VirtualOptions virtual_devices;
  std::string output;
  std::string store;
  HostTools tools;
  JobChoice how;
  builder::Shard shard;
  bool json = false;
};

const char *need_name(builder::Need need) {
  switch (need) {
    case builder::Need::compile: return "compile";
    case builder::Need::reuse: return "reuse";
    case builder::Need::skip: return "skip";
    case builder::Need::other_shard: break;  // not shown
  }
  return "";
}

// Returns for each job whether the store has it; false for all jobs if the store cannot be used.
std::vector<bool> in_store(const PlanArguments &options, const packs::Contents &base,
                           const std::vector<builder::DeviceInfo> &devices,
                           const std::vector<packs::Tuning> &tunings,
                           const std::vector<builder::Job> &plan) {
  builder::BuildOptions build;
  build.finish = !options.how.no_finish;
  build.preferred = options.how.preferred;
  build.also = options.how.also;
  build.references = options.how.references;
  build.input = options.input;
  build.store.file = store_file(options.store);
  auto stored = builder::stored_jobs(base, devices, tunings, plan, build);
  if (stored.ok()) return *std::move(stored);
  complain("going on without the store: " + stored.status().message);
  return std::vector<bool>(plan.size(), false);
}

int run(const PlanArguments &options) {
  int exit_code = kDone;
  const auto input = read_input(options.input, options.tools, &exit_code);
  if (!input) return exit_code;
  const packs::Contents &base = input->contents;
  exit_code = input->exit_code();
  const auto devices = find_all_devices(options.selector, options.virtual_devices,
                                        options.tools.clang, options.how.also, &exit_code);
  if (!devices.ok()) return fail(devices.status());
  packs::Contents earlier;
  if (!options.output.empty()) {
    const auto pack = open_pack(options.output);
    if (!pack.ok()) return fail(pack.status());
    earlier = pack->contents;
  }
  nlohmann::json jobs = nlohmann::json::array();
  packs::Contents records;
  packs::merge_records(base, &records);
  packs::merge_records(earlier, &records);
  const auto plan =
      builder::make_plan(base, *devices, earlier.targets,
                         {!options.how.no_finish, records.tunings, options.how.also,
                          options.how.preferred, options.shard, options.how.require_proof});
  const std::vector<bool> stored = in_store(options, base, *devices, records.tunings, plan);
  std::size_t other_shards = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const builder::Job &job = plan[i];
    if (job.need == builder::Need::other_shard) {
      ++other_shards;
      continue;
    }
    const packs::Program &program = base.programs[job.program];
    if (options.json) {
      jobs.push_back({{"program", program.name},
                      {"variant", program.variants[job.variant].name},
                      {"device", (*devices)[job.device].label()},
                      {"need", need_name(job.need)},
                      {"stored", static_cast<bool>(stored[i])},
                      {"reason", job.reason}});
    } else {
      print(fmt::format("{:8} {}: {}{}\n", need_name(job.need),
                        builder::printable_line(builder::job_name(base, *devices, job)), job.reason,
                        stored[i] ? "; the store has it" : ""));
    }
  }
  if (options.json) {
    print(nlohmann::json{{"schema", 1}, {"jobs", jobs}, {"other_shards", other_shards}});
  } else if (options.shard.count != 1) {
    print(fmt::format("{} of other shards\n", count(other_shards, "job")));
  }
  return exit_code;
}

}  // namespace

void add_plan(CLI::App &app, Command *command) {
  auto options = std::make_shared<PlanArguments>();
  CLI::App *sub =
      app.add_subcommand("plan", "Show the jobs that a build would run, and why each is needed");
  sub->add_option("input", options->input, "Manifest (.toml) or base pack")->required();
  add_device_option(*sub, &options->selector);
  add_virtual_options(*sub, &options->virtual_devices);
  sub->add_option("--have", options->output, "A pack that was built before");
  add_store_option(*sub, &options->store);
  add_host_tools(*sub, &options->tools);
  add_job_options(*sub, &options->how);
  add_shard_option(*sub, &options->shard);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
