// SPDX-License-Identifier: Apache-2.0
// Decides for each variant and device whether to compile, to prove, to reuse or to skip, and why.
// Jobs are hashed to shards.
#include "builder/jobs/plan.hpp"

#include <charconv>
#include <optional>
#include <set>

#include "builder/finish/launch_sizes.hpp"
#include "builder/inspect/note_text.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/jobs/earlier_binaries.hpp"
#include "builder/jobs/job_runner.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/found_notes.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/identity/il_needs.hpp"

namespace kiln::builder {

namespace {

bool read_number(const char *begin, const char *end, std::uint32_t *out) {
  const auto [stop, error] = std::from_chars(begin, end, *out);
  return error == std::errc() && stop == end;
}

// Returns why the finisher should run again on binaries of the wanted origin; nothing if they are
// finished.
std::optional<std::string> left_to_finish(const packs::Binary *binary,
                                          const packs::Binary *intermediate,
                                          const packs::Program &program,
                                          const packs::Variant &variant, const DeviceInfo &device) {
  const packs::Finish &finish = (binary != nullptr ? *binary : *intermediate).finish;
  const auto finishing = device.description.finishing;
  if (finishing == runtime::Finishing::linker && binary == nullptr && !finish.finisher.empty() &&
      finish.driver != device.identity.text(runtime::Field::driver_version)) {
    return "the linker of another driver version could not finish the earlier intermediate";
  }
  const bool can_be_finished =
      finishing == runtime::Finishing::linker ||
      (finishing == runtime::Finishing::shader_cache && knows_launches(program, variant)) ||
      (finishing == runtime::Finishing::launches && knows_sizes(program, variant));
  if (!can_be_finished || !finish.finisher.empty()) return std::nullopt;
  return "the earlier binary was not finished";
}

// What is left to do for a job, and why; Need::reuse if the earlier binaries serve.
struct Left {
  Need need = Need::reuse;
  std::string reason = "the output has this binary already";
};

Left to_compile(std::string reason) { return {Need::compile, std::move(reason)}; }

// For a virtual device. A binary that a driver has loaded is kept, whoever made it.
Left left_to_make(const packs::Binary *made, const Origin &wanted) {
  if (made == nullptr) return to_compile("no binary for this source and these options yet");
  if (!is_virtual(made->finish) || is_by_driver(made->finish)) return {};
  const Fit fit = fit_of(made->finish, wanted);
  return fit.serves() ? Left() : to_compile(fit.why_not);
}

// Returns whether a proof of the earlier binary would end as that of a new one. Not if a finisher
// left something to compile: what stopped it is not known here. Nor if it has a workaround: the
// variant as it is may be right by now.
bool can_be_proven(const packs::Binary *binary, const Origin &wanted, const PlanOptions &options) {
  return binary != nullptr && wanted.by_reference && options.gpu_archs.empty() &&
         binary->finish.workaround.empty() &&
         (binary->finish.finality == packs::Finality::yes || binary->finish.finisher.empty());
}

Left left_to_do(const packs::Program &program, const packs::Variant &variant,
                const DeviceInfo &device, const EarlierBinaries &earlier, const Origin &wanted,
                const PlanOptions &options) {
  const runtime::Description &d = device.description;
  const std::string &key = d.key.text();
  const packs::Binary *binary = earlier.binary(key, variant.hash);
  const packs::Binary *intermediate = earlier.intermediate(key, variant.hash);
  const packs::Binary *made = binary != nullptr ? binary : intermediate;
  if (device.virtual_device != nullptr) return left_to_make(made, wanted);
  if (made == nullptr) {
    return to_compile("no binary for this source, these options and this driver yet");
  }
  if (is_virtual(made->finish)) {
    return to_compile("no device of this kind has launched the earlier binary");
  }
  std::string unproven;                                      // why the earlier proof does not serve
  for (const packs::Binary *one : {binary, intermediate}) {  // a merge may have mixed them
    if (one == nullptr) continue;
    const Fit fit = fit_of(one->finish, wanted);
    if (!fit.bytes) return to_compile(fit.why_not);
    if (!fit.serves()) unproven = fit.why_not;
  }
  const bool requires_proof = runtime::requires_word(variant.requirements, runtime::kProof);
  const auto is_proven = [&](const packs::Binary *b) {
    return b && packs::is_proof(b->finish.proof, requires_proof);
  };
  if (unproven.empty() && (options.require_proof || requires_proof) && !is_proven(binary) &&
      !is_proven(intermediate)) {
    unproven = "nothing proves the earlier binary's results";
  }
  // NVIDIA's linker makes cubins, also for other compute capabilities. A cubin loads on the driver
  // version that made it and on later ones.
  const bool makes_cubins = d.finishing == runtime::Finishing::linker;
  if (makes_cubins && binary != nullptr &&
      packs::compare_versions(binary->finish.driver,
                              device.identity.text(runtime::Field::driver_version)) > 0) {
    return to_compile("the earlier binary was made by a later driver");
  }
  // Other compute capabilities to make code for, besides the device's own.
  for (const std::uint32_t compute_capability : options.gpu_archs) {
    // The variant requires a proof, and code for another device cannot be launched here to get one.
    if (requires_proof) break;
    const DeviceInfo other = describe_other_gpu(device, compute_capability);
    const std::string &other_key = other.description.key.text();
    if (makes_cubins && earlier.binary(other_key, variant.hash) == nullptr) {
      return to_compile("no code for compute capability " +
                        other.identity.text(runtime::Field::compute_capability) + " yet");
    }
  }
  if (options.finish) {
    if (auto reason = left_to_finish(binary, intermediate, program, variant, device)) {
      return to_compile(*std::move(reason));
    }
  }
  if (unproven.empty()) return {};
  return {can_be_proven(binary, wanted, options) ? Need::prove : Need::compile, unproven};
}

// Fails with Code::requirement if the device cannot take the variant: "needs fp16". Of IL that the
// device would have to compile it compares what the module declares.
Status fits(const packs::Variant &variant, const DeviceInfo &device) {
  Status status = runtime::check_requirements(variant.requirements, device.capabilities);
  if (!status.ok() || device.capabilities.il_support.empty()) return status;
  const packs::BlobSource *input = job_input(variant, device);
  if (input == nullptr || (variant.source && input == &*variant.source)) return {};
  packs::Bytes module;
  if (!input->read(&module).ok()) return {};  // the job tells the fault
  return runtime::check_il({module.data(), module.size()}, device.capabilities);
}

// Returns the note that leaves out the rung for the variant on the device, or null.
const packs::KnownBad *known_bad(const std::vector<packs::KnownBad> &notes, kiln_rung rung,
                                 const packs::Program &program, const packs::Variant &variant,
                                 const DeviceInfo &device) {
  return known_bad_note(notes, rung, program, variant, device.identity, device.description);
}

std::string reason_of(const packs::KnownBad &note) {
  return "known to be wrong: " + note[packs::NoteText::reason];
}

// Changes what is left to do for a variant that a build found wrong on this driver as it says it.
// Only a binary with a workaround serves, or one that was compared as much. A build that compares
// less makes no other, since it would find it right.
void heed_found(const packs::KnownBad &note, const packs::Program &program,
                const packs::Variant &variant, const DeviceInfo &device,
                const EarlierBinaries &earlier, const Origin &wanted, Left *left) {
  const std::string &key = device.description.key.text();
  bool serves = false, fits = true;
  for (const packs::Binary *one :
       {earlier.binary(key, variant.hash), earlier.intermediate(key, variant.hash)}) {
    if (one == nullptr) continue;
    serves = !one->finish.workaround.empty() || is_compared(program, variant, one->finish);
    fits = fits && serves && fit_of(one->finish, wanted).bytes;
    if (!serves) break;
  }
  if (left->need == Need::reuse && serves) return;
  if (compares_all(program, variant, device, wanted)) {
    if (left->need == Need::reuse) *left = to_compile(reason_of(note));
  } else if (serves && fits) {
    *left = {Need::reuse, "the output has a binary that was compared with more"};
  } else {
    *left = {Need::skip, reason_of(note) + "; this build compares less"};
  }
}

// Sets the job's need and reason.
void decide(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
            const EarlierBinaries &earlier, const PlanOptions &options, const OriginOf &origin_of,
            PlannedJob *job) {
  const packs::Program &program = base.programs[job->program];
  const packs::Variant &variant = program.variants[job->variant];
  const DeviceInfo &device = devices[job->device];
  job->need = Need::skip;
  if (const auto *note = known_bad(base.known_bad, KILN_RUNG_EXACT, program, variant, device)) {
    job->reason = reason_of(*note);
    return;
  }
  if (const Status met = fits(variant, device); !met.ok()) {
    job->reason = "the variant " + met.message + ", which the " +
                  (device.virtual_device != nullptr ? "virtual device" : "device") + " lacks";
    return;
  }
  const Origin wanted = origin_of ? origin_of(*job) : Origin();
  Left left = left_to_do(program, variant, device, earlier, wanted, options);
  const packs::BlobSource *input = job_input(variant, device);
  const bool is_il = input != nullptr && !(variant.source && input == &*variant.source);
  if (const auto *note = known_bad(options.found, is_il ? KILN_RUNG_IL : KILN_RUNG_SOURCE, program,
                                   variant, device)) {
    heed_found(*note, program, variant, device, earlier, wanted, &left);
  }
  job->need = left.need;
  job->reason = std::move(left.reason);
}

// Returns the index of the variant for an untuned device: among the variants whose requirements the
// device meets and that no note leaves out, the first in the program's order of preference, else
// the first by name. Nothing if there is none.
std::optional<std::size_t> preferred_variant(const packs::Contents &base,
                                             const packs::Program &program,
                                             const DeviceInfo &device) {
  std::optional<std::size_t> best;
  for (std::size_t v = 0; v < program.variants.size(); ++v) {
    const packs::Variant &variant = program.variants[v];
    if (!fits(variant, device).ok() ||
        known_bad(base.known_bad, KILN_RUNG_EXACT, program, variant, device) != nullptr) {
      continue;
    }
    if (!best || preference(program, variant) < preference(program, program.variants[*best])) {
      best = v;
    }
  }
  return best;
}

// Skips the job if --preferred leaves out its variant.
void keep_preferred(const packs::Contents &base, const packs::Program &program,
                    const DeviceInfo &device, std::size_t variant, PlannedJob *job) {
  const auto preferred = preferred_variant(base, program, device);
  if (job->need == Need::skip || !preferred || *preferred == variant) return;
  job->need = Need::skip;
  job->reason = "--preferred: " + program.variants[*preferred].name +
                " comes first among the variants that the device can run";
}

}  // namespace

bool compares_all(const packs::Program &program, const packs::Variant &variant,
                  const DeviceInfo &device, const Origin &origin) {
  if (device.virtual_device != nullptr) return false;
  return has_reference(program, variant) ? origin.by_reference : origin.proves;
}

Result<Shard> parse_shard(const std::string &text) {
  const char *begin = text.data();
  const char *end = begin + text.size();
  const std::size_t slash = text.find('/');
  Shard shard;
  if (slash != std::string::npos && read_number(begin, begin + slash, &shard.index) &&
      read_number(begin + slash + 1, end, &shard.count) && shard.index >= 1 &&
      shard.index <= shard.count) {
    return shard;
  }
  return Status::error(
      Code::bad_argument,
      "\"" + text + "\" is not a shard: expected I/N with I from 1 to N, such as 1/3");
}

bool has_job(const Shard &shard, const std::string &key, const packs::Digest &variant) {
  std::string job = key;
  job.append(variant.begin(), variant.end());
  return packs::xxh3(job) % shard.count + 1 == shard.index;
}

std::optional<std::uint32_t> parse_architecture(std::string_view text) {
  if (!text.starts_with("sm_")) return std::nullopt;
  const std::string_view digits = text.substr(3);
  if (digits.size() < 2 || digits.size() > 3 || digits[0] == '0' ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = static_cast<std::uint32_t>(std::stoul(std::string(digits)));
  return 100 * (number / 10) + number % 10;
}

DeviceInfo describe_other_gpu(const DeviceInfo &here, std::uint32_t compute_capability) {
  using runtime::Field;
  DeviceInfo info;
  for (const Field field : {Field::platform_name, Field::platform_vendor, Field::device_vendor,
                            Field::address_bits, Field::driver_version}) {
    if (here.identity[field]) info.identity.set(field, *here.identity[field]);
  }
  info.identity.set(Field::compute_capability, std::to_string(compute_capability / 100) + "." +
                                                   std::to_string(compute_capability % 100));
  info.description = runtime::describe(info.identity);
  return info;
}

std::vector<PlannedJob> make_plan(const packs::Contents &base,
                                  const std::vector<DeviceInfo> &devices,
                                  const std::vector<packs::Target> &earlier,
                                  const PlanOptions &options, const OriginOf &origin_of) {
  const EarlierBinaries known(earlier);
  std::vector<PlannedJob> jobs;
  std::set<std::string> seen;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::string &key = devices[d].description.key.text();
    if (!seen.insert(key).second) continue;
    std::set<packs::Digest> hashes;
    for (std::size_t p = 0; p < base.programs.size(); ++p) {
      for (std::size_t v = 0; v < base.programs[p].variants.size(); ++v) {
        const packs::Digest &hash = base.programs[p].variants[v].hash;
        PlannedJob job{d, p, v};
        decide(base, devices, known, options, origin_of, &job);
        if (options.preferred) keep_preferred(base, base.programs[p], devices[d], v, &job);
        const bool runs = job.need != Need::skip;
        if (runs && !hashes.insert(hash).second) {
          job = {d, p, v, Need::skip, "another variant has the same source and options"};
        }
        if (!has_job(options.shard, key, hash)) {
          job = {d, p, v, Need::other_shard, "another shard has it"};
        }
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

PlanCounts count_jobs(const std::vector<PlannedJob> &plan) {
  PlanCounts counts{plan.size()};
  for (const PlannedJob &job : plan) {
    switch (job.need) {
      case Need::compile: ++counts.compile; break;
      case Need::prove: ++counts.prove; break;
      case Need::reuse: ++counts.reuse; break;
      case Need::skip: ++counts.skip; break;
      case Need::other_shard: ++counts.other_shards; break;
    }
  }
  return counts;
}

std::string job_name(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                     const PlannedJob &job) {
  const packs::Program &program = base.programs[job.program];
  const packs::Variant &variant = program.variants[job.variant];
  return program.name + "/" + variant.name + recorded_kernels(program, variant) + " for " +
         devices[job.device].label();
}

}  // namespace kiln::builder
