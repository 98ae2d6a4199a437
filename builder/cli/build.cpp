// SPDX-License-Identifier: Apache-2.0
// kiln build: the plan, its jobs and their results; with --dry-run the plan alone.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "builder/base/table.hpp"
#include "builder/base/this_process.hpp"
#include "builder/cli/shared/common.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/compiling.hpp"
#include "builder/cli/shared/parse.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/jobs/build_observer.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/jobs/earlier_binaries.hpp"
#include "builder/jobs/plan.hpp"
#include "builder/store/maintenance.hpp"
#include "builder/virtual/virtual_devices.hpp"

namespace kiln::cli {
namespace {

// Values of --fresh.
constexpr char kAll[] = "all";
constexpr char kFailed[] = "failed";
constexpr char kNone[] = "none";

struct BuildArguments {
  builder::BuildOptions build;
  std::string selector;
  std::vector<std::string> virtual_devices;
  std::string output;
  HostTools tools;
  std::string fresh;  // one of the values, or empty
  builder::Roots roots;
  packs::WriteOptions write;
  std::int64_t store_size = std::int64_t{5} << 30;  // bytes; 0: no limit
  bool dry_run = false;
  bool json = false;
  std::string events;  // file
};

// Output for the events of a command, one JSON line each.
class EventOutput {
 public:
  // Opens the output: "-" is standard output, "" writes nowhere, and an existing file is emptied.
  // Fails with Code::failed.
  Status open(const std::string &path);

  // Writes and flushes one line. The first failed write is reported once, on standard error; the
  // command goes on all the same.
  void write(const nlohmann::json &event);

