// SPDX-License-Identifier: Apache-2.0
// Compiles one variant with the driver, or proves an earlier binary of it. Gives orders to the
// process that does so, retries after a death, and has binaries proven.
#include "builder/jobs/job_runner.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <unistd.h>

#include "builder/base/build_log.hpp"
#include "builder/base/this_process.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/finish/intel_binary.hpp"
#include "builder/jobs/workarounds.hpp"
#include "builder/machine/build_source.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/prove/prove_binaries.hpp"
#include "builder/statistics/compiler_text.hpp"
#include "builder/statistics/statistics.hpp"
#include "runtime/overlay/cuda_linker.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::Form;

std::vector<runtime::ExpectedKernel> expected(const packs::Variant &variant) {
  std::vector<runtime::ExpectedKernel> kernels;
  for (const packs::Kernel &kernel : variant.kernels) {
    kernels.push_back({kernel.name, kernel.arguments});
  }
  return kernels;
}

bool is_compared_with_source(const Job &job) {
  return job.launch_source && job.check != nullptr && !job.check->off &&
         knows_launches(job.program, job.variant) &&
         !job.check->has_reference(job.program, job.variant);
}

// Returns whether only the proof creates the kernels. On rusticl the binary is SPIR-V, and creating
// a kernel takes most of the time. Mesa's GPU drivers say then how well they compiled, llvmpipe
// says nothing.
bool leaves_kernels(const Job &job) {
  const runtime::Description &device = job.device.description;
  return device.finishing == runtime::Finishing::shader_cache && device.family == "llvmpipe" &&
         !is_compared_with_source(job);
}

constexpr std::size_t kMaxPrinted = std::size_t{64} << 20;  // bytes; a listing may be long

// Makes Mesa print what it says of kernels, unless the user has set what it prints.
void let_mesa_talk() {
  for (const auto &[name, value] : mesa_print_variables()) setenv(name, value, 0);
}

json statistics_rows(const std::vector<packs::Statistic> &statistics) {
  json list = json::array();
  for (const packs::Statistic &s : statistics) {
    list.push_back({s.kernel, static_cast<std::uint32_t>(s.name), s.value});
  }
  return list;
}

// Returns the child's status, with the driver's log in the message.
Status with_log(const ChildResult &child) {
  Status status = child.status();
  if (status.ok() || !child.ok()) return status;
  const std::string log = child.answer.value("log", "");
  if (!log.empty()) status.message += "\n" + log;
  return status;
}

// Returns whether a fresh process may succeed.
bool may_be_tired(const ChildResult &result) {
  if (!result.ok()) return result.end != ProcessEnd::timed_out && !result.is_endless();
  return !result.status().ok() && result.answer.value("log", "").empty();
}

// Reports for each binary for another device that the process which made it ended.
void add_deaths(const Job &job, const std::string &also_died, json *answer) {
  for (const std::uint32_t compute_capability : job.gpu_archs) {
    json also = to_json(Status(Code::process, "the process that made it ended: " + also_died));
    also["compute_capability"] = compute_capability;
    (*answer)["also"].push_back(std::move(also));
  }
}

// Returns whether a workaround may help. Not for a fault of the machine or of the manifest.
bool is_faulty(const Status &status) {
  if (status.code == Code::opencl) return status.cl_error == CL_BUILD_PROGRAM_FAILURE;
  return status.code == Code::wrong_results || status.code == Code::process;
}

// 0 if there is no time to compare with.
int percent_slower(double milliseconds, double before) {
  if (before <= 0 || milliseconds <= before) return 0;
  return static_cast<int>(std::lround(100 * (milliseconds / before - 1)));
}

// Launches of one binary differ by some percent and microseconds; then the first workaround is the
// one to take.
bool is_clearly_faster(const JobRunner::Measured &a, const JobRunner::Measured &b) {
  constexpr double kClearly = 0.8, kNoise = 0.05;
  return a.milliseconds < kClearly * b.milliseconds && a.milliseconds < b.milliseconds - kNoise;
}

