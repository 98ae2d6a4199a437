// SPDX-License-Identifier: Apache-2.0
// The finisher of each profile, and binaries as JSON for the parent.
#include "builder/finish/finishers.hpp"

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "builder/base/build_log.hpp"
#include "builder/base/this_process.hpp"
#include "builder/finish/launch_twice.hpp"
#include "builder/process/child_result.hpp"
#include "runtime/launch/enqueue.hpp"
#include "runtime/overlay/cuda_linker.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using packs::Finality;

constexpr char kPoclSizes[] = "POCL_BINARY_SPECIALIZE_WG";

std::uint64_t microseconds_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

packs::Binary with_finish(const packs::Variant &variant, packs::Bytes bytes, packs::Finish finish) {
  packs::Binary binary{variant.hash, packs::BlobSource(std::move(bytes)), {}};
  binary.finish = std::move(finish);
  return binary;
}

// Links PTX of `device` to code for the compute capability.
Result<packs::Binary> link(const runtime::Device &device, const packs::Variant &variant,
                           const packs::Bytes &ptx, std::uint32_t compute_capability) {
  const auto start = Clock::now();
  packs::Bytes cubin;
  std::string log;
  Status status = runtime::link_cubin({ptx.data(), ptx.size()}, compute_capability, &cubin, &log);
  if (!status.ok()) {
    if (!log.empty()) status.message += "\n" + without_paths(log);
    return status;
  }
  packs::Finish finish;
  finish.finisher = kLinker;
  finish.microseconds = microseconds_since(start);
  finish.unfinished_size = ptx.size();
  finish.driver = device.identity.text(runtime::Field::driver_version);
  return with_finish(variant, std::move(cubin), std::move(finish));
}

json link_also(const runtime::Device &device, const packs::Variant &variant,
               const packs::Bytes &ptx, std::uint32_t compute_capability) {
  json also{{"compute_capability", compute_capability}};
  auto binary = link(device, variant, ptx, compute_capability);
  if (!binary.ok()) {
    also.update(to_json(binary.status()));
    return also;
  }
  binary->finish.why_not = "it was made where no such device is";
  also["binary"] = to_json(*binary);
  return also;
}

// Makes the PTX, and the cubin if finishing is requested.
json make_linked(const runtime::Device &device, const Job &job, packs::Bytes ptx) {
  json answer = json::object();
  packs::Finish finish{Finality::no, kPtx};
  finish.driver = device.identity.text(runtime::Field::driver_version);
  if (job.finish) {
    const auto cubin = link(device, job.variant, ptx, device.capabilities.compute_capability);
    if (cubin.ok()) answer["binary"] = to_json(*cubin);
    // Name the linker only if it ran: then a later build, on a machine that has one, tries again.
    if (cubin.ok() || cubin.status().code == Code::opencl) finish.finisher = kLinker;
    if (!cubin.ok()) finish.why_not = "it could not be finished: " + cubin.status().message;
  }
  for (const std::uint32_t compute_capability : job.gpu_archs) {
    answer["also"].push_back(link_also(device, job.variant, ptx, compute_capability));
  }
  answer["intermediate"] = to_json(with_finish(job.variant, std::move(ptx), std::move(finish)));
  return answer;
}

// Returns the work-group sizes to make code for. Repeats recorded launches here: PoCL puts their
// code into the binary, including code for sizes that PoCL chose itself.
std::vector<LaunchSize> sizes_to_have(const runtime::Device &device, const Job &job,
                                      const runtime::BuiltProgram &built) {
  const auto recorded = recorded_launches(job.variant);
  if (recorded.ok() && !recorded->empty()) {
    const std::vector<RecordedLaunch> tuned = tuned_launches(*recorded, job.tuned);
    FirstLaunch ignored;
    Status s(Code::process, "an earlier try ended the process");
    if (job.repeat_launches) {
      s = launch_recorded(device, built.program.get(), *recorded, tuned,
                          longest_launch(job.build_microseconds, job.limits.timeout), &ignored);
    }
    std::vector<RecordedLaunch> all = *recorded;
    all.insert(all.end(), tuned.begin(), tuned.end());
    const auto sizes = recorded_sizes(all);
    if (!s.ok()) setenv(kPoclSizes, pocl_sizes(sizes).c_str(), 1);
    return sizes;
  }
  std::vector<runtime::WorkGroupLimits> limits;
  for (const auto &kernel : built.kernels) {
    limits.push_back(runtime::query_limits(device, kernel.get()));
  }
  const auto sizes = launch_sizes(job.program, job.variant, limits, job.tuned);
  if (sizes.empty()) return sizes;
  setenv(kPoclSizes, pocl_sizes(sizes).c_str(), 1);
  return sizes;
}

