// SPDX-License-Identifier: Apache-2.0
// Writes a pack of one binary, and loads and launches it in a child process without caches.
#include "builder/finish/proof.hpp"

#include "builder/device/driver_caches.hpp"
#include "builder/finish/compiled_bytes.hpp"
#include "builder/finish/launch_recorded.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/launch/opened_pack.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/identity/target.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

// The variant alone, without source and IL: nothing but the binary can be loaded.
Status write_proof(const ProofRequest &request, const packs::Binary &binary, bool intermediate,
                   const std::string &path) {
  packs::Contents contents;
  packs::Program program = request.program;
  program.variants = {request.variant};
  program.variants[0].source.reset();
  program.variants[0].il32.reset();
  program.variants[0].il64.reset();
  program.variants[0].launches.reset();
  packs::Target target = make_target(request.device);
  (intermediate ? target.intermediates : target.binaries) = {binary};
  contents.programs = {std::move(program)};
  contents.targets = {std::move(target)};
  packs::WriteOptions options;
  options.compress_binaries = false;
  return packs::write_pack(contents, path, options);
}

Status launch(OpenedPack &bench, const kiln::Program &loaded, const ProofRequest &request,
              FirstLaunch *out) {
  if (request.variant.launches) {
    const auto launches = recorded_launches(request.variant);
    if (!launches.ok()) return launches.status();
    return launch_recorded(*bench.child.device, loaded.cl(), *launches,
                           tuned_launches(*launches, request.tuned), out);
  }
  const auto workload =
      plan_workload(request.program, request.variant, small_problem(request.program), {});
  if (!workload.ok()) return workload.status();
  Status status = over_limits(bench.cl(), bench.child.device->id, *workload);
  Session session(bench.cl(), bench.loader, bench.queue);
  if (status.ok()) status = session.load(loaded, request.variant);
  if (status.ok()) status = session.bind(*workload);
  return status.ok() ? launch_twice(request.program, request.variant, &session, out) : status;
}

// In the child: a failed status, {} for a load alone, {"not_launched"}, which is a failed status,
// or {"first", "second", "compiles", "executes"}.
json load_and_launch(const ProofRequest &request, const std::string &pack,
                     const std::string &caches, kiln_rung rung) {
  OpenedPack bench;
  if (Status s = bench.open(request.device, pack); !s.ok()) return to_json(s);
  kiln::Loaded loaded = bench.loader.load(request.program.name, request.variant.name);
  if (!loaded.program) {
    Status status = status_of(loaded.program.error());
    const char *why = kiln_report_reason(loaded.report.get(), rung, nullptr);
    if (why != nullptr) status.message = why;
    return to_json(status);
  }
  if (!request.launch) return json::object();
  FirstLaunch out;
  const std::uintmax_t before = compiled_bytes(caches);
  const Status status = launch(bench, *loaded.program, request, &out);
  if (keeps_compiled(request.device.description.finishing)) {
    out.compiled = compiled_bytes(caches) > before;
  }
  if (!status.ok()) return {{"not_launched", to_json(status)}};
  return {{"first", out.first},
          {"second", out.second},
          {"executes", out.executes},
          {"compiles", out.compiles()}};
}

}  // namespace

packs::Target make_target(const DeviceInfo &device) {
  return runtime::target_of(device.identity, device.description);
}

Proof prove(const ProofRequest &request, const packs::Binary &binary, bool intermediate) {
  const auto folder = TemporaryFolder::make();
  Proof proof;
  proof.loaded = folder.status();
  if (!proof.loaded.ok()) return proof;
  const std::string pack = folder->path() + "/proof.kiln";
  proof.loaded = write_proof(request, binary, intermediate, pack);
  if (!proof.loaded.ok()) return proof;
  const std::string caches = request.cache.empty() ? folder->path() + "/cache" : request.cache;
  const ChildResult child = fork_call(
      [&] {
        use_driver_caches(caches);
        json answer = load_and_launch(request, pack, caches,
                                      intermediate ? KILN_RUNG_INTERMEDIATE : KILN_RUNG_EXACT);
        await_mesa();
        return answer;
      },
      request.timeout);
  proof.loaded = child.status();
  if (!proof.loaded.ok()) return proof;
  const json &answer = child.answer;
  if (answer.contains("not_launched")) proof.launched = status_from(answer["not_launched"]);
  if (answer.contains("first")) {
    proof.launch = {answer["first"], answer["second"], answer["executes"],
                    answer["compiles"].get<bool>()};
    if (!proof.launch.executes) {
      proof.launched = {Code::failed, "the device does nothing here when a kernel is launched"};
    }
  }
  return proof;
}

Proof prove_final(const ProofRequest &request, const packs::Binary &binary) {
  const int tries = keeps_compiled(request.device.description.finishing) ? 1 : 6;
  Proof proof;
  for (int i = 0; i < tries; ++i) {
    proof = prove(request, binary, false);
    if (!proof.loaded.ok() || !proof.launched.ok() || !proof.launch.compiles()) break;
  }
  return proof;
}

}  // namespace kiln::builder