// Returns the answer of JobRunner::run() for a virtual device. Marks a compiler's binary as never
// loaded, since nothing here could load it. PTX is an intermediate.
json make_virtually(const Job &job) {
  const VirtualDevice &device = *job.device.virtual_device;
  const auto start = Clock::now();
  auto made = device.compile(job.variant, job.limits, job.finish);
  if (!made.ok()) return to_json(made.status());
  const bool is_ptx = runtime::is_ptx({made->binary.data(), made->binary.size()});
  packs::Binary binary{job.variant.hash, packs::BlobSource(std::move(made->binary)), {}};
  binary.finish = std::move(made->finish);
  if (made->cache_entries)
    binary.cache_entries = packs::BlobSource(*std::move(made->cache_entries));
  if (packs::Finish &finish = binary.finish; finish.finisher.empty()) {
    finish.why_not = "no device of this kind has loaded it";
    finish.finisher = device.finisher();
    finish.driver = device.driver();
    finish.microseconds = static_cast<std::uint64_t>(milliseconds_since(start) * 1000);
    const auto finishing = job.device.description.finishing;
    if (job.finish && finishing == runtime::Finishing::not_needed) drop_spirv(&binary);
  }
  json kernels = json::array();
  for (const packs::KernelFacts &k : made->kernels) {
    kernels.push_back(
        {k.max_work_group_size, k.preferred_multiple, k.private_bytes, k.local_bytes});
  }
  return {{is_ptx ? "intermediate" : "binary", to_json(binary)},
          {"log", made->log},
          {"kernels", std::move(kernels)},
          {"statistics", statistics_rows(made->statistics)},
          {"build_microseconds", made->build_microseconds},
          {"load_microseconds", made->load_microseconds}};
}

// Returns the job's earlier binaries as the answer of make_binaries(), with all that was said of
// them but their proof; {} if one cannot be read.
json earlier_answer(const Job &job) {
  const packs::Binary &told = *job.earlier;
  json kernels = json::array();
  for (const packs::KernelFacts &k : told.kernels) {
    kernels.push_back(
        {k.max_work_group_size, k.preferred_multiple, k.private_bytes, k.local_bytes});
  }
  json answer{{"log", told.build_log},
              {"kernels", std::move(kernels)},
              {"statistics", statistics_rows(told.statistics)}};
  const std::string mark = launches_mark(job.variant);
  const auto add = [&](const char *name, const packs::Binary *earlier) {
    if (earlier == nullptr) return true;
    packs::Binary binary = *earlier;
    for (packs::BlobSource *blob :
         {&binary.blob, binary.cache_entries ? &*binary.cache_entries : nullptr}) {
      packs::Bytes bytes;
      if (blob == nullptr) continue;
      if (!blob->read(&bytes).ok()) return false;
      *blob = packs::BlobSource(std::move(bytes));
    }
    packs::Finish &finish = binary.finish;
    if (!mark.empty() && finish.finisher.ends_with(mark)) {  // the proof adds it
      finish.finisher.resize(finish.finisher.size() - mark.size());
    }
    finish.proof.clear();
    finish.unproven.clear();
    answer[name] = to_json(binary);
    return true;
  };
  const bool can_be_read =
      add("binary", job.earlier) && add("intermediate", job.earlier_intermediate);
  return can_be_read ? answer : json::object();
}

}  // namespace