 private:
  bool is_standard_output() const { return path_ == "-"; }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file_{nullptr, std::fclose};
};

Status EventOutput::open(const std::string &path) {
  path_ = path;
  if (path.empty() || is_standard_output()) return {};
  file_.reset(std::fopen(path.c_str(), "we"));  // close-on-exec
  return file_ ? Status() : Status(Code::failed, path + ": " + std::strerror(errno));
}

void EventOutput::write(const nlohmann::json &event) {
  const std::string line =
      event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (is_standard_output()) {
    print_as_is(line);
    std::fflush(stdout);  // end_output() reports the failure
    return;
  }
  if (!file_) return;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (written && std::fflush(file_.get()) == 0) return;
  complain(path_ + ": no more events: " + std::strerror(errno));
  file_.reset();
}

Status check_architecture(const std::string &text) {
  if (builder::parse_architecture(text)) return {};
  return {Code::bad_argument,
          "\"" + text + "\" is no architecture of NVIDIA's: expected sm_ and two or three digits"};
}

Status check_spec(const std::string &text) { return builder::parse_virtual_spec(text).status(); }

bool has_linker(const builder::DeviceInfo &device) {
  return device.virtual_device == nullptr &&
         device.description.finishing == runtime::Finishing::linker;
}

// Fails if a spec is of that backend and the variable names something that is no folder.
Status check_root(const std::vector<builder::VirtualSpec> &specs, const char *backend,
                  const char *name) {
  const std::string root = variable(name);
  const bool is_asked = std::any_of(specs.begin(), specs.end(),
                                    [&](const auto &spec) { return spec.backend == backend; });
  std::error_code error;
  if (!is_asked || root.empty() || std::filesystem::is_directory(root, error)) return {};
  return {Code::bad_argument, fmt::format("{}: {}: no such folder", name, root)};
}

// Returns the devices of this machine that --device names, and the virtual devices; without
// --device, only the virtual devices if any are asked for. The variables KILN_NEO_ROOT and
// KILN_MESA_ROOT name where Intel's driver and Mesa are, and KILN_MESA_PROGRAM names a Kiln of the
// latter's architecture. Virtual devices that cannot be made are
// printed and set `*exit_code`; if no device is left, fails with Code::no_device. Fails with
// Code::bad_argument if --gpu-arch is given and none of the devices is an NVIDIA device of this
// machine.
Result<std::vector<builder::DeviceInfo>> find_all_devices(const BuildArguments &options,
                                                          int *exit_code) {
  if (Status s = leave_out_driver_variables(); !s.ok()) return s;
  std::vector<builder::DeviceInfo> devices;
  if (options.virtual_devices.empty() || !options.selector.empty()) {
    if (Status s = find_devices(options.selector).move_to(&devices); !s.ok()) return s;
  }
  if (!options.build.gpu_archs.empty() &&
      std::none_of(devices.begin(), devices.end(), has_linker)) {
    return Status(Code::bad_argument,
                  "--gpu-arch needs a device of NVIDIA's that tells its compute capability");
  }
  std::vector<builder::VirtualSpec> specs;
  for (const std::string &text : options.virtual_devices)
    specs.push_back(*builder::parse_virtual_spec(text));
  const std::filesystem::path data = builder::executable_folder() / KILN_DATA_FROM_BIN;
  const builder::VirtualTools tools{variable("KILN_NEO_ROOT"), variable("KILN_MESA_ROOT"),
                                    variable("KILN_MESA_PROGRAM"),
                                    (data / "virtual").lexically_normal()};
  if (Status s = check_root(specs, "neo", "KILN_NEO_ROOT"); !s.ok()) return s;
  if (Status s = check_root(specs, "mesa", "KILN_MESA_ROOT"); !s.ok()) return s;
  builder::VirtualDevices found = builder::find_virtual_devices(specs, tools, devices);
  for (const std::string &note : found.notes) complain(note);
  for (builder::DeviceInfo &device : found.devices) devices.push_back(std::move(device));
  if (!devices.empty()) {
    for (const Status &failure : found.failures) complain(failure.message);
    if (!found.failures.empty()) *exit_code = kSomeFailed;
    return devices;
  }
  std::string text;
  for (const Status &failure : found.failures) {
    text += (text.empty() ? "" : "\n") + failure.message;
  }
  return Status(Code::no_device, text);
}

// Returns the pack at the output's path; an empty pack if there is no file. Fails as read_pack()
// does for any other file, which may hold data that cannot be made again.
Result<packs::Contents> earlier_contents(const BuildArguments &options) {
  if (options.build.store.fresh || options.output.empty() ||
      !std::filesystem::exists(options.output)) {
    return packs::Contents{};
  }
  auto open = read_pack(options.output);
  if (open.ok()) return std::move(open->contents);
  Status status = open.status();
  status.message += "\nkiln: it is not replaced; give another output, or --fresh";
  return status;
}

std::string summary_text(const BuildArguments &options, const builder::BuildResult &result,
                         bool up_to_date) {
  return fmt::format(
      "{}: {}{}; binaries: {} compiled, {}{}{} reused, {} skipped, {} failed{}{}{}{}\n",
      options.output, up_to_date ? "up to date; " : "",
      count(result.contents.targets.size(), "target"), result.compiled,
      result.stored == 0 ? "" : fmt::format("{} from the store, ", result.stored),
      result.proven == 0 ? "" : fmt::format("{} proven again, ", result.proven), result.reused,
      result.skipped, result.failures.size(),
      result.left_out.empty() ? "" : fmt::format("; {} left out", result.left_out.size()),
      result.worked_around.empty()
          ? ""
          : fmt::format("; {} with a workaround", result.worked_around.size()),
      result.unfinished.empty() ? "" : fmt::format("; {} not final", result.unfinished.size()),
      options.build.shard.count == 1 ? ""
                                     : fmt::format("; {} of other shards", result.other_shards));
}

nlohmann::json summary_json(const BuildArguments &options, const builder::BuildResult &result,
                            bool up_to_date) {
  const auto listed = [](const std::vector<builder::JobFailure> &jobs, const char *key) {
    nlohmann::json list = nlohmann::json::array();
    for (const builder::JobFailure &one : jobs) list.push_back({{"job", one.job}, {key, one.text}});
    return list;
  };
  nlohmann::json worked_around = nlohmann::json::array();
  for (const auto &[job, fault] : result.worked_around) {
    worked_around.push_back({{"job", job},
                             {"workaround", fault.workaround},
                             {"fault", fault.what},
                             {"percent_slower", fault.slower}});
  }
  return {{"schema", 1},
          {"output", options.output},
          {"targets", result.contents.targets.size()},
          {"compiled", result.compiled},
          {"stored", result.stored},
          {"proven", result.proven},
          {"reused", result.reused},
          {"skipped", result.skipped},
          {"other_shards", result.other_shards},
          {"up_to_date", up_to_date},
          {"failures", listed(result.failures, "error")},
          {"left_out", listed(result.left_out, "reason")},
          {"unfinished", listed(result.unfinished, "reason")},
          {"limits_not_checked", listed(result.limits_not_checked, "limits")},
          {"worked_around", std::move(worked_around)}};
}

// Prints the summary, and writes it as the last event. If the events go to standard output, that
// event replaces the printed summary.
void print_summary(const BuildArguments &options, const builder::BuildResult &result,
                   bool up_to_date, int exit_code, builder::BuildEvents *events) {
  nlohmann::json summary = summary_json(options, result, up_to_date);
  if (options.events != "-") {
    options.json ? print(summary) : print(summary_text(options, result, up_to_date));
  }
  summary["exit_code"] = exit_code;
  if (!options.events.empty()) events->end(summary);
}

const char *need_name(builder::Need need) {
  switch (need) {
    case builder::Need::compile: return "compile";
    case builder::Need::prove: return "prove";
    case builder::Need::reuse: return "reuse";
    case builder::Need::skip: return "skip";
    case builder::Need::other_shard: break;  // not shown
  }
  return "";
}

// Prints the jobs that a build would run, and why each is needed.
void print_plan(const BuildArguments &options, const packs::Contents &base,
                const std::vector<builder::DeviceInfo> &devices, const packs::Contents &earlier) {
  const builder::JobPlan planned = builder::plan_build(base, devices, earlier, options.build);
  if (!planned.store_status.ok()) {
    complain("going on without the store: " + planned.store_status.message);
  }
  const auto &[plan, stored, ignored] = planned;
  nlohmann::json jobs = nlohmann::json::array();
  std::string text;
  std::size_t other_shards = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const builder::PlannedJob &job = plan[i];
    if (job.need == builder::Need::other_shard) {
      ++other_shards;
      continue;
    }
    const packs::Program &program = base.programs[job.program];
    if (options.json) {
      jobs.push_back({{"job", builder::job_name(base, devices, job)},
                      {"program", program.name},
                      {"variant", program.variants[job.variant].name},
                      {"device", devices[job.device].label()},
                      {"key_hash", packs::hex64(devices[job.device].description.key.hash())},
                      {"need", need_name(job.need)},
                      {"stored", static_cast<bool>(stored[i])},
                      {"reason", job.reason}});
    } else {
      text += fmt::format("{}\t{}: {}{}\n", need_name(job.need),
                          builder::printable_line(builder::job_name(base, devices, job)),
                          job.reason, stored[i] ? "; the store has it" : "");
    }
  }
  if (options.json) {
    return print(nlohmann::json{{"schema", 1}, {"jobs", jobs}, {"other_shards", other_shards}});
  }
  if (options.build.shard.count != 1) text += count(other_shards, "job") + " of other shards\n";
  print(builder::table_text(text));
}

// Writes the pack into the first folder that takes it, since its own does not, and returns the
// status with the place.
Status write_elsewhere(const BuildArguments &options, const packs::Contents &contents,
                       Status status) {
  namespace fs = std::filesystem;
  if (status.code == Code::blob_corrupt) return status;
  std::error_code ignored;
  // A command's own temporary folder goes with it.
  const fs::path folders[] = {fs::path(options.build.store.file).parent_path(),
                              fs::current_path(ignored),
                              fs::temp_directory_path(ignored).parent_path()};
  const std::string name =
      fmt::format("{}-{}", fs::path(options.output).filename().string(), getpid());
  for (const fs::path &folder : folders) {
    if (folder.empty() || folder == folder.root_path()) continue;
    const std::string path = (folder / name).string();
    if (!packs::write_pack(contents, path, options.write).ok()) continue;
    status.message += "\nkiln: the pack is written to " + path + " instead";
    break;
  }
  return status;
}

// Writes the pack together with the contents now at the output's path, to which another command may
// have added.
Status write(const BuildArguments &options, const std::vector<builder::DeviceInfo> &devices,
             builder::BuildResult *result) {
  const packs::FolderLock lock = lock_output(options.output);
  auto now = earlier_contents(options);
  packs::Contents *contents = &result->contents;
  if (!now.ok()) return write_elsewhere(options, *contents, now.status());
  builder::drop_other_mesas(devices, &*now);
  result->keep(*now);
  // Measurements outlive a build, unless their text has changed.
  if (const std::size_t others = packs::merge_tunings(now->tunings, contents)) {
    complain(fmt::format("left out {}, of variants that have changed or are gone",
                         count(others, "measurement")));
  }
  Status status = write_output(*contents, options.output, options.write);
  return status.ok() ? status : write_elsewhere(options, *contents, std::move(status));
}

// Whether the pack at the output's path already equals the pack to write.
bool is_up_to_date(const BuildArguments &options, packs::Contents *earlier,
                   builder::BuildResult *result) {
  const bool anew = options.build.store.fresh || options.write.purpose;
  if (anew || result->compiled + result->stored + result->proven > 0) return false;
  (void)packs::merge_tunings(earlier->tunings, &result->contents);
  return builder::same_contents(earlier, &result->contents);
}

// Prints each log once, with the jobs that have it.
void print_failures(const std::vector<builder::JobFailure> &failures) {
  for (const builder::FailureGroup &group : builder::group_failures(failures)) {
    if (group.jobs.size() == 1) {
      complain(fmt::format("{}: {}", builder::printable_line(group.jobs.front()), group.text));
      continue;
    }
    complain(fmt::format("{} failed alike: {}", count(group.jobs.size(), "job"), group.text));
    for (const std::string &job : group.jobs) pass_on("  " + builder::printable_line(job));
  }
}

// Prints each reason once, with the first of its jobs.
void print_unfinished(const std::vector<builder::JobFailure> &jobs) {
  for (const builder::FailureGroup &group : builder::group_failures(jobs)) {
    const std::size_t more = group.jobs.size() - 1;
    complain(fmt::format("{}{}: not final: {}{}", builder::printable_line(group.jobs.front()),
                         more == 0 ? "" : fmt::format(" and {} more", more), group.text,
                         group.text == builder::kNoLaunch
                             ? "; describe one in a manifest, or record the application"
                             : ""));
  }
}

std::string workaround_text(const std::string &job, const builder::JobFault &fault) {
  return fmt::format(
      "{}: workaround: {}{}; as it is: {}", builder::printable_line(job), fault.workaround,
      fault.slower == 0 ? "" : fmt::format(", {}% slower", fault.slower), fault.what);
}

// Prints one line, because the list may name every program of a manifest.
void print_missing_references(const std::vector<std::string> &references) {
  if (references.empty()) return;
  complain(fmt::format(
      "{}; results are compared with the program built from source instead{}", references.front(),
      references.size() == 1
          ? ""
          : fmt::format("; so are those of {}", count(references.size() - 1, "other program"))));
}

std::string interrupted_text(const BuildArguments &options) {
  if (options.build.store.file.empty()) return "interrupted; without a store nothing of it is kept";
  return "interrupted; the store has the jobs that ended, and the same command goes on from there";
}

// For a manifest; the host's jobs are in the same store as the devices'.
builder::HostStepOptions host_options(const BuildArguments &options) {
  const builder::StoreOptions &store = options.build.store;
  return {options.build.jobs, store.fresh ? "" : store.file, options.roots};
}

int dry_run(const BuildArguments &options) {
  auto earlier = earlier_contents(options);
  if (!earlier.ok()) return fail(earlier.status());
  int exit_code = kDone;
  const auto base =
      read_input(options.build.input, options.tools, host_options(options), &exit_code);
  if (!base) return exit_code;
  exit_code = base->exit_code();
  const auto devices = find_all_devices(options, &exit_code);
  if (!devices.ok()) return fail(devices.status());
  builder::drop_other_mesas(*devices, &*earlier);
  print_plan(options, base->contents, *devices, *earlier);
  return exit_code;
}

// Removes the jobs that were not used for the longest from a store over its limit.
void keep_store_small(const BuildArguments &options) {
  const std::string &file = options.build.store.file;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  const auto most = static_cast<std::uintmax_t>(options.store_size);
  if (file.empty() || most == 0 || error || size <= most) return;
  auto store = builder::Store::open(file);
  const Status status =
      store.ok() ? builder::collect_garbage(*store, options.store_size) : store.status();
  if (!status.ok()) complain("the store is not made smaller: " + status.message);
}

int run(const BuildArguments &options) {
  if (options.dry_run) return dry_run(options);
  if (options.output.empty()) {
    return fail({Code::bad_argument, "kiln build needs -o or --dry-run; see 'kiln build --help'"});
  }
  supervise_command(interrupted_text(options));
  const Status writable = check_output(options.output, is_manifest(options.build.input)
                                                           ? std::vector{options.build.input}
                                                           : std::vector<std::string>{});
  if (!writable.ok()) return fail(writable);
  auto earlier = earlier_contents(options);
  if (!earlier.ok()) return fail(earlier.status());
  EventOutput output;
  if (Status s = output.open(options.events); !s.ok()) return fail(s);
  int exit_code = kDone;
  const auto base =
      read_input(options.build.input, options.tools, host_options(options), &exit_code);
  if (!base) return exit_code;
  exit_code = base->exit_code();
  if (base->contents.programs.empty() && !base->failures.empty()) return kBadManifest;  // printed
  const auto devices = find_all_devices(options, &exit_code);
  if (!devices.ok()) return fail(devices.status());
  builder::drop_other_mesas(*devices, &*earlier);
  builder::BuildEvents events([&](const nlohmann::json &event) { output.write(event); });
  BuildProgress progress;
  builder::Observers observers({&progress, &events});
  builder::BuildResult result = builder::build_on_devices(
      base->contents, *devices, *earlier, options.build,
      options.events.empty() ? static_cast<builder::BuildObserver *>(&progress) : &observers);
  end_progress();
  if (!result.store_status.ok()) {
    complain("going on without the store: " + result.store_status.message);
  }
  print_missing_references(result.missing_references);
  print_failures(result.failures);
  if (!result.failures.empty()) exit_code = kSomeFailed;
  for (const builder::JobFailure &one : result.left_out) {
    complain(fmt::format("{}: left out: {}", builder::printable_line(one.job), one.text));
  }
  print_unfinished(result.unfinished);
  for (const auto &[job, fault] : result.worked_around) complain(workaround_text(job, fault));
  for (const builder::JobFailure &one : result.limits_not_checked) {
    complain(fmt::format("{}: limits not checked: the compiler tells no {}",
                         builder::printable_line(one.job), one.text));
  }
  if (const std::size_t beyond = result.not_kept.beyond; beyond != 0) {
    complain(count(beyond, "earlier binary") + " left out: beyond the limits of the variant");
  }
  if (const std::size_t stale = result.not_kept.stale; stale != 0) {
    complain(count(stale, "proof") +
             " of binaries for other devices dropped: the arguments, sizes, tolerance or reference "
             "have changed");
  }
  for (const builder::VariantFailure &failure : base->failures) {  // already printed
    result.failures.push_back({failure.program + "/" + failure.variant, failure.status.message});
  }
  const bool up_to_date = is_up_to_date(options, &*earlier, &result);
  if (!up_to_date) {
    if (Status s = write(options, *devices, &result); !s.ok()) return fail(s);
  }
  print_summary(options, result, up_to_date, exit_code, &events);
  if (result.store_status.ok()) keep_store_small(options);
  return exit_code;
}

}  // namespace

