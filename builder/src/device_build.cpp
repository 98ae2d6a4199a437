#include "device_build.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "build.hpp"
#include "child_device.hpp"
#include "isolate.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::Form;

struct Input {
  Form form = Form::source;
  packs::Bytes bytes;
};

// What the driver compiles: the source, or the IL where it takes no source.
packs::Status job_input(const packs::Variant &variant, const DeviceInfo &device, Input *out) {
  const auto &il = device.capabilities.address_bits == 32 ? variant.il32 : variant.il64;
  const bool takes_il = !device.capabilities.il_versions.empty() &&
                        device.capabilities.il_versions.back() >= variant.il_version;
  if (variant.source && device.capabilities.compiler) return variant.source->read(&out->bytes);
  if (il && takes_il) {
    out->form = Form::il;
    return il->read(&out->bytes);
  }
  return packs::Status::error(packs::Fault::bad_argument,
                              "the device takes neither the variant's source nor its IL");
}

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
json compile_job(const DeviceInfo &info, const packs::Variant &variant, const Input &input) {
  ChildDevice child;
  if (std::string error = child.open(info); !error.empty()) return {{"error", error}};
  const auto outcome = runtime::build_program(*child.device, child.context.get(), input.form,
                                              {input.bytes.data(), input.bytes.size()},
                                              variant.options, expected(variant));
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

std::optional<packs::Binary> run_job(const DeviceInfo &device, const packs::Variant &variant,
                                     const BuildOptions &options, std::string *error) {
  Input input;
  if (const packs::Status status = job_input(variant, device, &input); !status.ok()) {
    *error = status.message;
    return std::nullopt;
  }
  const ChildResult made =
      run_isolated([&] { return compile_job(device, variant, input); }, options.timeout);
  if (const auto text = complaint(made)) {
    *error = *text;
    return std::nullopt;
  }
  const packs::Bytes bytes = made.answer["binary"].get_binary();
  const ChildResult proof =
      run_isolated([&] { return prove_job(device, variant, bytes); }, options.timeout);
  if (const auto text = complaint(proof)) {
    *error = "loading the new binary: " + *text;
    return std::nullopt;
  }
  packs::Binary binary{
      variant.hash, packs::BlobSource(bytes), without_paths(made.answer["log"]), {}};
  for (const json &k : made.answer["kernels"]) binary.kernels.push_back({k[0], k[1], k[2], k[3]});
  return binary;
}

packs::Target make_target(const DeviceInfo &device) {
  packs::Target target;
  target.key = runtime::key_text(device.description.key);
  target.profile = device.description.profile;
  target.family = device.description.family;
  target.model = device.description.model;
  target.compiler = device.description.compiler;
  for (std::size_t i = 0; i < runtime::kFieldCount; ++i) {
    const auto field = static_cast<runtime::Field>(i);
    if (const auto &value = device.identity[field]) {
      target.identity.emplace_back(runtime::field_name(field), *value);
    }
  }
  return target;
}

bool has_variant(const packs::Contents &contents, const packs::Name &hash) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.hash == hash) return true;
    }
  }
  return false;
}

// Targets of the earlier pack that were not built now: what is still of use in them.
void keep_others(const std::vector<packs::Target> &earlier, packs::Contents *contents) {
  std::set<std::string> built;
  for (const packs::Target &target : contents->targets) built.insert(target.key);
  for (packs::Target target : earlier) {
    if (built.count(target.key) != 0) continue;
    std::erase_if(target.binaries,
                  [&](const packs::Binary &b) { return !has_variant(*contents, b.variant); });
    if (!target.binaries.empty()) contents->targets.push_back(std::move(target));
  }
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

BuildResult build_on_devices(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                             const std::vector<packs::Target> &earlier, const BuildOptions &options,
                             const JobProgress &progress) {
  BuildResult result;
  result.contents = base;
  const std::vector<Job> plan = make_plan(base, devices, earlier);
  const auto all = static_cast<std::size_t>(std::count_if(
      plan.begin(), plan.end(), [](const Job &job) { return job.need == Need::compile; }));
  std::map<std::size_t, packs::Target> targets;
  for (const Job &job : plan) {
    const DeviceInfo &device = devices[job.device];
    const packs::Variant &variant = base.programs[job.program].variants[job.variant];
    packs::Target &target = targets.try_emplace(job.device, make_target(device)).first->second;
    if (job.need == Need::skip) {
      ++result.skipped;
    } else if (job.need == Need::reuse) {
      ++result.reused;
      target.binaries.push_back(*earlier_binary(earlier, target.key, variant.hash));
    } else {
      const std::string name = job_name(base, devices, job);
      if (progress) progress(name, result.compiled + result.failures.size(), all);
      std::string error;
      if (auto binary = run_job(device, variant, options, &error)) {
        ++result.compiled;
        target.binaries.push_back(std::move(*binary));
      } else {
        result.failures.push_back({name, std::move(error)});
      }
    }
  }
  for (auto &[index, target] : targets) {
    if (!target.binaries.empty()) result.contents.targets.push_back(std::move(target));
  }
  keep_others(earlier, &result.contents);
  return result;
}

}  // namespace kiln::builder