json compile_job(Job job, PackOnDevice *opened, const std::string &path,
                 const std::function<void(JobStage)> &stage) {
  const auto others =
      job.workaround == 0 ? std::vector<Workaround>() : workarounds_for(job.variant, job.device);
  const packs::Variant &variant =
      job.workaround == 0 ? job.variant : others[job.workaround - 1].variant;
  const runtime::Device &device = *opened->child.device;
  const packs::BlobSource *input = job_input(variant, job.device);
  if (input == nullptr) {
    return to_json(
        Status(Code::requirement, "the device takes neither the variant's source nor its IL"));
  }
  packs::Bytes bytes;
  if (const Status s = input->read(&bytes); !s.ok()) return to_json(s);
  const bool is_source = variant.source && input == &*variant.source;
  const bool leaves = leaves_kernels(job);
  const auto kernels = leaves ? std::vector<runtime::ExpectedKernel>() : expected(variant);
  const auto build = [&] {
    const packs::View view{bytes.data(), bytes.size()};
    const cl_context context = opened->child.context.get();
    return is_source
               ? build_source(device, context, view, variant.options, kernels,
                              job.parallel ? device.description.one_thread : "")
               : runtime::build_program(device, context, Form::il, view, variant.options, kernels);
  };
  stage(JobStage::compiling);
  const auto start = Clock::now();
  runtime::BuildOutcome outcome = build();
  job.build_microseconds = static_cast<std::uint64_t>(milliseconds_since(start) * 1000);
  stage(JobStage::finishing);
  json answer = to_json(outcome.error);
  if (outcome.error.ok()) answer = make_binaries(device, job, outcome.built, build);
  answer["log"] = outcome.log;
  if (!outcome.error.ok()) return answer;
  answer["build_microseconds"] = job.build_microseconds;
  if (!leaves) answer["kernels"] = kernel_rows(device, outcome.built.kernels);
  if (!is_compared_with_source(job)) return answer;
  stage(JobStage::launching);
  answer["results"] = to_json(source_results(job, opened, std::move(outcome.built), path));
  return answer;
}

JobResult job_result(const packs::Variant &variant, const json &answer) {
  std::vector<packs::Statistic> printed;  // by a driver, beside the binary
  for (const json &s : answer.value("statistics", json::array())) {
    printed.push_back({s[0], static_cast<packs::StatisticName>(s[1].get<std::uint32_t>()), s[2]});
  }
  const auto take = [&](const json &from, const char *name) -> std::optional<packs::Binary> {
    if (!from.contains(name)) return std::nullopt;
    packs::Binary binary = binary_from(variant, from[name]);
    binary.build_log = without_paths(answer["log"]);
    for (const json &k : answer["kernels"]) binary.kernels.push_back({k[0], k[1], k[2], k[3]});
    binary.statistics = statistics_of(variant, binary);
    if (!printed.empty()) binary.statistics = printed;
    return binary;
  };
  JobResult result{take(answer, "binary"), take(answer, "intermediate")};
  result.build_microseconds = answer.value("build_microseconds", std::uint64_t{0});
  result.load_microseconds = answer.value("load_microseconds", std::uint64_t{0});
  result.proven_again = answer.value("proven_again", false);
  for (const json &also : answer.value("also", json::array())) {
    result.other_gpus.push_back(
        {also["compute_capability"], take(also, "binary"), status_from(also)});
  }
  return result;
}

JobFault fault_of(const json &answer) {
  const json fault = answer.value("fault", json::object());
  return {fault.value("what", ""), fault.value("workaround", ""), fault.value("il_is_right", false),
          fault.value("slower", 0)};
}

Status drop_unproven(JobResult *result, bool by_reference) {
  std::string why;
  const auto drop = [&](std::optional<packs::Binary> *binary) {
    if (!*binary || packs::is_proof((*binary)->finish.proof, by_reference)) return Status();
    const packs::Finish &finish = (*binary)->finish;
    Status status{Code::failed, "its results are not proven: " +
                                    (finish.unproven.empty() ? finish.why_not : finish.unproven)};
    binary->reset();
    return status;
  };
  Status status = drop(&result->binary);
  const Status intermediate = drop(&result->intermediate);
  for (JobResult::OtherGpu &gpu : result->other_gpus) {
    if (gpu.binary) gpu.status = drop(&gpu.binary);
  }
  if (status.ok()) status = intermediate;
  return result->binary || result->intermediate ? Status() : status;
}

JobRunner::JobRunner(Resolve resolve, std::string folder)
    : resolve_(std::move(resolve)),
      folder_(std::move(folder)),
      compiler_([this](const json &order) { return compile_here(order); }, folder_, "compile",
                kMaxPrinted) {}

