// SPDX-License-Identifier: Apache-2.0
// What an application's start costs until the first results: from source, from the driver's own
// binaries, from final code in memory, and through Kiln.
//
//     kiln_startup PACK [--device DEVICE] [--program NAME] [--rounds N] [--where]
//
// Measures each device on a small problem. Of each program with a binary for the device, uses the
// variant and the work-group sizes that the runtime chooses; leaves out programs that Kiln cannot
// launch, or, if it can launch none, measures all of them until their kernels exist. The five ways
// to start take turns, round by round, each in a fresh process, so that a change of the machine's
// speed affects all of them. Prints JSON, which startup_table.py shows as a table.
//
// Exit codes: 0, 1 if a device has no figures, or else nothing could be measured.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "builder/finish/launch_twice.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/inspect/pack_files.hpp"
#include "builder/jobs/earlier_binaries.hpp"
#include "builder/machine/build_source.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/tune/sampler.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/load/tuning.hpp"
#include "runtime/provision/mesa_cache.hpp"
#include "tests/bench/timed_calls.hpp"
#include "tests/bench/timed_starts.hpp"
#include "tests/bench/where_table.hpp"

namespace kiln::test {
namespace {

using namespace builder;
using builder::Code;
using builder::Result;
using builder::Status;
using nlohmann::json;

constexpr double kSlowStart = 1000;            // milliseconds; see StartupOptions::rounds
constexpr std::chrono::seconds kTimeout{120};  // of one process

// Milliseconds, each the median over fresh processes with empty driver caches. The times do not
// include loading OpenCL or making the context and the memory for kernels.
struct StartupTime {
  double kernels = 0;         // until every kernel exists
  double results = 0;         // until the first launch of every program ends; 0: not executed
  std::size_t processes = 0;  // number of measured processes
};

// The first result of a program through Kiln: the medians of its first and second launch.
struct FirstResult {
  std::string program;
  std::string variant;
  double first = 0;
  double second = 0;
  bool compiles = false;  // the driver's cache grew; else FirstLaunch::compiles() in every process
};

struct StartupRow {
  std::string device;
  std::size_t programs = 0;  // number started in each process, one after the other
  bool executes = false;     // false: only builds and loads, so the times to the kernels count
  StartupTime source;        // clCreateProgramWithSource, build, kernels, launch
  StartupTime driver;        // the same with the binary from clGetProgramInfo before any launch
  StartupTime floor;         // the same with the pack's binaries, from memory
  StartupTime kiln;          // open the pack, identify the device, load and launch every program
  StartupTime overlay;       // the second start of an application whose pack has no binary
  std::optional<std::size_t> overlay_compiling{};  // programs that compile in the overlay's start
  std::vector<FirstResult> firsts{};
  std::map<std::size_t, double> prefetched{};  // as kiln, with kiln_prefetch() on so many threads
  std::string where{};                         // where_table(), in place of the figures
  Status status{};                             // after a failure there are no figures

  // Returns the time that a person waits.
  double waited(const StartupTime &time) const { return executes ? time.results : time.kernels; }
  double ratio(const StartupTime &time) const {
    return waited(floor) > 0 ? waited(time) / waited(floor) : 0;
  }
  double microseconds_above_floor() const {  // microseconds for each program
    return programs == 0 ? 0
                         : 1000 * (waited(kiln) - waited(floor)) / static_cast<double>(programs);
  }
};

struct StartupOptions {
  std::string pack_path;
  std::string device;       // index, or glob over names; empty: all
  std::string program;      // empty: all
  std::size_t rounds = 30;  // fresh processes of each kind; a quarter for starts over 1 s
  std::vector<std::size_t> threads{};  // numbers of threads that prefetch, each measured as well
  bool where = false;                  // show where the time goes
};

// A temporary folder for Mesa's cache, filled with the entries of a target and its binaries.
// Methods fail with Code::failed.
class MesaCache {
 public:
  static Result<MesaCache> make(const packs::Contents &contents, const std::string &key) {
    auto folder = TemporaryFolder::make();
    if (!folder.ok()) return folder.status();
    MesaCache cache(*std::move(folder));
    std::map<std::string, runtime::MesaJoin> joins;
    for (const packs::Target &target : contents.targets) {
      if (target.key != key) continue;
      add(target.cache_entries, &joins);
      for (const packs::Binary &binary : target.binaries) add(binary.cache_entries, &joins);
    }
    for (const auto &[place, join] : joins) {
      if (Status s = cache.write(place, join); !s.ok()) return s;
    }
    return cache;
  }

