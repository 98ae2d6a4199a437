// SPDX-License-Identifier: Apache-2.0
// Writes an action's canonical JSON, with members sorted by name and without spaces; opens a
// build's store and decides which of its answers serve.
#include "builder/jobs/job_store.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "builder/jobs/job.hpp"
#include "builder/process/child_result.hpp"
#include "builder/prove/result_check.hpp"
#include "runtime/identity/requirements.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {

namespace {

using nlohmann::json;

// Returns UTF-8 as a string, and any other bytes in hexadecimal: JSON has no other strings than
// UTF-8.
json text(const std::string &from) {
  const json as_text(from);
  const std::string dumped = as_text.dump(-1, ' ', false, json::error_handler_t::replace);
  if (json::parse(dumped) == as_text) return as_text;
  return {{"hex", packs::hex(from.data(), from.size())}};
}

// The members of a record are named one by one: a record with one more does not compile here before
// somebody has said whether a job's result depends on it.
json kernel_of(const packs::Kernel &kernel) {
  const auto &[name, arguments, range, parameters] = kernel;
  (void)parameters;  // follow from the source
  return {text(name), arguments, text(range)};
}

json argument_of(const packs::Argument &argument) {
  const auto &[role, storage, channels, name, value, type, accumulates, stage, extent, values,
               fields] = argument;
  return {static_cast<int>(role),
          static_cast<int>(storage),
          channels,
          text(name),
          value,
          static_cast<int>(type),
          accumulates,
          stage,
          text(extent),
          values,
          text(fields)};
}

template <typename Records>
json array_of(json (*one)(const typename Records::value_type &), const Records &records) {
  json all = json::array();
  for (const auto &record : records) all.push_back(one(record));
  return all;
}

json command_of(const JobRequest &request, bool is_source) {
  json tuned = json::array();
  for (const auto &[kernel, size] : request.tuned) {
    tuned.push_back(json::array({text(kernel), size}));
  }
  return {{"compile", is_source ? "source" : "il"},
          {"options", text(request.variant.options)},
          {"kernels", array_of(kernel_of, request.variant.kernels)},
          {"finish", request.finish},
          {"tuned", std::move(tuned)},
          {"also", request.gpu_archs}};
}

json inputs_of(const JobRequest &request, const packs::BlobSource *input) {
  json inputs{{"variant", packs::hex(request.variant.hash)}};
  if (input != nullptr) inputs["program"] = packs::hex(input->name());
  if (request.device.virtual_device != nullptr) {  // its compiler may take either
    if (request.variant.il32) inputs["il32"] = packs::hex(request.variant.il32->name());
    if (request.variant.il64) inputs["il64"] = packs::hex(request.variant.il64->name());
  }
  if (request.variant.launches) inputs["launches"] = packs::hex(request.variant.launches->name());
  if (!request.device_entries.empty()) {
    inputs["opening"] =
        packs::hex(packs::blake2b({request.device_entries.data(), request.device_entries.size()}));
  }
  return inputs;
}

json launch_of(const packs::Program &program, const packs::Variant &variant,
               const ResultCheck *check) {
  const auto &[name, reference, variants, preferred, baseline, sizes] = program;
  const auto &[variant_name, hash, options, requirements, kernels, source, il32, il64, il_version,
               pixels, local_size, arguments, tolerance, launches, limits, local_sizes] = variant;
  // Not part of the launch: command_of() and inputs_of() have what is compiled; the plan compares
  // requirements with the device; limits are checked in each build, also of stored binaries; names,
  // preferences and the baseline decide no result.
  (void)std::tie(name, variants, preferred, baseline, variant_name, hash, options, kernels, source,
                 il32, il64, il_version, launches, limits);
  return {{"arguments", array_of(argument_of, arguments)},
          {"local_size", local_size},
          {"local_sizes", local_sizes},
          {"pixels", pixels},
          {"reference", text(reference)},
          {"check", check == nullptr ? json() : text(check->identity)},
          {"sizes", sizes},
          {"proof", runtime::requires_word(requirements, runtime::kProof)},
          {"tolerance", tolerance}};
}

// Returns the inputs with which the finisher and the proof launch the kernels.
json launch_of(const JobRequest &request) {
  json launch = launch_of(request.program, request.variant, request.check);
  for (const Duplicate &duplicate : request.duplicates) {
    launch["twins"].push_back(launch_of(*duplicate.program, *duplicate.variant, duplicate.check));
  }
  return launch;
}

// Returns whether a compiler refuses the program, rather than the machine's state being at fault:
// by OpenCL's codes, or the codes of VirtualDevice::compile().
bool is_refusal(const Status &status) {
  if (status.code == Code::requirement || status.code == Code::bad_input) return true;
  constexpr int kRefusals[] = {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE,
                               CL_LINK_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS};
  return std::find(std::begin(kRefusals), std::end(kRefusals), status.cl_error) !=
         std::end(kRefusals);
}

}  // namespace