json JobRunner::compile_here(const json &order) {
  Job job = resolve_(order["job"]);
  job.finish = order["finish"];
  job.repeat_launches = order["repeat_launches"];
  job.launch_source = order["launch_source"];
  job.workaround = order["workaround"];
  if (!order["also"].get<bool>()) job.gpu_archs.clear();
  const std::string caches = order["caches"];
  if (!opened_.child.device) {
    use_driver_caches(caches);
    if (job.device.description.finishing == runtime::Finishing::shader_cache) let_mesa_talk();
    if (const Status s = opened_.open_device(job.device); !s.ok()) return to_json(s);
  }
  json answer = compile_job(std::move(job), &opened_, caches + "/source.kiln",
                            [this](JobStage stage) { stage_->set(static_cast<int>(stage)); });
  answer["last"] = needs_new_process();
  return answer;
}

ChildResult JobRunner::call(std::size_t number, const Job &how) {
  if (device_ != how.device.index) compiler_.end();
  device_ = how.device.index;
  return compiler_.call(how.variant,
                        {{"job", number},
                         {"finish", how.finish},
                         {"repeat_launches", how.repeat_launches},
                         {"launch_source", how.launch_source},
                         {"workaround", how.workaround},
                         {"also", !how.gpu_archs.empty()}},
                        how.limits);
}

ChildResult JobRunner::compile(std::size_t number, const Job &how) {
  const std::size_t before = compiler_.answers();
  ChildResult made = call(number, how);
  if (before > 0 && may_be_tired(made)) {
    compiler_.end();
    made = call(number, how);
  }
  if (made.ok() && made.answer.value("last", false)) compiler_.end();
  if (!made.ok()) died_ = true;
  return made;
}

// Leaves the step in which the process died out of `how`. Returns whether another try without that
// step may give a binary.
bool JobRunner::leave_out(const ChildResult &died, Job *how, LeftOut *what) const {
  const auto stage = static_cast<JobStage>(stage_->get());
  if (died.is_endless() && what->endless.empty()) {
    what->endless = died.reason();
    what->results = "repeating a recorded launch: " + what->endless;
    how->repeat_launches = how->launch_source = false;
    return true;
  }
  if (stage == JobStage::launching) {
    what->results = "launching the program that was built ended the process: " + died.reason();
    how->launch_source = false;
    return true;
  }
  if (stage != JobStage::finishing) return false;
  if (!how->gpu_archs.empty()) {
    // The work for other devices may have failed.
    what->gpu_archs = died.reason();
    how->gpu_archs.clear();
    return true;
  }
  if (!how->finish) return false;
  if (how->variant.launches && how->repeat_launches) {
    // A kernel may have failed on memory that holds zeros.
    how->repeat_launches = false;
    return true;
  }
  what->finisher = "the process that finished it ended: " + died.reason();
  how->finish = false;
  return true;
}

Result<json> JobRunner::prove(const Job &job, const Results &built, json answer) {
  if (!prover_ || &prover_->device() != &job.device) {
    prover_.emplace(job.device, job.limits, folder_);
  }
  auto proven = prove_binaries(
      job, [&](const Job &whose) { return expectation_of(whose, built, &references_); }, &*prover_,
      std::move(answer));
  if (job.has_hardware && prover_->has_died()) died_ = true;  // else it is expected
  return proven;
}

// Proves the job's earlier binaries. Returns nothing if they must be made again: only that can tell
// what is wrong.
std::optional<json> JobRunner::prove_again(const Job &job) {
  json answer = earlier_answer(job);
  if (answer.empty()) return std::nullopt;
  auto proven = prove(job, {}, std::move(answer));
  if (!proven.ok() || died_ || !proven->contains("binary") ||
      proven->contains("intermediate") != (job.earlier_intermediate != nullptr)) {
    return std::nullopt;
  }
  (*proven)["proven_again"] = true;
  return *std::move(proven);
}

// Compiles and proves, with the time of a launch; 0 if it was not launched.
JobRunner::Measured JobRunner::make_measured(std::size_t number, Job job, std::size_t workaround) {
  job.workaround = workaround;
  job.measure = true;
  if (prover_) prover_->forget_measured();
  json answer = make(number, job);
  return {std::move(answer), prover_ ? prover_->measured() : 0, workaround};
}

