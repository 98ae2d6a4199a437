// SPDX-License-Identifier: Apache-2.0
// Compiles one variant with the driver, and reads back the result.
#include "builder/jobs/job.hpp"

#include <optional>

#include "builder/base/build_log.hpp"
#include "builder/base/this_process.hpp"
#include "builder/device/build_source.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/process/status_json.hpp"
#include "builder/prove/launch_results.hpp"
#include "builder/prove/result_check.hpp"
#include "builder/statistics/statistics.hpp"

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

bool is_compared_with_source(const JobRequest &request) {
  return request.launch_source && request.check != nullptr && !request.check->off &&
         knows_launches(request.program, request.variant) &&
         !request.check->has_reference(request.program, request.variant);
}

// Returns whether only the proof creates the kernels. On rusticl the binary is SPIR-V, and creating
// a kernel takes most of the time. Mesa's GPU drivers say then how well they compiled, llvmpipe
// says nothing.
bool leaves_kernels(const JobRequest &request) {
  const runtime::Description &device = request.device.description;
  return device.finishing == runtime::Finishing::shader_cache && device.family == "llvmpipe" &&
         !is_compared_with_source(request);
}

}  // namespace

const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device) {
  const auto &capabilities = device.capabilities;
  if (variant.source && capabilities.compiler) return &*variant.source;
  const auto &il = capabilities.address_bits == 32 ? variant.il32 : variant.il64;
  const bool takes_il =
      !capabilities.il_versions.empty() && capabilities.il_versions.back() >= variant.il_version;
  return il && takes_il ? &*il : nullptr;
}

json compile_job(const JobRequest &request, OpenedPack *opened, const std::string &path,
                 const std::function<void(JobStage)> &stage) {
  const packs::Variant &variant = request.variant;
  const runtime::Device &device = *opened->child.device;
  const packs::BlobSource *input = job_input(variant, request.device);
  if (input == nullptr) {
    return to_json(
        Status(Code::requirement, "the device takes neither the variant's source nor its IL"));
  }
  packs::Bytes bytes;
  if (const Status s = input->read(&bytes); !s.ok()) return to_json(s);
  const bool is_source = variant.source && input == &*variant.source;
  const bool leaves = leaves_kernels(request);
  const auto kernels = leaves ? std::vector<runtime::ExpectedKernel>() : expected(variant);
  const auto build = [&] {
    const packs::View view{bytes.data(), bytes.size()};
    const cl_context context = opened->child.context.get();
    return is_source
               ? build_source(device, context, view, variant.options, kernels,
                              request.parallel ? device.description.one_thread : "")
               : runtime::build_program(device, context, Form::il, view, variant.options, kernels);
  };
  stage(JobStage::compiling);
  const auto start = Clock::now();
  runtime::BuildOutcome outcome = build();
  const double milliseconds = milliseconds_since(start);
  stage(JobStage::finishing);
  json answer = to_json(outcome.error);
  if (outcome.error.ok()) answer = make_binaries(device, request, outcome.built, build);
  answer["log"] = outcome.log;
  if (!outcome.error.ok()) return answer;
  answer["build_microseconds"] = static_cast<std::uint64_t>(milliseconds * 1000);
  if (!leaves) answer["kernels"] = kernel_rows(device, outcome.built.kernels);
  if (!is_compared_with_source(request)) return answer;
  stage(JobStage::launching);
  answer["results"] = to_json(source_results(request, opened, std::move(outcome.built), path));
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
  for (const json &also : answer.value("also", json::array())) {
    result.other_gpus.push_back(
        {also["compute_capability"], take(also, "binary"), status_from(also)});
  }
  return result;
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

}  // namespace kiln::builder
