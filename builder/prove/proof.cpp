// SPDX-License-Identifier: Apache-2.0
// Writes packs of one binary each, and loads and launches them in a child process.
#include "builder/prove/proof.hpp"

#include <filesystem>

#include <unistd.h>

#include "builder/base/this_process.hpp"
#include "builder/finish/launch_twice.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/machine/build_source.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/problem/plane.hpp"
#include "builder/process/serving_child.hpp"
#include "builder/prove/result_check.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/api/api.hpp"
#include "runtime/identity/target.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

// Returns the program with the variant's source, or with its IL if it has none.
packs::Program with_one_form(packs::Program program) {
  for (packs::Variant &variant : program.variants) {
    if (!variant.source) continue;
    variant.il32.reset();
    variant.il64.reset();
  }
  return program;
}

// Writes a pack from which only the binary can be loaded, or only what the driver makes of the
// source.
Status write_proof(const DeviceInfo &device, const ProofRequest &job, const packs::Binary &binary,
                   bool intermediate, const std::string &path) {
  packs::Contents contents;
  packs::Target target = make_target(device);
  (intermediate ? target.intermediates : target.binaries) = {binary};
  if (job.from_source) {
    contents.programs = {with_one_form(job.program)};
  } else {
    contents.programs = {without_code(job.program)};
    contents.targets = {std::move(target)};
  }
  packs::WriteOptions options;
  options.purpose = packs::Purpose::raw;
  return packs::write_pack(contents, path, options);
}

Status launch(PackOnDevice &opened, const kiln::Program &loaded, const PackOnDevice::Found &found,
              const TunedSizes &tuned, std::chrono::seconds longest, FirstLaunch *out,
              Results *results) {
  if (found.variant->launches) {
    const auto launches = recorded_launches(*found.variant);
    if (!launches.ok()) return launches.status();
    return launch_recorded(*opened.child.device, loaded.cl(), *launches,
                           tuned_launches(*launches, tuned), longest, out, &results->memory);
  }
  const auto workload =
      plan_workload(*found.program, *found.variant, small_problem(*found.program), {});
  if (!workload.ok()) return workload.status();
  Status status = over_limits(opened.cl(), opened.child.device->id, *workload);
  Session session(opened.cl(), opened.loader, opened.queue);
  if (status.ok()) status = session.load(loaded, *found.variant);
  if (status.ok()) status = session.bind(*workload);
  return status.ok() ? launch_twice(*found.program, *found.variant, &session, out) : status;
}

// Returns a problem on which a launch takes long enough to be compared with others.
ProblemSize measured_problem(const packs::Program &program) {
  if (!program.sizes.empty()) {
    const auto &size = program.sizes.back();
    return {size[0], size[1], size[2]};
  }
  constexpr std::uint32_t kLonger = 16;
  ProblemSize size = small_problem(program);
  size.width *= kLonger;
  if (size.height > 1) size.height *= kLonger;
  return size;
}

// Returns the best time of some launches, in milliseconds; 0 if they fail, or were recorded.
double best_time(PackOnDevice &opened, const kiln::Program &loaded,
                 const PackOnDevice::Found &found) {
  constexpr int kLaunches = 6;
  if (found.variant->launches) return 0;
  const ProblemSize size = measured_problem(*found.program);
  const auto workload = plan_workload(*found.program, *found.variant, size, {});
  if (!workload.ok()) return 0;
  Session session(opened.cl(), opened.loader, opened.queue);
  Status status = over_limits(opened.cl(), opened.child.device->id, *workload);
  if (status.ok()) status = session.load(loaded, *found.variant);
  if (status.ok()) status = session.bind(*workload);
  if (status.ok()) status = session.upload(make_inputs(*found.program, size));
  if (status.ok()) status = session.fill_outputs(0);
  double best = 0;
  for (int i = 0; i < kLaunches && status.ok(); ++i) {
    Launched launched;
    status = session.launch({}, &launched);
    const double milliseconds = launched.host_nanoseconds / 1e6;
    if (best == 0 || milliseconds < best) best = milliseconds;
  }
  return status.ok() ? best : 0;
}

// Tells whether launches since begin() compiled something, if the driver keeps compiled code on
// disk.
class Watch {
 public:
  Watch(runtime::Finishing finishing, const std::string &caches, const MesaFiles *mesa)
      : finishing_(finishing), caches_(caches), mesa_(mesa) {}

  void begin() { before_ = bytes(); }

  std::optional<bool> compiled() const {
    await_mesa();
    if (mesa_ != nullptr) return !mesa_->new_names().empty();
    if (!keeps_compiled(finishing_)) return std::nullopt;
    return bytes() > before_;
  }

