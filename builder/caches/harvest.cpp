// SPDX-License-Identifier: Apache-2.0
// Looks up each variant in the cache. Binaries that are found are proven as a build proves its own;
// export stores binaries in the cache.
#include "builder/caches/harvest.hpp"

#include <set>

#include "builder/finish/finishers.hpp"
#include "builder/jobs/job.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/prove_binaries.hpp"
#include "runtime/overlay/cuda_linker.hpp"

namespace kiln::builder {

namespace {

const packs::Binary *binary_of(const std::vector<packs::Binary> &binaries,
                               const packs::Digest &variant) {
  for (const packs::Binary &binary : binaries) {
    if (binary.variant == variant) return &binary;
  }
  return nullptr;
}

// Returns the binary, or else the intermediate: this is the driver's own form, which the
// application would have kept itself.
const packs::Binary *binary_of(const packs::Target &target, const packs::Digest &variant) {
  const packs::Binary *binary = binary_of(target.binaries, variant);
  return binary != nullptr ? binary : binary_of(target.intermediates, variant);
}

// Returns the program as caches hold it. Fails with Code::requirement if the variant has only
// SPIR-V.
Result<CachedProgram> cached_program(const packs::Variant &variant) {
  if (!variant.source) return Status(Code::requirement, "it is SPIR-V, which no cache here holds");
  packs::Bytes source;
  if (Status s = variant.source->read(&source); !s.ok()) return s;
  return CachedProgram{{source.begin(), source.end()}, variant.options};
}

Result<std::string> store(const packs::Variant &variant, const ExportDevice &device,
                          const packs::Binary &binary, ApplicationCache *cache) {
  const auto program = cached_program(variant);
  if (!program.ok()) return program.status();
  packs::Bytes bytes;
  if (Status s = binary.blob.read(&bytes); !s.ok()) return s;
  return cache->store(*program, device.identity, {bytes.data(), bytes.size()}, binary.build_log);
}

using nlohmann::json;

Result<packs::Bytes> look_up(const packs::Variant &variant, const DeviceInfo &device,
                             ApplicationCache *cache) {
  const auto program = cached_program(variant);
  if (!program.ok()) return program.status();
  auto bytes = cache->find(*program, device.identity.facts());
  if (bytes.ok() && bytes->empty()) return Status(Code::bad_input, "the binary is empty");
  return bytes;
}

// Describes the bytes as make_binaries() describes a binary from a driver; PTX counts as an
// intermediate.
json as_made(const packs::Variant &variant, const DeviceInfo &device, packs::Bytes bytes) {
  const bool ptx = runtime::is_ptx({bytes.data(), bytes.size()});
  packs::Binary binary{variant.hash, packs::BlobSource(std::move(bytes)), {}};
  binary.finish.driver = device.identity.text(runtime::Field::driver_version);
  if (ptx) {
    binary.finish.finality = packs::Finality::no;
    binary.finish.why_not = "the driver compiles this form whenever it loads it";
  }
  return {
      {ptx ? "intermediate" : "binary", to_json(binary)}, {"log", ""}, {"kernels", json::array()}};
}

// Tells from the status why a variant was not found.
Harvested why_absent(const Status &status) {
  if (status.code == Code::not_found) return Harvested::absent;
  return status.code == Code::requirement ? Harvested::no_key : Harvested::refused;
}

Status take(const packs::Program &program, const packs::Variant &variant, const DeviceInfo &device,
            std::chrono::milliseconds timeout, packs::Bytes bytes, packs::Target *target) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  JobRequest request{device, program, variant, {timeout}};
  request.finish = false;
  Prover prover(device, request.limits, folder->path());
  const auto proven = prove_binaries(
      request, [](const JobRequest &) { return Expectation(); }, &prover,
      as_made(variant, device, std::move(bytes)));
  if (!proven.ok()) return proven.status();
  JobResult result = job_result(variant, *proven);
  if (result.binary) target->binaries.push_back(*std::move(result.binary));
  if (result.intermediate) target->intermediates.push_back(*std::move(result.intermediate));
  return {};
}

std::size_t count_variants(const packs::Contents &contents) {
  std::size_t count = 0;
  for (const packs::Program &program : contents.programs) count += program.variants.size();
  return count;
}

// Returns one device for each binary key.
std::vector<const DeviceInfo *> distinct(const std::vector<DeviceInfo> &devices) {
  std::vector<const DeviceInfo *> first;
  std::set<std::string> seen;
  for (const DeviceInfo &device : devices) {
    if (seen.insert(device.description.key.text()).second) first.push_back(&device);
  }
  return first;
}

}  // namespace

std::vector<ExportOutcome> export_binaries(const packs::Contents &contents,
                                           const std::vector<ExportDevice> &devices,
                                           const std::string &program, ApplicationCache *cache) {
  std::vector<ExportOutcome> outcomes;
  for (const ExportDevice &device : devices) {
    for (const packs::Program &one : contents.programs) {
      if (!program.empty() && one.name != program) continue;
      for (const packs::Variant &variant : one.variants) {
        const packs::Binary *binary = binary_of(*device.target, variant.hash);
        if (binary == nullptr) continue;
        ExportOutcome outcome{one.name, variant.name, device.label, {}, {}};
        outcome.status = store(variant, device, *binary, cache).move_to(&outcome.file);
        outcomes.push_back(std::move(outcome));
      }
    }
  }
  return outcomes;
}

HarvestResult harvest(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                      std::chrono::milliseconds timeout, ApplicationCache *cache,
                      const HarvestProgress &progress) {
  HarvestResult result;
  result.contents.programs = base.programs;
  const auto distinct_devices = distinct(devices);
  const std::size_t all = distinct_devices.size() * count_variants(base);
  std::size_t done = 0;
  for (const DeviceInfo *device : distinct_devices) {
    packs::Target target = make_target(*device);
    for (const packs::Program &program : base.programs) {
      for (const packs::Variant &variant : program.variants) {
        progress(program.name + "/" + variant.name, done++, all);
        if (!runtime::check_requirements(variant.requirements, device->capabilities).ok()) continue;
        HarvestOutcome outcome{program.name, variant.name, device->label()};
        auto bytes = look_up(variant, *device, cache);
        if (bytes.ok()) {
          outcome.status = take(program, variant, *device, timeout, *std::move(bytes), &target);
          if (!outcome.status.ok()) outcome.what = Harvested::refused;
        } else {
          outcome.status = bytes.status();
          outcome.what = why_absent(outcome.status);
        }
        result.outcomes.push_back(std::move(outcome));
      }
    }
    if (target.binaries.empty() && target.intermediates.empty()) continue;
    result.contents.targets.push_back(std::move(target));
  }
  return result;
}

}  // namespace kiln::builder