std::string platform_of(const DeviceInfo &device) {
  json identity = json::object();
  for (const auto &[name, value] : device.identity.facts()) {
    if (name != runtime::field_name(runtime::Field::device_uuid)) identity[name] = text(value);
  }
  json platform{{"binary_key", text(device.description.key.text())},
                {"compiler", text(device.description.compiler)},
                {"identity", std::move(identity)}};
  if (device.virtual_device != nullptr) {
    platform["virtual"] = text(device.virtual_device->finisher());
  }
  return platform.dump();
}

Action action_of(const JobRequest &request, const std::string &platform) {
  const packs::BlobSource *input = job_input(request.variant, request.device);
  const bool is_source = request.variant.source && input == &*request.variant.source;
  Action action(packs::concat(
      {"{\"command\":", command_of(request, is_source).dump(),
       ",\"inputs\":", inputs_of(request, input).dump(), ",\"launch\":", launch_of(request).dump(),
       ",\"outputs\":[\"binary\",\"intermediate\",\"also\"],\"platform\":", platform,
       ",\"recipe\":", packs::decimal(kBuilderVersion), "}"}));
  action.device = request.device.label();
  return action;
}

JobState state_of(const json &answer) {
  const Status status = status_from(answer);
  if (!status.ok()) return is_refusal(status) ? JobState::refused : JobState::failed;
  if (answer.contains("finisher_died") || answer.value("died", false)) return JobState::failed;
  const json also = answer.value("also", json::array());
  const bool died = std::any_of(also.begin(), also.end(), [](const json &one) {
    return status_from(one).code == Code::process;
  });
  return died ? JobState::failed : JobState::done;
}

bool serves(const StoreOptions &options, JobState state, std::int64_t deaths) {
  if (options.fresh) return false;
  switch (state) {
    case JobState::done: return true;
    case JobState::refused: return !options.retry;
    case JobState::failed: return !options.retry && deaths >= kTries;
  }
  return false;  // a state that a later Kiln wrote
}

JobStore::JobStore(StoreOptions options) : options_(std::move(options)) {
  if (options_.file.empty()) return;
  auto store = Store::open(options_.file);
  opened_ = store.status();
  if (store.ok()) store_.emplace(*std::move(store));
}

Status JobStore::status() const { return store_ ? store_->status() : opened_; }

std::optional<Claims::Claim> JobStore::claim(const Action &action) const {
  if (!is_open()) return Claims::Claim::none();
  return store_->claims().take(action.key);
}

Claims::Claim JobStore::await(const Action &action) const {
  if (!is_open()) return Claims::Claim::none();
  return store_->claims().await(action.key);
}

std::optional<json> JobStore::find(const Action &action) {
  if (!has(action)) return std::nullopt;
  auto job = store_->find(action.key);
  if (!job) return std::nullopt;
  if (job->state == JobState::failed && job->answer.contains("error")) {
    job->answer["error"] =
        fmt::format("{}\nfailed {} times, and is not tried again without --fresh=failed",
                    job->answer["error"].get<std::string>(), job->deaths);
  }
  return std::move(job->answer);
}

bool JobStore::has(const Action &action) {
  if (!is_open() || options_.fresh) return false;
  const auto known = store_->known(action.key);
  return known && serves(options_, known->state, known->deaths);
}

void JobStore::put(const Action &action, const json &answer, std::int64_t milliseconds) {
  if (!is_open()) return;
  store_->put(action, {state_of(answer), answer, milliseconds, std::time(nullptr)});
}

}  // namespace kiln::builder
