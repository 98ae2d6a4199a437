// SPDX-License-Identifier: Apache-2.0
// Writes canonical JSON, with members sorted by name and without spaces, and hashes it.
#include "builder/jobs/origin.hpp"

#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "builder/jobs/job_runner.hpp"
#include "builder/prove/result_check.hpp"
#include "kiln/packs/members.hpp"

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

std::string digest_of(const json &value) {
  const std::string dumped = value.dump();
  const auto *data = reinterpret_cast<const std::uint8_t *>(dumped.data());
  constexpr std::size_t kDigits = 16;  // a device that gets a pack pays for them
  return packs::hex(packs::blake2b({data, dumped.size()})).substr(0, kDigits);
}

// A record of a pack as an array of all its members.
template <typename T>
json key_of(const T &number) {
  return number;
}
json key_of(const std::string &from) { return text(from); }
template <packs::Record T>
json key_of(const T &record) {
  json all = json::array();
  std::apply([&](const auto &...member) { (all.push_back(key_of(member)), ...); },
             packs::members(record));
  return all;
}

json kernels_of(const packs::Variant &variant) {
  json all = json::array();
  for (const packs::Kernel &kernel : variant.kernels) {
    const auto &[name, arguments, range, parameters] = kernel;
    (void)parameters;  // follow from the source
    all.push_back(json::array({text(name), arguments, text(range)}));
  }
  return all;
}

// Returns the inputs with which the finisher and the proof launch the kernels. The members are
// named one by one: a record with one more does not compile here before somebody has said whether a
// job's result depends on it.
json launch_of(const packs::Program &program, const packs::Variant &variant) {
  const auto &[program_name, reference, variants, preferred, baseline, sizes] = program;
  const auto &[name, hash, options, requirements, kernels, source, il32, il64, il_version, pixels,
               local_size, arguments, tolerance, launches, limits, local_sizes, workarounds] =
      variant;
  // Not part of a launch: made_of() has what is compiled, and proof_of() what is compared; the plan
  // compares requirements with the device; limits are checked in each build, also of earlier
  // binaries; names, preferences and the baseline decide no result.
  (void)std::tie(program_name, reference, variants, preferred, baseline, name, hash, options,
                 requirements, source, il32, il64, il_version, tolerance, limits, workarounds);
  json all = json::array();
  for (const packs::Argument &argument : arguments) all.push_back(key_of(argument));
  return {{"arguments", std::move(all)},
          {"kernels", kernels_of(variant)},
          {"launches", launches ? json(packs::hex(launches->name())) : json()},
          {"local_size", local_size},
          {"local_sizes", local_sizes},
          {"pixels", pixels},
          {"sizes", sizes}};
}

json proof_of(const packs::Program &program, const packs::Variant &variant,
              const ResultCheck &check) {
  return {{"check", text(check.identity)},
          {"launch", launch_of(program, variant)},
          {"reference", text(program.reference)},
          {"requirements", variant.requirements},  // which decide who proves
          {"tolerance", variant.tolerance}};
}

json inputs_of(const Job &job, const packs::BlobSource *input) {
  json inputs{{"variant", packs::hex(job.variant.hash)}};
  if (input != nullptr) inputs["program"] = packs::hex(input->name());
  if (job.device.virtual_device != nullptr) {  // its compiler may take either
    if (job.variant.il32) inputs["il32"] = packs::hex(job.variant.il32->name());
    if (job.variant.il64) inputs["il64"] = packs::hex(job.variant.il64->name());
  }
  return inputs;
}

json made_of(const Job &job) {
  const packs::BlobSource *input = job_input(job.variant, job.device);
  const bool is_source = job.variant.source && input == &*job.variant.source;
  json tuned = json::array();
  for (const auto &[kernel, size] : job.tuned) {
    tuned.push_back(json::array({text(kernel), size}));
  }
  const VirtualDevice *virtual_device = job.device.virtual_device.get();
  return {{"binary_key", text(job.device.description.key.text())},
          {"compile", is_source ? "source" : "il"},
          {"finish", job.finish},
          {"inputs", inputs_of(job, input)},
          {"launch", launch_of(job.program, job.variant)},
          {"options", text(job.variant.options)},
          {"recipe", kBuilderVersion},
          {"tuned", std::move(tuned)},
          {"virtual", virtual_device == nullptr ? json() : text(virtual_device->finisher())}};
}

}  // namespace

