#include "builder/finish/proof.hpp"

#include "builder/device/driver_caches.hpp"
#include "builder/finish/mesa_harvest.hpp"
#include "builder/launch/workbench.hpp"
#include "builder/process/fork_call.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

// The variant alone, without source and IL: nothing but the binary can be loaded.
packs::Status write_proof(const ProofRequest &request, const packs::Binary &binary,
                          bool intermediate, const std::string &path) {
  packs::Contents contents;
  packs::Program program = request.program;
  program.variants = {request.variant};
  program.variants[0].source.reset();
  program.variants[0].il32.reset();
  program.variants[0].il64.reset();
  packs::Target target = make_target(request.device);
  (intermediate ? target.intermediates : target.binaries) = {binary};
  contents.programs = {std::move(program)};
  contents.targets = {std::move(target)};
  packs::WriteOptions options;
  options.compress_binaries = false;
  return packs::write_pack(contents, path, options);
}

std::string launch(Workbench &bench, const kiln::Program &loaded, const ProofRequest &request,
                   FirstLaunch *out) {
  auto plan = plan_workload(request.program, request.variant, small_problem(request.program), {});
  if (auto *error = std::get_if<std::string>(&plan)) return *error;
  const Workload &workload = std::get<Workload>(plan);
  std::string error = over_limits(bench.cl(), bench.child.device->id, workload);
  Session session(bench.cl(), bench.loader, bench.queue);
  if (error.empty()) error = session.load(loaded, request.variant);
  if (error.empty()) error = session.bind(workload);
  return error.empty() ? launch_twice(request.program, request.variant, &session, out) : error;
}

// In the child: {"error"}, {} for a load alone, {"not_launched"} or {"first", "second",
// "executes"}.
json load_and_launch(const ProofRequest &request, const std::string &pack, kiln_rung rung) {
  Workbench bench;
  if (std::string error = bench.open(request.device, pack); !error.empty()) {
    return {{"error", error}};
  }
  kiln::Loaded loaded = bench.loader.load(request.program.name, request.variant.name);
  if (!loaded.program) {
    const char *why = kiln_report_reason(loaded.report.get(), rung, nullptr);
    return {{"error", why == nullptr ? loaded.program.error().message : why}};
  }
  if (!request.launch) return json::object();
  FirstLaunch out;
  const std::string error = launch(bench, *loaded.program, request, &out);
  if (!error.empty()) return {{"not_launched", error}};
  return {{"first", out.first}, {"second", out.second}, {"executes", out.executes}};
}

}  // namespace

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

Proof prove(const ProofRequest &request, const packs::Binary &binary, bool intermediate) {
  const TemporaryFolder folder;
  const std::string pack = folder.path() + "/proof.kiln";
  Proof proof;
  const packs::Status status = write_proof(request, binary, intermediate, pack);
  if (!status.ok()) return {status.message};
  const ChildResult child = run_isolated(
      [&] {
        use_driver_caches(request.cache.empty() ? folder.path() + "/cache" : request.cache);
        json answer =
            load_and_launch(request, pack, intermediate ? KILN_RUNG_INTERMEDIATE : KILN_RUNG_EXACT);
        await_mesa();
        return answer;
      },
      request.timeout);
  if (!child.ok()) return {child.reason(), true};
  proof.error = child.answer.value("error", "");
  proof.not_launched = child.answer.value("not_launched", "");
  if (child.answer.contains("first")) {
    proof.launch = {child.answer["first"], child.answer["second"], child.answer["executes"], {}};
    if (!proof.launch.executes) {
      proof.not_launched = "the device does nothing here when a kernel is launched";
    }
  }
  return proof;
}

Proof prove_final(const ProofRequest &request, const packs::Binary &binary) {
  constexpr int kTries = 3;
  Proof proof;
  for (int i = 0; i < kTries; ++i) {
    proof = prove(request, binary, false);
    if (!proof.error.empty() || !proof.not_launched.empty() || !proof.launch.compiles()) break;
  }
  return proof;
}

}  // namespace kiln::builder
