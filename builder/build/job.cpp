// SPDX-License-Identifier: Apache-2.0
// Compiles one variant with the driver in a child process, and brings back what it made.
#include "builder/build/job.hpp"

#include <algorithm>
#include <optional>

#include "builder/base/build_log.hpp"
#include "builder/device/driver_caches.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/finish/proof.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"

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

template <typename T>
std::uint64_t kernel_number(const runtime::Device &device, cl_kernel kernel,
                            cl_kernel_work_group_info what) {
  T value = 0;
  device.cl->clGetKernelWorkGroupInfo(kernel, device.id, what, sizeof(T), &value, nullptr);
  return value;
}

json kernel_facts(const runtime::Device &device, cl_kernel kernel) {
  return {kernel_number<std::size_t>(device, kernel, CL_KERNEL_WORK_GROUP_SIZE),
          kernel_number<std::size_t>(device, kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
          kernel_number<cl_ulong>(device, kernel, CL_KERNEL_PRIVATE_MEM_SIZE),
          kernel_number<cl_ulong>(device, kernel, CL_KERNEL_LOCAL_MEM_SIZE)};
}

// In the child: what make_binaries() says, with "log" and "kernels"; or a failed status, with
// "log" where the driver gave one.
json compile_job(const JobRequest &request, const std::string &caches) {
  const packs::Variant &variant = request.variant;
  const packs::BlobSource *input = job_input(variant, request.device);
  if (input == nullptr) {
    return to_json(
        Status(Code::requirement, "the device takes neither the variant's source nor its IL"));
  }
  packs::Bytes bytes;
  if (const Status s = input->read(&bytes); !s.ok()) return to_json(s);
  use_driver_caches(caches);
  const bool is_source = variant.source && input == &*variant.source;
  OpenedDevice child;
  if (const Status s = child.open(request.device); !s.ok()) return to_json(s);
  const auto build = [&] {
    return runtime::build_program(*child.device, child.context.get(),
                                  is_source ? Form::source : Form::il, {bytes.data(), bytes.size()},
                                  variant.options, expected(variant));
  };
  const runtime::BuildOutcome outcome = build();
  json answer = to_json(outcome.error);
  if (outcome.error.ok()) answer = make_binaries(*child.device, request, outcome.built, build);
  answer["log"] = outcome.log;
  if (!outcome.error.ok()) return answer;
  answer["kernels"] = json::array();
  for (const auto &kernel : outcome.built.kernels) {
    answer["kernels"].push_back(kernel_facts(*child.device, kernel.get()));
  }
  return answer;
}

// The child's status, with the driver's log in the message.
Status with_log(const ChildResult &child) {
  Status status = child.status();
  if (status.ok() || !child.ok()) return status;
  const std::string log = child.answer.value("log", "");
  if (!log.empty()) status.message += "\n" + log;
  return status;
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

json run_job(const JobRequest &request) {
  const auto caches = TemporaryFolder::make();
  if (!caches.ok()) return to_json(caches.status());
  const auto compile = [&](const JobRequest &how) {
    return fork_call([&] { return compile_job(how, caches->path()); }, how.timeout);
  };
  JobRequest how = request;
  ChildResult made = compile(how);
  std::string also_died;
  if (!made.ok() && !how.also.empty()) {
    // What may have died is the work for other devices.
    also_died = made.reason();
    how.also.clear();
    made = compile(how);
  }
  if (!made.ok() && how.finish && how.variant.launches) {
    // What may have died is a kernel, on memory that holds zeros.
    how.repeat_launches = false;
    made = compile(how);
  }
  if (!made.ok() && how.finish) {
    // What may have died is the finisher: without it there may still be a binary.
    const std::string death = made.reason();
    how.finish = false;
    made = compile(how);
    if (made.status().ok()) {
      made.answer["finisher_died"] = "the process that finished it ended: " + death;
    }
  }
  if (const Status s = with_log(made); !s.ok()) return to_json(s);
  for (const std::uint32_t compute_capability : request.also) {
    if (also_died.empty()) break;
    json also = to_json(Status(Code::process, "the process that made it ended: " + also_died));
    also["compute_capability"] = compute_capability;
    made.answer["also"].push_back(std::move(also));
  }
  const auto proven = prove_binaries(request, std::move(made.answer));
  return proven.ok() ? *proven : to_json(proven.status());
}

JobResult job_result(const packs::Variant &variant, const json &answer) {
  const auto take = [&](const json &from, const char *name) -> std::optional<packs::Binary> {
    if (!from.contains(name)) return std::nullopt;
    packs::Binary binary = binary_from(variant, from[name]);
    binary.build_log = without_paths(answer["log"]);
    for (const json &k : answer["kernels"]) binary.kernels.push_back({k[0], k[1], k[2], k[3]});
    return binary;
  };
  JobResult result{take(answer, "binary"), take(answer, "intermediate")};
  for (const json &also : answer.value("also", json::array())) {
    result.also.push_back({also["compute_capability"], take(also, "binary"), status_from(also)});
  }
  return result;
}

}  // namespace kiln::builder
