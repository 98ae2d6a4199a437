// SPDX-License-Identifier: Apache-2.0
// Proves each binary and notes the outcome in its finish.
#include "builder/prove/prove_binaries.hpp"

#include "builder/finish/finishers.hpp"
#include "builder/finish/intel_binary.hpp"
#include "builder/finish/launch_sizes.hpp"
#include "runtime/overlay/cuda_linker.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using packs::Finality;

// Notes the finality that a fresh process found.
void note(const Proof &proof, packs::Finish *finish, const packs::Binary &binary) {
  packs::Bytes bytes;
  (void)binary.blob.read(&bytes);
  if (runtime::is_ptx({bytes.data(), bytes.size()})) {
    finish->finality = Finality::no;
    finish->why_not = kPtx;
  } else if (!proof.launched.ok()) {
    finish->finality = Finality::not_launched;
    finish->why_not = proof.launched.message;
  } else if (proof.launch.compiles()) {
    finish->finality = Finality::no;
    finish->why_not = "its first launch compiles";
  } else {
    finish->finality = Finality::yes;
    finish->why_not.clear();
  }
}

// Returns the place of Mesa's entries, which the blob from opening the device names; empty if there
// is no such blob.
std::string_view mesa_place(const packs::Bytes &device_entries) {
  const std::string_view text(reinterpret_cast<const char *>(device_entries.data()),
                              device_entries.size());
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

// Launches the binary with none of its entries in Mesa's cache, and takes the entries that Mesa
// compiled; `wanted` gets the names of their files. Uses a fresh process, since llvmpipe numbers
// its functions by what the process compiled before. Fails with Code::process if that process
// ended.
Status add_shader_cache(Prover *prover, bool has_hardware, ProofRequest *wanted,
                        packs::Binary *binary) {
  ProofRequest job = *wanted;
  if (job.place.empty()) {
    binary->finish.why_not = "Mesa wrote no shader cache";
    return {};
  }
  job.by_itself = true;
  job.check = nullptr;
  packs::Binary bare = *binary;
  bare.cache_entries.reset();  // of an earlier proof
  Proof first = prover->prove(job, bare, false);
  wanted->launch = !first.is_endless;
  const Status status = first.loaded.ok() ? first.launched : first.loaded;
  const bool compiled = first.loaded.ok() && !first.names.empty();
  if (!status.ok() && (has_hardware || !compiled)) {
    binary->finish.why_not = status.message;
    return first.loaded.code == Code::process ? first.loaded : Status();
  }
  binary->finish.finisher = kShaderCache;
  packs::Bytes bytes;
  (void)binary->blob.read(&bytes);
  binary->finish.unfinished_size = bytes.size();
  binary->cache_entries = packs::BlobSource(std::move(first.entries));
  wanted->names = std::move(first.names);
  return {};
}

// Notes that the finisher ended its process, so that it is not run again for this binary.
void note_death(const Job &job, const json &answer, packs::Finish *finish) {
  if (!answer.contains("finisher_died") || finish->finality == Finality::yes) return;
  const bool linker = job.device.description.finishing == runtime::Finishing::linker;
  finish->finisher = (linker ? kLinker : kWorkGroups) + launches_mark(job.variant);
  finish->why_not = answer["finisher_died"];
}

// Prepares the proof of a binary. `death` gets how a process ended that repeated a launch without
// end: then nothing is launched.
ProofRequest proof_request(const Job &job, const json &answer, Status *death) {
  ProofRequest how{job.program, job.variant};
  how.check = job.check;
  how.build_microseconds = answer.value("build_microseconds", std::uint64_t{0});
  how.measure = job.measure;
  how.launch = !answer.contains("endless");
  if (!how.launch) *death = {Code::process, answer["endless"]};
  return how;
}

// Loads and launches the binary. If repeating a recorded launch ends the process, or a launch
// without hardware does, only loads it; `death` is failed if such a launch has done so already.
Proof launched_proof(const Job &job, Status death, ProofRequest *how, Prover *prover,
                     const packs::Binary &binary, bool intermediate) {
  const auto prove = [&] {
    return intermediate ? prover->prove(*how, binary, true) : prover->prove_final(*how, binary);
  };
  if (how->launch && (job.has_hardware || death.ok())) {
    Proof proof = prove();
    if (proof.loaded.code == Code::process && !proof.is_endless && job.has_hardware &&
        job.device.capabilities.has_extension("cl_khr_suggested_local_work_size")) {
      how->suggests = false;  // the process may have died of this, which is no fault of the binary
      proof = prove();
    }
    const bool may_die = job.variant.launches || !job.has_hardware;
    if (proof.loaded.code != Code::process || !may_die) return proof;
    death = proof.loaded;
  }
  // A kernel that fails on zeros, or without hardware, is no fault of the binary.
  how->launch = false;
  Proof proof = prover->prove(*how, binary, intermediate);
  const char *const what = job.has_hardware ? "repeating a recorded launch: " : kLaunchDied;
  proof.launched = {death.code, what + death.message};
  return proof;
}

// Fails if the results are wrong. Variables of a program keep what launches left in them, so
// results that differ from the source's are compared again, both in a new process after the same
// launches. Results that differ from launch to launch are not compared: the kernel may read
// uninitialised memory.
Status judge_results(const Job &job, const Expect &expect, const ProofRequest &how, Prover *prover,
                     const Proof &proof, bool intermediate, packs::Binary *binary) {
  if (!proof.launched.ok() && proof.results.empty()) return {};
  const double tolerance = job.variant.tolerance;
  const Expectation expected = expect(job);
  const bool requires_proof = needs_proof(job.variant);
  if (requires_proof && !expected.by_reference) {
    // A program built from source with the same options would be as inaccurate.
    binary->finish.unproven = "they were not compared with a reference";
    return {};
  }
  Status status = judge(proof.results, expected, tolerance, &binary->finish);
  if (!proof.launched.ok()) {  // the launch changes no output
    binary->finish.proof.clear();
    binary->finish.unproven.clear();
    return status;
  }
  if (requires_proof && !status.ok() && !expected.broken) {  // left out, which is no failure
    binary->finish.unproven = std::move(status.message);
    return {};
  }
  if (status.ok() || expected.by_reference) return status;
  ProofRequest apart = how;
  apart.by_itself = true;
  const Proof again = prover->prove(apart, *binary, intermediate);
  if (job.workaround == 0 && !again.results.empty()) {
    apart.from_source = true;
    const Proof source = prover->prove(apart, *binary, intermediate);
    const Expectation same{source.results, expected.by};
    if (!source.results.empty() && judge(again.results, same, tolerance, &binary->finish).ok())
      return {};
  }
  if (compare_results(again.results, proof.results, 0).check == Check::exact) return status;
  binary->finish.unproven = "they differ from launch to launch";
  return {};
}

// Fails if the binary does not compute what its other variants must, too.
Status judge_duplicates(const Job &job, const Expect &expect, const ProofRequest &how,
                        Prover *prover, const packs::Binary &binary, bool intermediate) {
  for (const Duplicate &duplicate : job.duplicates) {
    Job own{{job.limits}, job.device, *duplicate.program, *duplicate.variant};
    own.check = duplicate.check;
    ProofRequest launch{own.program, own.variant};
    launch.check = own.check;
    launch.place = how.place;
    launch.names = how.names;
    const Proof proof = prover->prove(launch, binary, intermediate);
    if (proof.results.empty()) continue;
    packs::Finish ignored;
    Status status = judge(proof.results, expect(own), own.variant.tolerance, &ignored);
    if (status.ok()) continue;
    status.message = "as " + own.program.name + "/" + own.variant.name + ": " + status.message;
    return status;
  }
  return {};
}

// Proves one binary in the form in which it would be packed. Adds what the load told to `answer`.
// Fails if it must not be packed.
Status prove_form(const Job &job, const Expect &expect, Prover *prover, packs::Binary *binary,
                  json *answer) {
  Status death;
  ProofRequest how = proof_request(job, *answer, &death);
  how.tuned = job.tuned;
  how.place = mesa_place(job.device_entries);
  const runtime::Finishing finishing = job.device.description.finishing;
  const bool knows = knows_launches(job.program, job.variant);
  if (job.finish && knows && finishing == runtime::Finishing::shader_cache && how.launch) {
    death = add_shader_cache(prover, job.has_hardware, &how, binary);
  }
  const Proof proof = launched_proof(job, std::move(death), &how, prover, *binary, false);
  if (!proof.loaded.ok()) return proof.loaded;
  (*answer)["load_microseconds"] = proof.load_microseconds;
  if (!answer->contains("kernels")) (*answer)["kernels"] = proof.kernels;
  if (proof.recompiled) return {Code::failed, "the driver compiled it anew instead of taking it"};
  note(proof, &binary->finish, *binary);
  if (!job.has_hardware && binary->finish.finality != Finality::not_launched) {
    binary->finish.finality = Finality::not_launched;
    binary->finish.why_not = "there is no hardware";
  }
  if (job.finish && !knows && keeps_compiled(finishing) && binary->finish.finisher.empty()) {
    binary->finish.why_not = kNoLaunch;
  }
  // A later build repeats launches only if others were recorded.
  if (job.finish) binary->finish.finisher += launches_mark(job.variant);
  Status status = judge_results(job, expect, how, prover, proof, false, binary);
  return status.ok() ? judge_duplicates(job, expect, how, prover, *binary, false) : status;
}

// Proves one binary: without its SPIR-V if it has any, and if the driver does not take that, as the
// driver gave it. Fails if it must not be packed.
Status prove_binary(const Job &job, const Expect &expect, Prover *prover, packs::Binary *binary,
                    json *answer) {
  packs::Binary smaller = *binary;
  if (job.finish && job.device.description.finishing == runtime::Finishing::not_needed &&
      drop_spirv(&smaller) && prove_form(job, expect, prover, &smaller, answer).ok()) {
    *binary = std::move(smaller);
    return {};
  }
  return prove_form(job, expect, prover, binary, answer);
}

Status prove_intermediate(const Job &job, const Expect &expect, Prover *prover,
                          packs::Binary *intermediate, const json &answer) {
  Status death;
  ProofRequest how = proof_request(job, answer, &death);
  const Proof proof = launched_proof(job, std::move(death), &how, prover, *intermediate, true);
  if (!proof.loaded.ok()) return proof.loaded;
  Status status = judge_results(job, expect, how, prover, proof, true, intermediate);
  return status.ok() ? judge_duplicates(job, expect, how, prover, *intermediate, true) : status;
}

}  // namespace