// Makes a binary with code for work-group sizes. PoCL reads POCL_BINARY_SPECIALIZE_WG when a
// program is first asked for its binary, and adds the code for those sizes. The program that gave
// the sizes was asked already, so the binary comes from a second program. A process keeps the
// variable's first value in PoCL; see needs_new_process().
json make_with_sizes(const runtime::Device &device, const Job &job,
                     const runtime::BuiltProgram &built, packs::Bytes plain,
                     const std::function<runtime::BuildOutcome()> &build) {
  const auto start = Clock::now();
  const auto sizes = sizes_to_have(device, job, built);
  if (sizes.empty() && !job.variant.launches) {
    return {{"binary", to_json(with_finish(job.variant, std::move(plain), {}))}};
  }
  const runtime::BuildOutcome again = build();
  packs::Bytes bytes;
  Status status = again.error;
  if (status.ok()) status = program_binary(device, again.built.program.get(), &bytes);
  if (!status.ok()) return to_json(status);
  packs::Finish finish;
  finish.finisher = kWorkGroups;
  finish.microseconds = microseconds_since(start);
  finish.unfinished_size = plain.size();
  for (const LaunchSize &size : sizes) {
    std::array<std::uint32_t, 3> local{};
    for (std::size_t i = 0; i < 3; ++i) local[i] = static_cast<std::uint32_t>(size.local[i]);
    if (finish.local_sizes.empty() || finish.local_sizes.back() != local) {
      finish.local_sizes.push_back(local);
    }
  }
  return {{"binary", to_json(with_finish(job.variant, std::move(bytes), std::move(finish)))}};
}

}  // namespace

json to_json(const packs::Binary &binary) {
  packs::Bytes bytes;
  (void)binary.blob.read(&bytes);  // in memory: it cannot fail
  const packs::Finish &f = binary.finish;
  json out{{"bytes", json::binary(std::move(bytes))},
           {"finality", static_cast<int>(f.finality)},
           {"why_not", f.why_not},
           {"finisher", f.finisher},
           {"microseconds", f.microseconds},
           {"unfinished_size", f.unfinished_size},
           {"driver", f.driver},
           {"local_sizes", f.local_sizes},
           {"proof", f.proof},
           {"unproven", f.unproven},
           {"workaround", f.workaround}};
  if (binary.cache_entries) {
    packs::Bytes cache_entries;
    (void)binary.cache_entries->read(&cache_entries);
    out["cache_entries"] = json::binary(std::move(cache_entries));
  }
  return out;
}

packs::Binary binary_from(const packs::Variant &variant, const json &in) {
  const packs::Bytes &bytes = in["bytes"].get_binary();
  packs::Binary binary{variant.hash, packs::BlobSource(bytes), {}};
  binary.finish = {static_cast<Finality>(in["finality"].get<int>()),
                   in["why_not"],
                   in["finisher"],
                   in["microseconds"],
                   in["unfinished_size"],
                   in["driver"],
                   in["local_sizes"].get<std::vector<std::array<std::uint32_t, 3>>>(),
                   in["proof"],
                   in["unproven"]};
  binary.finish.workaround = in.value("workaround", "");  // not in answers of earlier stores
  if (in.contains("cache_entries")) {
    const packs::Bytes &cache_entries = in["cache_entries"].get_binary();
    binary.cache_entries = packs::BlobSource(cache_entries);
  }
  return binary;
}

bool needs_new_process() { return std::getenv(kPoclSizes) != nullptr; }

json make_binaries(const runtime::Device &device, const Job &job,
                   const runtime::BuiltProgram &built,
                   const std::function<runtime::BuildOutcome()> &build) {
  packs::Bytes plain;
  const Status status = program_binary(device, built.program.get(), &plain);
  if (!status.ok()) return to_json(status);
  switch (device.description.finishing) {
    case runtime::Finishing::linker: return make_linked(device, job, std::move(plain));
    case runtime::Finishing::launches:
      if (job.finish) return make_with_sizes(device, job, built, std::move(plain), build);
      break;
    default: break;
  }
  return {{"binary", to_json(with_finish(job.variant, std::move(plain), {}))}};
}

}  // namespace kiln::builder