std::string platform_of(const DeviceInfo &device) {
  json identity = json::object();
  for (const auto &[name, value] : device.identity.facts()) {
    if (name != runtime::field_name(runtime::Field::device_uuid)) identity[name] = text(value);
  }
  return json{{"binary_key", text(device.description.key.text())},
              {"compiler", text(device.description.compiler)},
              {"identity", std::move(identity)}}
      .dump();
}

void Origin::note_in(packs::Finish *finish) const {
  finish->made_from = finish->workaround.empty() ? made_from : made_with_workaround;
  finish->proved_by = proves ? proved_by : "";
}

std::string made_from(const Job &job) { return digest_of(made_of(job)); }

std::string made_with_workaround(const Job &job) {
  json made = made_of(job);
  for (const auto &il : {job.variant.il32, job.variant.il64}) {
    made["il"].push_back(il ? json(packs::hex(il->name())) : json());
  }
  made["workarounds"] = json::array();
  for (const std::string &options : job.variant.workarounds) {
    made["workarounds"].push_back(text(options));
  }
  return digest_of(made);
}

ProofOrigins::ProofOrigins(const packs::Contents &base, const std::vector<ResultCheck> &checks) {
  std::unordered_map<packs::Digest, std::vector<std::string>, HashOfDigest> proofs;
  std::vector<std::pair<const packs::Variant *, std::string>> each;
  for (std::size_t p = 0; p < base.programs.size(); ++p) {
    for (const packs::Variant &variant : base.programs[p].variants) {
      each.emplace_back(&variant, proof_of(base.programs[p], variant, checks[p]).dump());
      proofs[variant.hash].push_back(each.back().second);
      OfHash &known = by_hash_[variant.hash];
      known.is_known = known.is_known && checks[p].missing.empty();
      known.needs_proof = known.needs_proof || builder::needs_proof(variant);
    }
  }
  for (auto &[hash, all] : proofs) std::sort(all.begin(), all.end());
  for (const auto &[variant, own] : each) {
    // The job belongs to one of the variants; its binary is proven for each of them.
    const std::string digest = digest_of({{"all", proofs[variant->hash]}, {"own", own}});
    digests_.emplace(variant, digest);
    by_hash_[variant->hash].digests.push_back(digest);
  }
}

bool ProofOrigins::is_stale(const packs::Binary &binary) const {
  const auto known = by_hash_.find(binary.variant);
  if (binary.finish.proof.empty() || known == by_hash_.end() || !known->second.is_known) {
    return false;
  }
  const auto &digests = known->second.digests;
  return std::find(digests.begin(), digests.end(), binary.finish.proved_by) == digests.end();
}

bool ProofOrigins::needs_proof(const packs::Digest &hash) const {
  const auto known = by_hash_.find(hash);
  return known != by_hash_.end() && known->second.needs_proof;
}

Fit fit_of(const packs::Finish &earlier, const Origin &wanted) {
  if (wanted.made_from.empty()) return {};
  if (earlier.made_from.empty()) {
    return {false, "the earlier binary does not tell what it was made from"};
  }
  if (earlier.made_from !=
      (earlier.workaround.empty() ? wanted.made_from : wanted.made_with_workaround)) {
    return {false,
            "the earlier binary was made from other options, arguments, launches, sizes or tools"};
  }
  const bool was_not_compared = !wanted.proves && earlier.proved_by.empty();
  if (earlier.proved_by != wanted.proved_by && !was_not_compared) {
    return {true, "the reference or the tolerance of the earlier binary's proof has changed"};
  }
  return {};
}

Action action_of(const Job &job, const Origin &origin, const std::string &platform) {
  json more{{"also", job.gpu_archs}, {"proves", origin.proves}};
  if (!job.device_entries.empty()) {
    more["opening"] =
        packs::hex(packs::blake2b({job.device_entries.data(), job.device_entries.size()}));
  }
  Action action(
      packs::concat({"{\"made\":", made_of(job).dump(), ",\"more\":", more.dump(),
                     ",\"platform\":", platform, ",\"proved_by\":\"", origin.proved_by, "\"}"}));
  action.device = job.device.label();
  return action;
}

}  // namespace kiln::builder