Result<json> prove_binaries(const Job &job, const Expect &expect, Prover *prover, json answer) {
  Status status;  // the first failure
  if (answer.contains("binary")) {
    packs::Binary binary = binary_from(job.variant, answer["binary"]);
    status = prove_binary(job, expect, prover, &binary, &answer);
    if (status.ok()) {
      note_death(job, answer, &binary.finish);
      answer["binary"] = to_json(binary);
    } else {
      answer.erase("binary");
      if (status.code != Code::wrong_results) {
        status.message = "loading and launching the new binary: " + status.message;
      }
    }
  }
  if (answer.contains("intermediate")) {
    packs::Binary intermediate = binary_from(job.variant, answer["intermediate"]);
    if (!status.ok()) intermediate.finish.why_not = status.message;
    note_death(job, answer, &intermediate.finish);
    const Status refused = prove_intermediate(job, expect, prover, &intermediate, answer);
    answer["intermediate"] = to_json(intermediate);
    if (!refused.ok()) {
      answer.erase("intermediate");
      if (status.ok()) status = {refused.code, "loading the new binary: " + refused.message};
    }
  }
  if (answer.contains("binary") || answer.contains("intermediate")) return answer;
  if (status.ok()) status = {Code::failed, "there is no binary to prove"};
  return status;
}

}  // namespace kiln::builder