  // Makes a copy below `into` for one process. The next copy replaces it, and everything compiled
  // there is gone.
  Result<std::string> copy(const TemporaryFolder &into) const {
    const std::filesystem::path place = std::filesystem::path(into.path()) / "provisioned";
    std::error_code error;
    std::filesystem::remove_all(place, error);
    if (!error) {
      std::filesystem::copy(folder_.path(), place, std::filesystem::copy_options::recursive, error);
    }
    if (error) return Status(Code::failed, place.string() + ": " + error.message());
    return place.string();
  }

 private:
  explicit MesaCache(TemporaryFolder folder) : folder_(std::move(folder)) {}

  // Leaves out what cannot be read: Mesa compiles missing entries, which is noticed.
  static void add(const std::optional<packs::BlobSource> &blob,
                  std::map<std::string, runtime::MesaJoin> *joins) {
    packs::Bytes bytes;
    runtime::MesaBlob parsed;
    if (blob && blob->read(&bytes).ok() &&
        runtime::parse_mesa_blob({bytes.data(), bytes.size()}, &parsed).ok()) {
      (*joins)[std::string(parsed.place)].add(parsed.entries);
    }
  }

  Status write(const std::string &place, const runtime::MesaJoin &join) const {
    runtime::FozFiles files;
    join.finish(&files);
    const std::filesystem::path where = std::filesystem::path(folder_.path()) / kMesaRoot / place;
    std::error_code error;
    std::filesystem::create_directories(where, error);
    if (error) return {Code::failed, where.string() + ": " + error.message()};
    const auto save = [&](const char *name, const packs::Bytes &bytes) {
      std::ofstream(where / name, std::ios::binary)
          .write(reinterpret_cast<const char *>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    };
    save("kiln.foz", files.foz);
    save("kiln_idx.foz", files.index);
    return {};
  }

  TemporaryFolder folder_;
};

// Runs in a child: returns the variant that the runtime chooses for each program, as {"program":
// "variant"}. Leaves out programs that the device cannot run.
json choose_variants(const DeviceInfo &info, const std::string &pack_path) {
  PackOnDevice opened;
  if (const Status s = opened.open(info, pack_path); !s.ok()) return to_json(s);
  json chosen = json::object();
  for (const packs::Program &program : opened.contents.programs) {
    runtime::Choice choice;
    const Status status = runtime::choose_variant(opened.file(), *opened.child.device, program.name,
                                                  {}, packs::SizeClass::small, {}, &choice);
    if (status.ok()) chosen[program.name] = choice.variant.name();
  }
  return {{"chosen", chosen}};
}

// A workload that only names the variant's kernels.
Workload kernels_alone(const packs::Variant &variant) {
  Workload workload;
  for (const packs::Kernel &kernel : variant.kernels) {
    workload.stages.emplace_back().kernel = kernel.name;
  }
  return workload;
}

Status read_item(const packs::Program &program, const packs::Variant &variant,
                 const packs::Binary &binary, bool launches, std::vector<StartItem> *items) {
  auto workload = launches ? plan_workload(program, variant, small_problem(program), {})
                           : Result<Workload>(kernels_alone(variant));
  if (!workload.ok()) return {};  // Kiln does not launch it
  StartItem item;
  item.program = program.name;
  item.variant = variant.name;
  item.options = variant.options;
  item.workload = *std::move(workload);
  if (auto s = variant.source->read(&item.source); !s.ok()) return s;
  if (auto s = binary.blob.read(&item.binary); !s.ok()) return s;
  items->push_back(std::move(item));
  return {};
}

Status collect_items(const packs::Contents &contents, const std::string &key, const json &chosen,
                     const std::string &only, bool launches, std::vector<StartItem> *items) {
  const EarlierBinaries built(contents.targets);
  for (const packs::Program &program : contents.programs) {
    if (!only.empty() && program.name != only) continue;
    const packs::Variant *variant = find_variant(program, chosen.value(program.name, ""));
    if (variant == nullptr || !variant->source) continue;
    const packs::Binary *binary = built.binary(key, variant->hash);
    const bool intermediate = binary == nullptr;
    if (intermediate) binary = built.intermediate(key, variant->hash);
    if (binary == nullptr) continue;
    const std::size_t before = items->size();
    if (auto s = read_item(program, *variant, *binary, launches, items); !s.ok()) return s;
    if (items->size() > before) items->back().intermediate = intermediate;
  }
  return {};
}

// Runs in a child: returns the binary that the driver gives for each item before any launch.
json driver_binaries(const DeviceInfo &info, const std::vector<StartItem> &items) {
  OpenedDevice child;
  if (const Status s = child.open(info); !s.ok()) return to_json(s);
  json binaries = json::array();
  for (const StartItem &item : items) {
    std::vector<runtime::ExpectedKernel> none;
    const auto outcome = build_source(*child.device, child.context.get(),
                                      {item.source.data(), item.source.size()}, item.options, none);
    packs::Bytes bytes;
    Status status = outcome.error;
    for (const Stage &stage : item.workload.stages) {
      cl_int code = CL_SUCCESS;
      if (status.ok()) {
        child.device->cl->clCreateKernel(outcome.built.program.get(), stage.kernel.c_str(), &code);
      }
    }
    if (status.ok()) {
      status = runtime::program_binary(*child.device, outcome.built.program.get(), &bytes);
    }
    if (!status.ok()) return to_json(Status(status.code, item.program + ": " + status.message));
    binaries.push_back(json::binary(std::move(bytes)));
  }
  return {{"binaries", std::move(binaries)}};
}

// Runs in a child: returns the work-group sizes that the runtime chooses, and whether the device
// executes kernels.
json launch_facts(const DeviceInfo &info, const packs::Contents &contents,
                  const std::string &pack_path, const std::vector<StartItem> &items) {
  PackOnDevice opened;
  if (const Status s = opened.open(info, pack_path); !s.ok()) return to_json(s);
  json local = json::array();
  bool executes = true;
  for (const StartItem &item : items) {
    const packs::Program &program = *find_program(contents, item.program);
    const packs::Variant &variant = *find_variant(program, item.variant);
    kiln::Loaded loaded = opened.loader.load(item.program, item.variant);
    if (!loaded.program) return to_json(status_of(loaded.program.error()));
    Session session(opened.cl(), opened.loader, opened.queue);
    FirstLaunch launches;
    Status status = session.load(*loaded.program, variant);
    if (status.ok()) status = session.bind(item.workload);
    if (status.ok()) status = launch_twice(program, variant, &session, &launches);
    if (!status.ok()) return to_json(Status(status.code, item.program + "/" + status.message));
    executes = executes && launches.executes;
    json stages = json::array();
    for (std::size_t s = 0; s < item.workload.stages.size(); ++s) {
      const Stage &stage = item.workload.stages[s];
      auto plan = session.kernels()[s].plan(
          {stage.dimensions, {stage.global[0], stage.global[1], stage.global[2]}, {}, {}});
      if (!plan) return to_json(status_of(plan.error()));
      stages.push_back({plan->local[0], std::max<std::size_t>(plan->local[1], 1),
                        std::max<std::size_t>(plan->local[2], 1)});
    }
    local.push_back(stages);
  }
  return {{"local", local}, {"executes", executes}};
}

class StartupBench {
 public:
  StartupBench(const packs::Contents &contents, const DeviceInfo &device,
               const StartupOptions &options, TemporaryFolder folder, MesaCache cache)
      : contents_(contents),
        device_(device),
        options_(options),
        key_(device.description.key.text()),
        folder_(std::move(folder)),
        cache_(std::move(cache)) {
    row_.device = device.label();
  }