void add_build(CLI::App &app, Command *command) {
  auto options = std::make_shared<BuildArguments>();
  options->build.limits.memory = kJobMemory;
  options->build.store.file = builder::default_store();
  CLI::App *sub = app.add_subcommand(
      "build", "Compile every variant with the drivers of this machine, and pack the binaries");
  sub->add_option("input", options->build.input, "Manifest (.toml) or base pack")->required();
  add_device_option(*sub, &options->selector);
  sub->add_option("--virtual", options->virtual_devices,
                  "Build for absent devices, such as neo:skl,tgllp; BACKEND is 'neo', 'mesa' or "
                  "a compiler's description, such as nvidia.toml; repeatable. This machine's "
                  "devices are then left out unless --device names them")
      ->expected(1)
      ->take_all()
      ->check(as_validator(check_spec, ""))
      ->type_name("BACKEND:MODEL,...");
  add_output_option(*sub, &options->output,
                    "Pack to write; if it exists, its targets and measurements are kept");
  sub->add_flag("--dry-run", options->dry_run,
                "Show the jobs, and why each is needed; run none and write nothing");
  add_timeout_option(*sub, &options->build.limits.timeout,
                     "Seconds that each step of a job may take");
  add_jobs_option(*sub, &options->build.jobs);
  add_root_option(*sub, &options->roots);
  sub->add_option("--memory", options->build.limits.memory,
                  "Memory limit of each job's process, such as 512M or 8G; 0: none")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 50).description(""))
      ->type_name("BYTES")
      ->default_str("4G");
  sub->add_flag("--preferred", options->build.preferred,
                "Compile one variant of each program: the first in the manifest's 'prefer' that "
                "the device can run; binaries of other variants in the output are kept");
  sub->add_flag_callback(
      "--no-finish", [=] { options->build.finish = false; },
      "Pack binaries as the driver gives them; first launches may then compile");
  add_reference_options(*sub, &options->build.references);
  sub->add_flag("--require-proof", options->build.require_proof,
                "Fail new binaries whose results could not be compared")
      ->excludes("--no-check");
  const auto set_gpu_archs = [=](const std::vector<std::string> &architectures) {
    for (const std::string &text : architectures) {
      options->build.gpu_archs.push_back(*builder::parse_architecture(text));
    }
  };
  sub->add_option_function<std::vector<std::string>>(
         "--gpu-arch", set_gpu_archs,
         "With an NVIDIA device, also build for later architectures, such as sm_100,sm_120; "
         "that code is marked as never run")
      ->delimiter(',')
      ->check(as_validator(check_architecture, ""))
      ->type_name("ARCH,...");
  const auto set_shard = [=](const std::string &text) {
    const auto parsed = builder::parse_shard(text);
    if (!parsed.ok()) throw CLI::ValidationError("--shard", parsed.status().message);
    options->build.shard = *parsed;
  };
  sub->add_option_function<std::string>(
         "--shard", set_shard, "Run part I of N of the jobs; 'kiln pack merge' joins the N packs")
      ->type_name("I/N");
  sub->add_flag(fmt::format("--fresh{{{}}}", kAll), options->fresh,
                "Reuse nothing from the output or the job store; --fresh=failed: reuse all but "
                "recorded failures; --fresh=none: reuse most, even what others made for these "
                "devices from other references, options or tools")
      ->check(CLI::IsMember({kAll, kFailed, kNone}).description(""));
  sub->add_option(
         "--store-size", options->store_size,
         "Maximum size of the job store (KILN_STORE); the least recently used jobs are removed "
         "first; 0: no limit")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 50).description(""))
      ->type_name("BYTES")
      ->default_str("5G");
  add_compress_option(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->add_option("--events", options->events,
                  "Write progress events to FILE, one line of JSON each; -: standard output")
      ->type_name("FILE");
  sub->callback([=] {
    options->build.store.fresh = options->fresh == kAll;
    options->build.store.retry = options->fresh == kFailed;
    options->build.any_origin = options->fresh == kNone;
    *command = [=] { return run(*options); };
  });
}

}  // namespace kiln::cli
