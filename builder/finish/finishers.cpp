// SPDX-License-Identifier: Apache-2.0
// The finisher of each profile, the checks of what it made, and both as JSON for the parent.
#include "builder/finish/finishers.hpp"

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "builder/base/build_log.hpp"
#include "builder/finish/launch_recorded.hpp"
#include "builder/finish/proof.hpp"
#include "builder/process/status_json.hpp"
#include "runtime/launch/enqueue.hpp"
#include "runtime/load/cuda_linker.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using packs::Finality;
using Clock = std::chrono::steady_clock;

constexpr char kLinker[] = "nvidia-linker 1";
constexpr char kWorkGroups[] = "pocl-work-groups 1";
constexpr char kShaderCache[] = "mesa-shader-cache 1";
constexpr char kPoclSizes[] = "POCL_BINARY_SPECIALIZE_WG";
constexpr char kPtx[] = "the driver compiles this form whenever it loads it";

std::uint64_t microseconds_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

packs::Binary with_finish(const packs::Variant &variant, packs::Bytes bytes, packs::Finish finish) {
  packs::Binary binary{variant.hash, packs::BlobSource(std::move(bytes)), {}};
  binary.finish = std::move(finish);
  return binary;
}

// PTX of `device` as code for that compute capability.
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

// The PTX, and the cubin if finishing is wanted.
json make_linked(const runtime::Device &device, const JobRequest &request, packs::Bytes ptx) {
  json answer = json::object();
  packs::Finish finish{Finality::no, kPtx};
  finish.driver = device.identity.text(runtime::Field::driver_version);
  if (request.finish) {
    const auto cubin = link(device, request.variant, ptx, device.capabilities.compute_capability);
    if (cubin.ok()) answer["binary"] = to_json(*cubin);
    // Names the linker only if it ran: a later build, on a machine that has one, then tries again.
    if (cubin.ok() || cubin.status().code == Code::opencl) finish.finisher = kLinker;
    if (!cubin.ok()) finish.why_not = "it could not be finished: " + cubin.status().message;
  }
  for (const std::uint32_t compute_capability : request.also) {
    answer["also"].push_back(link_also(device, request.variant, ptx, compute_capability));
  }
  answer["intermediate"] = to_json(with_finish(request.variant, std::move(ptx), std::move(finish)));
  return answer;
}