  StartupRow run() {
    row_.status = prepare();
    if (options_.where) {
      if (row_.status.ok()) row_.status = find_where();
      return std::move(row_);
    }
    for (std::size_t round = 0; round < options_.rounds && row_.status.ok(); ++round) {
      row_.status = run_round(round);
    }
    if (row_.status.ok()) row_.status = look();
    if (row_.status.ok()) summarise();
    return std::move(row_);
  }

 private:
  enum Kind { kSource, kDriver, kFloor, kKiln, kOverlay, kKinds };

  // Runs `work` in a fresh process whose driver caches are in the folder `caches`.
  Result<json> answer(const Result<std::string> &caches, const std::function<json()> &work) {
    if (!caches.ok()) return caches.status();
    ChildResult result = fork_call(
        [&] {
          use_driver_caches(*caches);
          return work();
        },
        kTimeout);
    if (Status s = result.status(); !s.ok()) return s;
    return std::move(result.answer);
  }

  Status prepare() {
    const auto chosen =
        answer(empty_caches(), [&] { return choose_variants(device_, options_.pack_path); });
    if (!chosen.ok()) return chosen.status();
    bool launches = true;
    for (const bool with_launches : {true, false}) {
      launches = with_launches;
      const Status status =
          collect_items(contents_, key_, (*chosen)["chosen"], options_.program, launches, &items_);
      if (!status.ok()) return status;
      if (!items_.empty()) break;
    }
    if (items_.empty()) return {Code::not_in_pack, "the pack has no binary for this device"};
    row_.programs = items_.size();
    const auto made = answer(empty_caches(), [&] { return driver_binaries(device_, items_); });
    if (!made.ok()) return made.status();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].driver = (*made)["binaries"][i].get_binary();
    }
    if (!launches) return prepare_overlay();
    const auto facts = answer(cache_.copy(folder_), [&] {
      return launch_facts(device_, contents_, options_.pack_path, items_);
    });
    if (!facts.ok()) return facts.status();
    row_.executes = (*facts)["executes"];
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].local = (*facts)["local"][i].get<std::vector<std::array<std::size_t, 3>>>();
    }
    return prepare_overlay();
  }

  // Makes the overlay that a first start without any binary leaves.
  Status prepare_overlay() {
    packs::Contents base = contents_;
    base.targets.clear();
    Status status = packs::write_pack(base, folder_.path() + "/base.kiln");
    if (!status.ok()) return status;
    const std::string first = folder_.path() + "/first";
    std::error_code error;
    std::filesystem::create_directories(first, error);
    if (error) return {Code::failed, first + ": " + error.message()};
    const KilnStart how{folder_.path() + "/base.kiln", first + "/overlay", KILN_RUNG_SOURCE,
                        KILN_LOAD_NO_IL, true};
    StartTimes times;
    const auto started = answer(first + "/cache", [&] {
      json done = start_kiln(how, &times);
      if (status_from(done).ok()) await_mesa();
      return done;
    });
    return started.status();
  }

  Result<std::string> empty_caches() {
    const std::string caches = folder_.path() + "/empty";
    std::error_code error;
    std::filesystem::remove_all(caches, error);
    if (!error) std::filesystem::create_directories(caches, error);
    if (error) return Status(Code::failed, caches + ": " + error.message());
    return caches;
  }

  Status open_child(OpenedDevice *child) const {
    Status status = child->open(device_);
    if (status.ok() && options_.where) child->device = with_timed_calls(*child->device);
    return status;
  }

  json start_kiln(const KilnStart &how, StartTimes *times) const {
    OpenedDevice child;
    if (const Status s = open_child(&child); !s.ok()) return to_json(s);
    const Status started = test::start_kiln(child, items_, how, row_.executes, times);
    if (!started.ok()) return to_json(started);
    return times_json(*times);
  }

  json start_without(StartFrom from) const {
    OpenedDevice child;
    if (const Status s = open_child(&child); !s.ok()) return to_json(s);
    StartTimes times;
    const Status status = start_bare(child, items_, from, row_.executes, &times);
    if (!status.ok()) return to_json(status);
    return times_json(times);
  }

  static json times_json(const StartTimes &times) {
    return {{"kernels", times.kernels}, {"results", times.results},   {"firsts", times.firsts},
            {"seconds", times.seconds}, {"compiled", times.compiled}, {"parts", part_times()}};
  }

  // Starts once. `watched`: the caches to look at, for the two kinds that use Kiln; such a start is
  // not measured. `steps` and `threads` are KilnStart's.
  json start(Kind kind, const std::string &watched = {}, bool steps = false,
             std::size_t threads = 0) const {
    StartTimes times;
    switch (kind) {
      case kSource: return start_without(StartFrom::source);
      case kDriver: return start_without(StartFrom::driver);
      case kFloor: return start_without(StartFrom::binary);
      case kKiln: {
        KilnStart how{options_.pack_path, "", KILN_RUNG_EXACT};
        how.caches = watched;
        how.steps = steps;
        how.threads = threads;
        return start_kiln(how, &times);
      }
      default: break;
    }
    return start_kiln({folder_.path() + "/base.kiln", folder_.path() + "/second/overlay",
                       KILN_RUNG_OVERLAY, 0, false, watched, steps},
                      &times);
  }

  // Returns the folder of the driver caches for that kind of start.
  Result<std::string> caches_for(Kind kind) {
    if (kind == kFloor || kind == kKiln) return cache_.copy(folder_);
    if (kind != kOverlay) return empty_caches();
    const std::string second = folder_.path() + "/second";
    std::error_code error;
    std::filesystem::remove_all(second, error);
    if (!error) {
      std::filesystem::copy(folder_.path() + "/first", second,
                            std::filesystem::copy_options::recursive, error);
    }
    if (error) return Status(Code::failed, second + ": " + error.message());
    // Mesa's is the only cache of a driver that an overlay holds.
    if (device_.description.finishing == runtime::Finishing::shader_cache) return second + "/cache";
    return empty_caches();
  }

  // Whether the kind takes long. Long starts have the most precise times, so they run only in every
  // fourth round.
  bool is_slow(Kind kind) const {
    const auto &samples = samples_[kind];
    const char *until = row_.executes ? "results" : "kernels";
    return !samples.empty() && samples.front()[until].get<double>() > kSlowStart;
  }

  Status run_round(std::size_t round) {
    for (int kind = 0; kind < kKinds; ++kind) {
      const auto which = static_cast<Kind>(kind);
      if (round % 4 != 0 && is_slow(which)) continue;
      auto started = answer(caches_for(which), [&] { return start(which); });
      if (!started.ok()) return started.status();
      samples_[kind].push_back(*std::move(started));
    }
    for (const std::size_t threads : options_.threads) {
      const auto started =
          answer(caches_for(kKiln), [&] { return start(kKiln, {}, false, threads); });
      if (!started.ok()) return started.status();
      prefetched_[threads].push_back((*started)[row_.executes ? "results" : "kernels"]);
    }
    return {};
  }

  // Measures the parts of the starts.
  Status find_where() {
    WhereSamples samples;
    const struct {
      Kind kind;
      bool steps;
      std::vector<json> *out;
    } all[] = {{kFloor, false, &samples.floor},
               {kKiln, false, &samples.kiln},
               {kOverlay, false, &samples.overlay},
               {kKiln, true, &samples.kiln_steps},
               {kOverlay, true, &samples.overlay_steps}};
    for (std::size_t round = 0; round < options_.rounds; ++round) {
      for (const auto &[kind, steps, out] : all) {
        auto started = answer(caches_for(kind),
                              [&, kind = kind, steps = steps] { return start(kind, {}, steps); });
        if (!started.ok()) return started.status();
        out->push_back(std::move((*started)["parts"]));
      }
    }
    row_.where = where_table(samples, items_.size());
    return {};
  }

  // Finds what first launches compile, by the caches of one more start of each kind.
  Status look() {
    if (!row_.executes || !keeps_compiled(device_.description.finishing)) return {};
    for (const Kind kind : {kKiln, kOverlay}) {
      const auto caches = caches_for(kind);
      auto seen = answer(caches, [&] { return start(kind, *caches); });
      if (!seen.ok()) return seen.status();
      compiled_[kind] = (*seen)["compiled"].get<std::vector<bool>>();
    }
    row_.overlay_compiling =
        std::count(compiled_[kOverlay].begin(), compiled_[kOverlay].end(), true);
    return {};
  }

  double median_of(Kind kind, const char *name) const {
    std::vector<double> values;
    for (const json &sample : samples_[kind]) values.push_back(sample[name]);
    return median(values);
  }

  double median_of(const char *launches, std::size_t item) const {
    std::vector<double> values;
    for (const json &sample : samples_[kKiln]) values.push_back(sample[launches][item]);
    return median(values);
  }

  // Whether a first launch compiles. If only the clock can tell, it must show this in every fresh
  // process: compiling slows down the same program in each process, while a busy machine or the
  // first launch of a process slows down different programs.
  bool compiles(std::size_t item) const {
    if (!compiled_[kKiln].empty()) return compiled_[kKiln][item];
    return std::all_of(samples_[kKiln].begin(), samples_[kKiln].end(), [&](const json &sample) {
      return FirstLaunch{sample["firsts"][item], sample["seconds"][item], true, {}}.compiles();
    });
  }

  void summarise() {
    const std::pair<Kind, StartupTime *> all[] = {{kSource, &row_.source},
                                                  {kDriver, &row_.driver},
                                                  {kFloor, &row_.floor},
                                                  {kKiln, &row_.kiln},
                                                  {kOverlay, &row_.overlay}};
    for (const auto &[kind, time] : all) {
      *time = {median_of(kind, "kernels"), median_of(kind, "results"), samples_[kind].size()};
    }
    for (const auto &[threads, times] : prefetched_) row_.prefetched[threads] = median(times);
    for (std::size_t i = 0; i < items_.size() && row_.executes; ++i) {
      row_.firsts.push_back({items_[i].program, items_[i].variant, median_of("firsts", i),
                             median_of("seconds", i), compiles(i)});
    }
  }

  const packs::Contents &contents_;
  const DeviceInfo &device_;
  const StartupOptions &options_;
  const std::string key_;
  TemporaryFolder folder_;
  MesaCache cache_;
  std::vector<StartItem> items_;
  std::vector<json> samples_[kKinds];
  std::map<std::size_t, std::vector<double>> prefetched_;  // by the number of threads
  std::vector<bool> compiled_[kKinds];                     // for each item; empty: the times decide
  StartupRow row_;
};