 private:
  std::uintmax_t bytes() const {
    return finishing_ == runtime::Finishing::launches ? compiled_bytes(caches_) : 0;
  }

  runtime::Finishing finishing_;
  const std::string &caches_;
  const MesaFiles *mesa_;
  std::uintmax_t before_ = 0;
};

// Runs in the child. Returns the results of the order's problem.
Results results_in(const PackOnDevice &opened, const kiln::Program &loaded,
                   const PackOnDevice::Found &found, const json &order) {
  const std::array<std::uint32_t, 3> size = order["size"];
  std::optional<std::vector<Plane>> inputs;
  if (order.contains("inputs")) inputs = planes_from(order["inputs"]);
  return launch_results(opened, loaded, *found.program, *found.variant, {size[0], size[1], size[2]},
                        std::move(inputs));
}

// Runs in the child. Returns a failed status, or {"recompiled", "load_microseconds",
// "kernels"}. After a launch the answer also has "not_launched", which is a failed status, or
// "first", "second", "compiles", "executes" and "results".
json load_and_launch(PackOnDevice &opened, const json &order, Watch watch) {
  const auto found = opened.find(order["program"], order["variant"]);
  if (!found.ok()) return to_json(found.status());
  const auto start = Clock::now();
  kiln::Loaded loaded = opened.loader.load(found->program->name, found->variant->name,
                                           KILN_LOAD_CHECK_RECOMPILED | KILN_LOAD_UNPROVEN);
  const double milliseconds = milliseconds_since(start);
  if (!loaded.program) {
    Status status = status_of(loaded.program.error());
    const auto rung = order["intermediate"].get<bool>() ? KILN_RUNG_INTERMEDIATE : KILN_RUNG_EXACT;
    const char *why = kiln_report_reason(loaded.report.get(), rung, nullptr);
    if (why != nullptr) status.message = why;
    return to_json(status);
  }
  json answer{{"recompiled", report_of(loaded).recompiled.value_or(false)},
              {"load_microseconds", static_cast<std::uint64_t>(milliseconds * 1000)},
              {"kernels",
               kernel_rows(*opened.child.device, loaded.program->get()->program->built.kernels)}};
  if (!order["launch"].get<bool>()) return answer;
  FirstLaunch out;
  Results results;
  const auto tuned = order["tuned"].get<TunedSizes>();
  watch.begin();
  const std::chrono::seconds longest(order["longest_launch"].get<std::int64_t>());
  const Status status = launch(opened, *loaded.program, *found, tuned, longest, &out, &results);
  out.compiled = watch.compiled();
  if (!status.ok()) {
    answer["not_launched"] = to_json(status);
    return answer;
  }
  // Outputs alone do not tell whether the device executes. A faulty binary leaves them unchanged,
  // and a driver without hardware returns memory that was never written. A fill command tells.
  bool obeys = out.executes;
  (void)executes_commands(opened, &obeys);
  out.executes = out.executes && obeys;
  if (obeys && order.contains("size")) {
    results = results_in(opened, *loaded.program, *found, order);
  }
  if (order["measure"].get<bool>()) {
    answer["milliseconds"] = best_time(opened, *loaded.program, *found);
  }
  answer.update({{"first", out.first},
                 {"second", out.second},
                 {"executes", out.executes},
                 {"compiles", out.compiles()},
                 {"results", to_json(results)}});
  return answer;
}

// Returns the cache entries of the pack's only binary; empty if it has none.
packs::Bytes cache_entries_of(const packs::Contents &contents) {
  packs::Bytes bytes;
  for (const packs::Target &target : contents.targets) {
    for (const packs::Binary &binary : target.binaries) {
      if (binary.cache_entries) (void)binary.cache_entries->read(&bytes);
    }
  }
  return bytes;
}

Proof proof_of(const ChildResult &child) {
  Proof proof;
  proof.loaded = child.status();
  proof.is_endless = child.is_endless();
  if (!proof.loaded.ok()) return proof;
  const json &answer = child.answer;
  if (answer.contains("entries")) {
    proof.entries = answer["entries"].get_binary();
    proof.names = answer["names"];
  }
  proof.recompiled = answer["recompiled"];
  proof.load_microseconds = answer["load_microseconds"];
  proof.kernels = answer["kernels"];
  proof.milliseconds = answer.value("milliseconds", 0.0);
  if (answer.contains("not_launched")) proof.launched = status_from(answer["not_launched"]);
  if (!answer.contains("first")) return proof;
  proof.launch = {answer["first"], answer["second"], answer["executes"],
                  answer["compiles"].get<bool>()};
  proof.results = results_from(answer["results"]);
  if (!proof.launch.executes) {
    proof.launched = {Code::failed, kIdle};
  }
  return proof;
}