// Tries workarounds until some binaries are right, and returns the fastest. Without one returns
// `answer`, which says what is wrong. At most kMost are tried, and none is begun after the time
// that a step may take.
json JobRunner::work_around(std::size_t number, const Job &job, json answer) {
  constexpr std::size_t kMost = 19, kRight = 3;  // and one more compilation of the variant as it is
  const Status fault = status_from(answer);
  const std::string what = fault.message.substr(0, fault.message.find('\n'));
  const bool is_refused = fault.code == Code::opencl;
  const auto start = Clock::now();
  const std::vector<Workaround> all = workarounds_for(job.variant, job.device);
  std::vector<Measured> right;
  std::string tried;
  for (std::size_t i = 0; i < std::min(all.size(), kMost) && right.size() < kRight; ++i) {
    if (is_refused && !all[i].is_other_text) continue;
    if (Clock::now() - start >= job.limits.timeout) break;
    Measured made = make_measured(number, job, i + 1);
    tried += (tried.empty() ? "" : ", ") + all[i].name;
    if (status_from(made.answer).ok() && made.answer.contains("binary")) {
      right.push_back(std::move(made));
    }
  }
  if (right.empty()) {
    if (!is_refused) answer["fault"] = {{"what", what}};
    if (!tried.empty()) answer["error"] = fault.message + "\nno workaround helps: " + tried;
    return answer;
  }
  const Measured plain = is_refused ? Measured() : make_measured(number, job, 0);
  // A busy machine may kill or delay a process.
  const bool may_be_chance = fault.code == Code::process;
  if (may_be_chance && status_from(plain.answer).ok()) return plain.answer;
  Measured &best = *std::min_element(right.begin(), right.end(), is_clearly_faster);
  const Workaround &workaround = all[best.workaround - 1];
  for (const char *kind : {"binary", "intermediate"}) {
    if (best.answer.contains(kind)) best.answer[kind]["workaround"] = workaround.name;
  }
  if (best.answer.contains("also")) {  // for other GPUs
    for (json &also : best.answer["also"]) {
      if (also.contains("binary")) also["binary"]["workaround"] = workaround.name;
    }
  }
  best.answer["fault"] = {{"what", what},
                          {"workaround", workaround.name},
                          {"il_is_right", workaround.is_il},
                          {"slower", percent_slower(best.milliseconds, plain.milliseconds)}};
  return std::move(best.answer);
}

json JobRunner::run(std::size_t number) {
  const Job job = resolve_(number);
  if (job.device.virtual_device != nullptr) return make_virtually(job);
  if (job.earlier != nullptr) {
    if (auto answer = prove_again(job)) return *std::move(answer);
  }
  json answer = make(number, job);
  // Without hardware a launch may end the process whatever was built.
  const bool may_help = job.has_hardware && is_faulty(status_from(answer));
  return may_help ? work_around(number, job, std::move(answer)) : answer;
}

// Compiles and proves.
json JobRunner::make(std::size_t number, const Job &job) {
  if (!stage_) stage_.emplace();
  Job how = job;
  LeftOut left_out;
  ChildResult made = compile(number, how);
  std::string printed = made.output;
  while (!made.ok() && leave_out(made, &how, &left_out)) {
    made = compile(number, how);
    printed += made.output;  // panfrost compiles at the launch in which it dies
  }
  if (const Status s = with_log(made); !s.ok()) return to_json(s);
  json &answer = made.answer;
  answer["statistics"] = statistics_rows(statistics_of(job.variant, figures_in_mesa_text(printed)));
  if (!left_out.finisher.empty()) answer["finisher_died"] = left_out.finisher;
  if (!left_out.endless.empty()) answer["endless"] = left_out.endless;
  if (!left_out.gpu_archs.empty()) add_deaths(job, left_out.gpu_archs, &answer);
  Results built{{}, {}, left_out.results};
  if (answer.contains("results")) built = results_from(answer["results"]);
  answer.erase("results");
  auto proven = prove(job, built, std::move(answer));
  if (!proven.ok()) return to_json(proven.status());
  (*proven)["died"] = died_;  // in this job: after it the runner is replaced
  return std::move(*proven);
}

}  // namespace kiln::builder