json time_json(const StartupTime &time, bool executes) {
  json out{{"kernels_ms", time.kernels}, {"processes", time.processes}};
  out["results_ms"] = executes ? json(time.results) : json();
  return out;
}

StartupRow measure(const packs::Contents &contents, const DeviceInfo &device,
                   const StartupOptions &options) {
  auto folder = TemporaryFolder::make();
  auto cache = MesaCache::make(contents, device.description.key.text());
  const Status status = folder.ok() ? cache.status() : folder.status();
  if (!status.ok()) {
    StartupRow row;
    row.device = device.label();
    row.status = status;
    return row;
  }
  return StartupBench(contents, device, options, *std::move(folder), *std::move(cache)).run();
}

json row_json(const StartupRow &row) {
  if (!row.status.ok()) return {{"device", row.device}, {"error", row.status.message}};
  json firsts = json::array();
  json prefetched = json::object();
  for (const auto &[threads, ms] : row.prefetched) prefetched[std::to_string(threads)] = ms;
  std::size_t compiling = 0;
  for (const FirstResult &f : row.firsts) {
    if (f.compiles) ++compiling;
    firsts.push_back({{"program", f.program},
                      {"variant", f.variant},
                      {"first_launch_ms", f.first},
                      {"second_launch_ms", f.second},
                      {"first_launch_cost_ms", f.first - f.second},
                      {"compiles_at_first_launch", f.compiles}});
  }
  return {{"device", row.device},
          {"programs", row.programs},
          {"executes", row.executes},
          {"source", time_json(row.source, row.executes)},
          {"driver", time_json(row.driver, row.executes)},
          {"floor", time_json(row.floor, row.executes)},
          {"kiln", time_json(row.kiln, row.executes)},
          {"overlay", time_json(row.overlay, row.executes)},
          {"ratio_to_floor", row.ratio(row.kiln)},
          {"overlay_ratio_to_floor", row.ratio(row.overlay)},
          {"microseconds_above_floor_per_program", row.microseconds_above_floor()},
          {"compile_at_first_launch", compiling},
          {"overlay_compile_at_first_launch",
           row.overlay_compiling ? json(*row.overlay_compiling) : json()},
          {"first_results", firsts},
          {"prefetched_ms_by_threads", prefetched}};
}