// Adds the problem whose results are compared to the order; nothing if none are compared.
void pose_problem(const ProofRequest &job, json *order) {
  if (!job.launch || job.check == nullptr || job.check->off) return;
  if (job.variant.launches) return;
  const ProblemSize size = job.check->size(job.program);
  (*order)["size"] = std::array{size.width, size.height, size.depth};
  if (!job.check->reference.only_size()) return;
  const auto inputs = job.check->reference.inputs(job.program, size);
  if (inputs.ok()) (*order)["inputs"] = to_json(*inputs);
}

}  // namespace

packs::Target make_target(const DeviceInfo &device) {
  return runtime::target_of(device.identity, device.description);
}

Prover::Prover(const DeviceInfo &device, const CallLimits &limits, std::string folder)
    : device_(device),
      limits_(limits),
      folder_(std::move(folder)),
      child_([this](const json &order) { return prove_here(order); }, folder_, "prove") {}

// Runs in the child.
Status Prover::open_here(const std::string &pack, const std::string &caches, bool suggests) {
  static constexpr kiln_driver_note kAskNothing{
      sizeof(kiln_driver_note), nullptr, nullptr, nullptr, KILN_DRIVER_NEVER_SUGGEST, nullptr};
  kiln::LoaderOptions options;
  options.driver_notes = &kAskNothing;
  options.driver_note_count = suggests ? 0 : 1;
  if (opened_.child.device) return opened_.open_another(pack, options);
  use_driver_caches(caches);
  const auto finishing = device_.description.finishing;
  if (finishing == runtime::Finishing::shader_cache) {
    MesaFiles::use(caches);
    mesa_.emplace(caches);
  }
  const Status status = opened_.open(device_, pack, options);
  await_mesa();
  if (mesa_) mesa_->keep();
  return status;
}

json Prover::prove_here(const json &order) {
  const std::string caches = order["caches"];
  if (const Status s = open_here(order["pack"], caches, order["suggests"]); !s.ok())
    return to_json(s);
  if (mesa_) {
    await_mesa();  // entries of the last order
    const packs::Bytes entries = cache_entries_of(opened_.contents);
    mesa_->reset();
    mesa_->put({entries.data(), entries.size()}, order["names"]);
  }
  const Watch watch(device_.description.finishing, caches, mesa_ ? &*mesa_ : nullptr);
  json answer = load_and_launch(opened_, order, watch);
  if (mesa_) {
    answer["entries"] = json::binary(mesa_->take(order["place"].get<std::string>()));
    answer["names"] = mesa_->new_names();
  }
  return answer;
}

ChildResult Prover::call(const packs::Variant &variant, json order) {
  ChildResult result = child_.call(variant, std::move(order), limits_);
  if (!result.ok()) died_ = true;
  return result;
}

Proof Prover::prove(const ProofRequest &job, const packs::Binary &binary, bool intermediate) {
  const std::string pack = folder_ + "/proof-" + std::to_string(getpid()) + ".kiln";
  Proof proof;
  proof.loaded = write_proof(device_, job, binary, intermediate, pack);
  if (!proof.loaded.ok()) return proof;
  json order{{"pack", pack},
             {"program", job.program.name},
             {"variant", job.variant.name},
             {"tuned", job.tuned},
             {"launch", job.launch},
             {"place", job.place},
             {"names", job.names},
             {"suggests", job.suggests},
             {"measure", job.measure},
             {"longest_launch", longest_launch(job.build_microseconds, limits_.timeout).count()},
             {"intermediate", intermediate}};
  pose_problem(job, &order);
  if (job.by_itself) {
    CleanChild own([this](const json &to_do) { return prove_here(to_do); }, folder_, "alone");
    const ChildResult result = own.call(job.variant, std::move(order), limits_);
    if (!result.ok()) died_ = true;
    return proof_of(result);
  }
  const bool used = child_.answers() > 0;
  ChildResult result = call(job.variant, order);
  const bool is_slow = result.end == ProcessEnd::timed_out || result.is_endless();
  if (used && !is_slow && !result.status().ok()) {
    child_.end();
    result = call(job.variant, order);
  }
  proof = proof_of(result);
  if (proof.milliseconds != 0) measured_ = proof.milliseconds;
  return proof;
}

Proof Prover::prove_final(ProofRequest job, const packs::Binary &binary) {
  const int tries = keeps_compiled(device_.description.finishing) ? 1 : 6;
  Proof proof;
  for (int i = 0; i < tries; ++i) {
    proof = prove(job, binary, false);
    if (!proof.loaded.ok() || !proof.launched.ok() || !proof.launch.compiles()) break;
    job.by_itself = true;  // a driver may remember what it compiled in this process
  }
  return proof;
}

}  // namespace kiln::builder
