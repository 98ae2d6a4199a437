// SPDX-License-Identifier: Apache-2.0
// Reads the parameters from a recorded module, or from the LLVM IR that clang makes of a source.
#include "builder/compile/recorded_parameters.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "builder/base/this_process.hpp"
#include "builder/compile/host_compile.hpp"
#include "builder/run/recorded_launch.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMaxOfOneProgram{10'000};  // for each run of clang

bool lacks_parameters(const packs::Variant &variant) {
  return std::any_of(variant.kernels.begin(), variant.kernels.end(), [](const packs::Kernel &k) {
    return k.arguments != 0 && k.parameters.empty();
  });
}

std::vector<SpirvKernel> kernels_of_module(const packs::BlobSource &il) {
  packs::Bytes bytes;
  if (!il.read(&bytes).ok()) return {};
  auto module = read_spirv({bytes.data(), bytes.size()});
  return module.ok() ? std::move(module->kernels) : std::vector<SpirvKernel>();
}

std::vector<SpirvKernel> kernels_of_source(const HostTool &clang, const packs::Variant &variant,
                                           std::chrono::milliseconds time) {
  packs::Bytes bytes;
  if (!variant.source || !variant.source->read(&bytes).ok()) return {};
  Toolchain toolchain;
  toolchain.clang = clang.path;
  toolchain.llvm_major = clang.major;
  HostCompileRequest request;
  request.name = variant.name;
  request.source.assign(bytes.begin(), bytes.end());
  request.check_only = true;
  request.any_requirements = true;
  request.options = variant.options;
  request.requirements = variant.requirements;
  request.timeout = std::min(time, kMaxOfOneProgram);
  auto compiled = compile_to_spirv(toolchain, request, nullptr);
  return compiled.ok() ? std::move(compiled->module.kernels) : std::vector<SpirvKernel>();
}

// The macros of a driver may declare other parameters than clang's, so a source's parameters are
// taken only if they are as many as the driver says or as the application passed. A module has no
// macros.
void take_parameters(const std::vector<SpirvKernel> &found, bool is_module,
                     packs::Variant *variant) {
  for (packs::Kernel &kernel : variant->kernels) {
    if (!kernel.parameters.empty()) continue;
    for (const SpirvKernel &one : found) {
      if (one.name != kernel.name) continue;
      const auto count = static_cast<std::uint32_t>(one.parameters.size());
      if (kernel.arguments == packs::kUnknownArguments && is_module) kernel.arguments = count;
      if (kernel.arguments == count) kernel.parameters = one.parameters;
    }
  }
}

// Counts the arguments that the application passed.
void count_arguments(packs::Variant *variant) {
  const auto launches = recorded_launches(*variant);
  if (!launches.ok()) return;
  for (packs::Kernel &kernel : variant->kernels) {
    if (kernel.arguments != packs::kUnknownArguments) continue;
    for (const RecordedLaunch &launch : *launches) {
      if (launch.kernel != kernel.name) continue;
      kernel.arguments = static_cast<std::uint32_t>(launch.arguments.size());
    }
  }
}

}  // namespace

void add_parameters(const std::string &clang, std::chrono::milliseconds time,
                    packs::Contents *contents) {
  const auto deadline = Clock::now() + time;
  std::vector<packs::Variant *> sources;
  for (packs::Program &program : contents->programs) {
    for (packs::Variant &variant : program.variants) {
      count_arguments(&variant);
      for (const auto &il : {variant.il64, variant.il32}) {
        if (il && lacks_parameters(variant)) {
          take_parameters(kernels_of_module(*il), true, &variant);
        }
      }
      if (variant.source && lacks_parameters(variant)) sources.push_back(&variant);
    }
  }
  if (sources.empty()) return;
  const auto tool = find_clang(clang);
  if (!tool.ok()) return;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < sources.size();) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return;
      take_parameters(kernels_of_source(*tool, *sources[i], left), false, sources[i]);
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < std::min(usable_cpus(), sources.size()); ++i) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (auto &other : others) other.get();
}

}  // namespace kiln::builder