int fail(const Status &status) {
  fmt::print(stderr, "kiln_startup: {}\n", status.message);
  return 1;
}

int run(int argc, char **argv) {
  CLI::App app("What a start costs until the first results");
  StartupOptions options;
  app.add_option("pack", options.pack_path, "Pack with binaries for the devices")->required();
  app.add_option("--device", options.device, "Index, or glob over names; default: all");
  app.add_option("--program", options.program, "Only this program; default: all");
  app.add_option("--rounds", options.rounds,
                 "Processes of each kind; a quarter if one takes over a second")
      ->check(CLI::Range(1, 100000));
  app.add_option("--threads", options.threads,
                 "Also start with kiln_prefetch() on so many threads, for each number of the list")
      ->delimiter(',')
      ->check(CLI::Range(1, 64));
  app.add_flag("--where", options.where, "Show where the microseconds of a start go");
  CLI11_PARSE(app, argc, argv);
  const auto pack = read_pack(options.pack_path);
  if (!pack.ok()) return fail(pack.status());
  const auto devices = find_devices(options.device);
  if (!devices.ok()) return fail(devices.status());
  bool ok = true;
  json rows = json::array();
  for (const DeviceInfo &device : *devices) {
    const StartupRow row = measure(pack->contents, device, options);
    ok = ok && row.status.ok();
    if (options.where) {
      fmt::print("{}: {} programs, {} processes of each kind, medians in us\n{}", row.device,
                 row.programs, options.rounds, row.status.ok() ? row.where : row.status.message);
    }
    rows.push_back(row_json(row));
  }
  if (options.where) return ok ? 0 : 1;
  const json document{{"schema", 2}, {"rounds", options.rounds}, {"devices", rows}};
  fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char **argv) { return kiln::test::run(argc, argv); }