// The work-group sizes to make code for. What an application was seen to launch is launched here:
// PoCL puts that code into the binary, for the sizes that it chooses itself, too.
std::vector<LaunchSize> sizes_to_have(const runtime::Device &device, const JobRequest &request,
                                      const runtime::BuiltProgram &built) {
  const auto recorded = recorded_launches(request.variant);
  if (recorded.ok() && !recorded->empty()) {
    const std::vector<RecordedLaunch> tuned = tuned_launches(*recorded, request.tuned);
    FirstLaunch ignored;
    Status s(Code::process, "an earlier try ended the process");
    if (request.repeat_launches) {
      s = launch_recorded(device, built.program.get(), *recorded, tuned, &ignored);
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
  const auto sizes = launch_sizes(request.program, request.variant, limits, request.tuned);
  setenv(kPoclSizes, pocl_sizes(sizes).c_str(), 1);
  return sizes;
}

// PoCL reads POCL_BINARY_SPECIALIZE_WG when a program is first asked for its binary, and adds the
// code for those work-group sizes. The program that gave the sizes was asked already, so the
// binary is taken from a second one. A process of PoCL's keeps the variable's first value:
// is_spent().
json make_with_sizes(const runtime::Device &device, const JobRequest &request,
                     const runtime::BuiltProgram &built, std::size_t unfinished_size,
                     const std::function<runtime::BuildOutcome()> &build) {
  const auto start = Clock::now();
  const auto sizes = sizes_to_have(device, request, built);
  const runtime::BuildOutcome again = build();
  packs::Bytes bytes;
  Status status = again.error;
  if (status.ok()) status = program_binary(device, again.built.program.get(), &bytes);
  if (!status.ok()) return to_json(status);
  packs::Finish finish;
  finish.finisher = kWorkGroups;
  finish.microseconds = microseconds_since(start);
  finish.unfinished_size = unfinished_size;
  for (const LaunchSize &size : sizes) {
    std::array<std::uint32_t, 3> local{};
    for (std::size_t i = 0; i < 3; ++i) local[i] = static_cast<std::uint32_t>(size.local[i]);
    if (finish.local_sizes.empty() || finish.local_sizes.back() != local) {
      finish.local_sizes.push_back(local);
    }
  }
  return {{"binary", to_json(with_finish(request.variant, std::move(bytes), std::move(finish)))}};
}

// Fills in what a fresh process saw.
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

// The place of Mesa's entries, which what it made at the opening names; empty if it made nothing.
std::string_view mesa_place(const packs::Bytes &opening) {
  const std::string_view text(reinterpret_cast<const char *>(opening.data()), opening.size());
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

// Launches the binary with nothing of it in Mesa's cache, and takes what Mesa compiled; `wanted`
// gets the names of its files. llvmpipe numbers its functions by what the process compiled before,
// so there was nothing.
void add_shader_cache(Prover *prover, ProofRequest *wanted, packs::Binary *binary) {
  ProofRequest request = *wanted;
  if (request.place.empty()) {
    binary->finish.why_not = "Mesa wrote no shader cache";
    return;
  }
  request.by_itself = true;
  Proof first = prover->prove(request, *binary, false);
  const Status status = first.loaded.ok() ? first.launched : first.loaded;
  if (!status.ok()) {
    binary->finish.why_not = status.message;
    return;
  }
  binary->finish.finisher = kShaderCache;
  packs::Bytes bytes;
  (void)binary->blob.read(&bytes);
  binary->finish.unfinished_size = bytes.size();
  binary->auxiliary = packs::BlobSource(std::move(first.entries));
  wanted->names = std::move(first.names);
}

// Of a finisher that ended its process: it is not run again for this binary.
void note_death(const JobRequest &request, const json &answer, packs::Finish *finish) {
  if (!answer.contains("finisher_died") || finish->finality == Finality::yes) return;
  const bool linker = request.device.description.finishing == runtime::Finishing::linker;
  finish->finisher = (linker ? kLinker : kWorkGroups) + launches_mark(request.variant);
  finish->why_not = answer["finisher_died"];
}

// Fails where the binary must not be packed.
Status prove_binary(const JobRequest &request, Prover *prover, packs::Binary *binary) {
  ProofRequest proof_request{request.program, request.variant, request.tuned};
  proof_request.place = mesa_place(request.opening);
  if (request.finish && request.device.description.finishing == runtime::Finishing::shader_cache) {
    add_shader_cache(prover, &proof_request, binary);
  }
  Proof proof = prover->prove_final(proof_request, *binary);
  if (proof.loaded.code == Code::process && request.variant.launches) {
    // What kernels do with zeros is no fault of the binary.
    const Status death = proof.loaded;
    proof_request.launch = false;
    proof = prover->prove(proof_request, *binary, false);
    proof.launched = {death.code, "repeating a recorded launch: " + death.message};
  }
  if (!proof.loaded.ok()) return proof.loaded;
  note(proof, &binary->finish, *binary);
  // A later build looks at launches again only where they are others.
  if (request.finish) binary->finish.finisher += launches_mark(request.variant);
  return {};
}

Status prove_intermediate(const JobRequest &request, Prover *prover,
                          const packs::Binary &intermediate) {
  return prover->prove({request.program, request.variant, {}, false}, intermediate, true).loaded;
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
           {"local_sizes", f.local_sizes}};
  if (binary.auxiliary) {
    packs::Bytes auxiliary;
    (void)binary.auxiliary->read(&auxiliary);
    out["auxiliary"] = json::binary(std::move(auxiliary));
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
                   in["local_sizes"].get<std::vector<std::array<std::uint32_t, 3>>>()};
  if (in.contains("auxiliary")) {
    const packs::Bytes &auxiliary = in["auxiliary"].get_binary();
    binary.auxiliary = packs::BlobSource(auxiliary);
  }
  return binary;
}

bool is_spent() { return std::getenv(kPoclSizes) != nullptr; }

json make_binaries(const runtime::Device &device, const JobRequest &request,
                   const runtime::BuiltProgram &built,
                   const std::function<runtime::BuildOutcome()> &build) {
  packs::Bytes plain;
  const Status status = program_binary(device, built.program.get(), &plain);
  if (!status.ok()) return to_json(status);
  switch (device.description.finishing) {
    case runtime::Finishing::linker: return make_linked(device, request, std::move(plain));
    case runtime::Finishing::launches:
      if (request.finish) return make_with_sizes(device, request, built, plain.size(), build);
      break;
    default: break;
  }
  return {{"binary", to_json(with_finish(request.variant, std::move(plain), {}))}};
}

Result<json> prove_binaries(const JobRequest &request, Prover *prover, json answer) {
  Status status;  // the first failure
  if (answer.contains("binary")) {
    packs::Binary binary = binary_from(request.variant, answer["binary"]);
    status = prove_binary(request, prover, &binary);
    if (status.ok()) {
      note_death(request, answer, &binary.finish);
      answer["binary"] = to_json(binary);
    } else {
      answer.erase("binary");
      status.message = "loading and launching the new binary: " + status.message;
    }
  }
  if (answer.contains("intermediate")) {
    packs::Binary intermediate = binary_from(request.variant, answer["intermediate"]);
    if (!status.ok()) intermediate.finish.why_not = status.message;
    note_death(request, answer, &intermediate.finish);
    const Status refused = prove_intermediate(request, prover, intermediate);
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
