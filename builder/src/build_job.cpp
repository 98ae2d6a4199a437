#include "build_job.hpp"

#include <algorithm>
#include <optional>

#include "build.hpp"
#include "child_device.hpp"
#include "isolate.hpp"

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

// In the child: {"binary", "log", "kernels"} or {"error", "log"}.
json compile_job(const DeviceInfo &info, const packs::Variant &variant) {
  const packs::BlobSource *input = job_input(variant, info);
  if (input == nullptr) {
    return {{"error", "the device takes neither the variant's source nor its IL"}};
  }
  packs::Bytes bytes;
  if (const packs::Status status = input->read(&bytes); !status.ok()) {
    return {{"error", status.message}};
  }
  const bool is_source = variant.source && input == &*variant.source;
  ChildDevice child;
  if (std::string error = child.open(info); !error.empty()) return {{"error", error}};
  const auto outcome = runtime::build_program(
      *child.device, child.context.get(), is_source ? Form::source : Form::il,
      {bytes.data(), bytes.size()}, variant.options, expected(variant));
  if (!outcome.error.ok()) return {{"error", outcome.error.message}, {"log", outcome.log}};
  json kernels = json::array();
  for (const auto &kernel : outcome.built.kernels) {
    kernels.push_back(kernel_facts(*child.device, kernel.get()));
  }
  packs::Bytes binary;
  const runtime::Error error =
      runtime::program_binary(*child.device, outcome.built.program.get(), &binary);
  if (!error.ok()) return {{"error", error.message}, {"log", outcome.log}};
  return {{"binary", json::binary(std::move(binary))}, {"log", outcome.log}, {"kernels", kernels}};
}

// In another child: {} when the driver takes its own binary back.
json prove_job(const DeviceInfo &info, const packs::Variant &variant, const packs::Bytes &binary) {
  ChildDevice child;
  if (std::string error = child.open(info); !error.empty()) return {{"error", error}};
  const auto outcome =
      runtime::build_program(*child.device, child.context.get(), Form::binary,
                             {binary.data(), binary.size()}, {}, expected(variant));
  if (outcome.error.ok()) return json::object();
  return {{"error", "the driver refuses its own binary: " + outcome.error.message},
          {"log", outcome.log}};
}

// A child's answer, or the text of what went wrong.
std::optional<std::string> complaint(const ChildResult &child) {
  if (!child.ok()) return child.reason();
  if (!child.answer.contains("error")) return std::nullopt;
  std::string text = child.answer["error"];
  const std::string log = child.answer.value("log", "");
  return log.empty() ? text : text + "\n" + log;
}

}  // namespace

std::string without_paths(const std::string &log) {
  const std::string_view ends = " \t\r\n:;,'\"()[]<>";
  std::string kept;
  for (std::size_t i = 0; i < log.size();) {
    const bool starts = i == 0 || ends.find(log[i - 1]) != std::string_view::npos;
    const bool path = starts && log[i] == '/' && i + 1 < log.size() && log[i + 1] != '/' &&
                      log[i + 1] != '*' && ends.find(log[i + 1]) == std::string_view::npos;
    if (!path) {
      kept += log[i++];
      continue;
    }
    kept += "<path>";
    i = std::min(log.find_first_of(ends, i), log.size());
  }
  return kept;
}

const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device) {
  const auto &capabilities = device.capabilities;
  if (variant.source && capabilities.compiler) return &*variant.source;
  const auto &il = capabilities.address_bits == 32 ? variant.il32 : variant.il64;
  const bool takes_il =
      !capabilities.il_versions.empty() && capabilities.il_versions.back() >= variant.il_version;
  return il && takes_il ? &*il : nullptr;
}

json run_job(const DeviceInfo &device, const packs::Variant &variant,
             std::chrono::milliseconds timeout) {
  ChildResult made = run_isolated([&] { return compile_job(device, variant); }, timeout);
  if (const auto text = complaint(made)) return {{"error", *text}};
  const packs::Bytes &bytes = made.answer["binary"].get_binary();
  const ChildResult proof =
      run_isolated([&] { return prove_job(device, variant, bytes); }, timeout);
  if (const auto text = complaint(proof)) return {{"error", "loading the new binary: " + *text}};
  return std::move(made.answer);
}

packs::Binary job_binary(const packs::Variant &variant, const json &answer) {
  const packs::Bytes &bytes = answer["binary"].get_binary();
  packs::Binary binary{variant.hash, packs::BlobSource(bytes), without_paths(answer["log"]), {}};
  for (const json &k : answer["kernels"]) binary.kernels.push_back({k[0], k[1], k[2], k[3]});
  return binary;
}

}  // namespace kiln::builder
